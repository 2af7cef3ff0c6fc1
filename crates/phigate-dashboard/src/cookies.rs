//! The cookies of the dashboard, and the form token that belongs to them.

use aws_lc_rs::{hmac, rand};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue, header};
use phigate_store::DEVICE_DAYS;
use subtle::ConstantTimeEq;

const DAY_S: i64 = 24 * 60 * 60;
/// Time for a login with an identity provider, in seconds.
pub(crate) const SIGN_ON_S: i64 = 600;

/// Purpose of a cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cookie {
    /// The session of a signed-in person.
    Session,
    /// Ties the forms of a guest (login, first run) to their browser.
    Guest,
    /// Marks a browser that signed in before. Wrong guesses from other browsers must not make it wait.
    Device,
    /// Secret of logins with an identity provider. It comes along when the provider sends the browser back, which the
    /// others do not.
    SignOn,
    /// Light or dark.
    Theme,
}

impl Cookie {
    /// Over TLS the name carries a prefix by which browsers hold the cookie to this host and to TLS.
    fn name(self, is_secure: bool) -> &'static str {
        match (self, is_secure) {
            (Cookie::Session, true) => "__Host-phigate",
            (Cookie::Session, false) => "phigate",
            (Cookie::Guest, true) => "__Host-phigate-guest",
            (Cookie::Guest, false) => "phigate-guest",
            (Cookie::Device, true) => "__Host-phigate-device",
            (Cookie::Device, false) => "phigate-device",
            (Cookie::SignOn, true) => "__Host-phigate-sso",
            (Cookie::SignOn, false) => "phigate-sso",
            (Cookie::Theme, true) => "__Host-phigate-theme",
            (Cookie::Theme, false) => "phigate-theme",
        }
    }

    /// The cookie's value in a request.
    pub(crate) fn read(self, headers: &HeaderMap, is_secure: bool) -> Option<String> {
        let name = self.name(is_secure);
        headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find(|(found, value)| *found == name && !value.is_empty())
            .map(|(_, value)| value.to_owned())
    }

    /// The header that sets it. Session and guest end with the browser.
    pub(crate) fn set(self, value: &str, is_secure: bool) -> HeaderValue {
        let lasting = match self {
            Cookie::Session | Cookie::Guest => String::new(),
            Cookie::Device => format!("; Max-Age={}", DEVICE_DAYS * DAY_S),
            Cookie::SignOn => format!("; Max-Age={SIGN_ON_S}"),
            Cookie::Theme => format!("; Max-Age={}", 365 * DAY_S),
        };
        self.header(value, &lasting, is_secure)
    }

    /// The header that removes it.
    pub(crate) fn clear(self, is_secure: bool) -> HeaderValue {
        self.header("", "; Max-Age=0", is_secure)
    }

    fn header(self, value: &str, lasting: &str, is_secure: bool) -> HeaderValue {
        let name = self.name(is_secure);
        let secure = if is_secure { "; Secure" } else { "" };
        let same_site = match self {
            Cookie::SignOn => "Lax",
            _ => "Strict",
        };
        let line =
            format!("{name}={value}; Path=/; HttpOnly; SameSite={same_site}{secure}{lasting}");
        HeaderValue::from_str(&line).expect("values are our own tokens and codes, in plain letters")
    }
}

/// Returns a random value for a cookie; `None` if the system gives no randomness.
pub(crate) fn random_token() -> Option<String> {
    let mut bytes = [0; 32];
    rand::fill(&mut bytes).ok()?;
    Some(URL_SAFE_NO_PAD.encode(bytes))
}

/// The token that forms carry: made from the cookie, so that only pages we served to this browser know it.
pub(crate) fn form_token(cookie: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, cookie.as_bytes());
    URL_SAFE_NO_PAD.encode(hmac::sign(&key, b"phigate form token"))
}

/// Whether a form's token belongs to the cookie.
pub(crate) fn is_form_token(cookie: &str, given: &str) -> bool {
    form_token(cookie).as_bytes().ct_eq(given.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_cookies_are_host_bound_over_tls() {
        assert_eq!(
            Cookie::Session.set("abc", false),
            "phigate=abc; Path=/; HttpOnly; SameSite=Strict"
        );
        assert_eq!(
            Cookie::Session.set("abc", true),
            "__Host-phigate=abc; Path=/; HttpOnly; SameSite=Strict; Secure"
        );
    }

    #[test]
    fn only_sign_on_cookie_comes_from_elsewhere() {
        let line = Cookie::SignOn.set("abc", true);
        let line = line.to_str().unwrap();
        assert!(line.starts_with("__Host-phigate-sso=abc") && line.contains("SameSite=Lax"));
        for cookie in [
            Cookie::Session,
            Cookie::Guest,
            Cookie::Device,
            Cookie::Theme,
        ] {
            assert!(
                cookie
                    .set("abc", true)
                    .to_str()
                    .unwrap()
                    .contains("SameSite=Strict")
            );
        }
    }

    #[test]
    fn cookie_is_found_by_whole_name() {
        let mut headers = HeaderMap::new();
        let line = "x-phigate=no; phigate-guest=guest; phigate=yes";
        headers.insert(header::COOKIE, HeaderValue::from_static(line));
        assert_eq!(
            Cookie::Session.read(&headers, false).as_deref(),
            Some("yes")
        );
        assert_eq!(Cookie::Session.read(&headers, true), None);
        assert_eq!(
            Cookie::Guest.read(&headers, false).as_deref(),
            Some("guest")
        );
    }

    #[test]
    fn form_tokens_belong_to_one_cookie() {
        let token = form_token("one");
        assert!(is_form_token("one", &token));
        assert!(!is_form_token("two", &token));
        assert!(!is_form_token("one", ""));
    }
}
