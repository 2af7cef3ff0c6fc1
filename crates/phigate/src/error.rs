//! Everything a caller can be told, with its status and code.
//!
//! One variant per thing that can be said. Messages are ours: none quotes what
//! a caller or a provider sent, except a provider's own explanation after the
//! same scan that the request went through.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use phi_detect::PhiKind;
use phigate_core::chat::RequestError;
use phigate_core::wire::ProviderFailure;
use phigate_store::{AdmitError, StoreError};
use phigate_types::ErrorCode;

use crate::pipeline::NoPlace;
use crate::server::{EdgeError, ErrorBody, Limited};

/// Who is to blame, as `error.type` says it.
const CALLER: &str = "invalid_request_error";
const GATEWAY: &str = "gateway_error";
const RATE: &str = "rate_limit_error";

/// When it is worth asking again while long scans wait for each other.
const DETECTOR_BUSY_S: u64 = 5;

/// Why a request was not answered as asked.
#[derive(Debug)]
pub(crate) enum GatewayError {
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
    /// Not `application/json`.
    MediaType,
    /// The body is not a request we can take.
    Request(RequestError),
    /// No family serves this model.
    UnknownModel,
    /// The family's provider has no key.
    NotConfigured {
        /// The family.
        family: &'static str,
    },
    /// PHI in block mode.
    Blocked(Vec<PhiKind>),
    /// New PHI in a reply that is to be withheld.
    PhiInReply(Vec<PhiKind>),
    /// The reply could not be scanned, so it is withheld.
    ReplyNotScanned,
    /// The decision could not be recorded, so nothing was forwarded.
    AuditUnavailable,
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
    /// The error as it is written.
    pub(crate) fn body(&self) -> ErrorBody {
        match self {
            Self::Edge(error) => error.body(),
            Self::MissingKey => error(
                401,
                CALLER,
                "missing_api_key",
                "send your API key as Authorization: Bearer phg_…",
            ),
            Self::InvalidKey => error(
                401,
                CALLER,
                "invalid_api_key",
                "the API key is malformed, unknown, revoked or expired",
            ),
            Self::RateLimited { retry_after_s } => {
                let mut body = error(
                    429,
                    RATE,
                    "rate_limit_exceeded",
                    "too many requests: wait before trying again",
                );
                body.retry_after_s = Some(*retry_after_s);
                body
            }
            Self::MediaType => error(
                415,
                CALLER,
                "unsupported_media_type",
                "send the body as Content-Type: application/json",
            ),
            Self::Request(problem) => {
                let mut body = ErrorBody::new(
                    StatusCode::BAD_REQUEST,
                    CALLER,
                    problem.code,
                    problem.message.clone(),
                );
                body.param.clone_from(&problem.param);
                body
            }
            Self::UnknownModel => {
                let mut body = error(
                    404,
                    CALLER,
                    "model_not_found",
                    "no provider family serves this model",
                );
                body.param = Some("model".into());
                body
            }
            Self::NotConfigured { family } => not_configured(family),
            Self::Blocked(kinds) => phi_error(
                ErrorCode::PhiBlocked,
                "the request was blocked because protected health information was detected in its content",
                kinds,
            ),
            Self::PhiInReply(kinds) => phi_error(
                ErrorCode::PhiInReply,
                "the reply was withheld because it holds protected health information that was not in the request",
                kinds,
            ),
            Self::ReplyNotScanned => error(
                503,
                GATEWAY,
                "detector_unavailable",
                "the reply could not be scanned, so it is withheld",
            ),
            Self::AuditUnavailable => error(
                503,
                GATEWAY,
                "audit_unavailable",
                "the audit record could not be written, so nothing was forwarded: try again shortly",
            ),
            Self::DetectorUnavailable => error(
                503,
                GATEWAY,
                "detector_unavailable",
                "the request could not be scanned, so nothing was forwarded",
            ),
            Self::DetectorBusy => {
                let mut body = error(
                    503,
                    GATEWAY,
                    "detector_unavailable",
                    "the request waited too long to be scanned, so nothing was forwarded: try again shortly",
                );
                body.retry_after_s = Some(DETECTOR_BUSY_S);
                body
            }
            Self::ScansWaiting => {
                let mut body = error(
                    429,
                    RATE,
                    "rate_limit_exceeded",
                    "too many large requests of this account wait to be scanned: try again shortly",
                );
                body.retry_after_s = Some(DETECTOR_BUSY_S);
                body
            }
            Self::Provider(failure) => provider(failure),
        }
    }

    /// The status the caller gets.
    pub(crate) fn status(&self) -> u16 {
        self.body().status.as_u16()
    }

    /// The code the caller gets, also kept in the record.
    pub(crate) fn code(&self) -> &'static str {
        self.body().code
    }
}

fn error(status: u16, kind: &'static str, code: &'static str, message: &'static str) -> ErrorBody {
    let status = StatusCode::from_u16(status).expect("every status here is written out above");
    ErrorBody::new(status, kind, code, message)
}

fn not_configured(family: &str) -> ErrorBody {
    let message =
        format!("no provider key is set for {family}: the account's owner sets it under Providers");
    let mut body = ErrorBody::new(
        StatusCode::BAD_REQUEST,
        CALLER,
        "provider_not_configured",
        message,
    );
    body.param = Some("model".into());
    body
}

fn phi_error(code: ErrorCode, message: &'static str, kinds: &[PhiKind]) -> ErrorBody {
    let mut body = error(code.status(), code.blame().word(), code.code(), message);
    let codes: Vec<&str> = kinds.iter().map(|kind| kind.code()).collect();
    body.extra
        .insert("phi_types".into(), serde_json::json!(codes));
    body
}

fn provider(failure: &ProviderFailure) -> ErrorBody {
    let kind = failure.kind;
    let status = StatusCode::from_u16(kind.status()).unwrap_or(StatusCode::BAD_GATEWAY);
    let words = failure
        .provider_message
        .as_ref()
        .map(|words| first_line(words.expose()));
    let message = match words {
        Some(words) => format!("{}; it said: {words}", kind.message()).into(),
        None => Cow::Borrowed(kind.message()),
    };
    let mut body = ErrorBody::new(status, kind.error_type(), kind.code(), message);
    body.param.clone_from(&failure.param);
    body.retry_after_s = failure.retry_after_s;
    body
}

/// A provider's explanation is a sentence; what is longer is no explanation.
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
    /// Whatever is wrong with the store, a caller is told one thing: nothing was forwarded.
    fn from(_: StoreError) -> Self {
        Self::AuditUnavailable
    }
}

impl From<AdmitError> for GatewayError {
    fn from(error: AdmitError) -> Self {
        match error {
            AdmitError::Missing => Self::MissingKey,
            AdmitError::Malformed
            | AdmitError::Unknown
            | AdmitError::Revoked { .. }
            | AdmitError::Expired { .. } => Self::InvalidKey,
            AdmitError::Store(error) => error.into(),
        }
    }
}
