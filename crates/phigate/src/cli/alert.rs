//! `phigate alert`: what a person should look at.

use std::process::ExitCode;

use clap::Subcommand;
use phigate_store::{AlertState, By};
use phigate_types::AlertCode;

use super::Global;
use super::store::{Session, given_reason, to_the_second, with_store};
use super::table::{Table, print_json};
use super::words::known;

#[derive(Subcommand)]
pub(super) enum AlertCommand {
    /// List the latest alert of each cause and subject, newest first
    List {
        /// Also those that were acknowledged
        #[arg(long)]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Say that you looked at an alert; this is recorded with your name. The next one of its kind alerts again
    Acknowledge {
        /// The cause
        #[arg(value_parser = known(AlertCode::all(), AlertCode::code))]
        alert: AlertCode,
        /// Only of this subject [default: every subject]
        #[arg(long)]
        subject: Option<String>,
        /// Your finding, in a few words; the audit trail keeps it
        #[arg(long, value_name = "TEXT", value_parser = given_reason)]
        reason: Option<String>,
    },
}

pub(super) fn run(command: AlertCommand, global: &Global) -> anyhow::Result<ExitCode> {
    with_store(global, async |session| {
        match command {
            AlertCommand::List { all, json } => list(&session, all, json).await?,
            AlertCommand::Acknowledge {
                alert,
                subject,
                reason,
            } => acknowledge(&session, alert, subject.as_deref(), reason.as_deref()).await?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn list(session: &Session, all: bool, json: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let mut states = session.vault.alerts.list(&account.id).await?;
    states.retain(|state| all || state.acknowledged.is_none());
    if json {
        return print_json(&states);
    }
    let mut table = Table::new(&["TIME", "ALERT", "SUBJECT", "DETAILS", "ACKNOWLEDGED"]);
    for state in &states {
        let by = state.acknowledged.as_ref().map(|one| one.by.clone());
        table.row([
            to_the_second(state.alert.time),
            state.alert.alert.to_string(),
            state.alert.subject.clone().unwrap_or_default(),
            state.alert.details_in_words(),
            by.unwrap_or_default(),
        ]);
    }
    table.print("no alert waits");
    Ok(())
}

async fn acknowledge(
    session: &Session,
    alert: AlertCode,
    subject: Option<&str>,
    reason: Option<&str>,
) -> anyhow::Result<()> {
    let account = session.account().await?;
    let alerts = &session.vault.alerts;
    let is_meant = |state: &AlertState| {
        let of_it = state.alert.subject.as_deref().unwrap_or_default();
        let is_open = state.acknowledged.is_none();
        state.alert.alert == alert && is_open && subject.is_none_or(|wanted| wanted == of_it)
    };
    let mut meant = alerts.list(&account.id).await?;
    meant.retain(is_meant);
    anyhow::ensure!(
        !meant.is_empty(),
        "no such alert waits; `phigate alert list` shows them"
    );
    for state in &meant {
        let of_it = state.alert.subject.as_deref().unwrap_or_default();
        let by = By {
            actor: session.actor(),
            reason,
        };
        alerts.acknowledge(&account.id, alert, of_it, by).await?;
    }
    eprintln!("acknowledged: {}", meant.len());
    Ok(())
}
