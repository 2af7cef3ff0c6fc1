//! Failures of a provider, and the error that the caller gets for each.

use phigate_types::ErrorCode;

use crate::json::Json;
use crate::text::PhiText;

/// The longest wait passed on to callers, in seconds.
const RETRY_AFTER_S_MAX: u64 = 86_400;

/// A provider's refusal or breakdown.
#[derive(Debug, Clone)]
pub struct ProviderFailure {
    /// The kind of failure; decides status, type and code.
    pub kind: FailureKind,
    /// The provider's own status, when it answered with an error status.
    pub provider_status: Option<u16>,
    /// The delay in whole seconds that the provider asked for.
    pub retry_after_s: Option<u64>,
    /// The provider's error message, only from an answer with an error status. It may quote the prompt: scan it before
    /// passing it on, and never log it.
    pub provider_message: Option<PhiText>,
    /// The request parameter that the provider blames, reduced to a known name and positions.
    pub param: Option<String>,
}

/// The kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The provider rejects the request with this status.
    Rejected(u16),
    /// The provider's content filter refuses the request.
    Filtered,
    /// The provider rejects our key.
    AuthFailed,
    /// Too many requests.
    RateLimited,
    /// An error of the provider, or an answer that cannot be read.
    Error,
    /// The stream ended before it was complete.
    CutStream,
    /// No connection.
    Unreachable,
    /// No answer in time.
    Timeout,
    /// The provider is overloaded.
    Overloaded,
}

impl FailureKind {
    /// The error code for callers.
    pub fn code(self) -> ErrorCode {
        match self {
            Self::Rejected(_) => ErrorCode::ProviderRejected,
            Self::Filtered => ErrorCode::ContentFilter,
            Self::AuthFailed => ErrorCode::ProviderAuthFailed,
            Self::RateLimited => ErrorCode::ProviderRateLimited,
            Self::Error | Self::CutStream => ErrorCode::ProviderError,
            Self::Unreachable => ErrorCode::ProviderUnreachable,
            Self::Timeout => ErrorCode::ProviderTimeout,
            Self::Overloaded => ErrorCode::ProviderOverloaded,
        }
    }

    /// The status for the caller. A rejection keeps the provider's own.
    pub fn status(self) -> u16 {
        match self {
            Self::Rejected(status) => status,
            _ => self.code().status(),
        }
    }

    /// The message for the caller.
    pub fn message(self) -> &'static str {
        match self {
            Self::Rejected(_) => "the provider rejected the request",
            Self::Filtered => "the provider's content filter refused the request",
            Self::AuthFailed => {
                "the provider refused the key that is stored for it: the account's owner replaces it under Providers"
            }
            Self::RateLimited => "the provider's rate limit is reached",
            Self::Error => "the provider failed, or its answer could not be read",
            Self::CutStream => "the provider's answer broke off before it was complete",
            Self::Unreachable => "the provider could not be reached",
            Self::Timeout => "the provider did not answer in time",
            Self::Overloaded => "the provider is overloaded",
        }
    }
}

impl ProviderFailure {
    /// A failure of this kind without further details.
    pub fn new(kind: FailureKind) -> Self {
        Self {
            kind,
            provider_status: None,
            retry_after_s: None,
            provider_message: None,
            param: None,
        }
    }

    /// A failure reported by an error status.
    pub(super) fn from_status(status: u16, retry_after: Option<&str>) -> Self {
        let retry_after_s = retry_after.and_then(whole_seconds);
        Self {
            provider_status: Some(status),
            retry_after_s,
            ..Self::new(kind_of_status(status))
        }
    }

    /// Adds the provider's message.
    pub(super) fn with_message(mut self, message: Option<&str>) -> Self {
        self.provider_message = message.filter(|text| !text.is_empty()).map(PhiText::new);
        self
    }
}

/// The kind of failure that a provider's status means.
pub(super) fn kind_of_status(status: u16) -> FailureKind {
    match status {
        400 | 404 | 413 | 422 => FailureKind::Rejected(status),
        401..=403 => FailureKind::AuthFailed,
        504 => FailureKind::Timeout,
        429 => FailureKind::RateLimited,
        503 | 529 => FailureKind::Overloaded,
        _ => FailureKind::Error,
    }
}

/// Seconds as `Retry-After` (`38`) or Google's `retryDelay` (`38.5s`) write them, rounded up. Dates need a clock and are not read.
pub(super) fn whole_seconds(text: &str) -> Option<u64> {
    let seconds: f64 = text.trim().trim_end_matches('s').parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| (seconds.ceil() as u64).min(RETRY_AFTER_S_MAX))
}

/// Reduces a provider's `param` to a known top-level name and its positions. The rest could quote content.
pub(super) fn known_param(param: &str, known: &[super::Parameter]) -> Option<String> {
    let name_to = param
        .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
        .unwrap_or(param.len());
    let (name, mut rest) = param.split_at(name_to);
    known.iter().find(|parameter| parameter.name == name)?;
    let mut reduced = name.to_owned();
    while let Some((position, after)) = rest
        .strip_prefix('[')
        .and_then(|inner| inner.split_once(']'))
    {
        if position.is_empty()
            || position.len() > 6
            || !position.bytes().all(|byte| byte.is_ascii_digit())
        {
            break;
        }
        reduced.push_str(&format!("[{position}]"));
        rest = after;
    }
    Some(reduced)
}

/// The failure for an unreadable answer.
pub(crate) fn unreadable() -> ProviderFailure {
    ProviderFailure::new(FailureKind::Error)
}

/// The error object of an error document, which some providers wrap in an array.
pub(super) fn error_object<'a, 'b>(document: &'b Json<'a>) -> Option<&'b Json<'a>> {
    document.items().first().unwrap_or(document).given("error")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_its_kind() {
        for (status, told, code) in [
            (400, 400, ErrorCode::ProviderRejected),
            (401, 502, ErrorCode::ProviderAuthFailed),
            (402, 502, ErrorCode::ProviderAuthFailed),
            (403, 502, ErrorCode::ProviderAuthFailed),
            (404, 404, ErrorCode::ProviderRejected),
            (413, 413, ErrorCode::ProviderRejected),
            (422, 422, ErrorCode::ProviderRejected),
            (429, 429, ErrorCode::ProviderRateLimited),
            (302, 502, ErrorCode::ProviderError),
            (408, 502, ErrorCode::ProviderError),
            (500, 502, ErrorCode::ProviderError),
            (503, 503, ErrorCode::ProviderOverloaded),
            (504, 504, ErrorCode::ProviderTimeout),
            (529, 503, ErrorCode::ProviderOverloaded),
        ] {
            let kind = kind_of_status(status);
            assert_eq!((kind.status(), kind.code()), (told, code), "{status}");
        }
    }

    #[test]
    fn waits_are_whole_bounded_seconds() {
        for (text, seconds) in [
            ("38", Some(38)),
            ("38.2s", Some(39)),
            (" 0 ", Some(0)),
            ("1e12", Some(86_400)),
            ("-1", None),
            ("Wed, 21 Oct 2026 07:28:00 GMT", None),
            ("NaN", None),
        ] {
            assert_eq!(whole_seconds(text), seconds, "{text}");
        }
    }

    #[test]
    fn messages_follow_the_gateway_style() {
        for kind in [
            FailureKind::Rejected(400),
            FailureKind::Filtered,
            FailureKind::AuthFailed,
            FailureKind::RateLimited,
            FailureKind::Error,
            FailureKind::CutStream,
            FailureKind::Unreachable,
            FailureKind::Timeout,
            FailureKind::Overloaded,
        ] {
            let message = kind.message();
            let begins_small = message.starts_with(char::is_lowercase);
            assert!(begins_small && !message.ends_with('.'), "{message}");
        }
    }
}
