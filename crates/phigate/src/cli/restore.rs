//! `phigate restore`: whether masked values are restored in replies.

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use phigate_core::reply::ToolNames;
use phigate_store::Settings;

use super::Global;
use super::store::{Session, with_new_store, with_store};

#[derive(Args)]
pub(super) struct RestoreArgs {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    /// Print whether masked values are restored
    Get,
    /// Change it, for every request from now on
    Set(Set),
}

#[derive(Args)]
struct Set {
    /// Whether masked values are restored
    value: Switch,
    /// Tools that get restored values in their arguments: names separated by commas, * for any characters [default:
    /// all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = tool)]
    tools: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Switch {
    On,
    Off,
}

fn tool(text: &str) -> Result<String, String> {
    let name = text.trim();
    if ToolNames::is_pattern(name) {
        Ok(name.to_owned())
    } else {
        Err("a tool is named by letters, digits, _ - . : / and * for any characters".to_owned())
    }
}

pub(super) fn run(args: &RestoreArgs, global: &Global) -> anyhow::Result<ExitCode> {
    match &args.verb {
        None | Some(Verb::Get) => with_store(global, async |session| get(&session).await),
        Some(Verb::Set(change)) => {
            with_new_store(global, async |session| set(&session, change).await)
        }
    }?;
    Ok(ExitCode::SUCCESS)
}

async fn get(session: &Session) -> anyhow::Result<()> {
    let account = session.account().await?;
    let settings = session.vault.accounts.settings(&account.id).await?;
    println!("{}", if settings.restore { "on" } else { "off" });
    if settings.restore && !settings.restore_tools.is_empty() {
        eprintln!("tools: {}", settings.restore_tools.join(","));
    }
    Ok(())
}

async fn set(session: &Session, set: &Set) -> anyhow::Result<()> {
    let account = session.account().await?;
    let restores = set.value == Switch::On;
    let change = |settings: &mut Settings| {
        settings.restore = restores;
        settings.restore_tools.clone_from(&set.tools);
    };
    session
        .vault
        .accounts
        .edit_settings(&account.id, change, session.actor())
        .await?;
    let words = if restores { "are" } else { "are not" };
    eprintln!(
        "account {}: masked values {words} restored in replies, from now on",
        account.name
    );
    Ok(())
}
