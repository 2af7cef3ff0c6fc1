//! Shared parts of the administrative commands: the store, opened for one command, and the account.

use std::future::Future;
use std::sync::Arc;

use anyhow::Context;
use jiff::Timestamp;
use phigate_gateway::SetupRules;
use phigate_store::{AccountInfo, StoreError, Vault, reason};

use crate::app;
use crate::config::Config;

use super::Global;
use super::instance::running;
use super::person::actor;

/// An open store, its settings, and the actor.
pub(super) struct Session {
    pub(super) vault: Arc<Vault>,
    pub(super) config: Config,
    pub(super) actor: &'static str,
    account: Option<String>,
}

impl Session {
    /// The account to act on: the one named, or the only one.
    pub(super) async fn account(&self) -> anyhow::Result<AccountInfo> {
        let name = self.account.as_deref();
        let found = self.vault.accounts.find_account(name).await;
        found.map_err(|error| match (error, name) {
            (StoreError::Invalid { .. }, None) => anyhow::anyhow!(
                "there are several accounts: choose one with --account NAME; `phigate account list` shows them"
            ),
            (error, Some(name)) => {
                anyhow::Error::from(error).context(format!("cannot act on account {name}"))
            }
            (error, None) => error.into(),
        })
    }
}

impl Session {
    /// The rules for providers: those of these settings, or of the gateway that currently serves the store.
    pub(super) fn setup_rules(&self) -> SetupRules {
        let of_gateway = match &self.config.database_url {
            Some(_) => None,
            None => running(&self.config.data),
        };
        let gateway = of_gateway.as_ref();
        SetupRules {
            allow_private: self.config.allow_private_providers
                || gateway.is_some_and(|gateway| gateway.allow_private_providers),
            allow_ambient: self.config.allow_ambient_credentials
                || gateway.is_some_and(|gateway| gateway.allow_ambient_credentials),
        }
    }
}

/// Opens the store, runs `work` and closes the store, so that queued records are written. Fails without an
/// installation. Otherwise, in the wrong folder, an empty store would give plausible wrong answers and leave a stray
/// master key behind.
pub(super) fn with_store<T, F>(
    global: &Global,
    work: impl FnOnce(Session) -> F,
) -> anyhow::Result<T>
where
    F: Future<Output = anyhow::Result<T>>,
{
    open(global, false, work)
}

/// Opens the store for commands that set something, and creates the installation if it is missing.
pub(super) fn with_new_store<T, F>(
    global: &Global,
    work: impl FnOnce(Session) -> F,
) -> anyhow::Result<T>
where
    F: Future<Output = anyhow::Result<T>>,
{
    open(global, true, work)
}

fn open<T, F>(global: &Global, create: bool, work: impl FnOnce(Session) -> F) -> anyhow::Result<T>
where
    F: Future<Output = anyhow::Result<T>>,
{
    let config = Config::load(global.flags())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut options = app::vault_options(&config, app::Role::Command);
        options.create = create;
        let vault = Vault::open(options)
            .await
            .map_err(|error| explain(error, &config))?;
        let vault = Arc::new(vault);
        if vault.was_created() {
            eprintln!("created a new installation in {}", place(&config));
        }
        let session = Session {
            vault: Arc::clone(&vault),
            config,
            actor: actor(),
            account: global.account.clone(),
        };
        let result = work(session).await;
        vault.close(app::CLOSING).await?;
        result
    })
}

/// Error: the folder has no installation.
#[derive(Debug, thiserror::Error)]
#[error(
    "there is no installation in {0}; name its folder with --data DIR, or create one with `phigate serve`"
)]
pub(super) struct NoInstallation(String);

fn explain(error: StoreError, config: &Config) -> anyhow::Error {
    match error {
        StoreError::Missing(_) => NoInstallation(place(config)).into(),
        error => error.into(),
    }
}

/// The place of the installation. A database's address may hold a password.
fn place(config: &Config) -> String {
    match &config.database_url {
        Some(_) => "the database that was named".to_owned(),
        None => config.data.display().to_string(),
    }
}

/// A time as printed in lists of the command line.
pub(super) fn to_the_second(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A reason in the form that the trail keeps.
pub(super) fn given_reason(text: &str) -> anyhow::Result<String> {
    let given = reason(text).context("a reason has 4 to 400 characters")?;
    Ok(given.to_owned())
}
