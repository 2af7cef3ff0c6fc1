//! `phigate detection`: the depth of the account's scans.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use phigate_gateway::Weaker;
use phigate_store::{By, Settings};
use phigate_types::Depth;

use super::Global;
use super::confirm::reason_for;
use super::store::{Session, given_reason, with_new_store, with_store};
use super::words::known;

#[derive(Args)]
pub(super) struct DetectionArgs {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    /// Print the depth in force
    Get,
    /// Change it, for every request from now on
    Set {
        /// Depth of scans
        #[arg(value_parser = known(Depth::all(), Depth::code), ignore_case = true)]
        depth: Depth,
        /// Reason for the audit trail, required for `fast`, which finds less
        #[arg(long, value_name = "TEXT", value_parser = given_reason)]
        reason: Option<String>,
    },
}

pub(super) fn run(args: &DetectionArgs, global: &Global) -> anyhow::Result<ExitCode> {
    match &args.verb {
        None | Some(Verb::Get) => with_store(global, async |session| {
            let account = session.account().await?;
            let settings = session.vault.accounts.settings(&account.id).await?;
            println!("{}", settings.detection.depth);
            Ok(())
        }),
        Some(Verb::Set { depth, reason }) => with_new_store(global, async |session| {
            set(&session, *depth, reason.as_deref()).await
        }),
    }?;
    Ok(ExitCode::SUCCESS)
}

async fn set(session: &Session, depth: Depth, reason: Option<&str>) -> anyhow::Result<()> {
    let account = session.account().await?;
    let accounts = &session.vault.accounts;
    let change = |settings: &mut Settings| settings.detection.depth = depth;
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
    eprintln!("account {}: {}", account.name, depth.summary());
    Ok(())
}
