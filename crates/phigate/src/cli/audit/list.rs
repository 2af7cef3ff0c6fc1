//! `phigate audit list`: decisions, or the installation's own records, newest first.

use clap::Args;
use phi_detect::PhiKind;
use phigate_store::{AdminAct, Cursor, Filter, INSTALLATION, Record, RequestRow};

use super::filter::FilterArgs;
use crate::cli::store::{Session, to_the_second};
use crate::cli::table::Table;

/// Rows per query.
const PAGE: usize = 500;

#[derive(Args)]
pub(in crate::cli) struct List {
    #[command(flatten)]
    filter: FilterArgs,
    /// Print whole records as JSON lines
    #[arg(long)]
    json: bool,
    /// At most this many
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
}

impl List {
    /// Whether it is about the installation's own records.
    pub(super) fn is_of_installation(&self) -> bool {
        self.filter.installation
    }
}

pub(super) async fn run(session: &Session, account: &str, list: List) -> anyhow::Result<()> {
    let (is_of_installation, json) = (list.filter.installation, list.json);
    let limit = usize::try_from(list.limit).unwrap_or(usize::MAX);
    let filter = list.filter.filter(session, account).await?;
    match is_of_installation {
        true => acts(session, &filter, limit, json).await,
        false => requests(session, account, &filter, limit, json).await,
    }
}

/// Lists the installation's own records; there are no requests among them.
async fn acts(session: &Session, filter: &Filter, limit: usize, json: bool) -> anyhow::Result<()> {
    let mut table = Table::new(&["TIME", "ACT", "BY", "TARGET", "DETAILS"]);
    let (mut left, mut cursor) = (limit, None);
    while left > 0 {
        let trail = &session.vault.trail;
        let page = trail.audit_list(INSTALLATION, filter, cursor, left.min(PAGE));
        let page = page.await?;
        left -= page.items.len();
        for record in page.items {
            if json {
                println!("{}", serde_json::to_string(&record)?);
            } else if let Record::Admin(act) = record {
                table.row(cells_of_act(act));
            }
        }
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    end(
        json,
        &table,
        "no record of the installation matches",
        cursor,
    );
    Ok(())
}

fn cells_of_act(act: AdminAct) -> [String; 5] {
    let details = act.details.iter();
    let details: Vec<String> = details
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    [
        to_the_second(act.time),
        act.act.code().to_owned(),
        act.actor,
        act.target.unwrap_or_default(),
        details.join(" "),
    ]
}

fn end(json: bool, table: &Table, nothing: &str, cursor: Option<Cursor>) {
    if json {
        return;
    }
    table.print(nothing);
    if cursor.is_some() {
        eprintln!("there are more: raise --limit, or narrow the filter");
    }
}

async fn requests(
    session: &Session,
    account: &str,
    filter: &Filter,
    limit: usize,
    json: bool,
) -> anyhow::Result<()> {
    let mut table = Table::new(&[
        "TIME", "REQUEST", "ACTION", "REASON", "MODE", "PHI", "MODEL", "KEY", "STATUS",
    ]);
    let (mut left, mut cursor) = (limit, None);
    while left > 0 {
        let page = session
            .vault
            .trail
            .request_list(account, filter, cursor, left.min(PAGE))
            .await?;
        left -= page.items.len();
        for row in page.items {
            if json {
                let record = Record::Decision(row.decision);
                println!("{}", serde_json::to_string(&record)?);
            } else {
                table.row(cells(row));
            }
        }
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    end(json, &table, "no request matches", cursor);
    Ok(())
}

fn cells(row: RequestRow) -> [String; 9] {
    let (decision, outcome) = (row.decision, row.outcome);
    // The stored lists of types are in the order of the table.
    let table = PhiKind::all().map(PhiKind::code);
    let is_found = |code: &&str| decision.types.contains_key(*code);
    let mut types: Vec<&str> = table.filter(is_found).collect();
    let further = decision.types.keys().map(String::as_str);
    types.extend(further.filter(|code| PhiKind::from_code(code).is_none()));
    let types = match types.is_empty() && !decision.was_scanned() {
        true => "not scanned".to_owned(),
        false => types.join(","),
    };
    let status = outcome.as_ref().and_then(|outcome| outcome.status);
    let reason = decision
        .error_code
        .or(outcome.and_then(|outcome| outcome.error_code));
    [
        to_the_second(decision.time),
        decision.request_id.to_string(),
        decision.action.to_string(),
        reason.map_or_else(String::new, |code| code.to_string()),
        decision.mode.to_string(),
        types,
        decision.model.unwrap_or_default(),
        decision.key_id,
        status.map_or(String::new(), |status| status.to_string()),
    ]
}
