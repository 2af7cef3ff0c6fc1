//! `[store]`: demands on the database.

use serde::Deserialize;
use toml::Value;

use super::ConfigError;

/// Most standbys that can be asked for.
const STANDBYS_MAX: u32 = 32;

/// `[store]` as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawStore {
    standbys: Option<Value>,
}

/// Demands on the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoreSettings {
    /// Standbys of PostgreSQL that must confirm each commit.
    pub(crate) standbys: u32,
}

impl RawStore {
    pub(super) fn check(&self) -> Result<StoreSettings, ConfigError> {
        let Some(given) = &self.standbys else {
            return Ok(StoreSettings { standbys: 0 });
        };
        let standbys = given.as_integer().and_then(|count| count.try_into().ok());
        match standbys.filter(|count| *count <= STANDBYS_MAX) {
            Some(standbys) => Ok(StoreSettings { standbys }),
            None => Err(ConfigError::Value {
                key: "store.standbys".to_owned(),
                expected: format!("a whole number from 0 to {STANDBYS_MAX}"),
            }),
        }
    }
}
