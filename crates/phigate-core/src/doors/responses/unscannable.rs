//! Content of a Responses request that a text scanner cannot judge: media, text stored elsewhere, and tools that run at
//! the provider.

use crate::json::{Document, Kind, Value};
use crate::request::{has_key, type_of};

/// Parameters that refer to text stored at the provider.
const REFERENCES: &[&str] = &["conversation", "previous_response_id", "prompt"];

/// Types of tools that run at the caller. All other tools run at the provider, and the gateway cannot see what they
/// send and fetch.
const CALLERS_TOOLS: &[&str] = &["apply_patch", "custom", "function", "local_shell"];

/// Types of items and parts that are not text, or refer to something.
const OPAQUE: &[&str] = &[
    "computer_screenshot",
    "image",
    "input_audio",
    "input_file",
    "input_image",
    "input_video",
    "item_reference",
];

pub(super) fn parts(document: &Document) -> Vec<(Value<'_>, &'static str)> {
    let root = document.root();
    let mut parts = Vec::new();
    for name in REFERENCES {
        let given = root.get(name).filter(|given| given.kind() != Kind::Null);
        parts.extend(given.map(|given| (given, *name)));
    }
    for tool in root.get("tools").iter().flat_map(Value::values) {
        if !runs_at_caller(&tool) {
            parts.push((tool, "hosted_tool"));
        }
    }
    for item in root.get("input").iter().flat_map(Value::values) {
        in_item(&item, &mut parts);
    }
    parts
}

/// An item, or anything that an unknown item holds.
fn in_item<'d>(item: &Value<'d>, parts: &mut Vec<(Value<'d>, &'static str)>) {
    if item.kind() == Kind::Object {
        let kind = type_of(item).unwrap_or_default();
        let opaque = OPAQUE.iter().find(|opaque| **opaque == kind).copied();
        // An item with an id and no type is a reference too.
        let is_bare = item.get("id").is_some() && item.values().nth(1).is_none();
        let refers = ["file_id", "file_url"].iter().any(|name| {
            let value = item.get(name);
            value.is_some_and(|value| value.kind() == Kind::String)
        });
        let other = is_bare
            .then_some("item_reference")
            .or(refers.then_some("file_id"));
        if let Some(kind) = opaque.or(other) {
            parts.push((*item, kind));
            return;
        }
    }
    for value in item.values() {
        let is_nested = matches!(value.kind(), Kind::Array | Kind::Object);
        // What a file search found is text beside the name of its file.
        if is_nested && !has_key(&value, "results") {
            in_item(&value, parts);
        }
    }
}

fn runs_at_caller(tool: &Value<'_>) -> bool {
    match type_of(tool).unwrap_or_default().as_ref() {
        // A group of tools is as far away as its tools are.
        "namespace" => {
            let tools = tool.get("tools");
            let mut tools = tools.iter().flat_map(Value::values);
            tools.all(|tool| runs_at_caller(&tool))
        }
        "shell" => {
            let place = tool.get("environment");
            let place = place.filter(|place| place.kind() != Kind::Null);
            place.is_none_or(|place| type_of(&place).is_some_and(|kind| kind == "local"))
        }
        kind => CALLERS_TOOLS.contains(&kind),
    }
}
