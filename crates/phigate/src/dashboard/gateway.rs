//! What the pages ask of the gateway itself: try a provider, and say how fast it is.

use std::time::Instant;

use bytes::Bytes;
use http::{Method, StatusCode};
use phigate_core::wire::WireFormat;
use phigate_store::Account;

use crate::app::App;
use crate::pipeline::provider_headers;
use crate::provider::{BaseUrl, Outgoing, ProviderError};

/// What came of trying a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trial {
    /// It answered and takes the key.
    Works {
        /// How long it took.
        took_ms: u64,
    },
    /// It answered, but not with what we asked for.
    Unexpected {
        /// The status it gave.
        status: u16,
    },
    /// It does not take the key.
    WrongKey,
    /// No answer, and why.
    Failed(ProviderError),
    /// The stored address is not allowed.
    WrongAddress(String),
    /// No key is stored.
    NotSet,
}

/// Asks a provider for its list of models with the stored key: it costs nothing, and needs a right key.
pub(crate) async fn try_provider(app: &App, account: &Account, format: &dyn WireFormat) -> Trial {
    let Some(provider) = account.providers.get(format.id()) else {
        return Trial::NotSet;
    };
    let address = provider
        .base_url
        .as_deref()
        .unwrap_or(format.default_base_url());
    let base = match BaseUrl::parse(address, app.config.allow_private_providers) {
        Ok(base) => base,
        Err(error) => return Trial::WrongAddress(error.to_string()),
    };
    let probe = format.probe();
    let call = Outgoing {
        account: &account.id,
        base: &base,
        method: Method::GET,
        path: probe.path.map(str::to_owned).to_vec(),
        query: None,
        headers: provider_headers(probe.headers, &provider.key),
        body: Bytes::new(),
    };
    let started = Instant::now();
    match app.provider.probe(call).await {
        Ok(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::BAD_REQUEST) => {
            Trial::WrongKey
        }
        Ok(status) if status.is_success() => Trial::Works {
            took_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        },
        Ok(status) => Trial::Unexpected {
            status: status.as_u16(),
        },
        Err(error) => Trial::Failed(error),
    }
}
