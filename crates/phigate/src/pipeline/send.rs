//! From a cleared request to a provider's answer.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use phigate_core::egress::Cleared;
use phigate_core::wire::{self, FailureKind, Header, ProviderFailure};
use phigate_store::ProviderKey;

use crate::error::GatewayError;
use crate::provider::{BaseUrl, Incoming, Outgoing, Provider, ProviderError};

/// A provider's request with its address and its key.
pub(super) struct Envelope {
    base: BaseUrl,
    path: Vec<String>,
    query: Option<&'static str>,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Bytes,
}

impl Envelope {
    /// Puts a request into the form in which it is sent.
    pub(super) fn new(base: BaseUrl, request: Cleared, key: &ProviderKey) -> Self {
        Self {
            base,
            headers: provider_headers(request.headers(), key),
            path: request.path().to_vec(),
            query: request.query(),
            body: request.into_body().into(),
        }
    }
}

/// The headers of a provider's request: the key stands in the one the format names, and nowhere else.
pub(crate) fn provider_headers(
    headers: &[Header],
    key: &ProviderKey,
) -> Vec<(HeaderName, HeaderValue)> {
    let header = |(name, value): &Header| {
        let secret = |text: &str| {
            let mut value = HeaderValue::from_str(text).ok()?;
            value.set_sensitive(true);
            Some(value)
        };
        let value = match value {
            wire::HeaderValue::Fixed(text) => Some(HeaderValue::from_static(text)),
            wire::HeaderValue::Key => secret(key.expose()),
            wire::HeaderValue::BearerKey => secret(&format!("Bearer {}", key.expose())),
        };
        Some((HeaderName::from_static(name), value?))
    };
    headers.iter().filter_map(header).collect()
}

/// Sends a request whose decision is recorded.
pub(super) async fn send(
    provider: &Provider,
    account: &str,
    envelope: Envelope,
) -> Result<Incoming, GatewayError> {
    let Envelope {
        base,
        path,
        query,
        headers,
        body,
    } = envelope;
    let outgoing = Outgoing {
        account,
        base: &base,
        method: Method::POST,
        path,
        query,
        headers,
        body,
    };
    provider.send(outgoing).await.map_err(failed)
}

/// What the caller is told when a provider could not be heard out.
pub(super) fn failure(error: ProviderError) -> ProviderFailure {
    ProviderFailure::new(match error {
        ProviderError::Timeout => FailureKind::Timeout,
        ProviderError::Unreachable | ProviderError::Forbidden => FailureKind::Unreachable,
        ProviderError::Unsendable
        | ProviderError::TooLarge
        | ProviderError::Redirect
        | ProviderError::Broken => FailureKind::Error,
    })
}

/// The same as an error of the gateway.
pub(super) fn failed(error: ProviderError) -> GatewayError {
    GatewayError::Provider(failure(error))
}
