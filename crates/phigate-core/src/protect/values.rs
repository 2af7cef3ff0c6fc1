//! Values of findings, as the caller wrote them.

use std::borrow::Cow;

use crate::json::Document;
use crate::request::Place;

use super::located::LocatedFinding;

/// The values of these findings, in order. A finding that continues the one before has an empty value, because the
/// value belongs to the first.
pub(super) fn values_of(document: &Document, found: &[LocatedFinding]) -> Vec<String> {
    let mut values: Vec<String> = Vec::with_capacity(found.len());
    let mut whole = 0;
    for of_one_text in found.chunk_by(|one, next| one.node == next.node) {
        let node = document.value(of_one_text[0].node);
        let text = match of_one_text[0].place {
            Place::Number => Cow::Borrowed(node.raw()),
            _ => node.text(),
        };
        for one in of_one_text {
            let part = text.get(one.finding.span.clone()).unwrap_or_default();
            values.push(String::new());
            if !one.continues {
                whole = values.len() - 1;
            }
            values[whole].push_str(part);
        }
    }
    values.into_iter().map(unescaped).collect()
}

/// Resolves one more level of escapes: tool arguments are JSON inside a string.
fn unescaped(value: String) -> String {
    if !value.contains('\\') {
        return value;
    }
    serde_json::from_str(&format!("\"{value}\"")).unwrap_or(value)
}
