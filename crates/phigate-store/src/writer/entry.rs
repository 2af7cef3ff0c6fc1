//! Turns records into rows: the searched columns, and the record's counters.

use std::sync::Arc;

use jiff::Timestamp;
use phigate_types::{Blame, ErrorCode};
use phigate_verify::chain::leaf;
use serde::Serialize;
use smol_str::{SmolStr, format_smolstr};
use uuid::Uuid;

use crate::digits::Digits;
use crate::minutes::{AttemptOutcome, Minute};
use crate::model::{
    AdminAct, Alert, Attempt, AttemptEnd, Decision, Outcome, Record, RecordKind, ReplyFacts,
};
use crate::rows::{AuditRow, Contents, LookupCode};
use crate::writer::job::{Counters, Effect, Entry};

/// Typical maximum of counters per record, without those of PHI kinds.
const COUNTERS_USUAL: usize = 10;

/// Typical maximum size of a record without findings, and of a findings list.
const BODY_BYTES: usize = 768;
const FINDING_BYTES: usize = 112;

/// A decision; its sealed content and lookup codes are given by the caller.
pub(crate) fn decision(
    account_id: &str,
    id: Uuid,
    decision: &Decision,
    contents: Contents,
    codes: Vec<LookupCode>,
) -> Arc<Entry> {
    let row = decision_row(account_id, id, decision);
    let counters = decision_counters(decision);
    Arc::new(Entry {
        contents,
        codes,
        ..entry(
            row,
            &decision.account,
            counters,
            Effect::Opens(decision.request_id),
        )
    })
}

/// A further attempt; its sealed content is given by the caller.
pub(crate) fn attempt(
    account_id: &str,
    id: Uuid,
    attempt: &Attempt,
    contents: Contents,
) -> Arc<Entry> {
    let row = row(account_id, id, RecordRef::Attempt(attempt));
    Arc::new(Entry {
        contents,
        ..entry(row, &attempt.account, Vec::new(), Effect::Neither)
    })
}

/// An outcome.
pub(crate) fn outcome(account_id: &str, outcome: &Outcome) -> Arc<Entry> {
    outcome_with(account_id, Uuid::now_v7(), outcome, Contents::default())
}

/// An outcome with sealed content.
pub(crate) fn outcome_with(
    account_id: &str,
    id: Uuid,
    outcome: &Outcome,
    contents: Contents,
) -> Arc<Entry> {
    let row = row(account_id, id, RecordRef::Outcome(outcome));
    let mut counters = outcome_counters(outcome);
    counters.extend(attempt_ends(outcome));
    Arc::new(Entry {
        contents,
        ..entry(
            row,
            &outcome.account,
            counters,
            Effect::Closes(outcome.request_id),
        )
    })
}

/// An admin act.
pub(crate) fn admin(account_id: &str, act: &AdminAct) -> Arc<Entry> {
    let row = admin_row(account_id, Uuid::now_v7(), act);
    Arc::new(entry(row, &act.account, Vec::new(), Effect::Neither))
}

/// An alert.
pub(crate) fn alert(account_id: &str, alert: &Alert) -> Arc<Entry> {
    let row = row(account_id, Uuid::now_v7(), RecordRef::Alert(alert));
    Arc::new(entry(row, &alert.account, Vec::new(), Effect::Neither))
}

/// The outcome of a request that got no answer from a provider.
pub(crate) fn ended(
    request_id: Uuid,
    time: Timestamp,
    account: &str,
    status: Option<u16>,
    code: ErrorCode,
) -> Outcome {
    Outcome {
        request_id,
        time,
        account: account.to_owned(),
        key_id: None,
        status,
        provider_status: None,
        served_model: None,
        finish_reason: None,
        usage: None,
        error_code: Some(code),
        first_byte_ms: None,
        total_ms: None,
        added_ms: None,
        attempts: Vec::new(),
        reply: ReplyFacts::default(),
        sealed: None,
    }
}

/// A record's counters for its hour. Counters of minutes are not included, because they are deleted earlier.
pub(crate) fn counters(record: &Record) -> Counters {
    match record {
        Record::Decision(decision) => decision_counters(decision),
        Record::Outcome(outcome) => outcome_counters(outcome),
        Record::Attempt(_) | Record::Admin(_) | Record::Alert(_) => Vec::new(),
    }
}

/// Whether earlier versions did not have this counter.
pub(crate) fn is_late_counter(name: &str) -> bool {
    const LATE: &[&str] = &[
        "error",
        "key",
        "key_phi",
        "key_tokens",
        "model",
        "model_phi",
    ];
    let group = name.split_once(':').map_or(name, |(group, _)| group);
    LATE.contains(&group)
}

/// The hour of a record's counters.
pub(crate) fn hour(time_us: i64) -> i64 {
    time_us.div_euclid(3_600_000_000)
}

fn decision_counters(decision: &Decision) -> Counters {
    let mut counters = Counters::with_capacity(COUNTERS_USUAL + decision.types.len());
    counters.push(("requests".into(), 1));
    if decision.phi_detected {
        counters.push(("with_phi".into(), 1));
        // The two counts alone do not give the number of forwarded requests with PHI, because some are refused.
        counters.push((named("phi_action", decision.action.code()), 1));
    }
    counters.push((named("action", decision.action.code()), 1));
    for (name, whose) in [
        ("key", Some(&decision.key_id)),
        ("model", decision.model.as_ref()),
    ] {
        let Some(whose) = whose else { continue };
        counters.push((named(name, whose), 1));
        if decision.phi_detected {
            counters.push(([name, "_phi:", whose].into_iter().collect(), 1));
        }
    }
    counters.push((named("mode", decision.mode.code()), 1));
    let family = decision.family.map(|family| ("family", family.code()));
    let kinds = decision.types.keys().map(|kind| ("type", kind.as_str()));
    counters.extend(
        family
            .into_iter()
            .chain(kinds)
            .map(|(what, name)| (named(what, name), 1)),
    );
    counters
}

/// The name of a counter in a group. Concatenated without formatting, because every request has some.
fn named(group: &str, name: &str) -> SmolStr {
    [group, ":", name].into_iter().collect()
}

fn outcome_counters(outcome: &Outcome) -> Counters {
    let class = match outcome.status {
        Some(200..300) => "status:2xx".into(),
        Some(status) => format_smolstr!("status:{}xx", status / 100),
        None => "status:none".into(),
    };
    let mut counters = Counters::with_capacity(COUNTERS_USUAL);
    counters.push((class, 1));
    if let Some(usage) = outcome.usage {
        let tokens = i64::try_from(usage.total_tokens).unwrap_or(i64::MAX);
        counters.push(("tokens".into(), tokens));
        let key = outcome.key_id.as_ref();
        counters.extend(key.map(|key| (named("key_tokens", key), tokens)));
    }
    let error = outcome.error_code.as_ref();
    counters.extend(error.map(|code| (named("error", code.code()), 1)));
    let times = [
        ("total_ms", outcome.total_ms),
        ("first_ms", outcome.first_byte_ms),
    ];
    for (name, milliseconds) in times {
        let class = milliseconds.map(|value| named(name, Digits::of(time_class(value)).text()));
        counters.extend(class.map(|class| (class, 1)));
    }
    counters
}

/// Attempt counters of a request's providers, by minute.
fn attempt_ends(outcome: &Outcome) -> impl Iterator<Item = (SmolStr, i64)> {
    let minute = Minute::of(outcome.time);
    let is_its_own =
        |code: ErrorCode| code.blame() == Blame::Provider || code == ErrorCode::ProviderRateLimited;
    let attempt_outcome = move |attempt: &AttemptEnd| match (attempt.error_code, attempt.status) {
        (Some(code), _) if is_its_own(code) => Some(AttemptOutcome::Failed),
        // A disconnected caller or a withheld reply is not a failure of the provider.
        (_, Some(_)) => Some(AttemptOutcome::Answered(time_class(attempt.ms))),
        (_, None) => None,
    };
    let counter = move |attempt: &AttemptEnd| {
        let name = minute.counter(&attempt.provider, attempt_outcome(attempt)?);
        Some((name, 1))
    };
    outcome.attempts.iter().filter_map(counter)
}

/// The row that a record's text implies; verification compares it with the stored row.
pub(crate) fn columns(account_id: &str, id: Uuid, record: &Record) -> AuditRow {
    match record {
        Record::Decision(inner) => decision_row(account_id, id, inner),
        Record::Attempt(inner) => row(account_id, id, RecordRef::Attempt(inner)),
        Record::Outcome(inner) => row(account_id, id, RecordRef::Outcome(inner)),
        Record::Admin(inner) => admin_row(account_id, id, inner),
        Record::Alert(inner) => row(account_id, id, RecordRef::Alert(inner)),
    }
}

/// Class of a duration: eight per doubling, so a quantile is accurate to about nine percent.
pub(crate) fn time_class(milliseconds: u64) -> u32 {
    let value = milliseconds.max(1) as f64;
    (value.log2() * 8.0).round() as u32
}

/// The duration of a class.
pub(crate) fn class_time(class: u32) -> u64 {
    (f64::from(class) / 8.0).exp2().round() as u64
}

/// A record by reference, with the same serialisation as [`Record`].
#[derive(Clone, Copy, Serialize)]
#[serde(tag = "record", rename_all = "lowercase")]
enum RecordRef<'a> {
    Decision(&'a Decision),
    Attempt(&'a Attempt),
    Outcome(&'a Outcome),
    Admin(&'a AdminAct),
    Alert(&'a Alert),
}

fn entry(row: AuditRow, account: &str, counters: Counters, effect: Effect) -> Entry {
    Entry {
        leaf: leaf(&row.account, row.id, row.time_us, &row.body),
        row: Arc::new(row),
        account_name: account.into(),
        contents: Contents::default(),
        codes: Vec::new(),
        counters,
        effect,
    }
}

fn decision_row(account_id: &str, id: Uuid, decision: &Decision) -> AuditRow {
    AuditRow {
        key_id: Some(column(&decision.key_id)),
        mode: Some(decision.mode.code().to_owned()),
        action: Some(decision.action.code().to_owned()),
        model: decision.model.as_deref().map(column),
        types: types_column(decision),
        ..row(account_id, id, RecordRef::Decision(decision))
    }
}

fn admin_row(account_id: &str, id: Uuid, act: &AdminAct) -> AuditRow {
    AuditRow {
        act: Some(act.act.code().to_owned()),
        ..row(account_id, id, RecordRef::Admin(act))
    }
}

fn row(account_id: &str, id: Uuid, record: RecordRef<'_>) -> AuditRow {
    let (kind, time, request) = match record {
        RecordRef::Decision(inner) => (RecordKind::Decision, inner.time, Some(inner.request_id)),
        RecordRef::Attempt(inner) => (RecordKind::Attempt, inner.time, Some(inner.request_id)),
        RecordRef::Outcome(inner) => (RecordKind::Outcome, inner.time, Some(inner.request_id)),
        RecordRef::Admin(inner) => (RecordKind::Admin, inner.time, inner.request_id),
        RecordRef::Alert(inner) => (RecordKind::Alert, inner.time, None),
    };
    let findings = match record {
        RecordRef::Decision(inner) => inner.findings.len(),
        _ => 0,
    };
    let mut body = Vec::with_capacity(BODY_BYTES + FINDING_BYTES * findings);
    serde_json::to_writer(&mut body, &record).expect("records are plain values");
    AuditRow {
        account: account_id.to_owned(),
        id,
        time_us: time.as_microsecond(),
        kind: kind.code(),
        request,
        key_id: None,
        mode: None,
        action: None,
        model: None,
        types: None,
        act: None,
        body: String::from_utf8(body).expect("JSON is text"),
    }
}

/// A text without zero bytes, which PostgreSQL does not accept. In the record itself they are escaped.
fn column(text: &str) -> String {
    // Fast path: zero bytes are rare.
    if text.as_bytes().contains(&0) {
        text.replace('\0', "\u{fffd}")
    } else {
        text.to_owned()
    }
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
    use phigate_types::Act;

    #[test]
    fn record_by_reference_serialises_identically() {
        let act = AdminAct::new(Timestamp::UNIX_EPOCH, "default", "cli", Act::ModeSet)
            .change("first", "second");
        let ended = ended(
            Uuid::nil(),
            Timestamp::UNIX_EPOCH,
            "default",
            Some(503),
            ErrorCode::Interrupted,
        );
        let rows = [
            (
                admin("a", &act),
                serde_json::to_string(&Record::Admin(act.clone())),
            ),
            (
                outcome("a", &ended),
                serde_json::to_string(&Record::Outcome(ended.clone())),
            ),
        ];
        for (entry, whole) in rows {
            assert_eq!(entry.row.body, whole.unwrap());
        }
    }

    #[test]
    fn time_class_is_accurate() {
        for milliseconds in [1, 2, 7, 31, 250, 1_999, 60_000, 600_000] {
            let back = class_time(time_class(milliseconds)) as f64;
            let ratio = back / milliseconds as f64;
            assert!((0.8..1.25).contains(&ratio), "{milliseconds} became {back}");
        }
    }
}
