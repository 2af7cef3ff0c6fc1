//! Signing in and out: password first, then the code if a second factor is on.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use jiff::Timestamp;
use phigate_store::{AdminAct, Login, LoginOutcome, SecretString, SessionPolicy, StoreError, User};
use phigate_types::Act;

use crate::Dash;
use crate::cookies::Cookie;
use crate::fields::encode;
use crate::layout::Layout;
use crate::totp;
use crate::view::counted;
use crate::visit::{Answer, Guest, PageError, SignedIn, page_with, redirect};

/// The page.
#[derive(Template)]
#[template(path = "login.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) error: Option<String>,
    pub(crate) email: String,
    pub(crate) next: String,
    pub(crate) asks_code: bool,
    /// Accounts with single sign-on.
    pub(crate) sign_on: Vec<SignOnLink>,
}

/// The way to the identity provider of an account.
pub(crate) struct SignOnLink {
    pub(crate) href: String,
    pub(crate) words: String,
}

/// `GET /login`
pub(crate) async fn show(State(dash): State<Dash>, guest: Guest) -> Answer {
    draw(&dash, &guest, StatusCode::OK, None, false).await
}

/// `POST /login`
pub(crate) async fn sign_in(State(dash): State<Dash>, guest: Guest) -> Answer {
    if guest.0.form.get("step") == "code" {
        return check_code(&dash, &guest).await;
    }
    let form = &guest.0.form;
    let password = SecretString::new(form.exact("password").to_owned());
    let login = Login {
        email: form.get("email"),
        password: &password,
        origin: &guest.0.client.to_string(),
        device: guest.0.device.as_ref().map(SecretString::expose),
    };
    match dash.vault.people.verify_login(&login).await? {
        LoginOutcome::Wrong => {
            let error = "Wrong e-mail or password.".to_owned();
            draw(&dash, &guest, StatusCode::UNAUTHORIZED, Some(error), false).await
        }
        LoginOutcome::SignOnOnly => {
            let error = "This account has single sign-on: use the link above. A password works only for owners marked as break-glass.".to_owned();
            draw(&dash, &guest, StatusCode::UNAUTHORIZED, Some(error), false).await
        }
        LoginOutcome::Throttled { retry_after_s } => {
            too_often(&dash, &guest, retry_after_s, false).await
        }
        LoginOutcome::Right(user) if user.has_totp => {
            let token = &guest.0.form_token;
            dash.vault.people.begin_second_step(token, &user).await?;
            draw(&dash, &guest, StatusCode::OK, None, true).await
        }
        LoginOutcome::Right(user) => enter(&dash, &guest, &user).await,
    }
}

async fn check_code(dash: &Dash, guest: &Guest) -> Answer {
    let vault = &dash.vault;
    let token = &guest.0.form_token;
    let Some(user) = vault.people.second_step(token).await? else {
        let error = "That took too long. Sign in again.".to_owned();
        return draw(dash, guest, StatusCode::UNAUTHORIZED, Some(error), false).await;
    };
    if let Some(retry_after_s) = vault.people.begin_code(&user).await? {
        return too_often(dash, guest, retry_after_s, true).await;
    }
    let code = guest.0.form.get("code");
    let origin = guest.0.client.to_string();
    let is_right = match is_recovery(code) {
        true => vault.people.use_recovery_code(&user, code, &origin).await?,
        false => is_right_code(dash, &user, code).await?,
    };
    if is_right {
        vault.people.end_second_step(token, &user).await?;
        return enter(dash, guest, &user).await;
    }
    let account = vault.accounts.account(&user.account_id).await?;
    let act = AdminAct::new(
        Timestamp::now(),
        &account.name,
        &user.email,
        Act::LoginFailed,
    )
    .detail("factor", "code")
    .detail("origin", &guest.0.client);
    vault
        .trail
        .record_admin(Some(&user.account_id), &act)
        .await?;
    let error =
        "That is not the code the app shows now. Wait for the next one and type it.".to_owned();
    draw(dash, guest, StatusCode::UNAUTHORIZED, Some(error), true).await
}

/// Codes of apps are six digits; recovery codes are longer and have letters.
fn is_recovery(code: &str) -> bool {
    code.chars().filter(char::is_ascii_alphanumeric).count() > 8
}

/// Whether a code is right, and was not used before.
pub(crate) async fn is_right_code(dash: &Dash, user: &User, code: &str) -> Result<bool, PageError> {
    let Some(secret) = dash.vault.people.totp(user).await? else {
        return Ok(false);
    };
    let Ok(secret) = std::str::from_utf8(secret.expose()) else {
        return Err(PageError::Broken);
    };
    let now_s = u64::try_from(Timestamp::now().as_second()).unwrap_or(0);
    match totp::matching_step(secret, code, now_s) {
        Some(step) => Ok(dash.vault.people.use_totp_step(user, step).await?),
        None => Ok(false),
    }
}

async fn enter(dash: &Dash, guest: &Guest, user: &User) -> Answer {
    let mut response = redirect(&inside(guest.0.form.exact("next")));
    begin(dash, guest, user, &mut response).await?;
    Ok(response)
}

/// Begins a session and gives its cookie, always a new one, to the browser.
pub(crate) async fn begin(
    dash: &Dash,
    guest: &Guest,
    user: &User,
    response: &mut Response,
) -> Result<(), PageError> {
    let session = dash
        .vault
        .sessions
        .begin_session(user, SessionPolicy::default(), &guest.0.described())
        .await?;
    let device = dash.vault.people.device_token(user).await?;
    let headers = response.headers_mut();
    headers.append(
        header::SET_COOKIE,
        Cookie::Device.set(device.expose(), dash.is_secure),
    );
    headers.append(
        header::SET_COOKIE,
        Cookie::Session.set(session.token.expose(), dash.is_secure),
    );
    headers.append(header::SET_COOKIE, Cookie::Guest.clear(dash.is_secure));
    Ok(())
}

/// Returns the address to open after signing in: a path of ours and nothing else.
pub(crate) fn inside(next: &str) -> String {
    // Two slashes begin the name of a host if browsers see the start of an address.
    let is_path = next.starts_with('/') && !next.contains("//");
    let is_plain = next
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"/-_.~?=&%:".contains(&byte));
    if is_path && is_plain {
        next.to_owned()
    } else {
        "/".to_owned()
    }
}

/// `POST /logout`
pub(crate) async fn sign_out(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    dash.vault
        .sessions
        .end_session(visit.account_id(), &visit.session.id, visit.actor())
        .await?;
    let mut response = redirect("/login?done=signed-out");
    let headers = response.headers_mut();
    headers.append(header::SET_COOKIE, Cookie::Session.clear(dash.is_secure));
    // Going back after signing out shows nothing.
    headers.insert("clear-site-data", HeaderValue::from_static("\"cache\""));
    Ok(response)
}

async fn too_often(dash: &Dash, guest: &Guest, retry_after_s: u64, asks_code: bool) -> Answer {
    let error = format!(
        "Too many failed attempts. Try again in {}.",
        counted(retry_after_s, "second")
    );
    let status = StatusCode::TOO_MANY_REQUESTS;
    let mut response = draw(dash, guest, status, Some(error), asks_code).await?;
    response
        .headers_mut()
        .insert(header::RETRY_AFTER, HeaderValue::from(retry_after_s));
    Ok(response)
}

/// Draws the login page with a reason why a login failed.
pub(crate) async fn draw(
    dash: &Dash,
    guest: &Guest,
    status: StatusCode,
    error: Option<String>,
    asks_code: bool,
) -> Answer {
    let next = match guest.0.form.exact("next") {
        "" => guest.0.query.get("next"),
        next => next,
    };
    let next = inside(next);
    let page = Page {
        layout: guest.layout(),
        error,
        email: guest.0.form.get("email").to_owned(),
        sign_on: sign_on_links(dash, guest.0.query.get("account"), &next).await?,
        next,
        asks_code,
    };
    Ok(page_with(status, &page)?.into_response())
}

/// A link for each account that has single sign-on, or for the one that is named.
async fn sign_on_links(dash: &Dash, only: &str, next: &str) -> Result<Vec<SignOnLink>, PageError> {
    let mut names = Vec::new();
    for id in dash.vault.sign_on.accounts().await? {
        match dash.vault.accounts.account(&id).await {
            Ok(account) => names.push(account.name.clone()),
            // Removed meanwhile.
            Err(StoreError::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    names.sort();
    let is_alone = names.len() == 1;
    names.retain(|name| only.is_empty() || name == only);
    let query = match next {
        "/" => String::new(),
        next => format!("?next={}", encode(next)),
    };
    let link = |name: String| SignOnLink {
        href: format!("/login/sso/{name}{query}"),
        words: match is_alone {
            true => "Sign in with single sign-on".to_owned(),
            false => format!("Sign in to {name} with single sign-on"),
        },
    };
    Ok(names.into_iter().map(link).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_in_never_redirects_off_site() {
        for (next, goes_to) in [
            ("", "/"),
            ("/audit", "/audit"),
            ("/audit?type=ssn&range=day", "/audit?type=ssn&range=day"),
            ("/.//evil.example", "/"),
            (
                "/audit/0193f0aa-0000-7000-8000-000000000001",
                "/audit/0193f0aa-0000-7000-8000-000000000001",
            ),
            ("//evil.example", "/"),
            ("https://evil.example", "/"),
            ("/\\evil.example", "/"),
            ("/a\r\nset-cookie: x", "/"),
        ] {
            assert_eq!(inside(next), goes_to, "{next}");
        }
    }
}
