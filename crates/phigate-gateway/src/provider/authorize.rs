//! What proves to a provider who asks. It is put on each request last, just before the request leaves.

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue, Request};
use http_body_util::Full;
use phigate_store::Provider;
use phigate_types::AuthMethod;

use super::ProviderError;

/// Puts a provider's proof on requests. One is made for each call, from the entry as it stands.
#[derive(Clone)]
pub(crate) enum Authorizer {
    /// There is nothing to prove.
    Nothing,
    /// A key stands in a header.
    Header(HeaderName, HeaderValue),
    /// There is no way to prove anything: no secret is stored, or it cannot be one.
    Impossible,
}

impl Authorizer {
    /// The proof that a provider's entry holds.
    pub(crate) fn new(provider: &Provider) -> Self {
        let key = provider.secret.as_ref().map(|secret| secret.expose());
        match (provider.config.auth(), key) {
            (AuthMethod::None, _) => Self::Nothing,
            (AuthMethod::Bearer, Some(key)) => {
                Self::header(AUTHORIZATION, &format!("Bearer {key}"))
            }
            (AuthMethod::Key, Some(key)) => {
                let name = HeaderName::from_static(provider.config.kind.key_header());
                Self::header(name, key)
            }
            _ => Self::Impossible,
        }
    }

    fn header(name: HeaderName, text: &str) -> Self {
        match HeaderValue::from_str(text) {
            Ok(mut value) => {
                value.set_sensitive(true);
                Self::Header(name, value)
            }
            Err(_) => Self::Impossible,
        }
    }

    /// Puts the proof on a request that is complete apart from it.
    pub(super) async fn authorize(
        &self,
        request: &mut Request<Full<Bytes>>,
    ) -> Result<(), ProviderError> {
        match self {
            Self::Nothing => Ok(()),
            Self::Header(name, value) => {
                request.headers_mut().insert(name, value.clone());
                Ok(())
            }
            Self::Impossible => Err(ProviderError::NotAuthorized),
        }
    }
}
