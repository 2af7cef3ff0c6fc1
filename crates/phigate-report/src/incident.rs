//! The scope of an incident: every request of a stretch of time, perhaps of one provider or key.

use phigate_store::RequestRow;
use serde_json::Value;

use crate::count::{Receiver, count};
use crate::document::{Column, Document, Section};
use crate::times::to_the_second;
use crate::{Ask, Order, ReportError, Sources};

/// Most requests that are listed; all are counted.
const LISTED_MAX: usize = 50_000;

const COLUMNS: &[Column] = &[
    // Name, label.
    Column("time", "Time (UTC)"),
    Column("request_id", "Request"),
    Column("action", "Action"),
    Column("types", "PHI found"),
    Column("receivers", "Received by"),
    Column("model", "Model"),
    Column("key", "API key"),
    Column("status", "Status"),
];

/// Counts and lists the requests.
pub(crate) async fn fill(
    document: &mut Document,
    sources: &Sources,
    order: &Order<'_>,
    ask: &Ask,
) -> Result<(), ReportError> {
    let title = "Requests, newest first";
    let mut list = Section::list("entries", title, "No request.", COLUMNS);
    let mut left_out = 0_u64;
    let filter = ask.filter().unwrap_or_default();
    let take = |row: &RequestRow, receivers: &[Receiver]| match list.rows.len() < LISTED_MAX {
        true => list.row(None, cells(row, receivers)),
        false => left_out += 1,
    };
    let counted = count(&sources.trail, &order.account.id, &filter, take).await?;
    counted.write(document, sources, order).await?;
    if left_out > 0 {
        document.complete.push(format!(
            "The newest {LISTED_MAX} requests are listed, {left_out} more are counted only; the command phigate audit export lists all."
        ));
    }
    document.sections.push(list);
    Ok(())
}

fn cells(row: &RequestRow, receivers: &[Receiver]) -> Vec<Value> {
    let decision = &row.decision;
    let types = decision.types.keys().map(|kind| Value::from(kind.as_str()));
    let mut names: Vec<&str> = receivers.iter().map(|one| one.provider.as_str()).collect();
    names.dedup();
    let status = row.outcome.as_ref().and_then(|outcome| outcome.status);
    vec![
        to_the_second(decision.time).into(),
        decision.request_id.to_string().into(),
        decision.action.code().into(),
        types.collect(),
        names.into_iter().map(Value::from).collect(),
        decision.model.clone().into(),
        decision.key_id.as_str().into(),
        status.into(),
    ]
}
