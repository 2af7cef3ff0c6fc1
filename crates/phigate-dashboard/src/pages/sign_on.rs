//! Signing in with the identity provider of an account, and the sign-outs that it sends.
//!
//! A login has no state on the server. The browser keeps a secret in a cookie for ten minutes; state, nonce and PKCE
//! verifier are made from it and from a random name of the login, so that every replica can finish a login, and only
//! for the browser that began it.

use askama::Template;
use aws_lc_rs::hmac;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{StatusCode, header};
use jiff::Timestamp;
use phigate_gateway::{SignOnError, SignOnFlow};
use phigate_store::{SecretString, SessionPolicy, SignOnOutcome, SignOnSetup, StoreError};
use subtle::ConstantTimeEq;

use super::login;
use crate::Dash;
use crate::cookies::{Cookie, SIGN_ON_S, random_token};
use crate::layout::Layout;
use crate::visit::{Answer, Guest, PageError, page, redirect};

/// Longest code that is passed on to the provider, in bytes.
const CODE_BYTES_MAX: usize = 4_096;

/// The page after a login, which sends the browser on. A redirect would be part of the way that began at the provider,
/// and browsers keep the session's cookie back on such a way.
#[derive(Template)]
#[template(path = "signed-in.html")]
pub(crate) struct SignedInPage {
    pub(crate) layout: Layout,
    pub(crate) next: String,
}

/// One login.
struct Login<'a> {
    account: &'a str,
    /// Random name.
    name: String,
    /// Time of its begin, in seconds since 1970.
    begun_s: i64,
    /// Address to open afterwards.
    next: String,
}

impl<'a> Login<'a> {
    /// The login that a state describes, if this browser began it for this account and lately.
    fn read(secret: &str, account: &'a str, state: &str, now_s: i64) -> Option<Self> {
        let mut parts = state.split('.');
        let (name, begun_s, next, tag) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let next = String::from_utf8(URL_SAFE_NO_PAD.decode(next).ok()?).ok()?;
        let login = Self {
            account,
            name: name.to_owned(),
            begun_s: begun_s.parse().ok()?,
            next,
        };
        let is_ours: bool = login.tag(secret).as_bytes().ct_eq(tag.as_bytes()).into();
        let is_young = (0..SIGN_ON_S).contains(&(now_s - login.begun_s));
        (is_ours && is_young && parts.next().is_none()).then_some(login)
    }

    fn state(&self, secret: &str) -> String {
        let next = URL_SAFE_NO_PAD.encode(&self.next);
        format!("{}.{}.{next}.{}", self.name, self.begun_s, self.tag(secret))
    }

    fn tag(&self, secret: &str) -> String {
        let begun = self.begun_s.to_string();
        derived(
            secret,
            &["state", self.account, &self.name, &begun, &self.next],
        )
    }

    fn flow(&self, secret: &str, guest: &Guest) -> SignOnFlow {
        SignOnFlow {
            redirect_uri: redirect_address(&guest.0.origin, self.account),
            state: self.state(secret),
            nonce: derived(secret, &["nonce", self.account, &self.name]),
            verifier: derived(secret, &["verifier", self.account, &self.name]),
        }
    }
}

/// A value that only the holder of the browser's secret can make.
fn derived(secret: &str, parts: &[&str]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let mut context = hmac::Context::with_key(&key);
    for part in parts {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part.as_bytes());
    }
    URL_SAFE_NO_PAD.encode(context.sign())
}

/// The address to which the provider sends browsers back.
pub(crate) fn redirect_address(origin: &str, account: &str) -> String {
    format!("{origin}/login/sso/{account}/callback")
}

/// The address to which the provider sends logout tokens.
pub(crate) fn logout_address(origin: &str, account: &str) -> String {
    format!("{origin}/login/sso/{account}/backchannel-logout")
}

/// `GET /login/sso/{account}`: sends the browser to the provider.
pub(crate) async fn begin(
    State(dash): State<Dash>,
    guest: Guest,
    Path(account): Path<String>,
) -> Answer {
    let setup = setup(&dash, &account).await?;
    let known = guest
        .0
        .sign_on
        .as_ref()
        .map(|known| known.expose().to_owned());
    let secret = known.or_else(random_token).ok_or(PageError::Broken)?;
    let login = Login {
        account: &account,
        name: random_token().ok_or(PageError::Broken)?,
        begun_s: Timestamp::now().as_second(),
        next: login::inside(guest.0.query.get("next")),
    };
    let flow = login.flow(&secret, &guest);
    let single_sign_on = dash.gateway.single_sign_on();
    match single_sign_on.address(&setup.config, &flow).await {
        Ok(address) => {
            let mut response = redirect(&address);
            let cookie = Cookie::SignOn.set(&secret, dash.is_secure);
            response.headers_mut().append(header::SET_COOKIE, cookie);
            Ok(response)
        }
        Err(error) => refused(&dash, &guest, error).await,
    }
}

/// `GET /login/sso/{account}/callback`: the way back from the provider.
pub(crate) async fn finish(
    State(dash): State<Dash>,
    guest: Guest,
    Path(account): Path<String>,
) -> Answer {
    let setup = setup(&dash, &account).await?;
    let (query, now_s) = (&guest.0.query, Timestamp::now().as_second());
    let secret = guest.0.sign_on.as_ref().map_or("", SecretString::expose);
    let state = query.only("state").unwrap_or_default();
    let login = Login::read(secret, &account, state, now_s).filter(|_| !secret.is_empty());
    let Some(login) = login else {
        return refused(&dash, &guest, SignOnError::State).await;
    };
    let code = query
        .only("code")
        .filter(|code| code.len() <= CODE_BYTES_MAX);
    let person = match (query.only("error"), code) {
        (Some(_), _) => Err(SignOnError::Denied),
        (None, None) => Err(SignOnError::Code),
        (None, Some(code)) => {
            let flow = login.flow(secret, &guest);
            let (single_sign_on, brought) =
                (dash.gateway.single_sign_on(), (code, query.only("iss")));
            let entered = single_sign_on.sign_in(&setup, &flow, brought, guest.0.client);
            entered.await
        }
    };
    let sign_on = &dash.vault.sign_on;
    let person = match person {
        Ok(person) => person,
        Err(SignOnError::Often) => return Err(PageError::Busy),
        Err(error) => {
            let (issuer, origin) = (&setup.config.issuer, guest.0.client.to_string());
            let recorded = sign_on.record_failure(&setup.account_id, issuer, error.code(), &origin);
            recorded.await?;
            return refused(&dash, &guest, error).await;
        }
    };
    let (policy, origin) = (SessionPolicy::default(), guest.0.described());
    match sign_on.enter(&setup, &person, policy, &origin).await? {
        SignOnOutcome::Entered(_, session) => {
            let next = login.next.clone();
            let layout = guest.layout();
            let mut response = page(&SignedInPage { layout, next })?;
            let headers = response.headers_mut();
            let cookie = Cookie::Session.set(session.token.expose(), dash.is_secure);
            headers.append(header::SET_COOKIE, cookie);
            headers.append(header::SET_COOKIE, Cookie::SignOn.clear(dash.is_secure));
            Ok(response)
        }
        SignOnOutcome::NoRole => {
            let error = SignOnError::from_code(person.without_role);
            refused(&dash, &guest, error.unwrap_or(SignOnError::NoRole)).await
        }
    }
}

/// `POST /login/sso/{account}/backchannel-logout`: ends the sessions that a logout token names.
pub(crate) async fn sign_out(
    State(dash): State<Dash>,
    guest: Guest,
    Path(account): Path<String>,
) -> Answer {
    let setup = setup(&dash, &account).await?;
    let Some(token) = guest.0.form.only("logout_token") else {
        return Ok(StatusCode::BAD_REQUEST.into_response());
    };
    let single_sign_on = dash.gateway.single_sign_on();
    let verified = single_sign_on.sign_out(&setup.config, token, guest.0.client);
    let token = match verified.await {
        Ok(token) => token,
        Err(SignOnError::Often) => return Err(PageError::Busy),
        Err(_) => return Ok(StatusCode::BAD_REQUEST.into_response()),
    };
    let sign_on = &dash.vault.sign_on;
    match sign_on.sign_out(&setup.account_id, &token).await? {
        true => Ok(StatusCode::OK.into_response()),
        false => Ok(StatusCode::BAD_REQUEST.into_response()),
    }
}

/// Single sign-on of an account.
async fn setup(dash: &Dash, account: &str) -> Result<SignOnSetup, PageError> {
    let found = dash.vault.accounts.find_account(Some(account)).await;
    let found = found.map_err(|error| match error {
        StoreError::Invalid { .. } => PageError::NotFound,
        error => error.into(),
    })?;
    let setup = dash.vault.sign_on.setup(&found.id).await?;
    setup.ok_or(PageError::NotFound)
}

/// The login page with the reason why a login failed.
async fn refused(dash: &Dash, guest: &Guest, error: SignOnError) -> Result<Response, PageError> {
    tracing::warn!(
        cause = error.code(),
        "a sign-in with an identity provider failed"
    );
    let status = match error.is_outage() {
        true => StatusCode::BAD_GATEWAY,
        false => StatusCode::UNAUTHORIZED,
    };
    let words = format!("{}. {}", error.title(), error.remedy());
    login::draw(dash, guest, status, Some(words), false).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(begun_s: i64) -> Login<'static> {
        Login {
            account: "north",
            name: "login-1".to_owned(),
            begun_s,
            next: "/audit?type=ssn".to_owned(),
        }
    }

    #[test]
    fn state_belongs_to_browser_and_account() {
        let state = login(1_000).state("secret");
        let read = Login::read("secret", "north", &state, 1_100).unwrap();
        assert_eq!(
            (read.next.as_str(), read.begun_s),
            ("/audit?type=ssn", 1_000)
        );
        for (secret, account, now_s) in [
            ("other", "north", 1_100),
            ("secret", "south", 1_100),
            ("secret", "north", 1_000 + SIGN_ON_S),
            ("secret", "north", 900),
        ] {
            assert!(Login::read(secret, account, &state, now_s).is_none());
        }
    }

    #[test]
    fn changed_state_is_refused() {
        let state = login(1_000).state("secret");
        let changed = [
            state[..state.len() - 1].to_owned(),
            format!("{state}.x"),
            state.replacen("login-1", "login-2", 1),
            state.replacen("1000", "1050", 1),
            String::new(),
        ];
        for state in changed {
            assert!(
                Login::read("secret", "north", &state, 1_100).is_none(),
                "{state}"
            );
        }
    }
}
