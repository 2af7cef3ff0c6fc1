//! `phigate mode`: what the account does with PHI.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use phigate_types::Mode;

use super::Global;
use super::store::{ACTOR, with_store};
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
        #[arg(value_parser = known(Mode::all(), Mode::code))]
        mode: Mode,
    },
}

pub(super) fn run(args: &ModeArgs, global: &Global) -> anyhow::Result<ExitCode> {
    with_store(global, async |session| {
        let account = session.account().await?;
        match &args.verb {
            None | Some(Verb::Get) => println!("{}", session.vault.mode(&account.id).await?.mode),
            Some(Verb::Set { mode }) => session.vault.set_mode(&account.id, *mode, ACTOR).await?,
        }
        Ok(ExitCode::SUCCESS)
    })
}
