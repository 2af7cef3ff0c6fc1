//! Audit records as a table for spreadsheets.
//!
//! A spreadsheet runs a cell that starts with `=`, `+`, `-` or `@`. Names of keys and models come
//! from people, so every such cell is made text first.

use phigate_store::Record;
use serde_json::Value;

/// The columns, named as in the JSON export.
const COLUMNS: &[&str] = &[
    // One row per field of a record; nested ones are written as JSON.
    "record",
    "request_id",
    "time",
    "account",
    "key_id",
    "mode",
    "action",
    "door",
    "model",
    "family",
    "provider",
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
    "attempts",
    "actor",
    "act",
    "target",
    "from",
    "to",
    "reason",
    "details",
];

/// The first line.
pub(crate) fn header() -> String {
    COLUMNS.join(",") + "\r\n"
}

/// One record as a line.
pub(crate) fn row(record: &Record) -> String {
    let fields = serde_json::to_value(record).unwrap_or_default();
    let cells: Vec<String> = COLUMNS.iter().map(|name| cell(&fields[*name])).collect();
    cells.join(",") + "\r\n"
}

fn cell(value: &Value) -> String {
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
            assert_eq!(cell(&Value::String(text.into())), written);
        }
        assert_eq!(cell(&serde_json::json!(-5)), "-5");
        assert_eq!(cell(&Value::Null), "");
    }

    #[test]
    fn every_row_has_every_column() {
        let act = phigate_store::AdminAct::new(
            jiff::Timestamp::UNIX_EPOCH,
            "default",
            "cli",
            phigate_types::Act::KeyCreate,
        );
        let line = row(&Record::Admin(act.target("=1")));
        assert_eq!(line.matches(',').count(), COLUMNS.len() - 1, "{line}");
        assert!(line.starts_with("admin,"), "{line}");
    }
}
