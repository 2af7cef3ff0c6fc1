//! `phigate policy`: the treatment of each kind of PHI, for the account, its groups of keys, and its keys.

mod explain;
mod replay;
mod words;

pub(super) use replay::changes_of;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};
use jiff::SignedDuration;
use phigate_store::{PolicyLevel, WordChanges};

use super::Global;
use super::key::lifetime;
use super::restore::Switch;
use super::store::{Session, with_new_store, with_store};

#[derive(Subcommand)]
pub(super) enum Policy {
    /// Print the effective action of each kind of PHI, and the level that says so
    Show {
        #[command(flatten)]
        level: Named,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Change words of a level, for every request from now on
    Set {
        /// Kinds and their actions: off, flag, mask, redact, block, or inherit to take a word back
        #[arg(value_name = "KIND=ACTION,…", value_parser = changes)]
        words: WordChanges,
        #[command(flatten)]
        level: Named,
        /// Why, in a few words, for the audit trail; needed where protection becomes weaker
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Remove a group of keys: take back its words, once no key is in it
    Remove {
        /// The group
        group: String,
        /// Why, in a few words, for the audit trail; needed where protection becomes weaker
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Print each finding of a text with its rule, score, threshold, action and level; nothing is sent or recorded
    Explain {
        /// File with the text; standard input when none
        file: Option<PathBuf>,
        /// Explain for this key
        #[arg(long, value_name = "ID")]
        key: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Replay past requests under other words, without changing anything; the audit trail says that you did
    Try {
        /// Words of the account as for `set`, or a file with tables [policy], [policy.groups.NAME], [policy.keys.ID]
        #[arg(value_name = "KIND=ACTION,…|FILE.toml")]
        words: String,
        /// Age of the oldest request to replay: a number with s, m, h or d
        #[arg(long, value_name = "30d", default_value = "30d", value_parser = lifetime)]
        since: SignedDuration,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Set whether requests may tighten their own treatment by the header X-Gateway-PHI-Mode
    RequestHeader {
        /// Whether the header counts; if not, it is ignored
        value: Switch,
    },
}

/// The level that a command is about.
#[derive(Args)]
pub(super) struct Named {
    /// Words of this key
    #[arg(long, value_name = "ID", conflicts_with = "group")]
    key: Option<String>,
    /// Words of this group of keys
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
}

impl Named {
    fn level(&self) -> PolicyLevel<'_> {
        match (&self.key, &self.group) {
            (Some(id), _) => PolicyLevel::Key(id),
            (None, Some(name)) => PolicyLevel::Group(name),
            (None, None) => PolicyLevel::Account,
        }
    }
}

/// Does what the command says, for a call of the admin API; a command that only reads does nothing.
pub(super) async fn act(policy: &Policy, session: &Session) -> anyhow::Result<ExitCode> {
    match policy {
        Policy::Set {
            words,
            level,
            reason,
        } => words::set(session, level.level(), words, reason.as_deref()).await?,
        Policy::Remove { group, reason } => {
            words::remove_group(session, group, reason.as_deref()).await?;
        }
        _ => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads `KIND=ACTION,…`.
fn changes(text: &str) -> anyhow::Result<WordChanges> {
    phigate_gateway::read_words(text).context("cannot read the words")
}

pub(super) fn run(policy: &Policy, global: &Global) -> anyhow::Result<ExitCode> {
    match policy {
        Policy::Show { level, json } => with_store(global, async |session| {
            words::show(&session, level.level(), *json).await
        }),
        Policy::Set {
            words,
            level,
            reason,
        } => with_new_store(global, async |session| {
            words::set(&session, level.level(), words, reason.as_deref()).await
        }),
        Policy::Remove { group, reason } => with_store(global, async |session| {
            words::remove_group(&session, group, reason.as_deref()).await
        }),
        Policy::Explain { file, key, json } => with_store(global, async |session| {
            let key = key.as_deref();
            explain::run(&session, file.as_deref(), key, *json).await
        }),
        Policy::Try { words, since, json } => {
            let tried = replay::read(words)?;
            with_store(global, async |session| {
                replay::run(&session, &tried, *since, *json).await
            })
        }
        Policy::RequestHeader { value } => with_new_store(global, async |session| {
            words::set_request_header(&session, *value == Switch::On).await
        }),
    }?;
    Ok(ExitCode::SUCCESS)
}
