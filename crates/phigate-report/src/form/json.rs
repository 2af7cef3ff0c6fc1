//! A report as one JSON object.

use serde_json::{Map, Value};

use crate::ReportError;
use crate::document::Document;
use crate::times::to_the_second;

/// Writes the object without its last brace, which follows the signature.
pub(super) fn write(document: &Document, public_key: &str) -> Result<String, ReportError> {
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    put("report", document.kind.code().into());
    put("title", document.kind.title().into());
    put("account", document.account.as_str().into());
    put("letterhead", document.letterhead.clone().into());
    put("made", to_the_second(document.made).into());
    put("made_by", document.made_by.as_str().into());
    if let Some(reference) = &document.reference {
        put("reference", reference.as_str().into());
    }
    let asked = document.asked.iter();
    let asked = asked.map(|(name, _, words)| ((*name).to_owned(), words.as_str().into()));
    put("asked", Value::Object(asked.collect()));
    put("complete", document.complete.clone().into());
    for fact in &document.facts {
        put(fact.name, fact.value.clone());
    }
    for section in &document.sections {
        put(section.name, section.json());
    }
    put("public_key", public_key.into());
    let text = serde_json::to_string_pretty(&object).map_err(|_| ReportError::Written)?;
    let open = text.strip_suffix("\n}").ok_or(ReportError::Written)?;
    Ok(open.to_owned())
}
