//! Trying a provider: does it answer, and does it take its key? Nothing of a caller is sent.

use std::time::Instant;

use http::StatusCode;
use phigate_core::wire::{self, Site};
use phigate_store::Account;

use crate::gateway::Gateway;
use crate::provider::{Authorizer, BaseUrl, Destination, ProviderError};

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

impl Trial {
    /// Whether the provider can be used.
    pub fn works(&self) -> bool {
        matches!(self, Self::Works { .. })
    }

    /// What came of it, in a few words, and what to do.
    pub fn in_words(&self) -> (&'static str, String) {
        match self {
            Self::Works { took_ms } => (
                "Connection works",
                format!("It answered in {took_ms} ms and takes the key."),
            ),
            Self::WrongKey => (
                "The provider refuses the key",
                "Check that it was copied whole, is still active and may use this API. Then replace it here.".to_owned(),
            ),
            Self::Unexpected { status } => (
                "It answers, but not as expected",
                format!("Status {status}. If you set a base URL, check that it is the root of the provider’s API."),
            ),
            Self::Failed(error) => (
                "No connection",
                format!("{error}: check the base URL, and that this server may reach it."),
            ),
            Self::WrongAddress(why) => ("The base URL cannot be used", why.clone()),
            Self::NotSet => ("No key is stored", "Set a key first.".to_owned()),
        }
    }
}

impl Gateway {
    /// Asks a provider for its list of models with the stored key: it costs nothing, and needs a right key.
    pub async fn try_provider(&self, account: &Account, name: &str, _model: Option<&str>) -> Trial {
        let Some(provider) = account.providers.get(name) else {
            return Trial::NotSet;
        };
        let config = &provider.config;
        let Some(probe) = wire::probe_of_kind(&Site::new(config.kind, "")) else {
            return Trial::NotSet;
        };
        let address = config.address().unwrap_or_default();
        let base = match BaseUrl::parse(&address, self.allow_private_providers) {
            Ok(base) => base,
            Err(error) => return Trial::WrongAddress(error.to_string()),
        };
        let destination = Destination::new(base, probe.headers, Authorizer::new(provider));
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
