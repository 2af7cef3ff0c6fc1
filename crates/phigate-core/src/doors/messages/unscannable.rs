//! Content of a Messages request that a text scanner cannot judge: media, files stored elsewhere, and tools that run at
//! the provider.

use crate::json::{Document, Kind, Value};
use crate::request::{has_key, type_of};

/// Type prefixes of tools that run at the caller. All other tools run at the provider, and the gateway cannot see what
/// they send and fetch.
const CALLERS_TOOLS: &[&str] = &["custom", "bash_", "text_editor_", "computer_", "memory_"];

/// Types of blocks that are never text.
const MEDIA: &[&str] = &["image", "audio", "video", "container_upload", "file"];

pub(super) fn parts(document: &Document) -> Vec<(Value<'_>, &'static str)> {
    let root = document.root();
    let mut parts = Vec::new();
    let contents = root.get("messages").into_iter().flat_map(|messages| {
        let messages: Vec<Value<'_>> = messages.values().collect();
        messages
            .into_iter()
            .filter_map(|message| message.get("content"))
    });
    for content in contents.chain(root.get("system")) {
        for block in content.values() {
            in_block(&block, &mut parts);
        }
    }
    for tool in root.get("tools").iter().flat_map(Value::values) {
        if !runs_at_caller(&tool) {
            parts.push((tool, "hosted_tool"));
        }
    }
    for (name, kind) in [("mcp_servers", "remote_mcp"), ("container", "container")] {
        let given = root.get(name).filter(|given| !is_empty(given));
        parts.extend(given.map(|given| (given, kind)));
    }
    parts
}

/// A block, or anything that an unknown block holds. What a model hands to a tool is data, whatever it looks like.
fn in_block<'d>(block: &Value<'d>, parts: &mut Vec<(Value<'d>, &'static str)>) {
    if block.kind() == Kind::Object {
        let kind = type_of(block).unwrap_or_default();
        let media = MEDIA.iter().find(|media| **media == kind);
        let refers = block.get("file_id").is_some();
        if let Some(kind) = media.copied().or(refers.then_some("file_id")) {
            parts.push((*block, kind));
            return;
        }
        if block
            .get("source")
            .is_some_and(|source| is_opaque_source(&source))
        {
            parts.push((*block, "document"));
            return;
        }
    }
    for value in block.values().filter(|value| !has_key(value, "input")) {
        if matches!(value.kind(), Kind::Array | Kind::Object) {
            in_block(&value, parts);
        }
    }
}

/// Whether a source is not a text: bytes, or a reference to them.
fn is_opaque_source(source: &Value<'_>) -> bool {
    let kind = type_of(source);
    kind.is_some_and(|kind| !matches!(kind.as_ref(), "text" | "content"))
}

/// Whether this is the source of a picture or document, given as base64.
pub(super) fn is_media_source(source: &Value<'_>) -> bool {
    let block = source.parent().filter(|_| has_key(source, "source"));
    let kind = block.and_then(|block| type_of(&block));
    kind.is_some_and(|kind| matches!(kind.as_ref(), "image" | "document"))
        && source.get("media_type").is_some()
}

fn runs_at_caller(tool: &Value<'_>) -> bool {
    match tool.get("type").filter(|kind| kind.kind() != Kind::Null) {
        None => true,
        Some(kind) => kind.string().is_some_and(|kind| {
            CALLERS_TOOLS
                .iter()
                .any(|known| match known.ends_with('_') {
                    true => kind.starts_with(known),
                    false => kind == *known,
                })
        }),
    }
}

fn is_empty(value: &Value<'_>) -> bool {
    match value.kind() {
        Kind::Null => true,
        Kind::Array | Kind::Object => value.values().next().is_none(),
        _ => false,
    }
}
