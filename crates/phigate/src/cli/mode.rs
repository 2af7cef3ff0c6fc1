//! `phigate mode`: what the account does with PHI.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use phigate_types::Mode;

use super::Global;
use super::store::{Session, with_new_store, with_store};
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
    },
}

pub(super) fn run(args: &ModeArgs, global: &Global) -> anyhow::Result<ExitCode> {
    match &args.verb {
        None | Some(Verb::Get) => with_store(global, async |session| {
            let account = session.account().await?;
            println!("{}", session.vault.accounts.mode(&account.id).await?.mode);
            Ok(())
        }),
        Some(Verb::Set { mode }) => {
            with_new_store(global, async |session| set(&session, *mode).await)
        }
    }?;
    Ok(ExitCode::SUCCESS)
}

async fn set(session: &Session, mode: Mode) -> anyhow::Result<()> {
    let account = session.account().await?;
    let before = session.vault.accounts.mode(&account.id).await?.mode;
    let (vault, actor) = (&session.vault, session.actor);
    vault.accounts.set_mode(&account.id, mode, actor).await?;
    if before == mode {
        eprintln!("account {}: the mode was {mode} already", account.name);
    } else {
        eprintln!(
            "account {}: mode changed from {before} to {mode}, for every request from now on",
            account.name
        );
    }
    Ok(())
}
