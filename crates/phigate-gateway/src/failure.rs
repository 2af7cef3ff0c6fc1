//! Errors that a caller receives when a provider fails or refuses.

use std::collections::BTreeMap;

use http::{StatusCode, header};
use phigate_auth::AuthError;
use phigate_core::protect;
use phigate_core::text::PhiText;
use phigate_core::wire::{FailureKind, ProviderFailure, WireFormat};
use phigate_store::{Account, Provider};
use phigate_types::Mode;

use crate::error::GatewayError;
use crate::gateway::Gateway;
use crate::provider::{Incoming, ProviderError};

/// Failure to report when a provider did not answer completely.
pub(crate) fn failure(error: ProviderError) -> ProviderFailure {
    ProviderFailure::new(match error {
        ProviderError::NotAuthorized | ProviderError::Token(AuthError::Refused(_)) => {
            FailureKind::AuthFailed
        }
        ProviderError::Timeout => FailureKind::Timeout,
        ProviderError::Unreachable
        | ProviderError::Forbidden
        | ProviderError::Token(AuthError::Unreachable | AuthError::Timeout) => {
            FailureKind::Unreachable
        }
        ProviderError::Unsendable
        | ProviderError::Token(AuthError::Unreadable)
        | ProviderError::TooLarge
        | ProviderError::Redirect
        | ProviderError::Broken => FailureKind::Error,
    })
}

/// Failure of a provider as an error of the gateway.
pub(crate) fn failed(error: ProviderError) -> GatewayError {
    GatewayError::Provider(failure(error))
}

/// Whether another provider is asked after this status: the provider is overloaded or broken, and the request is not
/// to blame.
pub(crate) fn may_fall_back(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error()
}

/// Whether another provider may be asked after this failure of a started answer. The caller has received nothing yet,
/// so the failure counts like the corresponding status.
fn may_be_asked_elsewhere(kind: FailureKind) -> bool {
    match kind {
        FailureKind::RateLimited
        | FailureKind::Error
        | FailureKind::CutStream
        | FailureKind::Unreachable
        | FailureKind::Timeout
        | FailureKind::Overloaded => true,
        FailureKind::Rejected(_) | FailureKind::Filtered | FailureKind::AuthFailed => false,
    }
}

/// Failure of a request before the caller received anything.
#[derive(Debug)]
pub(crate) struct Unanswered {
    pub(crate) error: GatewayError,
    /// Whether another provider may be asked.
    pub(crate) may_fall_back: bool,
}

impl From<ProviderError> for Unanswered {
    fn from(error: ProviderError) -> Self {
        Self {
            error: failed(error),
            may_fall_back: error.may_fall_back(),
        }
    }
}

impl From<ProviderFailure> for Unanswered {
    fn from(failure: ProviderFailure) -> Self {
        Self {
            may_fall_back: may_be_asked_elsewhere(failure.kind),
            error: GatewayError::Provider(failure),
        }
    }
}

impl From<GatewayError> for Unanswered {
    /// Rules out a fallback for the gateway's errors: another provider cannot fix them.
    fn from(error: GatewayError) -> Self {
        Self {
            error,
            may_fall_back: false,
        }
    }
}

/// A provider's refusal. Its own words may quote the prompt, so they are scanned before they are passed on.
pub(crate) async fn refused(
    gateway: &Gateway,
    account: &Account,
    provider: Option<&Provider>,
    format: &dyn WireFormat,
    incoming: Incoming,
) -> GatewayError {
    let status = incoming.status.as_u16();
    let retry_after = incoming.headers.get(header::RETRY_AFTER).cloned();
    let retry_after = retry_after.as_ref().and_then(|value| value.to_str().ok());
    let body = incoming.body.read_all().await.unwrap_or_default();
    let mut failure = format.read_failure(status, retry_after, &body);
    let words = failure.provider_message.take();
    let words = words.filter(|words| may_be_told(provider, failure.kind, words));
    failure.provider_message = words.and_then(|words| without_phi(gateway, account, &words));
    GatewayError::Provider(failure)
}

/// Whether a provider's explanation may be shown: only a rejection helps its caller, and it must not quote our
/// credentials.
fn may_be_told(provider: Option<&Provider>, kind: FailureKind, words: &PhiText) -> bool {
    let secret = provider.and_then(|provider| provider.secret.as_ref());
    let quotes = secret.is_some_and(|secret| quotes_secret(words.expose(), secret.expose()));
    matches!(kind, FailureKind::Rejected(_) | FailureKind::Filtered) && !quotes
}

/// Whether words hold a secret, or a part of one that is a document.
fn quotes_secret(words: &str, secret: &str) -> bool {
    const PART_BYTES_MIN: usize = 8;
    let document: Option<BTreeMap<String, serde_json::Value>> = serde_json::from_str(secret).ok();
    let parts = document
        .iter()
        .flatten()
        .filter_map(|(_, part)| part.as_str());
    let mut parts = parts.filter(|part| part.len() >= PART_BYTES_MIN);
    words.contains(secret) || parts.any(|part| words.contains(part))
}

/// A provider's words with every finding masked, in every mode.
fn without_phi(gateway: &Gateway, account: &Account, words: &PhiText) -> Option<PhiText> {
    let scanner = gateway.scanners.of(account).ok()?;
    let masked = protect::rewrite_text(Mode::MASK, scanner.detector(), words.expose());
    Some(PhiText::new(masked.unwrap_or_default()))
}
