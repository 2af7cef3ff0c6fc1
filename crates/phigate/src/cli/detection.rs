//! `phigate detection`: the depth of the account's scans.

use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use phigate_store::Settings;
use phigate_types::Depth;

use super::Global;
use super::store::{Session, with_new_store, with_store};
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
        /// Reason, required for `fast`, which finds less
        #[arg(long)]
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
    let settings = session.vault.accounts.settings(&account.id).await?;
    let is_weaker = settings.detection.depth == Depth::Careful && depth == Depth::Fast;
    if is_weaker && reason.is_none_or(|reason| reason.trim().is_empty()) {
        bail!("fast scans find less: say why with --reason TEXT");
    }
    let change = |settings: &mut Settings| settings.detection.depth = depth;
    session
        .vault
        .accounts
        .edit_settings(&account.id, change, session.actor)
        .await?;
    eprintln!("account {}: {}", account.name, depth.summary());
    Ok(())
}
