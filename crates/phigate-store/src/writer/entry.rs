//! Turns records into rows: the columns searched by, and what the record adds to the counters.

use crate::chain;
use crate::model::{AdminAct, Decision, Outcome, Record, RecordKind};
use crate::store::AuditRow;
use crate::writer::job::{Effect, Entry};
use jiff::Timestamp;
use std::sync::Arc;
use uuid::Uuid;

/// A decision; its sealed content and lookup hashes are added by the caller.
pub(crate) fn decision(account_id: &str, id: Uuid, decision: &Decision) -> Entry {
    let mut row = row(
        account_id,
        id,
        RecordKind::Decision,
        &Record::Decision(decision.clone()),
    );
    row.key_id = Some(column(&decision.key_id));
    row.mode = Some(column(&decision.mode));
    row.action = Some(column(&decision.action));
    row.model = decision.model.as_deref().map(column);
    row.types = types_column(decision);
    let mut counters = vec![("requests".to_owned(), 1)];
    if decision.phi_detected {
        counters.push(("with_phi".to_owned(), 1));
    }
    counters.push((format!("action:{}", decision.action), 1));
    counters.push((format!("mode:{}", decision.mode), 1));
    counters.extend(
        decision
            .family
            .iter()
            .map(|family| (format!("family:{family}"), 1)),
    );
    counters.extend(
        decision
            .types
            .keys()
            .map(|kind| (format!("type:{kind}"), 1)),
    );
    entry(
        row,
        &decision.account,
        counters,
        Effect::Opens(decision.request_id),
    )
}

/// An outcome.
pub(crate) fn outcome(account_id: &str, outcome: &Outcome) -> Entry {
    let row = row(
        account_id,
        Uuid::now_v7(),
        RecordKind::Outcome,
        &Record::Outcome(outcome.clone()),
    );
    let class = outcome
        .status
        .map_or("none".to_owned(), |status| format!("{}xx", status / 100));
    let mut counters = vec![(format!("status:{class}"), 1)];
    if let Some(usage) = outcome.usage {
        counters.push((
            "tokens".to_owned(),
            i64::try_from(usage.total_tokens).unwrap_or(i64::MAX),
        ));
    }
    let times = [
        ("total", outcome.total_ms),
        ("first", outcome.first_byte_ms),
    ];
    for (name, milliseconds) in times {
        counters.extend(milliseconds.map(|value| (format!("{name}_ms:{}", time_class(value)), 1)));
    }
    entry(
        row,
        &outcome.account,
        counters,
        Effect::Closes(outcome.request_id),
    )
}

/// An admin act.
pub(crate) fn admin(account_id: &str, act: &AdminAct) -> Entry {
    let mut row = row(
        account_id,
        Uuid::now_v7(),
        RecordKind::Admin,
        &Record::Admin(act.clone()),
    );
    row.act = Some(column(&act.act));
    entry(row, &act.account, Vec::new(), Effect::Neither)
}

/// The outcome of a request that got no answer from a provider.
pub(crate) fn ended(
    request_id: Uuid,
    time: Timestamp,
    account: &str,
    status: Option<u16>,
    code: &str,
) -> Outcome {
    Outcome {
        request_id,
        time,
        account: account.to_owned(),
        status,
        provider_status: None,
        served_model: None,
        finish_reason: None,
        usage: None,
        error_code: Some(code.to_owned()),
        first_byte_ms: None,
        total_ms: None,
    }
}

/// The columns a row must have, given its text; verification compares them.
pub(crate) fn columns(account_id: &str, id: Uuid, record: &Record) -> AuditRow {
    let entry = match record {
        Record::Decision(inner) => decision(account_id, id, inner),
        Record::Outcome(inner) => outcome(account_id, inner),
        Record::Admin(inner) => admin(account_id, inner),
    };
    AuditRow {
        id,
        ..Arc::unwrap_or_clone(entry.row)
    }
}

/// Class of a time: eight per doubling, so a quantile is right to about nine per cent.
pub(crate) fn time_class(milliseconds: u64) -> u32 {
    let value = milliseconds.max(1) as f64;
    (value.log2() * 8.0).round() as u32
}

/// The time a class stands for.
pub(crate) fn class_time(class: u32) -> u64 {
    (f64::from(class) / 8.0).exp2().round() as u64
}

fn entry(row: AuditRow, account: &str, counters: Vec<(String, i64)>, effect: Effect) -> Entry {
    Entry {
        leaf: chain::leaf(&row.account, row.id, row.time_us, &row.body),
        row: Arc::new(row),
        account_name: account.to_owned(),
        contents: Vec::new(),
        tokens: Vec::new(),
        counters,
        effect,
    }
}

fn row(account_id: &str, id: Uuid, kind: RecordKind, record: &Record) -> AuditRow {
    AuditRow {
        account: account_id.to_owned(),
        id,
        time_us: record.time().as_microsecond(),
        kind: kind.code(),
        request: record.request_id(),
        key_id: None,
        mode: None,
        action: None,
        model: None,
        types: None,
        act: None,
        body: serde_json::to_string(record).expect("records are plain values"),
    }
}

/// PostgreSQL takes no zero bytes in text; in the record itself they are escaped.
fn column(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

fn types_column(decision: &Decision) -> Option<String> {
    let mut text = String::from(",");
    for kind in decision.types.keys() {
        text.push_str(kind);
        text.push(',');
    }
    decision.phi_detected.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_class_stands_for_about_its_times() {
        for milliseconds in [1, 2, 7, 31, 250, 1_999, 60_000, 600_000] {
            let back = class_time(time_class(milliseconds)) as f64;
            let ratio = back / milliseconds as f64;
            assert!((0.8..1.25).contains(&ratio), "{milliseconds} became {back}");
        }
    }
}
