//! `phigate apply`, `diff` and `dump`: the settings of an account as a file, which can be kept under version control.

mod document;
mod lay;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use phigate_gateway::{AccountSettings, Kinds, Weaker};
use phigate_store::{By, Declared, KindSettings, declare, declared};
use toml::Table;

use super::confirm::reason_to;
use super::store::{Session, given_reason, with_new_store, with_store};
use super::{EXIT_NO, Global};
use document::{differences, document};
use lay::{Site, laid};

#[derive(Args)]
pub(super) struct Apply {
    /// File with tables such as [settings], [policy] and [providers.NAME], as `dump` prints them
    file: PathBuf,
    /// Print what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Remove what the file does not name: words, groups, fallbacks, providers, recognizers, allowed values
    #[arg(long)]
    prune: bool,
    /// Why, in a few words, for the audit trail; needed where protection becomes weaker
    #[arg(long, value_name = "TEXT", value_parser = given_reason)]
    reason: Option<String>,
}

#[derive(Args)]
pub(super) struct Diff {
    /// File to compare with
    file: PathBuf,
    /// Compare as `apply --prune` would
    #[arg(long)]
    prune: bool,
}

pub(super) fn apply(apply: &Apply, global: &Global) -> anyhow::Result<ExitCode> {
    let file = read(&apply.file)?;
    let work = async |session: Session| run(&session, apply, &file).await;
    match apply.dry_run {
        true => with_store(global, work),
        false => with_new_store(global, work),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// Exits with 0 if the account is as the file says, otherwise with 1.
pub(super) fn diff(diff: &Diff, global: &Global) -> anyhow::Result<ExitCode> {
    let file = read(&diff.file)?;
    with_store(global, async |session| {
        let (before, after) = states(&session, &diff.file, &file, diff.prune).await?;
        let lines = differences(&document(&before), &document(&after));
        for line in &lines {
            println!("{line}");
        }
        Ok(match lines.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(EXIT_NO),
        })
    })
}

pub(super) fn dump(global: &Global) -> anyhow::Result<ExitCode> {
    with_store(global, async |session| {
        let account = session.account().await?;
        let state = declared(&session.vault.accounts, &account.id).await?;
        print!("{}", document(&state));
        Ok(ExitCode::SUCCESS)
    })
}

/// Reads a file. The error names the line, and never repeats the text.
fn read(path: &Path) -> anyhow::Result<Table> {
    let name = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    toml::from_str(&text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        anyhow::anyhow!("{name}: line {line} is not TOML")
    })
}

/// The state of the account, and the state that the file asks for.
async fn states(
    session: &Session,
    path: &Path,
    file: &Table,
    prune: bool,
) -> anyhow::Result<(Declared, Declared)> {
    let account = session.account().await?;
    let before = declared(&session.vault.accounts, &account.id).await?;
    let site = Site {
        rules: session.setup_rules(),
        providers: session.vault.access.providers(&account.id).await?,
    };
    let after = laid(file, &before, prune, &site);
    let after = after.with_context(|| format!("{}: nothing was changed", path.display()))?;
    Ok((before, after))
}

async fn run(session: &Session, apply: &Apply, file: &Table) -> anyhow::Result<()> {
    let account = session.account().await?;
    let subject = format!("account {}", account.name);
    let (before, after) = states(session, &apply.file, file, apply.prune).await?;
    let lines = differences(&document(&before), &document(&after));
    for line in &lines {
        println!("{line}");
    }
    if before == after {
        session.tell(format_args!("{subject} is as the file says already"));
        return Ok(());
    }
    if apply.dry_run {
        session.tell(format_args!("{subject}: nothing was changed (--dry-run)"));
        return Ok(());
    }
    let weaker = weaker(&before, &after);
    let reason = reason_to(session, &subject, &weaker, apply.reason.as_deref())?;
    let by = By {
        actor: session.actor(),
        reason: reason.as_deref(),
    };
    let changes = lines.join("\n");
    let said = (changes.as_str(), !weaker.is_empty());
    let accounts = &session.vault.accounts;
    declare(accounts, &account.id, (&before, &after), said, by).await?;
    session.tell(format_args!(
        "{subject}: {} changed, for every request from now on",
        lines.len()
    ));
    Ok(())
}

/// Ways in which a state protects less than the one before, each in a sentence.
fn weaker(before: &Declared, after: &Declared) -> Vec<String> {
    let settings = |state: &Declared| AccountSettings {
        mode: state.mode,
        settings: state.settings.clone(),
    };
    let kinds = |state: &Declared| KindSettings {
        detection: state.detection().clone(),
        words: state.words.account.clone(),
    };
    let mut all = Weaker::of(&settings(before), &settings(after));
    all.extend(Weaker::of_kinds(&kinds(before), &kinds(after)));
    let known = Kinds::of(&before.stored_recognizers());
    all.extend(Weaker::of_words(&before.words, &after.words, &known));
    let recognizers = before.recognizers.iter();
    let changed = recognizers.filter(|(code, old)| after.recognizers.get(*code) != Some(*old));
    let changed = changed.filter_map(|(code, _)| known.find(code));
    all.extend(changed.map(Weaker::Recognizer));
    let now = jiff::Timestamp::now();
    for (name, config) in &after.providers {
        all.extend(Weaker::of_provider(before.providers.get(name), config, now));
    }
    let mut words: Vec<String> = all.iter().map(Weaker::words).collect();
    words.dedup();
    words
}
