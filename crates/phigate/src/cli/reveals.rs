//! `phigate reveals`: the number of people that a look at content takes, and the requests that wait for the second one.

use std::process::ExitCode;

use clap::Subcommand;
use phigate_gateway::Weaker;
use phigate_store::{By, RevealRequest, RevealSubject, Settings};
use phigate_types::Approvals;

use super::Global;
use super::confirm::reason_for;
use super::store::{Session, given_reason, in_store, to_the_second};
use super::table::{Table, print_json};
use super::words::known;

#[derive(Subcommand)]
pub(super) enum Reveals {
    /// Show or set how many people a look at content takes
    Approvals {
        /// 1: an owner or auditor alone; 2: another one approves within 30 minutes
        #[arg(value_parser = known(Approvals::all(), Approvals::code))]
        number: Option<Approvals>,
        /// Why, in a few words, for the audit trail; needed to go back to 1
        #[arg(long, value_name = "TEXT", value_parser = given_reason)]
        reason: Option<String>,
    },
    /// List the requests to reveal content that are open; another owner or auditor approves them in the dashboard
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(reveals: &Reveals, global: &Global) -> anyhow::Result<ExitCode> {
    let sets = matches!(
        reveals,
        Reveals::Approvals {
            number: Some(_),
            ..
        }
    );
    in_store(global, sets, async |session| {
        match reveals {
            Reveals::Approvals {
                number: Some(number),
                reason,
            } => set(&session, *number, reason.as_deref()).await?,
            Reveals::Approvals { number: None, .. } => {
                let account = session.account().await?;
                let settings = session.vault.accounts.settings(&account.id).await?;
                println!("{}", settings.reveal_approvals);
            }
            Reveals::List { json } => list(&session, *json).await?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn set(session: &Session, number: Approvals, reason: Option<&str>) -> anyhow::Result<()> {
    let account = session.account().await?;
    let accounts = &session.vault.accounts;
    let change = |settings: &mut Settings| settings.reveal_approvals = number;
    let before = accounts.settings(&account.id).await?;
    let mut after = before.clone();
    change(&mut after);
    let subject = format!("account {}", account.name);
    let weaker = Weaker::of_settings(&before, &after);
    let reason = reason_for(session, &subject, &weaker, reason)?;
    let by = By {
        actor: session.actor(),
        reason: reason.as_deref(),
    };
    accounts.edit_settings(&account.id, change, by).await?;
    session.tell(format_args!("{subject}: {}", number.summary()));
    Ok(())
}

async fn list(session: &Session, json: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let open = session.vault.reveals.open(&account.id).await?;
    if json {
        return print_json(&open);
    }
    let mut table = Table::new(&["ID", "CONTENT OF", "ASKED BY", "REASON", "STATE", "UNTIL"]);
    for request in open {
        let until = to_the_second(request.expires);
        let (of, state) = (content_of(&request.subject), state_of(&request));
        table.row([request.id, of, request.actor, request.reason, state, until]);
    }
    table.print("no requests to reveal content are open");
    Ok(())
}

/// The request id, or the token.
fn content_of(subject: &RevealSubject) -> String {
    match subject {
        RevealSubject::Request(id) => id.to_string(),
        RevealSubject::Token(name) => format!("[{name}]"),
    }
}

fn state_of(request: &RevealRequest) -> String {
    match &request.approved_by {
        Some(by) => format!("approved by {by}"),
        None => "waits".to_owned(),
    }
}

/// Asks for the approval of a look that takes two people, and says how it goes on.
pub(super) async fn ask(
    session: &Session,
    account_id: &str,
    subject: &RevealSubject,
    reason: &str,
) -> anyhow::Result<()> {
    let reveals = &session.vault.reveals;
    let asked = reveals
        .ask(account_id, subject, session.actor(), reason)
        .await?;
    let place = match subject {
        RevealSubject::Request(id) => format!("/audit/{id}"),
        RevealSubject::Token(_) => "/audit/looks".to_owned(),
    };
    eprintln!(
        "nothing is shown yet: revealing content takes a second person here. The request is recorded as {}; an owner or auditor can approve it in the dashboard, at {place}, until {}. Then give this command again. In an emergency, --emergency shows it at once and raises an alert",
        asked.id,
        to_the_second(asked.expires)
    );
    Ok(())
}
