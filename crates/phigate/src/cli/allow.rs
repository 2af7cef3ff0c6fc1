//! `phigate allow`: values that the account does not count as PHI.

use std::process::ExitCode;

use anyhow::Context;
use clap::Subcommand;
use phigate_gateway::{Kinds, Weaker, read_entry};
use phigate_store::By;

use super::Global;
use super::confirm::reason_for;
use super::store::{Session, given_reason, in_store, to_the_second};
use super::table::{Table, print_json};

#[derive(Subcommand)]
pub(super) enum Allow {
    /// Stop counting a value as PHI, for every request from now on
    Add {
        /// Kind of PHI as which the value is found
        kind: String,
        /// The exact value; letter case and spacing do not count. *@DOMAIN for every e-mail address of a domain
        value: String,
        /// Why, in a few words, for the audit trail
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// List the entries with their use; their values are sealed
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Count a value as PHI again
    Remove {
        /// Id of the entry
        id: String,
    },
}

pub(super) fn run(allow: Allow, global: &Global) -> anyhow::Result<ExitCode> {
    let sets = matches!(allow, Allow::Add { .. });
    in_store(global, sets, async |session| act(allow, &session).await)
}

/// Does what the command says.
pub(super) async fn act(allow: Allow, session: &Session) -> anyhow::Result<ExitCode> {
    match allow {
        Allow::Add {
            kind,
            value,
            reason,
        } => add(session, &kind, &value, reason.as_deref()).await,
        Allow::List { json } => list(session, json).await,
        Allow::Remove { id } => remove(session, &id).await,
    }?;
    Ok(ExitCode::SUCCESS)
}

async fn add(
    session: &Session,
    code: &str,
    value: &str,
    reason: Option<&str>,
) -> anyhow::Result<()> {
    let account = session.account().await?;
    let stored = session.vault.accounts.account(&account.id).await?;
    let kinds = Kinds::of(&stored.recognizers);
    let (kind, form) = read_entry(&kinds, code, value).context("cannot allow this value")?;
    let subject = format!("account {}", account.name);
    let reason = reason.map(given_reason).transpose()?;
    let reason = reason_for(
        session,
        &subject,
        &[Weaker::Allowed(kind)],
        reason.as_deref(),
    )?;
    let by = By {
        actor: session.actor(),
        reason: reason.as_deref(),
    };
    let allow_lists = &session.vault.allow_lists;
    let id = allow_lists.add(&account.id, kind.code(), &form, by).await?;
    session.made(&id, None);
    session.tell(format_args!(
        "{subject}: entry {id} of kind {code} is not counted as PHI from now on"
    ));
    Ok(())
}

async fn list(session: &Session, as_json: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let entries = session.vault.allow_lists.entries(&account.id).await?;
    if as_json {
        return print_json(&entries);
    }
    let mut table = Table::new(&["ID", "KIND", "HITS", "LAST USED", "ADDED BY", "REASON"]);
    for entry in entries {
        let used = entry.last_used.map_or("never".into(), to_the_second);
        table.row([
            entry.id.into(),
            entry.kind.into(),
            entry.hits.to_string(),
            used,
            entry.added_by,
            entry.reason,
        ]);
    }
    table.print("no value is allowed: phigate allow add KIND VALUE --reason TEXT");
    Ok(())
}

async fn remove(session: &Session, id: &str) -> anyhow::Result<()> {
    let account = session.account().await?;
    let allow_lists = &session.vault.allow_lists;
    allow_lists.remove(&account.id, id, session.actor()).await?;
    session.tell(format_args!(
        "account {}: the value of entry {id} counts as PHI from now on",
        account.name
    ));
    Ok(())
}
