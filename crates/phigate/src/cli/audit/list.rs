//! `phigate audit list`: decisions, newest first.

use clap::Args;
use phi_detect::PhiKind;
use phigate_store::{Record, RequestRow};

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

pub(super) async fn run(session: &Session, account: &str, list: List) -> anyhow::Result<()> {
    let filter = list.filter.filter(session, account).await?;
    let mut table = Table::new(&[
        "TIME", "REQUEST", "ACTION", "REASON", "MODE", "PHI", "MODEL", "KEY", "STATUS",
    ]);
    let mut left = usize::try_from(list.limit).unwrap_or(usize::MAX);
    let mut cursor = None;
    while left > 0 {
        let page = session
            .vault
            .trail
            .request_list(account, &filter, cursor, left.min(PAGE))
            .await?;
        left -= page.items.len();
        for row in page.items {
            if list.json {
                println!(
                    "{}",
                    serde_json::to_string(&Record::Decision(row.decision))?
                );
            } else {
                table.row(cells(row));
            }
        }
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    if !list.json {
        table.print("no request matches");
        if cursor.is_some() {
            eprintln!("there are more: raise --limit, or narrow the filter");
        }
    }
    Ok(())
}

fn cells(row: RequestRow) -> [String; 9] {
    let (decision, outcome) = (row.decision, row.outcome);
    // The stored lists of types are in the order of the table.
    let types: Vec<&str> = PhiKind::all()
        .map(PhiKind::code)
        .filter(|code| decision.types.contains_key(*code))
        .collect();
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
