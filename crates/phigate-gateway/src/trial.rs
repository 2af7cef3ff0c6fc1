//! Trying a provider: does it answer, and does it take its key? Nothing of a caller is sent.

use std::time::Instant;

use http::StatusCode;
use phigate_core::wire::WireFormat;
use phigate_store::Account;

use crate::gateway::Gateway;
use crate::provider::{BaseUrl, Destination, ProviderError};

/// What came of trying a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trial {
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

impl Gateway {
    /// Asks a provider for its list of models with the stored key: it costs nothing, and needs a right key.
    pub async fn try_provider(&self, account: &Account, format: &dyn WireFormat) -> Trial {
        let Some(provider) = account.providers.get(format.id()) else {
            return Trial::NotSet;
        };
        let address = provider
            .base_url
            .as_deref()
            .unwrap_or(format.default_base_url());
        let base = match BaseUrl::parse(address, self.allow_private_providers) {
            Ok(base) => base,
            Err(error) => return Trial::WrongAddress(error.to_string()),
        };
        let probe = format.probe();
        let destination = Destination::new(base, (probe.headers, &[]), &provider.key);
        let started = Instant::now();
        match self.provider.probe(&account.id, destination, probe).await {
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
}
