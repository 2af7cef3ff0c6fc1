//! Every error that a caller can receive, with its status and code.
//!
//! One variant per error. Messages never quote a caller or a provider, except a provider's explanation that passed the
//! scan of the request.

use std::borrow::Cow;
use std::sync::LazyLock;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::StatusCode;
use phi_detect::PhiKind;
use phigate_core::request::RequestError;
use phigate_core::wire::ProviderFailure;
use phigate_edge::{EdgeError, ErrorBody};
use phigate_store::{AdmitError, StoreError};
use phigate_types::{ErrorCode, ErrorFormat, ProviderKind};

use crate::key_limits::Limited;
use crate::long_scans::NoPlace;

/// Advised pause before a retry while long scans wait for each other.
const DETECTOR_BUSY_S: u64 = 5;

/// Prebuilt answer for rate-limited callers, who may outnumber served callers.
static RATE_LIMITED: LazyLock<Bytes> = LazyLock::new(|| {
    let error = GatewayError::RateLimited { retry_after_s: 0 };
    let body = ErrorBody::new(error.status(), error.code(), error.message());
    body.to_json(ErrorFormat::OpenAi, None)
});

/// Reason why a request was not answered as asked.
#[derive(Debug)]
pub enum GatewayError {
    /// The HTTP edge refused it.
    Edge(EdgeError),
    /// No `Authorization` header.
    MissingKey,
    /// The key is malformed, unknown, revoked or expired.
    InvalidKey,
    /// Too many requests, or too many bad keys.
    RateLimited {
        /// Seconds until it is worth trying again.
        retry_after_s: u64,
    },
    /// Content type other than `application/json`.
    MediaType,
    /// The body is not a request we can take.
    Request(RequestError),
    /// No provider serves this model.
    UnknownModel,
    /// The model's providers do not accept the format of this door.
    WrongDoor,
    /// The family's provider has no key.
    NotConfigured {
        /// The family.
        family: ProviderKind,
    },
    /// PHI in block mode.
    Blocked(Vec<PhiKind>),
    /// No provider of the model may have PHI.
    NotCovered(Vec<PhiKind>),
    /// New PHI in a reply that is to be withheld.
    PhiInReply(Vec<PhiKind>),
    /// The reply could not be scanned, so it is withheld.
    ReplyNotScanned,
    /// The decision could not be recorded, so nothing was forwarded.
    AuditUnavailable,
    /// A stored level of the policy cannot be read, so nothing was forwarded.
    PolicyUnavailable,
    /// The detector failed, so nothing was forwarded.
    DetectorUnavailable,
    /// Scanning had to wait too long for a processor, so nothing was forwarded.
    DetectorBusy,
    /// Too many long scans of the account wait already.
    ScansWaiting,
    /// The provider failed or refused.
    Provider(ProviderFailure),
}

impl GatewayError {
    /// The status the caller gets.
    pub fn status(&self) -> StatusCode {
        let status = match self {
            Self::Edge(error) => return error.status(),
            Self::Provider(failure) => failure.kind.status(),
            _ => self.code().status(),
        };
        StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY)
    }

    /// The code the caller gets, also kept in the record.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Edge(error) => error.code(),
            Self::MissingKey => ErrorCode::MissingApiKey,
            Self::InvalidKey => ErrorCode::InvalidApiKey,
            Self::RateLimited { .. } | Self::ScansWaiting => ErrorCode::RateLimitExceeded,
            Self::MediaType => ErrorCode::UnsupportedMediaType,
            Self::Request(problem) => problem.code,
            Self::UnknownModel | Self::WrongDoor => ErrorCode::ModelNotFound,
            Self::NotConfigured { .. } => ErrorCode::ProviderNotConfigured,
            Self::Blocked(_) => ErrorCode::PhiBlocked,
            Self::NotCovered(_) => ErrorCode::ProviderNotCovered,
            Self::PhiInReply(_) => ErrorCode::PhiInReply,
            Self::AuditUnavailable => ErrorCode::AuditUnavailable,
            Self::PolicyUnavailable => ErrorCode::PolicyUnavailable,
            Self::DetectorUnavailable | Self::DetectorBusy | Self::ReplyNotScanned => {
                ErrorCode::DetectorUnavailable
            }
            Self::Provider(failure) => failure.kind.code(),
        }
    }

    /// Whether PHI in the request is why it was refused.
    pub(crate) fn is_about_phi(&self) -> bool {
        let is_stuck = |problem: &RequestError| problem.code == ErrorCode::PhiNotRewritable;
        match self {
            Self::Blocked(_) | Self::NotCovered(_) => true,
            Self::Request(problem) => is_stuck(problem),
            _ => false,
        }
    }

    /// The error as it is written.
    pub fn body(&self) -> ErrorBody {
        if let Self::Edge(error) = self {
            return error.body();
        }
        let mut body = ErrorBody::new(self.status(), self.code(), self.message());
        body.param = self.param();
        body.retry_after_s = self.retry_after_s();
        if let Self::RateLimited { .. } = self {
            body.written = Some(RATE_LIMITED.clone());
        }
        if let Self::Blocked(kinds) | Self::NotCovered(kinds) | Self::PhiInReply(kinds) = self {
            let codes: Vec<&str> = kinds.iter().map(|kind| kind.code()).collect();
            body.extra
                .insert("phi_types".into(), serde_json::json!(codes));
        }
        body
    }

    fn message(&self) -> Cow<'static, str> {
        let message = match self {
            Self::Request(problem) => return problem.message.clone().into(),
            Self::NotConfigured { family } => return not_configured(*family).into(),
            Self::Provider(failure) => return provider(failure),
            Self::MissingKey => "send your API key as Authorization: Bearer phg_…, or as x-api-key",
            Self::InvalidKey => "the API key is malformed, unknown, revoked or expired",
            Self::RateLimited { .. } => "too many requests: wait before trying again",
            Self::MediaType => "send the body as Content-Type: application/json",
            Self::UnknownModel => UNKNOWN_MODEL,
            Self::WrongDoor => WRONG_DOOR,
            Self::Blocked(_) => BLOCKED,
            Self::NotCovered(_) => NOT_COVERED,
            Self::PhiInReply(_) => WITHHELD,
            Self::ReplyNotScanned => "the reply could not be scanned, so it is withheld",
            Self::AuditUnavailable => AUDIT_UNAVAILABLE,
            Self::PolicyUnavailable => POLICY_UNAVAILABLE,
            Self::DetectorUnavailable => {
                "the request could not be scanned, so nothing was forwarded"
            }
            Self::DetectorBusy => DETECTOR_BUSY,
            Self::ScansWaiting => SCANS_WAITING,
            Self::Edge(_) => "the request was refused",
        };
        message.into()
    }

    fn param(&self) -> Option<String> {
        match self {
            Self::Request(problem) => problem.param.clone(),
            Self::UnknownModel | Self::WrongDoor | Self::NotConfigured { .. } => {
                Some("model".into())
            }
            Self::Provider(failure) => failure.param.clone(),
            _ => None,
        }
    }

    fn retry_after_s(&self) -> Option<u64> {
        match self {
            Self::RateLimited { retry_after_s } => Some(*retry_after_s),
            Self::DetectorBusy | Self::ScansWaiting => Some(DETECTOR_BUSY_S),
            Self::Provider(failure) => failure.retry_after_s,
            _ => None,
        }
    }
}

const BLOCKED: &str = "the request was blocked because protected health information (PHI) was detected in its content";
const UNKNOWN_MODEL: &str = "no provider of this account serves this model: GET /v1/models lists those that can be asked for, and an owner adds others to a provider's models under Providers (or with phigate provider set NAME --models LIST)";
const WRONG_DOOR: &str = "the providers of this model do not take requests in this format: ask for the model at /v1/chat/completions, or for another model here";
const NOT_COVERED: &str = "protected health information was detected, and no provider of this model may have it under its agreement";
const WITHHELD: &str = "the reply was withheld because it holds protected health information that was not in the request";
const AUDIT_UNAVAILABLE: &str =
    "the audit record could not be written, so nothing was forwarded: try again shortly";
const POLICY_UNAVAILABLE: &str = "the account's policy cannot be read, so nothing was forwarded: its operator restores the store";
const DETECTOR_BUSY: &str =
    "the request waited too long to be scanned, so nothing was forwarded: try again shortly";
const SCANS_WAITING: &str =
    "too many large requests of this account are waiting to be scanned: try again shortly";

fn not_configured(family: ProviderKind) -> String {
    format!("no provider key is set for {family}: the account's owner sets it under Providers")
}

fn provider(failure: &ProviderFailure) -> Cow<'static, str> {
    let words = failure.provider_message.as_ref();
    match words.map(|words| first_line(words.expose())) {
        Some(words) => format!("{}; it said: {words}", failure.kind.message()).into(),
        None => Cow::Borrowed(failure.kind.message()),
    }
}

/// A provider's explanation is a sentence; a longer text is cut.
fn first_line(words: &str) -> String {
    const CHARACTERS_MAX: usize = 500;
    words
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(CHARACTERS_MAX)
        .collect()
}

impl IntoResponse for GatewayError {
    fn into_response(self) -> Response {
        self.body().into_response()
    }
}

impl From<EdgeError> for GatewayError {
    fn from(error: EdgeError) -> Self {
        Self::Edge(error)
    }
}

impl From<Limited> for GatewayError {
    fn from(limited: Limited) -> Self {
        Self::RateLimited {
            retry_after_s: limited.retry_after_s,
        }
    }
}

impl From<NoPlace> for GatewayError {
    fn from(reason: NoPlace) -> Self {
        match reason {
            NoPlace::QueueFull => Self::ScansWaiting,
            NoPlace::WaitedTooLong => Self::DetectorBusy,
        }
    }
}

impl From<RequestError> for GatewayError {
    fn from(error: RequestError) -> Self {
        Self::Request(error)
    }
}

impl From<StoreError> for GatewayError {
    /// Maps every store failure to one answer: nothing was forwarded.
    fn from(_: StoreError) -> Self {
        Self::AuditUnavailable
    }
}

impl From<AdmitError> for GatewayError {
    fn from(error: AdmitError) -> Self {
        match error {
            AdmitError::Missing => Self::MissingKey,
            AdmitError::Malformed
            | AdmitError::Token { .. }
            | AdmitError::Unknown
            | AdmitError::WrongSecret { .. }
            | AdmitError::Revoked { .. }
            | AdmitError::Expired { .. } => Self::InvalidKey,
            AdmitError::Store(error) if error.is_about_stored() => Self::PolicyUnavailable,
            AdmitError::Store(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prewritten_error_body_equals_fresh_rendering() {
        let error = GatewayError::RateLimited { retry_after_s: 7 }.body();
        let anew = error.to_json(ErrorFormat::OpenAi, None);
        assert_eq!(error.written, Some(anew));
        assert_eq!(error.retry_after_s, Some(7));
    }
}
