//! What the administrative commands share: the store, opened for one command, and the account it acts on.

use std::future::Future;
use std::sync::Arc;

use anyhow::Context;
use jiff::Timestamp;
use phigate_store::{AccountInfo, Vault};

use crate::app;
use crate::config::Config;

use super::Global;

/// Who acts, in the audit trail.
pub(super) const ACTOR: &str = "cli";

/// An open store and the settings it was found by.
pub(super) struct Session {
    pub(super) vault: Arc<Vault>,
    pub(super) config: Config,
    account: Option<String>,
}

impl Session {
    /// The account to act on: the one named, or the only one.
    pub(super) async fn account(&self) -> anyhow::Result<AccountInfo> {
        let found = self
            .vault
            .accounts
            .find_account(self.account.as_deref())
            .await;
        found.context("choose an account with --account NAME; `phigate account list` shows them")
    }
}

/// Opens the store, creating it if there is none, runs `work` and closes the store, so that nothing queued is lost.
pub(super) fn with_store<T, F>(
    global: &Global,
    work: impl FnOnce(Session) -> F,
) -> anyhow::Result<T>
where
    F: Future<Output = anyhow::Result<T>>,
{
    let config = Config::load(global.flags())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let vault = Arc::new(app::open_vault(&config, app::Role::Command).await?);
        let session = Session {
            vault: Arc::clone(&vault),
            config,
            account: global.account.clone(),
        };
        let result = work(session).await;
        vault.close(app::CLOSING).await?;
        result
    })
}

/// A moment as all lists of the command line write it.
pub(super) fn to_the_second(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
