//! `phigate mode`: what the account does with PHI.

use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};
use phigate_core::protect::{self, MODES};

use super::Global;
use super::store::{ACTOR, with_store};

#[derive(Args)]
pub(super) struct Mode {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    /// Print the mode in force
    Get,
    /// Change it; every later request is bound
    Set {
        /// flag, block, redact or mask
        #[arg(value_parser = known)]
        mode: &'static str,
    },
}

fn known(text: &str) -> anyhow::Result<&'static str> {
    let ids: Vec<&str> = MODES.iter().map(|mode| mode.id).collect();
    Ok(protect::mode(text)
        .with_context(|| format!("the modes are {}", ids.join(", ")))?
        .id)
}

pub(super) fn run(mode: &Mode, global: &Global) -> anyhow::Result<ExitCode> {
    with_store(global, async |session| {
        let account = session.account().await?;
        match &mode.verb {
            None | Some(Verb::Get) => println!("{}", session.vault.mode(&account.id).await?.mode),
            Some(Verb::Set { mode }) => session.vault.set_mode(&account.id, mode, ACTOR).await?,
        }
        Ok(ExitCode::SUCCESS)
    })
}
