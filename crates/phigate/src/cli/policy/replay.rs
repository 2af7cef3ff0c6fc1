//! `phigate policy try`: past requests under other words.

use std::sync::Arc;

use anyhow::{Context, bail};
use jiff::{SignedDuration, Timestamp};
use phigate_gateway::documents::Readers;
use phigate_gateway::{LevelChanges, PolicyTrial, TriedPolicy, read_words};
use phigate_store::{Replay, WordChanges};
use serde_json::{Value, json};

use crate::cli::store::Session;
use crate::cli::table::Table;

/// Reads words of the account, or a file.
pub(super) fn read(words: &str) -> anyhow::Result<LevelChanges> {
    if !words.ends_with(".toml") {
        return Ok(LevelChanges {
            account: read_words(words).context("cannot read the words")?,
            ..LevelChanges::default()
        });
    }
    let text = std::fs::read_to_string(words).with_context(|| format!("cannot read {words}"))?;
    from_toml(&text).with_context(|| format!("{words} is not a policy"))
}

fn from_toml(text: &str) -> anyhow::Result<LevelChanges> {
    let mut file: toml::Table = text.parse()?;
    match file.remove("policy") {
        Some(toml::Value::Table(policy)) => changes_of(policy),
        _ => bail!("the table [policy] is missing"),
    }
}

/// The changes of a table `[policy]`, with `[policy.groups.NAME]` and `[policy.keys.ID]`.
pub(in crate::cli) fn changes_of(mut policy: toml::Table) -> anyhow::Result<LevelChanges> {
    let mut changes = LevelChanges::default();
    for (name, of) in [("groups", &mut changes.groups), ("keys", &mut changes.keys)] {
        for (id, words) in tables(policy.remove(name), name)? {
            of.insert(id.clone(), words_of(words, &format!("policy.{name}.{id}"))?);
        }
    }
    changes.account = words_of(toml::Value::Table(policy), "policy")?;
    Ok(changes)
}

fn tables(value: Option<toml::Value>, name: &str) -> anyhow::Result<toml::Table> {
    match value {
        None => Ok(toml::Table::new()),
        Some(toml::Value::Table(tables)) => Ok(tables),
        Some(_) => bail!("policy.{name} is not a table"),
    }
}

/// The words of a table such as `ssn = "block"`.
fn words_of(value: toml::Value, place: &str) -> anyhow::Result<WordChanges> {
    let toml::Value::Table(words) = value else {
        bail!("{place} is not a table");
    };
    let mut changes = WordChanges::new();
    for (kind, action) in &words {
        let action = action.as_str();
        let action = action.with_context(|| format!("{place}.{kind} is not a text"))?;
        let word = read_words(&format!("{kind}={action}"));
        changes.extend(word.with_context(|| format!("cannot read {place}"))?);
    }
    Ok(changes)
}

pub(super) async fn run(
    session: &Session,
    changes: &LevelChanges,
    since: SignedDuration,
    as_json: bool,
) -> anyhow::Result<()> {
    let account = session.account().await?;
    let accounts = &session.vault.accounts;
    let words = accounts.policy(&account.id).await?;
    let account = accounts.account(&account.id).await?;
    let mut trial = PolicyTrial::new(Arc::clone(&account), &words, changes)?;
    let since = Timestamp::now()
        .checked_sub(since)
        .context("too long ago")?;
    let readers = Readers::of_this_program(1);
    let trail = &session.vault.trail;
    let text = changes.text();
    let said = (text.as_str(), session.actor());
    let mut replay = Replay::begin(trail, &account.id, since, said).await?;
    while let Some((decision, original)) = replay.next().await? {
        trial.add(&decision, &original, &readers);
    }
    print(&trial.finish(true), as_json);
    Ok(())
}

fn print(tried: &TriedPolicy, as_json: bool) {
    let rows = &tried.findings;
    if as_json {
        let told = rows.iter().map(|((kind, old, new, key), row)| {
            json!({
                "kind": kind,
                "old": old,
                "new": new,
                "key": key,
                "count": row.count,
                "requests": row.requests,
            })
        });
        let told: Vec<Value> = told.collect();
        println!("{:#}", json!({ "rows": told }));
        return;
    }
    let mut table = Table::new(&["KIND", "NOW", "THEN", "KEY", "FINDINGS", "REQUESTS"]);
    for ((kind, old, new, key), row) in rows {
        let requests = row.requests.len().to_string();
        let words = [kind.as_ref(), *old, *new].map(str::to_owned);
        let [kind, old, new] = words;
        table.row([kind, old, new, key.clone(), row.count.to_string(), requests]);
    }
    table.print("no past request with PHI and its content is left from that time");
}
