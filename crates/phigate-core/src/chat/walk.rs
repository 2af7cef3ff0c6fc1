//! The one walk over text: every string, number and key of a body, wherever it stands.
//!
//! Nothing here lists fields to look at. Lists of fields are how the tool arguments
//! of a request went unscanned in other gateways.

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

/// The model picks the provider and a role the speaker: both are checked words by now, never text to rewrite.
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
pub(crate) fn label(value: &Value<'_>) -> Option<String> {
    let mut at = *value;
    loop {
        match at.key().and_then(|key| key.string()) {
            Some(key) if key == "name" && is_protocol_name(&at) => return None,
            Some(key) if matches!(key.as_ref(), "id" | "tool_call_id") && is_call_id(&at) => {
                return None;
            }
            Some(key) if !is_neutral_key(&key) => return Some(key.into_owned()),
            _ => at = at.parent()?,
        }
    }
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

/// Whether this is the name of somebody who speaks. The messages of a tool carry the tool's name.
pub(crate) fn is_participant(name: &Value<'_>) -> bool {
    let message = name.parent();
    let role = message
        .and_then(|message| message.get("role"))
        .and_then(|role| role.string());
    is_message(message) && role.is_some_and(|role| !matches!(role.as_ref(), "tool" | "function"))
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

/// How much of an id of a tool call says only that: `call_8741536228` is made by a program, and asks nobody to ring up.
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

/// Texts that a model reads as one: the text parts of one message, in order. Only groups of two or more.
pub fn text_groups(document: &Document) -> Vec<Vec<NodeId>> {
    let mut groups = Vec::new();
    for list in document.nodes().filter(|value| value.kind() == Kind::Array) {
        let texts: Vec<NodeId> = list
            .values()
            .filter_map(|part| part.get("text"))
            .filter(|text| text.kind() == Kind::String)
            .map(|text| text.id())
            .collect();
        if texts.len() > 1 {
            groups.push(texts);
        }
    }
    groups
}

/// A part of a request that no text scanner can judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unscannable {
    /// Where it stands.
    pub path: String,
    /// What it is, such as `image_url`; `unknown` where the caller named something we do not know.
    pub kind: &'static str,
}

/// Part types that hold something other than text.
const OPAQUE_PARTS: &[&str] = &[
    "audio",
    "document",
    "file",
    "image",
    "image_file",
    "image_url",
    "images",
    "input_audio",
    "input_file",
    "input_image",
    "video",
    "video_url",
];

/// The parts that cannot be scanned, as they are told. Keys in `unspoken`, in order, are not spelled in their paths.
pub fn unscannable(document: &Document, unspoken: &[NodeId]) -> Vec<Unscannable> {
    let told = |(node, kind)| Unscannable {
        path: path(&document.value(node), unspoken),
        kind,
    };
    opaque_nodes(document).into_iter().map(told).collect()
}

/// The parts that cannot be scanned: attachments, references to them, and content of a type we do not know.
pub(crate) fn opaque_nodes(document: &Document) -> Vec<(NodeId, &'static str)> {
    // Parts of a known type wherever a list holds them; messages are looked at more closely.
    let mut parts: Vec<(Value<'_>, &'static str)> = document
        .nodes()
        .filter(|value| {
            value
                .parent()
                .is_some_and(|list| list.kind() == Kind::Array)
        })
        .filter_map(|part| Some((part, opaque_part(&part)?)))
        .filter(|(_, kind)| *kind != UNKNOWN)
        .collect();
    for message in document
        .root()
        .get("messages")
        .iter()
        .flat_map(Value::values)
    {
        parts.extend(opaque_member(&message));
        for part in message.get("content").iter().flat_map(Value::values) {
            // A part that says it is text may hold something else beside it.
            let kind = opaque_part(&part);
            parts.extend(
                kind.map(|kind| (part, kind))
                    .or_else(|| opaque_member(&part)),
            );
        }
    }
    // Only what stands in no other part is named, so the one that begins last before a value is the one that may hold it.
    parts.sort_by_key(|(part, _)| part.id());
    parts.dedup_by(|late, early| early.0.nodes().contains(&late.0.id()));
    let is_in_a_part = |value: &Value<'_>| {
        let before = parts.partition_point(|(part, _)| part.id() <= value.id());
        before > 0 && parts[before - 1].0.nodes().contains(&value.id())
    };
    let links = document
        .nodes()
        .filter(|value| value.kind() == Kind::String && !value.is_key())
        .filter(|value| {
            value
                .string()
                .is_some_and(|text| holds_binary_data_uri(&text))
        })
        .filter(|value| !is_in_a_part(value));
    let links: Vec<_> = links.map(|value| (value.id(), "data_uri")).collect();
    let mut found: Vec<_> = parts
        .iter()
        .map(|(part, kind)| (part.id(), *kind))
        .collect();
    found.extend(links);
    found
}

/// A part of a type that nobody has told us about.
const UNKNOWN: &str = "unknown";

fn opaque_part(part: &Value<'_>) -> Option<&'static str> {
    let name = part.get("type")?.string()?;
    match name.as_ref() {
        "text" | "refusal" => None,
        other => Some(known_opaque(other).unwrap_or(UNKNOWN)),
    }
}

/// What an object holds beside its text under the name of an attachment, such as a message's `audio`.
fn opaque_member<'d>(object: &Value<'d>) -> Option<(Value<'d>, &'static str)> {
    object.values().find_map(|value| {
        let kind = known_opaque(value.key()?.string()?.as_ref())?;
        (value.kind() != Kind::Null).then_some((value, kind))
    })
}

fn known_opaque(name: &str) -> Option<&'static str> {
    OPAQUE_PARTS.iter().find(|known| **known == name).copied()
}

/// A `data:` URI of something other than text hides its content from the scanner wherever it stands.
fn holds_binary_data_uri(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b':', bytes).any(|colon| {
        let has_scheme = colon >= 4 && bytes[colon - 4..colon].eq_ignore_ascii_case(b"data");
        has_scheme && is_binary(&bytes[colon + 1..])
    })
}

/// Longest head of a `data:` URI that is looked at.
const DATA_URI_HEAD_MAX: usize = 1024;

/// Whether what follows `data:` begins with a media type other than text and says that base64 comes next.
fn is_binary(rest: &[u8]) -> bool {
    let begins = |bytes: &[u8], word: &[u8]| {
        bytes.len() >= word.len() && bytes[..word.len()].eq_ignore_ascii_case(word)
    };
    let near = &rest[..rest.len().min(DATA_URI_HEAD_MAX)];
    let head = match memchr::memchr(b',', near) {
        Some(comma) => &near[..comma],
        None => return false,
    };
    let Some(coding) = memchr::memrchr(b';', head) else {
        return false;
    };
    let is_base64 = head[coding + 1..].eq_ignore_ascii_case(b"base64");
    let is_text = begins(head, b"text") || begins(head, b"application/json");
    is_base64 && coding > 0 && !is_text && !head.iter().any(u8::is_ascii_whitespace)
}

/// Where a value stands: `messages[0].content`. Keys that are not to be spelled (given in order), or that are more than a plain word, are named by position: `metadata.{0}`.
pub fn path(value: &Value<'_>, unspoken: &[NodeId]) -> String {
    let mut steps = Vec::new();
    let mut at = *value;
    if at.is_key() {
        steps.push(format!(".{{{}}}", at.position()));
        at = match at.parent() {
            Some(parent) => parent,
            None => at,
        };
    }
    while let Some(parent) = at.parent() {
        steps.push(step(&at, unspoken));
        at = parent;
    }
    let joined: String = steps.into_iter().rev().collect();
    joined
        .strip_prefix('.')
        .map(str::to_owned)
        .unwrap_or(joined)
}

fn step(value: &Value<'_>, unspoken: &[NodeId]) -> String {
    let Some(key) = value.key() else {
        return format!("[{}]", value.position());
    };
    let name = key.string().unwrap_or_default();
    let is_plain_word = (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$'));
    if is_plain_word && unspoken.binary_search(&key.id()).is_err() {
        format!(".{name}")
    } else {
        format!(".{{{}}}", value.position())
    }
}
