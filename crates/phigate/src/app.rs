//! State of a running gateway: settings, store, the gateway itself, metrics.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use jiff::Timestamp;
use phigate_dashboard::Server;
use phigate_edge::Drain;
use phigate_gateway::{Gateway, Metrics, ProviderSettings};
use phigate_store::{Options, Target, Vault};

use crate::config::{self, Config};

/// Time that a stopping process waits for its last records to be written.
pub(crate) const CLOSING: Duration = Duration::from_secs(20);

/// Purpose for which a process opens the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// One command.
    Command,
    /// Answering requests: it also closes requests that ended processes left open.
    Server,
}

/// Opens the store that the settings name, creating it if it does not exist.
pub(crate) async fn open_vault(config: &Config, role: Role) -> anyhow::Result<Vault> {
    Ok(Vault::open(vault_options(config, role)).await?)
}

/// Options of the store from the settings.
pub(crate) fn vault_options(config: &Config, role: Role) -> Options {
    let target = match &config.database_url {
        Some(url) => Target::Url(url.expose().to_owned()),
        None => Target::Folder(config.data.clone()),
    };
    let master_key = match &config.master_key {
        config::MasterKeySource::File(path) => phigate_store::MasterKeySource::File(path.clone()),
        config::MasterKeySource::Env(name) => phigate_store::MasterKeySource::Env(name.clone()),
        config::MasterKeySource::Command(command) => {
            phigate_store::MasterKeySource::Command(command.clone())
        }
    };
    Options {
        serve: role == Role::Server,
        decision_limit: Duration::from_millis(config.limits.decision_ms),
        standbys: config.store.standbys,
        login_failures: u32::try_from(config.limits.login_failures).unwrap_or(u32::MAX),
        ..Options::new(target, master_key)
    }
}

/// A running gateway with the parts that servers, pages and background tasks use.
pub(crate) struct App {
    pub(crate) config: Arc<Config>,
    pub(crate) vault: Arc<Vault>,
    /// The one way to detectors and providers.
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) drain: Drain,
    /// Start time of this process.
    pub(crate) started: Timestamp,
}

impl App {
    /// Puts the parts together.
    pub(crate) fn new(
        config: Config,
        vault: Vault,
        drain: Drain,
        started: Timestamp,
    ) -> anyhow::Result<Self> {
        let (vault, metrics) = (Arc::new(vault), Metrics::new());
        // The store was opened just now.
        metrics.store_is_up(true);
        let providers = ProviderSettings {
            allow_private: config.allow_private_providers,
            allow_ambient: config.allow_ambient_credentials,
            ca_file: config.provider_ca_file.as_deref(),
        };
        let gateway = Gateway::new(
            &config.limits,
            providers,
            Arc::clone(&vault),
            Arc::clone(&metrics),
            drain.clone(),
        )
        .context("cannot prepare connections to providers")?;
        Ok(Self {
            config: Arc::new(config),
            vault,
            gateway,
            metrics,
            drain,
            started,
        })
    }

    /// State that the pages use.
    pub(crate) fn for_pages(&self) -> Server {
        Server {
            vault: self.vault.as_ref().into(),
            gateway: Arc::clone(&self.gateway),
            metrics: Arc::clone(&self.metrics),
            limits: self.config.limits,
            checkpoint_files: self.config.checkpoint.files.clone(),
            is_secure: self.config.is_sealed(),
        }
    }
}
