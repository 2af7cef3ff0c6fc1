//! The settings file as written: every key optional, unknown keys refused.

use std::path::PathBuf;

use phigate_types::RawLimits;
use serde::Deserialize;

use super::ConfigError;
use super::alerts::RawAlerts;
use super::checkpoint::RawCheckpoint;
use super::log::RawLog;
use super::otel::RawOtel;
use super::store::RawStore;
use super::tls::RawTls;

/// `phigate.toml`, with environment and flags laid over it by the loader.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawConfig {
    pub(super) listen: Option<String>,
    pub(super) metrics_listen: Option<String>,
    pub(super) presidio_listen: Option<String>,
    pub(super) presidio_account: Option<String>,
    pub(super) behind_tls_proxy: Option<bool>,
    pub(super) trusted_proxies: Vec<String>,
    pub(super) public_hosts: Vec<String>,
    pub(super) data: Option<PathBuf>,
    pub(super) database_url: Option<super::DatabaseUrl>,
    pub(super) master_key_file: Option<PathBuf>,
    pub(super) master_key_env: Option<String>,
    pub(super) master_key_command: Option<String>,
    pub(super) allow_private_providers: Option<bool>,
    pub(super) allow_ambient_credentials: Option<bool>,
    pub(super) provider_ca_file: Option<PathBuf>,
    pub(super) tls: RawTls,
    pub(super) log: RawLog,
    pub(super) store: RawStore,
    pub(super) checkpoint: RawCheckpoint,
    pub(super) otel: RawOtel,
    pub(super) alerts: RawAlerts,
    pub(super) limits: RawLimits,
}

impl RawConfig {
    /// Reads a table whose keys have not been validated.
    pub(super) fn from_table(
        table: toml::Table,
        origin: &'static str,
    ) -> Result<Self, ConfigError> {
        Self::deserialize(toml::Value::Table(table)).map_err(|error| ConfigError::Unreadable {
            origin,
            reason: reason(error.message()),
        })
    }
}

/// The reason of an error, without the offending value, which may be a misplaced secret.
///
/// Messages about unknown keys name keys only; all others quote the value.
pub(super) fn reason(message: &str) -> String {
    if message.starts_with("unknown field") || message.starts_with("duplicate key") {
        return message.replace("unknown field", "unknown setting");
    }
    match message.rsplit_once("expected ") {
        Some((_, expected)) if !expected.contains(['"', '`']) => {
            format!("wrong type, expected {expected}")
        }
        _ => "not valid TOML or a value of the wrong type".to_owned(),
    }
}
