//! Audit records as a table for spreadsheets.
//!
//! A spreadsheet runs a cell that starts with `=`, `+`, `-` or `@`. Names of keys and models come
//! from people, so every such cell is made text first.

use std::collections::BTreeMap;

use serde_json::Value;
use uuid::Uuid;

use crate::model::Record;

/// The columns, named as in the JSON export.
const COLUMNS: &[&str] = &[
    // One row per field of a record; nested ones are written as JSON.
    "record",
    "request_id",
    "time",
    "account",
    "key_id",
    "subject",
    "mode",
    "action",
    "door",
    "model",
    "family",
    "provider",
    "agreement",
    "stream",
    "phi_detected",
    "types",
    "findings",
    "unscannable",
    "sizes",
    "detector_version",
    "status",
    "provider_status",
    "served_model",
    "finish_reason",
    "usage",
    "error_code",
    "first_byte_ms",
    "total_ms",
    "added_ms",
    "attempts",
    "actor",
    "act",
    "target",
    "from",
    "to",
    "reason",
    "details",
];

/// A column made of a request's joined fields.
type Column = fn(&Value) -> Value;

/// Columns that spreadsheets can add up and sort by, beside the nested fields.
static PLAIN: &[(&str, Column)] = &[
    // Column, and its value in the joined fields.
    ("phi", |fields| phi(&fields["types"])),
    ("findings_count", |fields| total(&fields["types"])),
    ("prompt_tokens", |fields| {
        fields["usage"]["prompt_tokens"].clone()
    }),
    ("completion_tokens", |fields| {
        fields["usage"]["completion_tokens"].clone()
    }),
    ("total_tokens", |fields| {
        fields["usage"]["total_tokens"].clone()
    }),
];

/// Makes lines of records: one per request, its outcome beside its decision, and one per act.
#[derive(Default)]
pub struct AuditTable {
    /// Requests without an outcome so far.
    open: BTreeMap<Uuid, Value>,
    rows: u64,
}

impl AuditTable {
    /// The first line.
    pub fn header() -> String {
        let plain = PLAIN.iter().map(|(name, _)| *name);
        let columns: Vec<&str> = COLUMNS.iter().copied().chain(plain).collect();
        columns.join(",") + "\r\n"
    }

    /// The line that a record completes, if it does.
    pub fn line(&mut self, record: &Record) -> Option<String> {
        let fields = serde_json::to_value(record).unwrap_or_default();
        let line = match record {
            Record::Decision(decision) => {
                self.open.insert(decision.request_id, fields);
                None
            }
            // The outcome names every attempt.
            Record::Attempt(_) => None,
            Record::Outcome(outcome) => {
                let decision = self.open.remove(&outcome.request_id);
                Some(row(&joined(decision.unwrap_or_default(), fields)))
            }
            Record::Admin(_) | Record::Alert(_) => Some(row(&fields)),
        };
        self.rows += u64::from(line.is_some());
        line
    }

    /// The lines of requests that have no outcome.
    pub fn rest(&mut self) -> String {
        let open = std::mem::take(&mut self.open);
        self.rows += open.len() as u64;
        open.values().map(row).collect()
    }

    /// The number of lines so far, without the first.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

/// Joins a decision with its outcome. The decision's field wins if both have it, as with the time.
fn joined(decision: Value, outcome: Value) -> Value {
    let (Value::Object(mut fields), Value::Object(more)) = (decision, outcome.clone()) else {
        return outcome;
    };
    for (name, value) in more {
        let known = fields.entry(name).or_insert(Value::Null);
        if known.is_null() {
            *known = value;
        }
    }
    Value::Object(fields)
}

fn row(fields: &Value) -> String {
    let nested = COLUMNS.iter().map(|name| table_cell(&fields[*name]));
    let plain = PLAIN.iter().map(|(_, of)| table_cell(&of(fields)));
    let cells: Vec<String> = nested.chain(plain).collect();
    cells.join(",") + "\r\n"
}

/// Kinds and counts as people read them: `name 2; ssn 1`.
fn phi(types: &Value) -> Value {
    let types = types.as_object().into_iter().flatten();
    let words: Vec<String> = types
        .map(|(kind, count)| format!("{kind} {count}"))
        .collect();
    if words.is_empty() {
        Value::Null
    } else {
        words.join("; ").into()
    }
}

fn total(types: &Value) -> Value {
    let Some(types) = types.as_object() else {
        return Value::Null;
    };
    types.values().filter_map(Value::as_u64).sum::<u64>().into()
}

/// A cell of a table for spreadsheets, which never starts a formula.
pub fn table_cell(value: &Value) -> String {
    let text = match value {
        Value::Null => return String::new(),
        Value::Bool(_) | Value::Number(_) => return value.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => value.to_string(),
    };
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '\0']);
    let guarded = if is_formula { format!("'{text}") } else { text };
    if guarded.contains([',', '"', '\n', '\r', '\'']) {
        format!("\"{}\"", guarded.replace('"', "\"\""))
    } else {
        guarded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_never_starts_a_formula() {
        let rows = [
            ("plain", "plain"),
            ("=HYPERLINK(1)", "\"'=HYPERLINK(1)\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@x", "\"'@x\""),
            ("\tx", "\"'\tx\""),
            ("say \"hi\", now", "\"say \"\"hi\"\", now\""),
            ("two\nlines", "\"two\nlines\""),
        ];
        for (text, written) in rows {
            assert_eq!(table_cell(&Value::String(text.into())), written);
        }
        assert_eq!(table_cell(&serde_json::json!(-5)), "-5");
        assert_eq!(table_cell(&Value::Null), "");
    }

    #[test]
    fn every_row_has_every_column() {
        let act = crate::model::AdminAct::new(
            jiff::Timestamp::UNIX_EPOCH,
            "default",
            "cli",
            phigate_types::Act::KeyCreate,
        );
        let line = AuditTable::default()
            .line(&Record::Admin(act.target("=1")))
            .unwrap();
        assert_eq!(
            line.matches(',').count(),
            AuditTable::header().matches(',').count(),
            "{line}"
        );
        assert!(line.starts_with("admin,"), "{line}");
    }

    #[test]
    fn request_and_outcome_share_one_row() {
        let id = Uuid::nil();
        let record = |value: Value| serde_json::from_value::<Record>(value).unwrap();
        let decision = record(serde_json::json!({
            "record": "decision", "request_id": id, "time": "2026-01-31T08:00:00Z", "account": "default",
            "key_id": "abcdefghijkl", "mode": "mask", "action": "masked", "model": "gpt-4o", "family": "openai",
            "stream": false, "phi_detected": true, "types": {"name": 2, "ssn": 1}, "findings": [], "unscannable": [],
            "sizes": {"body": 10, "text": 5}, "detector_version": "test"
        }));
        let outcome = record(serde_json::json!({
            "record": "outcome", "request_id": id, "time": "2026-01-31T08:00:09Z", "account": "default", "status": 200,
            "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
        }));
        let mut table = AuditTable::default();
        assert_eq!(table.line(&decision), None);
        let line = table.line(&outcome).unwrap();
        for cell in [
            "decision,",
            "2026-01-31T08:00:00Z",
            ",masked,",
            ",200,",
            ",name 2; ssn 1,3,3,4,7\r\n",
        ] {
            assert!(line.contains(cell), "{cell} in {line}");
        }
        assert!(!line.contains("08:00:09"));
        assert_eq!(table.rest(), "");
        table.line(&decision);
        assert!(
            table.rest().contains(",masked,"),
            "a request under way has a row too"
        );
    }
}
