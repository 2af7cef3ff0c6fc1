//! `phigate mode`: the account's handling of PHI.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use phigate_gateway::Weaker;
use phigate_store::By;
use phigate_types::Mode;

use super::Global;
use super::confirm::reason_for;
use super::store::{Session, given_reason, with_new_store, with_store};
use super::words::known;

#[derive(Args)]
pub(super) struct ModeArgs {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    /// Print the mode in force
    Get,
    /// Change it, for every request from now on
    Set {
        /// The mode
        #[arg(value_parser = known(Mode::all(), Mode::code), ignore_case = true)]
        mode: Mode,
        /// Why, in a few words, for the audit trail; needed before PHI is let through
        #[arg(long, value_name = "TEXT", value_parser = given_reason)]
        reason: Option<String>,
    },
}

pub(super) fn run(args: &ModeArgs, global: &Global) -> anyhow::Result<ExitCode> {
    match &args.verb {
        None | Some(Verb::Get) => with_store(global, async |session| {
            let account = session.account().await?;
            println!("{}", session.vault.accounts.mode(&account.id).await?.mode);
            Ok(())
        }),
        Some(Verb::Set { mode, reason }) => with_new_store(global, async |session| {
            set(&session, *mode, reason.as_deref()).await
        }),
    }?;
    Ok(ExitCode::SUCCESS)
}

async fn set(session: &Session, mode: Mode, reason: Option<&str>) -> anyhow::Result<()> {
    let account = session.account().await?;
    let before = session.vault.accounts.mode(&account.id).await?.mode;
    let subject = format!("account {}", account.name);
    let reason = reason_for(session, &subject, &Weaker::of_mode(before, mode), reason)?;
    let by = By {
        actor: session.actor(),
        reason: reason.as_deref(),
    };
    let accounts = &session.vault.accounts;
    accounts.set_mode(&account.id, mode, by).await?;
    if before == mode {
        eprintln!("account {}: the mode was already {mode}", account.name);
        return Ok(());
    }
    eprintln!(
        "account {}: mode changed from {before} to {mode}, for every request from now on",
        account.name
    );
    Ok(())
}
