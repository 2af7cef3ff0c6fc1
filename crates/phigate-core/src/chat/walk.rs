//! The one walk over text: every string, number and key of a body, wherever it stands.
//!
//! There is no list of fields to scan. With such lists, other gateways left the arguments
//! of tool calls unscanned.

use std::borrow::Cow;

use crate::json::{Document, Kind, NodeId, Value};

/// What may be done with a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A string value: PHI in it can be replaced.
    Text,
    /// A number: replacing it would change the document's shape.
    Number,
    /// An object's key.
    Key,
    /// A string that routes or structures the request; changing it would change its meaning.
    Structure,
}

/// One piece of text of a document.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    /// The node that holds it.
    pub node: NodeId,
    /// What may be done with it.
    pub place: Place,
}

/// Every piece of text of a document, in order.
pub fn slots(document: &Document) -> impl Iterator<Item = Slot> {
    document.nodes().filter_map(|value| {
        let place = match value.kind() {
            Kind::String if value.is_key() => Place::Key,
            Kind::String if is_structure(&value) => Place::Structure,
            Kind::String => Place::Text,
            Kind::Number => Place::Number,
            _ => return None,
        };
        Some(Slot {
            node: value.id(),
            place,
        })
    })
}

/// The model selects the provider and the role says who speaks. Both were checked; neither can be rewritten.
fn is_structure(value: &Value<'_>) -> bool {
    let Some(key) = value.key().and_then(|key| key.string()) else {
        return false;
    };
    let is_top_level = value
        .parent()
        .is_some_and(|parent| parent.parent().is_none());
    match key.as_ref() {
        "model" => is_top_level,
        "role" => is_message(value.parent()),
        _ => false,
    }
}

fn is_message(value: Option<Value<'_>>) -> bool {
    value
        .and_then(|message| message.parent())
        .and_then(|list| list.key())
        .and_then(|key| key.string())
        .is_some_and(|name| name == "messages")
}

/// Keys that say how a value is wrapped and nothing about what it is.
const NEUTRAL_KEYS: &[&str] = &[
    "arguments",
    "const",
    "content",
    "contents",
    "data",
    "default",
    "enum",
    "example",
    "examples",
    "input",
    "items",
    "parameters",
    "parts",
    "properties",
    "text",
    "value",
    "values",
];

/// Whether a key says nothing about what its value is.
pub(crate) fn is_neutral_key(key: &str) -> bool {
    NEUTRAL_KEYS.contains(&key)
}

/// The word that gives a value its meaning: the nearest key above it that is not mere wrapping.
///
/// Names of functions, schemas and participants, and the ids of tool calls, are identifiers of the protocol, so
/// their key says nothing either.
pub(crate) fn label<'d>(value: &Value<'d>) -> Option<Cow<'d, str>> {
    let mut at = *value;
    loop {
        match at.key().and_then(|key| key.string()) {
            Some(key) if key == "name" && is_protocol_name(&at) => return None,
            Some(key) if matches!(key.as_ref(), "id" | "tool_call_id") && is_call_id(&at) => {
                return None;
            }
            Some(key) if !is_neutral_key(&key) => return Some(key),
            _ => at = at.parent()?,
        }
    }
}

/// The message whose content this text is, or is a part of.
pub(crate) fn message_of<'d>(text: &Value<'d>) -> Option<Value<'d>> {
    let mut at = *text;
    while let Some(key) = at.key().and_then(|key| key.string()) {
        let holder = at.parent()?;
        match key.as_ref() {
            "content" if is_message(Some(holder)) => return Some(holder),
            // A part: its list is the content.
            "text" => at = holder.parent()?,
            _ => return None,
        }
    }
    None
}

fn is_protocol_name(value: &Value<'_>) -> bool {
    let Some(holder) = value.parent() else {
        return false;
    };
    let holder_key = holder.key().and_then(|key| key.string());
    let is_function = holder_key.is_some_and(|key| {
        matches!(
            key.as_ref(),
            "function" | "custom" | "json_schema" | "function_call" | "tool_choice"
        )
    });
    let list_key = holder
        .parent()
        .and_then(|list| list.key())
        .and_then(|key| key.string());
    is_function
        || list_key.is_some_and(|key| matches!(key.as_ref(), "messages" | "functions" | "tools"))
}

/// The id of a tool call, where it is made and where it is answered.
fn is_call_id(value: &Value<'_>) -> bool {
    let list_key = value
        .parent()
        .and_then(|holder| holder.parent())
        .and_then(|list| list.key())
        .and_then(|key| key.string());
    list_key.is_some_and(|key| matches!(key.as_ref(), "tool_calls" | "messages"))
}

/// The length of the prefix with which programs begin the id of a tool call. In `call_8741536228` it would read as a
/// request to telephone; what follows it is scanned like any other text.
pub(crate) fn id_prefix(value: &Value<'_>, text: &str) -> usize {
    let key = value.key().and_then(|key| key.string());
    let is_id = key.is_some_and(|key| {
        matches!(
            key.as_ref(),
            "id" | "tool_call_id" | "tool_use_id" | "call_id"
        )
    });
    let prefix = CALL_PREFIXES
        .iter()
        .find(|prefix| text.starts_with(**prefix));
    prefix.filter(|_| is_id).map_or(0, |prefix| prefix.len())
}

const CALL_PREFIXES: &[&str] = &["call_", "call-"];
