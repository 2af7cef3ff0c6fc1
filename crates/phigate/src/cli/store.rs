//! Shared parts of the administrative commands: the store, opened for one command, and the account.

use std::fmt::Arguments;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use jiff::Timestamp;
use phigate_gateway::SetupRules;
use phigate_store::{
    AccountInfo, AdminAdmission, NewApiKey, SecretString, StoreError, Vault, reason,
};

use crate::app::{self, App};
use crate::config::Config;

use super::Global;
use super::instance::running;
use super::person::actor;
use super::secrets::secret_from_stdin;

/// An open store, its settings, and the actor.
pub(crate) struct Session {
    pub(crate) vault: Arc<Vault>,
    pub(super) config: Arc<Config>,
    actor: String,
    account: Option<String>,
    channel: Channel,
}

/// The way in which a command is given and answered.
enum Channel {
    /// The command line: secrets come from standard input, words go to standard error.
    Terminal,
    /// A call of the admin API. Nothing is asked and nothing is printed.
    Call {
        /// Secret in the body of the call.
        secret: Option<SecretString>,
        /// Entry that the command made.
        made: Mutex<Option<Made>>,
    },
}

/// Entry that a command made under an id of the gateway's choice.
pub(crate) struct Made {
    /// Id of the entry.
    pub(crate) id: String,
    /// A new key, which the answer shows this once.
    pub(crate) key: Option<SecretString>,
}

impl Session {
    /// A session for a call of the admin API, on the account of its key.
    pub(crate) fn of_call(
        app: &App,
        admission: &AdminAdmission,
        secret: Option<SecretString>,
    ) -> Self {
        Self {
            vault: Arc::clone(&app.vault),
            config: Arc::clone(&app.config),
            actor: format!("admin key {}", admission.key_id),
            account: Some(admission.account.clone()),
            channel: Channel::Call {
                secret,
                made: Mutex::default(),
            },
        }
    }

    /// The actor, for the audit trail.
    pub(super) fn actor(&self) -> &str {
        &self.actor
    }

    /// Whether this is a call of the admin API.
    pub(super) fn is_remote(&self) -> bool {
        matches!(self.channel, Channel::Call { .. })
    }

    /// Hands out a new key: printed alone on standard output, for scripts, or part of the answer to a call.
    pub(super) fn hand_out(&self, key: &NewApiKey) {
        match &self.channel {
            Channel::Terminal => println!("{}", key.key.expose()),
            Channel::Call { .. } => self.made(&key.id, Some(&key.key)),
        }
    }

    /// Notes the id of an entry that was made, for the answer to a call.
    pub(super) fn made(&self, id: &str, key: Option<&SecretString>) {
        if let Channel::Call { made, .. } = &self.channel {
            let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
            *made = Some(Made {
                id: id.to_owned(),
                key: key.cloned(),
            });
        }
    }

    /// Takes the entry that the command made.
    pub(crate) fn take_made(&self) -> Option<Made> {
        match &self.channel {
            Channel::Terminal => None,
            Channel::Call { made, .. } => {
                made.lock().unwrap_or_else(PoisonError::into_inner).take()
            }
        }
    }

    /// Says what was done, on the command line.
    pub(super) fn tell(&self, words: Arguments<'_>) {
        if !self.is_remote() {
            eprintln!("{words}");
        }
    }

    /// The secret of the command: from standard input, or from the body of the call.
    pub(super) fn secret(&self, what: &str) -> anyhow::Result<SecretString> {
        match &self.channel {
            Channel::Terminal => secret_from_stdin(what),
            Channel::Call { secret, .. } => {
                let secret = secret.clone();
                secret.with_context(|| format!("the {what} is missing"))
            }
        }
    }

    /// The account to act on: the one named, or the only one.
    pub(crate) async fn account(&self) -> anyhow::Result<AccountInfo> {
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

/// Opens the store for a command, and creates the installation if it is missing and the command sets something.
pub(super) fn in_store<T, F>(
    global: &Global,
    sets: bool,
    work: impl FnOnce(Session) -> F,
) -> anyhow::Result<T>
where
    F: Future<Output = anyhow::Result<T>>,
{
    open(global, sets, work)
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
            config: Arc::new(config),
            actor: actor().to_owned(),
            account: global.account.clone(),
            channel: Channel::Terminal,
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
