//! `phigate documents`: the account's handling of documents inside requests.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use phigate_gateway::Weaker;
use phigate_store::{By, Settings};
use phigate_types::Documents;

use super::Global;
use super::confirm::reason_for;
use super::store::{Session, given_reason, with_new_store, with_store};
use super::words::known;

#[derive(Args)]
pub(super) struct DocumentsArgs {
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
        #[arg(value_parser = known(Documents::all(), Documents::code), ignore_case = true)]
        choice: Documents,
        /// Why, in a few words, for the audit trail
        #[arg(long, value_name = "TEXT", value_parser = given_reason)]
        reason: Option<String>,
    },
}

pub(super) fn run(args: &DocumentsArgs, global: &Global) -> anyhow::Result<ExitCode> {
    match &args.verb {
        None | Some(Verb::Get) => with_store(global, async |session| {
            let account = session.account().await?;
            println!(
                "{}",
                session
                    .vault
                    .accounts
                    .settings(&account.id)
                    .await?
                    .documents
            );
            Ok(())
        }),
        Some(Verb::Set { choice, reason }) => with_new_store(global, async |session| {
            set(&session, *choice, reason.as_deref()).await
        }),
    }?;
    Ok(ExitCode::SUCCESS)
}

async fn set(session: &Session, choice: Documents, reason: Option<&str>) -> anyhow::Result<()> {
    let account = session.account().await?;
    let accounts = &session.vault.accounts;
    let change = |settings: &mut Settings| settings.documents = choice;
    let before = accounts.settings(&account.id).await?;
    let mut after = before.clone();
    change(&mut after);
    let subject = format!("account {}", account.name);
    let reason = reason_for(
        session,
        &subject,
        &Weaker::of_settings(&before, &after),
        reason,
    )?;
    let by = By {
        actor: session.actor(),
        reason: reason.as_deref(),
    };
    accounts.edit_settings(&account.id, change, by).await?;
    eprintln!(
        "account {}: {}, for every request from now on",
        account.name,
        choice.summary().trim_end_matches('.')
    );
    Ok(())
}
