//! `phigate replies`: what the account does with PHI that a model produced.

use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};
use phigate_types::Replies as Choice;

use super::Global;
use super::store::{ACTOR, with_store};

#[derive(Args)]
pub(super) struct Replies {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    /// Print the choice in force
    Get,
    /// Change it; every later request is bound
    Set {
        /// off, flag, mask, redact or block
        #[arg(value_parser = known)]
        choice: Choice,
    },
}

fn known(text: &str) -> anyhow::Result<Choice> {
    let codes: Vec<&str> = Choice::all().map(Choice::code).collect();
    let found = text.parse().ok();
    found.with_context(|| format!("the choices are {}", codes.join(", ")))
}

pub(super) fn run(replies: &Replies, global: &Global) -> anyhow::Result<ExitCode> {
    with_store(global, async |session| {
        let account = session.account().await?;
        match &replies.verb {
            None | Some(Verb::Get) => {
                let settings = session.vault.settings(&account.id).await?;
                println!("{}", settings.replies);
            }
            Some(Verb::Set { choice }) => {
                let change = |settings: &mut phigate_store::Settings| settings.replies = *choice;
                session
                    .vault
                    .edit_settings(&account.id, change, ACTOR)
                    .await?;
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}
