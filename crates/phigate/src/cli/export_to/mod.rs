//! `phigate export-to`: targets outside that receive records as they are written.

mod add;
mod show;

use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Subcommand;
use jiff::Timestamp;
use phigate_store::StoreError;
use phigate_types::is_provider_name;

use super::audit::moment;
use super::provider::gateway_of;
use super::store::{Session, in_store};
use super::{EXIT_NO, Global};

pub(crate) use show::rows;
pub(super) use show::words as state_words;

#[derive(Subcommand)]
pub(super) enum ExportTo {
    /// Add a target; it receives the records after this command
    Add(Box<add::Add>),
    /// List the targets and how far they lag behind
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Reach a target with a line that says nothing about the trail
    Test {
        /// The target's name
        name: String,
    },
    /// Send nothing more until `resume`; records wait
    Pause {
        /// The target's name
        name: String,
    },
    /// Send again, from the first record that waits
    Resume {
        /// The target's name
        name: String,
    },
    /// Send everything from a time on once more, also from before the target was added
    Rewind {
        /// The target's name
        name: String,
        /// Time in UTC, such as 2026-01-31 or 2026-01-31T08:00:00Z
        #[arg(long, value_name = "TIME", value_parser = moment)]
        to: Timestamp,
    },
    /// Remove a target and delete its secret
    Remove {
        /// The target's name
        name: String,
    },
}

/// A valid name.
fn name(text: &str) -> anyhow::Result<String> {
    if !is_provider_name(text) {
        bail!(
            "a name has 1 to 32 lower-case letters, digits and hyphens, and does not begin with a hyphen"
        );
    }
    Ok(text.to_owned())
}

pub(super) fn run(command: ExportTo, global: &Global) -> anyhow::Result<ExitCode> {
    let sets = matches!(command, ExportTo::Add(_));
    in_store(global, sets, async |session| act(command, &session).await)
}

/// Does what the command says.
pub(super) async fn act(command: ExportTo, session: &Session) -> anyhow::Result<ExitCode> {
    match command {
        ExportTo::Add(add) => add::run(session, &add).await?,
        ExportTo::List { json } => show::list(session, json).await?,
        ExportTo::Test { name } => return test(session, &name).await,
        ExportTo::Pause { name } => pause(session, &name, true).await?,
        ExportTo::Resume { name } => pause(session, &name, false).await?,
        ExportTo::Rewind { name, to } => rewind(session, &name, to).await?,
        ExportTo::Remove { name } => remove(session, &name).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// An error that names the target.
fn known<T>(result: Result<T, StoreError>, name: &str) -> anyhow::Result<T> {
    match result {
        Err(StoreError::NotFound(_)) => {
            bail!("there is no export {name}; `phigate export-to list` shows the exports")
        }
        result => result.with_context(|| format!("cannot change export {name}")),
    }
}

async fn test(session: &Session, name: &str) -> anyhow::Result<ExitCode> {
    let account = session.account().await?;
    let gateway = gateway_of(session)?;
    let tried = known(gateway.try_export(&account.id, name).await, name)?;
    let (exports, actor) = (&session.vault.exports, session.actor());
    let recorded = exports.record_test(&account.id, name, tried.is_ok(), actor);
    recorded.await?;
    match tried {
        Ok(()) => {
            println!("{name} works");
            Ok(ExitCode::SUCCESS)
        }
        Err(why) => {
            session.tell(format_args!("{name} does not work: {why}"));
            Ok(ExitCode::from(EXIT_NO))
        }
    }
}

async fn pause(session: &Session, name: &str, pause: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let exports = &session.vault.exports;
    let changed = exports
        .pause(&account.id, name, pause, session.actor())
        .await;
    known(changed, name)?;
    match pause {
        true => session.tell(format_args!(
            "{name} is paused: records wait for `phigate export-to resume {name}`"
        )),
        false => session.tell(format_args!(
            "{name} is sent to again, from the first record that waits"
        )),
    }
    Ok(())
}

async fn rewind(session: &Session, name: &str, to: Timestamp) -> anyhow::Result<()> {
    if to > Timestamp::now() {
        bail!("--to is in the future: only what was recorded can be sent again");
    }
    let account = session.account().await?;
    let exports = &session.vault.exports;
    let changed = exports.rewind(&account.id, name, to, session.actor()).await;
    known(changed, name)?;
    session.tell(format_args!(
        "{name} gets everything from {to} on once more"
    ));
    Ok(())
}

async fn remove(session: &Session, name: &str) -> anyhow::Result<()> {
    let account = session.account().await?;
    let removed = session
        .vault
        .exports
        .remove(&account.id, name, session.actor());
    known(removed.await, name)?;
    session.tell(format_args!(
        "{name} removed: nothing is sent there from now on"
    ));
    Ok(())
}
