//! Credentials on requests to a provider, added last, just before the request is sent.

use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Request, StatusCode, Uri};
use phigate_auth::{Scheme, ToSign};
use phigate_store::{Provider, ProviderConfig, SecretString};
use phigate_types::AuthMethod;

use super::identities::{Claim, Identities, Shown};
use super::sent::Sent;
use super::{Incoming, ProviderError};

/// The credentials for one call, made from the provider's current entry.
#[derive(Clone)]
pub(crate) enum Authorizer {
    /// No credentials are needed.
    Nothing,
    /// A key in a header.
    Header(HeaderName, HeaderValue),
    /// A signature or a token.
    Identity(Box<Claim>),
    /// No valid secret is stored, so the call cannot be authorised.
    Impossible,
}

impl Authorizer {
    /// The credentials in a provider's entry.
    pub(crate) fn new(provider: &Provider) -> Self {
        if let Some(scheme) = scheme_of(&provider.config) {
            let secret = provider.secret.clone();
            return Self::Identity(Box::new(Claim { scheme, secret }));
        }
        let key = provider.secret.as_ref().map(SecretString::expose);
        match (provider.config.auth(), key) {
            (AuthMethod::None, _) => Self::Nothing,
            (AuthMethod::Bearer, Some(key)) => {
                Self::header(AUTHORIZATION, &["Bearer ", key].concat())
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

    /// Adds the credentials to a request that is otherwise complete. Returns the proof that can be renewed, if any.
    pub(super) async fn authorize(
        &self,
        identities: &Identities,
        account: &str,
        request: &mut Request<Sent>,
        body: &[u8],
    ) -> Result<Option<Shown>, ProviderError> {
        match self {
            Self::Nothing => Ok(None),
            Self::Header(name, value) => {
                request.headers_mut().insert(name, value.clone());
                Ok(None)
            }
            Self::Identity(claim) => {
                let content_type = request.headers().get(CONTENT_TYPE);
                let content_type = content_type.and_then(|value| value.to_str().ok());
                let covered = content_type.map(|value| ("content-type", value));
                let call = ToSign {
                    method: request.method().as_str(),
                    uri: request.uri(),
                    headers: covered.as_slice(),
                    body,
                };
                let (headers, shown) = identities.show(account, claim, &call).await?;
                request.headers_mut().extend(headers);
                Ok(Some(shown))
            }
            Self::Impossible => Err(ProviderError::NotAuthorized),
        }
    }
}

/// The way to sign or to get tokens, if the provider requires more than a key.
pub(crate) fn scheme_of(config: &ProviderConfig) -> Option<Scheme> {
    let token_url = config.token_url.clone();
    match config.auth() {
        AuthMethod::Aws => Some(Scheme::Aws {
            region: config.region.clone().unwrap_or_default(),
            token_url,
        }),
        AuthMethod::Entra => Some(Scheme::Entra {
            tenant: config.tenant.clone(),
            client_id: config.client_id.clone(),
            token_url,
            host: host_of(config).unwrap_or_default(),
        }),
        AuthMethod::Google => Some(Scheme::Google { token_url }),
        AuthMethod::Bearer | AuthMethod::Key | AuthMethod::None => None,
    }
}

fn host_of(config: &ProviderConfig) -> Option<String> {
    let address: Uri = config.address()?.trim().parse().ok()?;
    address.host().map(str::to_ascii_lowercase)
}

/// Whether the provider refused the token or the credentials, so that new ones may help. AWS refuses with 403.
pub(super) fn was_refused(answer: &Incoming) -> bool {
    let is_expired = || {
        let kind = answer.headers.get("x-amzn-errortype");
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        kind.starts_with("ExpiredToken") || kind.starts_with("UnrecognizedClient")
    };
    match answer.status {
        StatusCode::UNAUTHORIZED => true,
        StatusCode::FORBIDDEN => is_expired(),
        _ => false,
    }
}
