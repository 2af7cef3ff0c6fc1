//! A report as one page to print, without script and without anything from elsewhere.

use askama::Template;
use serde_json::Value;

use crate::ReportError;
use crate::document::{Document, Row, Section, written};
use crate::times::to_the_second;

/// Digest of the page's style, the only thing that its policy allows.
const STYLE_HASH: &str = "sha256-CdxkOwTHOzaPTe5+4GhLJu78Zcrs+z3tb5xYU92Q+wQ=";

/// Columns whose values stay in one line.
const SHORT: &[&str] = &["action", "key", "model"];

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    document: &'a Document,
    made: String,
    facts: Vec<(&'static str, String)>,
    sections: Vec<Drawn>,
    asked: Vec<(&'static str, String)>,
    public_key: &'a str,
    style_hash: &'static str,
}

/// A table as drawn.
struct Drawn {
    title: &'static str,
    empty: &'static str,
    columns: Vec<(&'static str, bool)>,
    rows: Vec<Vec<Cell>>,
}

struct Cell {
    text: String,
    is_number: bool,
    /// Whether the text is an id, which may be broken anywhere.
    is_code: bool,
    /// Whether the text stays in one line.
    is_short: bool,
}

/// Writes the page.
pub(super) fn write(document: &Document, public_key: &str) -> Result<String, ReportError> {
    let facts = document.facts.iter();
    let page = Page {
        document,
        made: shown_time(&to_the_second(document.made)),
        facts: facts.map(|fact| (fact.label, shown(&fact.value))).collect(),
        sections: document.sections.iter().map(drawn).collect(),
        asked: document.asked.iter().map(shown_question).collect(),
        public_key,
        style_hash: STYLE_HASH,
    };
    let mut text = page.render().map_err(|_| ReportError::Written)?;
    text.push('\n');
    Ok(text)
}

fn drawn(section: &Section) -> Drawn {
    let is_number = |at: usize| {
        let mut cells = section.rows.iter().filter_map(|row| row.cells.get(at));
        cells.any(Value::is_number)
    };
    let columns = section.columns.iter().enumerate();
    Drawn {
        title: section.title,
        empty: section.empty,
        columns: columns
            .map(|(at, column)| (column.1, is_number(at)))
            .collect(),
        rows: section.rows.iter().map(|row| cells(section, row)).collect(),
    }
}

fn cells(section: &Section, row: &Row) -> Vec<Cell> {
    let cell = |(at, value): (usize, &Value)| {
        let words = row.words.clone().filter(|_| at == 0);
        let is_code = words.is_none() && section.columns.get(at).is_some_and(|one| is_id(one.0));
        Cell {
            text: words.unwrap_or_else(|| shown(value)),
            is_number: value.is_number(),
            is_code,
            is_short: section
                .columns
                .get(at)
                .is_some_and(|one| SHORT.contains(&one.0)),
        }
    };
    row.cells.iter().enumerate().map(cell).collect()
}

/// Whether a column holds ids.
fn is_id(name: &str) -> bool {
    ["request_id", "key"].contains(&name)
}

/// A value as the page shows it.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::Number(number) => grouped(&number.to_string()),
        other => {
            let text = shown_time(&written(other));
            if text.is_empty() {
                "–".to_owned()
            } else {
                text
            }
        }
    }
}

/// A part of the question. Columns of times say that they are in UTC; here each time says so.
fn shown_question((_, label, words): &(&str, &'static str, String)) -> (&'static str, String) {
    let shown = shown_time(words);
    match shown == *words {
        true => (label, shown),
        false => (label, format!("{shown} UTC")),
    }
}

/// A time without the letters of its format.
fn shown_time(text: &str) -> String {
    let bytes = text.as_bytes();
    let is_time = bytes.len() == 20 && bytes[10] == b'T' && bytes[19] == b'Z';
    match is_time {
        true => text[..19].replace('T', " "),
        false => text.to_owned(),
    }
}

/// Digits in groups of three.
fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use base64::Engine;

    use super::*;

    #[test]
    fn policy_of_page_allows_its_style() {
        let page = include_str!("../../templates/report.html");
        let (_, style) = page.split_once("<style>").unwrap();
        let (style, _) = style.split_once("</style>").unwrap();
        let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, style.as_bytes());
        let digest = base64::engine::general_purpose::STANDARD.encode(digest);
        assert_eq!(STYLE_HASH, format!("sha256-{digest}"));
    }

    #[test]
    fn values_are_shown_for_people() {
        for (value, text) in [
            (Value::Null, "–"),
            (1_234_567.into(), "1,234,567"),
            (12.into(), "12"),
            ("2026-01-31T08:00:00Z".into(), "2026-01-31 08:00:00"),
            (vec!["name", "ssn"].into(), "name, ssn"),
            ("".into(), "–"),
        ] {
            assert_eq!(shown(&value), text);
        }
    }
}
