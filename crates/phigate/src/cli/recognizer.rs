//! `phigate recognizer`: kinds of PHI that the account defines.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Subcommand;
use phigate_core::recognizer::Recognizer as Compiled;
use phigate_gateway::{Kinds, Weaker, read_recognizer};
use phigate_store::{By, StoredRecognizer};
use serde_json::{Map, Value, json};

use super::Global;
use super::confirm::reason_for;
use super::store::{Session, given_reason, to_the_second, with_new_store, with_store};
use super::table::{Table, print_json};

#[derive(Subcommand)]
pub(super) enum Recognizer {
    /// Look for a kind that the file defines, for every request from now on
    Add {
        /// Definition: code, label, pattern or words, labels, require_label, check, found, not_found
        file: PathBuf,
        /// Why, in a few words, for the audit trail; needed where it replaces a recognizer
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// List the recognizers
    List {
        /// Print a JSON array, with the whole definitions
        #[arg(long)]
        json: bool,
    },
    /// Try a definition with its examples, without storing it
    Test {
        /// Definition
        file: PathBuf,
    },
    /// Stop looking for a kind that you defined, and remove its words at every level of the policy
    Remove {
        /// Code of the kind
        code: String,
        /// Why, in a few words, for the audit trail
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

pub(super) fn run(recognizer: &Recognizer, global: &Global) -> anyhow::Result<ExitCode> {
    match recognizer {
        Recognizer::Add { file, reason } => {
            let (_, stored) = read(file)?;
            with_new_store(global, async |session| {
                add(&session, &stored, reason.as_deref()).await
            })
        }
        Recognizer::List { json } => {
            with_store(global, async |session| list(&session, *json).await)
        }
        Recognizer::Test { file } => {
            let (recognizer, _) = read(file)?;
            let kind = recognizer.definition().kind.code();
            println!("{kind}: every example is right, and it is fast enough");
            Ok(())
        }
        Recognizer::Remove { code, reason } => with_store(global, async |session| {
            remove(&session, code, reason.as_deref()).await
        }),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// Reads and tries a definition. The error names the line or the field, and never repeats the text.
fn read(file: &Path) -> anyhow::Result<(Compiled, StoredRecognizer)> {
    let name = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
    let fields: Map<String, Value> = toml::from_str(&text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        anyhow::anyhow!("{name}: line {line} is not TOML")
    })?;
    read_recognizer(&fields).with_context(|| format!("{name} is no recognizer"))
}

async fn add(
    session: &Session,
    stored: &StoredRecognizer,
    reason: Option<&str>,
) -> anyhow::Result<()> {
    let account = session.account().await?;
    let now = session.vault.accounts.account(&account.id).await?;
    let subject = format!("account {}", account.name);
    let known = Kinds::of(&now.recognizers).find(&stored.code);
    let weaker: Vec<Weaker> = known.map(Weaker::Recognizer).into_iter().collect();
    let reason = reason.map(given_reason).transpose()?;
    let reason = reason_for(session, &subject, &weaker, reason.as_deref())?;
    let by = By {
        actor: session.actor(),
        reason: reason.as_deref(),
    };
    let recognizers = &session.vault.recognizers;
    recognizers.set(&account.id, stored, by).await?;
    eprintln!(
        "{subject}: {} is looked for, for every request from now on",
        stored.code
    );
    Ok(())
}

async fn list(session: &Session, as_json: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let list = session.vault.recognizers.list(&account.id).await?;
    let stored: Vec<StoredRecognizer> = list.iter().map(|one| one.recognizer.clone()).collect();
    let kinds = Kinds::of(&stored);
    let label = |code: &str| {
        let named = kinds.own().find(|(kind, _)| kind.code() == code);
        named.map_or(code, |(_, label)| label).to_owned()
    };
    if as_json {
        let told = list.iter().map(|one| {
            let definition = one.recognizer.definition.expose();
            let mut fields: Value = serde_json::from_str(definition).unwrap_or_else(|_| json!({}));
            fields["set"] = json!(one.set.to_string());
            fields["set_by"] = json!(one.set_by);
            fields
        });
        return print_json(&told.collect::<Vec<Value>>());
    }
    let mut table = Table::new(&["CODE", "LABEL", "SET", "SET BY"]);
    for one in list {
        let code = one.recognizer.code.to_string();
        let label = label(&code);
        table.row([code, label, to_the_second(one.set), one.set_by]);
    }
    table.print("there are no recognizers: phigate recognizer add FILE.toml");
    Ok(())
}

async fn remove(session: &Session, code: &str, reason: Option<&str>) -> anyhow::Result<()> {
    let account = session.account().await?;
    let now = session.vault.accounts.account(&account.id).await?;
    let kinds = Kinds::of(&now.recognizers);
    let found = kinds.own().find(|(kind, _)| kind.code() == code);
    let (kind, _) = found.with_context(|| format!("the account has no recognizer {code:?}"))?;
    let subject = format!("account {}", account.name);
    let reason = reason.map(given_reason).transpose()?;
    let reason = reason_for(
        session,
        &subject,
        &[Weaker::Recognizer(kind)],
        reason.as_deref(),
    )?;
    let by = By {
        actor: session.actor(),
        reason: reason.as_deref(),
    };
    let recognizers = &session.vault.recognizers;
    recognizers.remove(&account.id, code, by).await?;
    eprintln!("{subject}: {code} is no longer looked for, and its words are removed");
    Ok(())
}
