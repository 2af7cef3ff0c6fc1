//! `phigate policy show`, `set` and `request-header`.

use anyhow::{Context, bail};
use phigate_gateway::{Kinds, changed_policy, policy_table};
use phigate_store::{By, PolicyLevel, PolicyWords, Settings, WordChanges};
use phigate_types::{Level, Policy, Word};
use serde_json::{Value, json};

use crate::cli::confirm::reason_for;
use crate::cli::store::{Session, given_reason};
use crate::cli::table::Table;

pub(super) async fn show(
    session: &Session,
    level: PolicyLevel<'_>,
    as_json: bool,
) -> anyhow::Result<()> {
    let account = session.account().await?;
    let words = session.vault.accounts.policy(&account.id).await?;
    let policy = policy_at(&words, level)?;
    let account = session.vault.accounts.account(&account.id).await?;
    let rows = policy_table(&account, &policy);
    if as_json {
        let rows: Vec<Value> = rows.iter().map(phigate_gateway::PolicyRow::json).collect();
        println!("{:#}", json!({ "policy": rows }));
        return Ok(());
    }
    let mut table = Table::new(&["KIND", "ACTION", "BY"]);
    for row in rows {
        table.row([row.kind.to_owned(), row.action.to_owned(), row.by]);
    }
    table.print("there are no kinds");
    Ok(())
}

/// The policy at a level that exists.
pub(super) fn policy_at(words: &PolicyWords, level: PolicyLevel<'_>) -> anyhow::Result<Policy> {
    match level {
        PolicyLevel::Group(name) if !words.has_group(name) => {
            bail!("there is no group {name:?}: it has no keys and no words")
        }
        level => words.at(level).context("no such API key in this account"),
    }
}

pub(super) async fn set(
    session: &Session,
    level: PolicyLevel<'_>,
    changes: &WordChanges,
    reason: Option<&str>,
) -> anyhow::Result<()> {
    let account = session.account().await?;
    let accounts = &session.vault.accounts;
    let before = accounts.policy(&account.id).await?;
    let stored = accounts.account(&account.id).await?;
    let detection = &stored.settings.detection;
    let kinds = Kinds::of(&stored.recognizers);
    let (after, weaker) = changed_policy(&before, (detection, &kinds), level, changes)?;
    let subject = format!("account {}, {}", account.name, Level::from(level));
    let reason = reason.map(given_reason).transpose()?;
    let reason = reason_for(session, &subject, &weaker, reason.as_deref())?;
    let by = By {
        actor: session.actor(),
        reason: reason.as_deref(),
    };
    accounts.set_policy(&account.id, level, changes, by).await?;
    if before == after {
        session.tell(format_args!("{subject}: these words were said already"));
        return Ok(());
    }
    for (kind, word) in changes {
        let word = word.map_or("inherit", Word::code);
        session.tell(format_args!(
            "{subject}: {kind} {word}, for every request from now on"
        ));
    }
    Ok(())
}

/// Takes back every word of a group that has no keys.
pub(super) async fn remove_group(
    session: &Session,
    name: &str,
    reason: Option<&str>,
) -> anyhow::Result<()> {
    let account = session.account().await?;
    let words = session.vault.accounts.policy(&account.id).await?;
    if !words.has_group(name) {
        bail!("there is no group {name:?}: it has no keys and no words");
    }
    let mut keys = words.keys.values();
    if keys.any(|key| key.group.as_deref() == Some(name)) {
        bail!(
            "keys are in the group: take them out first, with an empty group (phigate key set ID --group \"\")"
        );
    }
    let own = words.groups.get(name).into_iter().flatten();
    let changes: WordChanges = own.map(|(kind, _)| (kind.clone(), None)).collect();
    set(session, PolicyLevel::Group(name), &changes, reason).await
}

pub(super) async fn set_request_header(session: &Session, counts: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let change = |settings: &mut Settings| settings.request_header = counts;
    let accounts = &session.vault.accounts;
    accounts
        .edit_settings(&account.id, change, session.actor())
        .await?;
    let words = if counts { "tightens" } else { "is ignored in" };
    session.tell(format_args!(
        "account {}: X-Gateway-PHI-Mode {words} requests from now on",
        account.name
    ));
    Ok(())
}
