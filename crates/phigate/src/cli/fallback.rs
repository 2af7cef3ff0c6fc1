//! `phigate fallback`: models to ask when the providers of a model fail.

use std::process::ExitCode;

use anyhow::bail;
use clap::Subcommand;
use phigate_gateway::routes;
use phigate_types::is_model_id;

use super::Global;
use super::store::{Session, in_store};
use super::table::{Table, print_json};

/// The most fallbacks that are tried for one request.
const TARGETS_MAX: usize = 8;

#[derive(Subcommand)]
pub(super) enum Fallback {
    /// Set which models are asked instead, in order
    Set {
        /// The model that callers ask for
        #[arg(value_parser = model)]
        model: String,
        /// Targets separated by commas: a model, or NAME/model for one provider's
        #[arg(value_name = "TARGET[,TARGET…]", value_parser = targets)]
        targets: Targets,
    },
    /// List the fallbacks
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Remove the fallbacks of a model
    Remove {
        /// The model that callers ask for
        model: String,
    },
}

/// A list as one value on the command line.
#[derive(Clone)]
pub(super) struct Targets(Vec<String>);

fn model(text: &str) -> anyhow::Result<String> {
    if !is_model_id(text) {
        bail!("{text} cannot be a model: ids have 1 to 256 letters, digits and . _ : / @ -");
    }
    Ok(text.to_owned())
}

fn targets(text: &str) -> anyhow::Result<Targets> {
    let targets: Vec<&str> = text.split(',').map(str::trim).collect();
    if targets.iter().any(|target| target.is_empty()) {
        bail!("a target is empty: name models, or NAME/model, separated by commas");
    }
    if targets.len() > TARGETS_MAX {
        bail!("at most {TARGETS_MAX} targets are tried");
    }
    let targets = targets.into_iter().map(model);
    Ok(Targets(targets.collect::<anyhow::Result<_>>()?))
}

/// Checks the fallbacks of a model in a file.
pub(super) fn check(of: &str, list: &[String]) -> anyhow::Result<()> {
    model(of)?;
    let Targets(read) = targets(&list.join(","))?;
    check_targets(of, &read)
}

fn check_targets(model: &str, targets: &[String]) -> anyhow::Result<()> {
    let has_twice = (1..targets.len()).any(|at| targets[..at].contains(&targets[at]));
    if targets.iter().any(|target| target == model) || has_twice {
        bail!("a target of {model} is {model} itself, or is named twice");
    }
    Ok(())
}

pub(super) fn run(fallback: Fallback, global: &Global) -> anyhow::Result<ExitCode> {
    let sets = matches!(fallback, Fallback::Set { .. });
    in_store(global, sets, async |session| act(fallback, &session).await)
}

/// Does what the command says.
pub(super) async fn act(fallback: Fallback, session: &Session) -> anyhow::Result<ExitCode> {
    match fallback {
        Fallback::Set { model, targets } => {
            let targets = targets.0;
            check_targets(&model, &targets)?;
            set(session, &model, &targets).await
        }
        Fallback::List { json } => list(session, json).await,
        Fallback::Remove { model } => remove(session, &model).await,
    }?;
    Ok(ExitCode::SUCCESS)
}

async fn set(session: &Session, model: &str, targets: &[String]) -> anyhow::Result<()> {
    let account = session.account().await?;
    let accounts = &session.vault.accounts;
    accounts
        .set_fallback(&account.id, model, targets, session.actor())
        .await?;
    session.tell(format_args!(
        "when the providers of {model} fail, {} is asked",
        targets.join(", then ")
    ));
    // Set in any order, so it is said and not refused.
    let providers = session.vault.access.account(&account.id).await?;
    for name in std::iter::once(model).chain(targets.iter().map(String::as_str)) {
        if routes(&providers, name).is_err() {
            session.tell(format_args!(
                "note: no provider of account {} serves {name}; `phigate provider list` shows what each serves",
                account.name
            ));
        }
    }
    Ok(())
}

async fn list(session: &Session, json: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let fallbacks = session.vault.accounts.fallbacks(&account.id).await?;
    if json {
        let row = |(model, targets)| serde_json::json!({"model": model, "targets": targets});
        return print_json(&fallbacks.iter().map(row).collect::<Vec<_>>());
    }
    let mut table = Table::new(&["MODEL", "ASKED INSTEAD"]);
    for (model, targets) in fallbacks {
        table.row([model, targets.join(",")]);
    }
    table.print("no fallbacks yet: phigate fallback set MODEL TARGET[,TARGET…]");
    Ok(())
}

async fn remove(session: &Session, model: &str) -> anyhow::Result<()> {
    let account = session.account().await?;
    let accounts = &session.vault.accounts;
    if !accounts.fallbacks(&account.id).await?.contains_key(model) {
        bail!("there is no fallback for {model}; `phigate fallback list` shows them");
    }
    accounts
        .set_fallback(&account.id, model, &[], session.actor())
        .await?;
    session.tell(format_args!("{model} has no fallbacks from now on"));
    Ok(())
}
