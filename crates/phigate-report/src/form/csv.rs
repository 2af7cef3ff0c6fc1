//! A report as tables for spreadsheets: the head, then one table after another, each after an empty line.

use phigate_store::table_cell;
use serde_json::Value;

use crate::ReportError;
use crate::document::{Document, written};
use crate::times::to_the_second;

/// Word for a cell without a value.
const NONE: &str = "none";

/// Writes the tables.
pub(super) fn write(document: &Document, public_key: &str) -> Result<String, ReportError> {
    let mut text = String::new();
    let mut line = |cells: &[Value]| {
        let cells: Vec<String> = cells.iter().map(plain).collect();
        text.push_str(&cells.join(","));
        text.push_str("\r\n");
    };
    let mut pair = |name: &str, value: Value| line(&[name.into(), value]);
    pair("report", document.kind.code().into());
    pair("account", document.account.as_str().into());
    for words in &document.letterhead {
        pair("letterhead", words.as_str().into());
    }
    pair("made", to_the_second(document.made).into());
    pair("made_by", document.made_by.as_str().into());
    if let Some(reference) = &document.reference {
        pair("reference", reference.as_str().into());
    }
    for (name, _, words) in &document.asked {
        pair(name, words.as_str().into());
    }
    for words in &document.complete {
        pair("complete", words.as_str().into());
    }
    for fact in &document.facts {
        pair(fact.name, fact.value.clone());
    }
    pair("public_key", public_key.into());
    for section in &document.sections {
        line(&[]);
        line(&[section.name.into()]);
        let names = section.columns.iter().map(|column| Value::from(column.0));
        line(&names.collect::<Vec<Value>>());
        for row in &section.rows {
            line(&row.cells);
        }
    }
    line(&[]);
    Ok(text)
}

/// A cell. A list is joined as a person writes one, and what is missing is said.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => NONE.to_owned(),
        Value::String(text) if text.is_empty() => NONE.to_owned(),
        Value::Array(items) if items.is_empty() => NONE.to_owned(),
        Value::Array(_) => table_cell(&written(value).into()),
        other => table_cell(other),
    }
}
