//! `phigate replies`: the account's handling of PHI that a model produced.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use phigate_store::Settings;
use phigate_types::Replies;

use super::Global;
use super::store::{Session, with_new_store, with_store};
use super::words::known;

#[derive(Args)]
pub(super) struct RepliesArgs {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    /// Print the choice in force
    Get,
    /// Change it, for every request from now on
    Set {
        /// The choice
        #[arg(value_parser = known(Replies::all(), Replies::code), ignore_case = true)]
        choice: Replies,
    },
}

pub(super) fn run(args: &RepliesArgs, global: &Global) -> anyhow::Result<ExitCode> {
    match &args.verb {
        None | Some(Verb::Get) => with_store(global, async |session| {
            let account = session.account().await?;
            println!(
                "{}",
                session.vault.accounts.settings(&account.id).await?.replies
            );
            Ok(())
        }),
        Some(Verb::Set { choice }) => {
            with_new_store(global, async |session| set(&session, *choice).await)
        }
    }?;
    Ok(ExitCode::SUCCESS)
}

async fn set(session: &Session, choice: Replies) -> anyhow::Result<()> {
    let account = session.account().await?;
    let change = |settings: &mut Settings| settings.replies = choice;
    session
        .vault
        .accounts
        .edit_settings(&account.id, change, session.actor)
        .await?;
    eprintln!(
        "account {}: {}, for every request from now on",
        account.name,
        choice.summary().trim_end_matches('.')
    );
    Ok(())
}
