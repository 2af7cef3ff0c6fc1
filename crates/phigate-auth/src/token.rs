//! Bearer tokens in the answers of endpoints.

use std::time::Duration;

use http::HeaderValue;
use serde::Deserialize;

use crate::error::{AuthError, Reason};
use crate::fetch::Answer;
use crate::lease::Leased;
use crate::secret::{Secret, is_visible};

/// Longest accepted token.
const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// Default lifetime of a token if the endpoint gives none, and the upper bound.
const LIFETIME_DEFAULT: Duration = Duration::from_secs(300);
const LIFETIME_MAX: Duration = Duration::from_secs(24 * 3600);

/// A token, ready to be sent.
pub(crate) struct Token {
    /// `Bearer …`, marked as sensitive.
    pub(crate) header: HeaderValue,
}

#[derive(Deserialize)]
struct Wire {
    access_token: Secret,
    #[serde(default)]
    expires_in: Option<Number>,
    /// Expiry in Unix seconds, in the answers of some endpoints.
    #[serde(default)]
    expires_on: Option<Number>,
}

/// A number, which some endpoints write as text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Plain(f64),
    Text(String),
}

impl Number {
    fn seconds(&self) -> Option<f64> {
        let seconds = match self {
            Self::Plain(value) => *value,
            Self::Text(text) => text.parse().ok()?,
        };
        (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
    }
}

/// Reads the token in an answer. `refusal` reads the reason from an answer that refuses.
pub(crate) fn read(
    answer: &Answer,
    now_s: f64,
    refusal: fn(&Answer) -> Reason,
) -> Result<Leased<Token>, AuthError> {
    match answer.status {
        200 => {}
        status if AuthError::of_busy(status).is_some() => return Err(AuthError::Unreachable),
        400..=499 => return Err(AuthError::Refused(refusal(answer))),
        _ => return Err(AuthError::Unreadable),
    }
    let wire: Wire = serde_json::from_slice(&answer.body).map_err(|_| AuthError::Unreadable)?;
    let token = wire.access_token.expose();
    if token.is_empty() || token.len() > TOKEN_BYTES_MAX || !is_visible(token) {
        return Err(AuthError::Unreadable);
    }
    let mut header =
        HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| AuthError::Unreadable)?;
    header.set_sensitive(true);
    let left = wire
        .expires_in
        .and_then(|number| number.seconds())
        .or_else(|| Some(wire.expires_on?.seconds()? - now_s))
        .filter(|left| *left > 0.0);
    let lifetime = left.map_or(LIFETIME_DEFAULT, |left| {
        Duration::from_secs_f64(left.min(LIFETIME_MAX.as_secs_f64()))
    });
    Ok(Leased {
        value: Token { header },
        lifetime,
    })
}

/// Seconds that this machine's clock is ahead of the endpoint's, if that explains a refusal.
pub(crate) fn clock_skew(answer: &Answer) -> Option<i64> {
    clock_skew_s(answer.date.as_deref()?)
}

/// Seconds that this machine's clock is ahead of a `Date` header, if that is enough to matter.
pub fn clock_skew_s(date: &str) -> Option<i64> {
    const TOLERATED_S: i64 = 60;
    let skew = jiff::Timestamp::now().as_second() - http_date(date)?;
    (skew.abs() > TOLERATED_S).then_some(skew)
}

/// Unix seconds of an HTTP date: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<i64> {
    let parsed = jiff::fmt::rfc2822::parse(text).ok()?;
    Some(parsed.timestamp().as_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str) -> Answer {
        Answer {
            status,
            date: None,
            body: body.as_bytes().to_vec(),
        }
    }

    fn read_lifetime(body: &str) -> Result<u64, AuthError> {
        read(&answer(200, body), 1000.0, |_| Reason::Other).map(|leased| leased.lifetime.as_secs())
    }

    #[test]
    fn tokens_have_their_endpoints_lifetime() {
        for (body, seconds) in [
            (r#"{"access_token":"a","expires_in":3599}"#, 3599),
            (r#"{"access_token":"a","expires_in":"60"}"#, 60),
            (r#"{"access_token":"a","expires_on":"1500"}"#, 500),
            (r#"{"access_token":"a"}"#, 300),
            (r#"{"access_token":"a","expires_in":-1}"#, 300),
            (r#"{"access_token":"a","expires_in":1e300}"#, 86_400),
        ] {
            assert_eq!(read_lifetime(body), Ok(seconds), "{body}");
        }
    }

    #[test]
    fn invalid_tokens_are_refused() {
        let long = format!(
            r#"{{"access_token":"{}"}}"#,
            "a".repeat(TOKEN_BYTES_MAX + 1)
        );
        for body in [
            "",
            "<html>",
            "{}",
            r#"{"access_token":7}"#,
            r#"{"access_token":""}"#,
            r#"{"access_token":"a\r\nX-Evil: 1"}"#,
            r#"{"access_token":"é"}"#,
            &long,
        ] {
            assert_eq!(
                read_lifetime(body),
                Err(AuthError::Unreadable),
                "{body:.40}"
            );
        }
    }

    #[test]
    fn statuses_distinguish_refusals_from_outages() {
        for (status, error) in [
            (400, AuthError::Refused(Reason::Other)),
            (401, AuthError::Refused(Reason::Other)),
            (429, AuthError::Unreachable),
            (500, AuthError::Unreachable),
            (503, AuthError::Unreachable),
            (302, AuthError::Unreadable),
        ] {
            let result = read(&answer(status, "{}"), 0.0, |_| Reason::Other);
            assert_eq!(result.err(), Some(error), "{status}");
        }
    }

    #[test]
    fn clock_skew_is_read_from_the_date() {
        let at = |skew: i64| {
            let theirs = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(skew);
            let date = theirs.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
            clock_skew(&Answer {
                date: Some(date),
                ..answer(400, "")
            })
        };
        assert!(at(900).is_some_and(|skew| (895..=905).contains(&skew)));
        assert_eq!((at(5), clock_skew(&answer(400, ""))), (None, None));
    }
}
