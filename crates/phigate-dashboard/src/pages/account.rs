//! Your own login: password, second factor, sessions, colours.

use askama::Template;
use axum::extract::State;
use http::{StatusCode, header};
use jiff::{SignedDuration, Timestamp};
use phigate_store::{PASSWORD_CHARS_MIN, SecretBytes, SecretString, Session, StoreError};

use super::setup::check_password;
use crate::Dash;
use crate::cookies::Cookie;
use crate::layout::{Layout, Theme, notice};
use crate::qr::{self, Drawing};
use crate::totp;
use crate::view::{When, counted};
use crate::visit::{Answer, PageError, SignedIn, form_status, page_with, redirect};

/// Your login.
#[derive(Template)]
#[template(path = "account.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) error: Option<String>,
    pub(crate) has_totp: bool,
    /// Recovery codes that were not used yet.
    pub(crate) codes_left: usize,
    /// Recovery codes just made, shown this once.
    pub(crate) codes: Vec<String>,
    pub(crate) is_required: bool,
    pub(crate) offer: Option<Offer>,
    pub(crate) sessions: Vec<SessionRow>,
    pub(crate) password_min: usize,
    /// Identity at the identity provider, for a person without a password.
    pub(crate) subject: Option<String>,
}

/// A second factor to be set up.
pub(crate) struct Offer {
    pub(crate) secret: String,
    pub(crate) grouped: String,
    pub(crate) address: String,
    pub(crate) drawing: Option<Drawing>,
}

/// One place you are signed in.
#[derive(Debug)]
pub(crate) struct SessionRow {
    pub(crate) id: String,
    pub(crate) agent: String,
    pub(crate) created: When,
    pub(crate) seen: When,
    pub(crate) is_this: bool,
}

/// `GET /account`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    draw(&dash, &visit, None, None).await
}

/// `POST /account/password`
pub(crate) async fn change_password(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let form = visit.form();
    if let Err(error) = check_password(form.exact("password"), form.exact("again")) {
        return draw(&dash, &visit, Some(error), None).await;
    }
    if let Some(refusal) = confirm(&dash, &visit, form.exact("current")).await? {
        return draw(&dash, &visit, Some(refusal), None).await;
    }
    let password = SecretString::new(form.exact("password").to_owned());
    let keep = Some(visit.session.id.as_str());
    dash.vault
        .people
        .set_password(
            visit.account_id(),
            visit.actor(),
            &password,
            keep,
            visit.actor(),
        )
        .await?;
    Ok(redirect("/account?done=password"))
}

/// `POST /account/totp`
pub(crate) async fn offer_totp(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let secret = totp::fresh_secret().ok_or(PageError::Broken)?;
    let offer = offer(&visit, &secret);
    draw(&dash, &visit, None, Some(offer)).await
}

fn offer(visit: &SignedIn, secret: &str) -> Offer {
    let address = totp::address(secret, visit.actor());
    Offer {
        secret: secret.to_owned(),
        grouped: totp::grouped(secret),
        drawing: qr::draw(&address),
        address,
    }
}

/// `POST /account/totp/confirm`
pub(crate) async fn confirm_totp(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let secret = visit.form().get("secret");
    let now_s = u64::try_from(Timestamp::now().as_second()).unwrap_or(0);
    let Some(step) = totp::matching_step(secret, visit.form().get("code"), now_s) else {
        let error = "That is not the code the app shows now. Check the secret and the phone’s clock, and try the next code.";
        return draw(
            &dash,
            &visit,
            Some(error.to_owned()),
            Some(offer(&visit, secret)),
        )
        .await;
    };
    if let Some(refusal) = confirm(&dash, &visit, visit.form().exact("current")).await? {
        return draw(&dash, &visit, Some(refusal), Some(offer(&visit, secret))).await;
    }
    let user = &visit.session.user;
    let sealed = SecretBytes::from(secret.as_bytes());
    dash.vault
        .people
        .set_totp(user, Some(&sealed), Some(&visit.session.id), visit.actor())
        .await?;
    dash.vault.people.use_totp_step(user, step).await?;
    show_codes(&dash, &visit, "totp-on").await
}

/// `POST /account/recovery`
pub(crate) async fn make_recovery_codes(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    if let Some(refusal) = confirm(&dash, &visit, visit.form().exact("current")).await? {
        return draw(&dash, &visit, Some(refusal), None).await;
    }
    show_codes(&dash, &visit, "codes").await
}

/// Makes new recovery codes and shows them, this once.
async fn show_codes(dash: &Dash, visit: &SignedIn, done: &str) -> Answer {
    let people = &dash.vault.people;
    let codes = people.make_recovery_codes(&visit.session.user, visit.actor());
    let codes = codes.await?;
    let mut page = page_of(dash, visit, None, None).await?;
    page.has_totp = true;
    page.codes_left = codes.len();
    page.codes = codes.iter().map(|code| in_groups(code.expose())).collect();
    page.layout.notice = notice(done);
    page_with(StatusCode::OK, &page)
}

/// Letters in groups of four, as people copy them.
fn in_groups(code: &str) -> String {
    let letters: Vec<char> = code.chars().collect();
    let groups = letters
        .chunks(4)
        .map(|group| group.iter().collect::<String>());
    groups.collect::<Vec<_>>().join("-")
}

/// `POST /account/totp/remove`
pub(crate) async fn remove_totp(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    if let Some(refusal) = confirm(&dash, &visit, visit.form().exact("current")).await? {
        return draw(&dash, &visit, Some(refusal), None).await;
    }
    if visit.account.settings.require_second_factor {
        let error = "This account requires a second factor for everybody. To move it to another app, set it up again.";
        return draw(&dash, &visit, Some(error.to_owned()), None).await;
    }
    dash.vault
        .people
        .set_totp(
            &visit.session.user,
            None,
            Some(&visit.session.id),
            visit.actor(),
        )
        .await?;
    Ok(redirect("/account?done=totp-off"))
}

/// `POST /account/sessions/revoke`
pub(crate) async fn revoke_session(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let id = visit.form().get("id");
    // Only your own: an owner ends another person's sessions by removing the user.
    let is_own = dash
        .vault
        .sessions
        .sessions(&visit.session.user)
        .await?
        .iter()
        .any(|session| session.id == id);
    if !is_own {
        return Err(PageError::NotFound);
    }
    dash.vault
        .sessions
        .end_session(visit.account_id(), id, visit.actor())
        .await?;
    Ok(redirect("/account?done=session"))
}

/// `POST /theme`
pub(crate) async fn set_theme(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let theme = Theme::from_code(visit.form().get("theme"));
    let mut response = redirect(&super::login::inside(visit.form().get("page")));
    response.headers_mut().append(
        header::SET_COOKIE,
        Cookie::Theme.set(theme.code(), dash.is_secure),
    );
    Ok(response)
}

/// Checks the password again; returns the message to show if it is wrong.
pub(crate) async fn confirm(
    dash: &Dash,
    visit: &SignedIn,
    password: &str,
) -> Result<Option<String>, PageError> {
    let password = SecretString::new(password.to_owned());
    let origin = visit.context.client.to_string();
    match dash
        .vault
        .people
        .confirm_password(&visit.session.user, &password, &origin)
        .await
    {
        Ok(true) => Ok(None),
        Ok(false) => Ok(Some("That is not your current password.".to_owned())),
        Err(StoreError::Throttled { retry_after_s }) => Ok(Some(format!(
            "Too many wrong passwords. Try again in {}.",
            counted(retry_after_s, "second")
        ))),
        Err(error) => Err(error.into()),
    }
}

/// Time for which a password is good for acts that need it.
const CONFIRMED: SignedDuration = SignedDuration::from_mins(10);

/// Whether an act needs the password again. A signed-in person must have given it lately, because screens are left
/// unlocked.
pub(crate) fn asks_password(visit: &SignedIn) -> bool {
    visit.has_password() && is_old(visit.session.confirmed, Timestamp::now())
}

fn is_old(confirmed: Timestamp, now: Timestamp) -> bool {
    now.duration_since(confirmed) > CONFIRMED
}

/// Checks the password of a form, if it was not given lately. Returns the error for a wrong one.
pub(crate) async fn confirm_lately(
    dash: &Dash,
    visit: &SignedIn,
) -> Result<Option<String>, PageError> {
    if !asks_password(visit) {
        return Ok(None);
    }
    let refusal = confirm(dash, visit, visit.form().exact("password")).await?;
    if refusal.is_none() {
        dash.vault.sessions.confirm_session(&visit.session).await?;
    }
    Ok(refusal)
}

async fn draw(
    dash: &Dash,
    visit: &SignedIn,
    error: Option<String>,
    offer: Option<Offer>,
) -> Answer {
    let status = form_status(error.is_some());
    page_with(status, &page_of(dash, visit, error, offer).await?)
}

async fn page_of(
    dash: &Dash,
    visit: &SignedIn,
    error: Option<String>,
    offer: Option<Offer>,
) -> Result<Page, PageError> {
    let (vault, user) = (&dash.vault, &visit.session.user);
    let sessions = vault.sessions.sessions(user).await?;
    let row = |session: Session| SessionRow {
        is_this: session.id == visit.session.id,
        id: session.id,
        agent: session.origin,
        created: When::at(session.created),
        seen: When::at(session.last_seen),
    };
    Ok(Page {
        layout: visit.layout("/account"),
        error,
        has_totp: user.has_totp,
        codes_left: vault.people.recovery_codes_left(user).await?,
        codes: Vec::new(),
        is_required: visit.account.settings.require_second_factor,
        offer,
        password_min: PASSWORD_CHARS_MIN,
        subject: user.subject.as_ref().map(ToString::to_string),
        sessions: sessions.into_iter().map(row).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_good_for_ten_minutes() {
        let confirmed = Timestamp::UNIX_EPOCH;
        for (seconds, asks) in [(0, false), (600, false), (601, true), (86_400, true)] {
            let now = confirmed + SignedDuration::from_secs(seconds);
            assert_eq!(is_old(confirmed, now), asks, "after {seconds} s");
        }
    }
}
