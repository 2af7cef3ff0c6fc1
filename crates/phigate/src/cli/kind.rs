//! `phigate kind`: the kinds of PHI that an account looks for.

use std::process::ExitCode;

use clap::Subcommand;
use phigate_gateway::{KindEdit, KindState, Weaker, kind_states};
use phigate_store::By;
use phigate_types::Replace;
use serde_json::Value;

use super::Global;
use super::confirm::reason_for;
use super::restore::Switch;
use super::store::{Session, given_reason, in_store};
use super::table::{Table, print_json};
use super::words::known;

#[derive(Subcommand)]
pub(super) enum Kind {
    /// Print every kind of PHI: whether it is on, from which score a finding counts, and what replaces it in mask mode
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Switch a kind, for every request from now on; the profiles eight and safe_harbor switch all (see profile)
    Set {
        /// Code of the kind
        code: String,
        /// Whether it is looked for
        value: Switch,
        /// Score from which a finding counts, between 0 and 1
        #[arg(long, value_name = "N")]
        threshold: Option<f64>,
        /// Replacement in mask mode: the placeholder, or a coarser value where there is one
        #[arg(long, value_parser = known(Replace::all(), Replace::code))]
        replace: Option<Replace>,
        /// Why, in a few words, for the audit trail; needed where less is found
        #[arg(long, value_name = "TEXT", value_parser = given_reason)]
        reason: Option<String>,
    },
}

pub(super) fn run(kind: &Kind, global: &Global) -> anyhow::Result<ExitCode> {
    let sets = matches!(kind, Kind::Set { .. });
    in_store(global, sets, async |session| act(kind, &session).await)
}

async fn list(session: &Session, as_json: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let states = kind_states(&session.vault.accounts.kinds(&account.id).await?);
    if as_json {
        let rows: Vec<Value> = states.iter().map(KindState::json).collect();
        return print_json(&rows);
    }
    let mut table = Table::new(&["CODE", "KIND", "ON", "THRESHOLD", "IN MASK MODE"]);
    for state in states {
        table.row([
            state.kind.code().to_owned(),
            state.kind.label().to_owned(),
            if state.is_on { "on" } else { "off" }.to_owned(),
            state.threshold.to_string(),
            state.replace.to_string(),
        ]);
    }
    table.print("there are no kinds");
    Ok(())
}

/// Does what the command says, for a call of the admin API.
pub(super) async fn act(kind: &Kind, session: &Session) -> anyhow::Result<ExitCode> {
    match kind {
        Kind::List { json } => list(session, *json).await?,
        Kind::Set {
            code,
            value,
            threshold,
            replace,
            reason,
        } => {
            let is_on = *value == Switch::On;
            let edit = KindEdit::of_kind(code, is_on, *threshold, *replace)?;
            change(session, &edit, reason.as_deref()).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Changes the kinds of the account, with a reason where less is found.
pub(super) async fn change(
    session: &Session,
    edit: &KindEdit,
    reason: Option<&str>,
) -> anyhow::Result<()> {
    let account = session.account().await?;
    let accounts = &session.vault.accounts;
    let before = accounts.kinds(&account.id).await?;
    let mut after = before.clone();
    let said = edit.apply(&mut after);
    let subject = format!("account {}", account.name);
    let weaker = Weaker::of_kinds(&before, &after);
    let reason = reason_for(session, &subject, &weaker, reason)?;
    let by = By {
        actor: session.actor(),
        reason: reason.as_deref(),
    };
    let apply = |kinds: &mut _| edit.apply(kinds);
    accounts.edit_kinds(&account.id, apply, by).await?;
    let what = said.kind.unwrap_or("profile");
    if before == after {
        session.tell(format_args!("{subject}: {what} was already {}", said.to));
        return Ok(());
    }
    session.tell(format_args!(
        "{subject}: {what} changed from {} to {}, for every request from now on",
        said.from, said.to
    ));
    Ok(())
}
