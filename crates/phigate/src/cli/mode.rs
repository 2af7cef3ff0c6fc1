//! `phigate mode`: what the account does with PHI.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use phigate_store::By;
use phigate_types::{Effect, Mode};

use super::Global;
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
    /// Change it; every later request is bound
    Set {
        /// The mode
        #[arg(value_parser = known(Mode::all(), Mode::code), ignore_case = true)]
        mode: Mode,
        /// Why, in a few words; the audit trail keeps it
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
    let by = By {
        actor: session.actor,
        reason,
    };
    session
        .vault
        .accounts
        .set_mode(&account.id, mode, by)
        .await?;
    if before == mode {
        eprintln!("account {}: the mode was {mode} already", account.name);
    } else {
        eprintln!(
            "account {}: mode changed from {before} to {mode}, for every request from now on",
            account.name
        );
        if matches!(mode.effect, Effect::Keep) {
            eprintln!("PHI is now forwarded unchanged; --reason TEXT keeps in the trail why");
        }
    }
    Ok(())
}
