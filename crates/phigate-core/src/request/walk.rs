//! The one walk over text: every string, number and key of a body, wherever it is.
//!
//! There is no list of fields to scan. With such lists, other gateways left the arguments
//! of tool calls unscanned.

use std::borrow::Cow;

use crate::json::{Document, Kind, NodeId, Value};

use super::coded;
use super::form::Form;
use super::place::Place;

/// One piece of text of a document.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    /// The node that holds it.
    pub node: NodeId,
    /// Permitted treatment of the text.
    pub place: Place,
}

/// Every piece of text of a document, in order.
pub fn slots(form: &dyn Form, document: &Document) -> impl Iterator<Item = Slot> {
    document.nodes().filter_map(|value| {
        let place = match value.kind() {
            Kind::String if value.is_key() => Place::Key,
            Kind::String => text_place(form, &value)?,
            Kind::Number => Place::Number,
            _ => return None,
        };
        Some(Slot {
            node: value.id(),
            place,
        })
    })
}

/// Returns the permitted treatment of a string value; `None` for media, and for text that reads like a provider's
/// ciphertext.
pub(crate) fn text_place(form: &dyn Form, value: &Value<'_>) -> Option<Place> {
    match form.place(value)? {
        Place::Opaque if coded::is_ciphertext(&value.text()) => None,
        Place::Opaque => Some(Place::Signed),
        place => Some(place),
    }
}

/// Whether a value is the parameter of this name, at the top of the body.
pub(crate) fn is_parameter(value: &Value<'_>, name: &str) -> bool {
    let is_top_level = value
        .parent()
        .is_some_and(|parent| parent.parent().is_none());
    is_top_level && has_key(value, name)
}

/// Whether a value has this key.
pub(crate) fn has_key(value: &Value<'_>, name: &str) -> bool {
    value
        .key()
        .and_then(|key| key.string())
        .is_some_and(|key| key == name)
}

/// The `type` of an object.
pub(crate) fn type_of<'d>(object: &Value<'d>) -> Option<Cow<'d, str>> {
    object.get("type")?.string()
}

/// Keywords of JSON Schema that bound what a value may be.
const BOUNDS: &[&str] = &["maximum", "minimum", "pattern"];

/// Digits of a bound from which on it may be an identifier: years and postal codes are shorter.
const BOUND_DIGITS_MIN: usize = 6;

/// Whether a bound is one value rather than a range: a pattern of plain letters, or a long number that is not round. A
/// model reads it as the value of the property that it bounds.
fn is_one_value(value: &Value<'_>) -> bool {
    match value.string() {
        Some(pattern) => {
            let plain = pattern.trim_start_matches('^').trim_end_matches('$');
            let is_plain = |letter: char| letter.is_alphanumeric() || " -_/.,@".contains(letter);
            plain.chars().any(|letter| letter.is_ascii_digit()) && plain.chars().all(is_plain)
        }
        None => {
            let digits = value.raw().trim_end_matches('0');
            value.raw().len() >= BOUND_DIGITS_MIN
                && digits.len() > 2
                && !value.raw().bytes().all(|digit| digit == b'9')
        }
    }
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
pub(crate) fn label<'d>(form: &dyn Form, value: &Value<'d>) -> Option<Cow<'d, str>> {
    let mut at = *value;
    loop {
        match at.key().and_then(|key| key.string()) {
            Some(key) if is_protocol_key(&key) && form.is_protocol_word(&at) => return None,
            Some(key) if BOUNDS.contains(&key.as_ref()) && is_one_value(&at) => at = at.parent()?,
            Some(key) if !is_neutral_key(&key) => return Some(key),
            _ => at = at.parent()?,
        }
    }
}

/// Whether a format may have names and ids under a key. Most keys are ruled out here, so that forms are rarely asked.
fn is_protocol_key(key: &str) -> bool {
    key == "name" || key == "id" || key.ends_with("_id") || key.ends_with("_name")
}

/// Keys of ids that a caller makes up: of a user, a session or a cache.
const CALLERS_IDS: &[&str] = &[
    "prompt_cache_key",
    "safety_identifier",
    "session_id",
    "user",
    "user_id",
];

/// Whether a string value is an identifier: a name or an id of the protocol, or one that the caller made up.
pub(crate) fn is_id(form: &dyn Form, value: &Value<'_>) -> bool {
    let Some(key) = value.key().and_then(|key| key.string()) else {
        return false;
    };
    let is_of_metadata = || {
        let holder = value.parent();
        holder.is_some_and(|holder| is_parameter(&holder, "metadata"))
    };
    value.kind() == Kind::String
        && (CALLERS_IDS.contains(&key.as_ref())
            || is_protocol_key(&key) && form.is_protocol_word(value)
            || is_of_metadata())
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
