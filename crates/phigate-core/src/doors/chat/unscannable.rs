//! Content that a text scanner cannot judge: attachments, references to them, and content of an unknown type.

use crate::json::{Document, Kind, Value};

/// Types of parts, and names of fields, that hold something other than text or refer to it.
const OPAQUE: &[&str] = &[
    "attachments",
    "audio",
    "document",
    "documents",
    "file",
    "file_data",
    "file_id",
    "file_ids",
    "files",
    "image",
    "image_file",
    "image_url",
    "images",
    "inlineData",
    "inline_data",
    "fileData",
    "input_audio",
    "input_file",
    "input_image",
    "video",
    "video_url",
];

/// A part of a type that this version does not know.
const UNKNOWN: &str = "unknown";

pub(super) fn opaque_parts(document: &Document) -> Vec<(Value<'_>, &'static str)> {
    // Parts of a known type wherever a list holds them; messages are examined more closely.
    let is_in_list = |value: &Value<'_>| {
        let holder = value.parent();
        holder.is_some_and(|holder| holder.kind() == Kind::Array)
    };
    let mut parts: Vec<(Value<'_>, &'static str)> = document
        .nodes()
        .filter(is_in_list)
        .filter_map(|part| Some((part, opaque_part(&part)?)))
        .filter(|(_, kind)| *kind != UNKNOWN)
        .collect();
    let root = document.root();
    // The body's own `audio` says how a spoken answer is to sound.
    parts.extend(opaque_members(&root).filter(|(_, kind)| *kind != "audio"));
    for message in root.get("messages").iter().flat_map(Value::values) {
        parts.extend(opaque_members(&message));
        let content = message.get("content");
        for part in content.iter().flat_map(Value::values) {
            parts.extend(opaque_part(&part).map(|kind| (part, kind)));
        }
        // A part that says it is text may hold something else beside it, however deep.
        for object in content.iter().flat_map(Value::descendants) {
            parts.extend(opaque_members(&object));
        }
    }
    parts
}

fn opaque_part(part: &Value<'_>) -> Option<&'static str> {
    let name = part.get("type")?.string()?;
    match name.as_ref() {
        "text" | "refusal" => None,
        other => Some(known_opaque(other).unwrap_or(UNKNOWN)),
    }
}

/// Members of an object beside its text that are named like an attachment, such as a message's `audio`.
fn opaque_members<'d>(object: &Value<'d>) -> impl Iterator<Item = (Value<'d>, &'static str)> {
    let members = object.values().filter(|value| value.kind() != Kind::Null);
    members.filter_map(|value| {
        let name = value.key()?.string()?;
        let kind = if name == "source" && is_source(&value) {
            "source"
        } else {
            known_opaque(&name)?
        };
        Some((value, kind))
    })
}

/// Whether a value is a source of an attachment (`{"type": "base64", "media_type": …, "data": …}`).
fn is_source(value: &Value<'_>) -> bool {
    ["data", "media_type", "file_id", "url"]
        .iter()
        .any(|name| value.get(name).is_some())
}

fn known_opaque(name: &str) -> Option<&'static str> {
    OPAQUE.iter().find(|known| **known == name).copied()
}
