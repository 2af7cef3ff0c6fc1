//! `phigate mode`: the account's handling of PHI.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use phigate_store::By;
use phigate_types::{Effect, Mode};

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
        /// Why, in a few words, for the audit trail; at a terminal you are asked before PHI is let through
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
    let lets_pass = |mode: Mode| matches!(mode.effect, Effect::Keep);
    let is_weaker = lets_pass(mode) && !lets_pass(before);
    let reason = if is_weaker {
        let what = format!(
            "account {}: the mode is {before}; with {mode}, PHI is forwarded unchanged.",
            account.name
        );
        reason_for(&what, reason)?
    } else {
        reason.map(str::to_owned)
    };
    let by = By {
        actor: session.actor,
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
    if is_weaker && reason.is_none() {
        eprintln!("PHI is now forwarded unchanged; with --reason TEXT the audit trail says why");
    }
    Ok(())
}
