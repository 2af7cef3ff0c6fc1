//! Format of a Messages request.

use std::borrow::Cow;
use std::collections::HashMap;

use phigate_types::ProviderKind;

use crate::json::{Document, Kind, NodeId, Value};
use crate::request::check::Checked;
use crate::request::together::{self, without_verbs};
use crate::request::{Form, Place, RequestLimits, Turn, has_key, has_only, is_parameter, type_of};

use super::{check, unscannable};

/// The format of Messages.
pub(super) struct MessagesForm {
    id: &'static str,
    /// Path of the endpoint at the provider.
    path: &'static [&'static str],
    /// Whether an answer is asked for, and not only a count.
    has_answer: bool,
}

impl MessagesForm {
    pub(super) const MESSAGES: Self = Self {
        id: "messages",
        path: &["v1", "messages"],
        has_answer: true,
    };
    pub(super) const COUNT_TOKENS: Self = Self {
        id: "count_tokens",
        path: &["v1", "messages", "count_tokens"],
        has_answer: false,
    };
}

impl Form for MessagesForm {
    fn id(&self) -> &'static str {
        self.id
    }

    fn native(&self) -> (ProviderKind, &'static [&'static str]) {
        (ProviderKind::Anthropic, self.path)
    }

    fn check(&self, root: &Value<'_>, limits: &RequestLimits) -> Checked {
        check::request(root, limits, self.has_answer)
    }

    fn streams(&self) -> bool {
        self.has_answer
    }

    /// Content that the provider signed or encrypted comes back as it gave it; a thought that it signed can be read, but
    /// not changed. All of it by type and place: the same words elsewhere are text.
    fn place(&self, value: &Value<'_>) -> Option<Place> {
        let Some(key) = value.key().and_then(|key| key.string()) else {
            return Some(Place::Text);
        };
        let holder = value.parent()?;
        let is_of = |kind: &str| is_kind(&holder, kind);
        match key.as_ref() {
            "model" if is_parameter(value, "model") => Some(Place::Structure),
            "role" if is_message(&holder) => Some(Place::Structure),
            "signature" if is_of("thinking") && is_thought(&holder) => Some(Place::Opaque),
            "data" if is_of("redacted_thinking") && is_thought(&holder) => Some(Place::Opaque),
            "data" if is_of("base64") && unscannable::is_media_source(&holder) => None,
            "encrypted_content" if is_of("web_search_result") && is_result(&holder) => {
                Some(Place::Opaque)
            }
            "thinking" if is_signed(&holder) => Some(Place::Signed),
            _ => Some(Place::Text),
        }
    }

    fn unscannable<'d>(&self, document: &'d Document) -> Vec<(Value<'d>, &'static str)> {
        unscannable::parts(document)
    }

    fn document<'d>(&self, part: &Value<'d>) -> Option<Value<'d>> {
        const MEMBERS: &[&str] = &[
            "type",
            "source",
            "title",
            "context",
            "citations",
            "cache_control",
        ];
        let source = part.get("source")?;
        let list = part.parent().filter(|list| has_key(list, "content"));
        let is_part = list.is_some()
            && is_kind(part, "document")
            && is_kind(&source, "base64")
            && has_only(part, MEMBERS)
            && has_only(&source, &["type", "media_type", "data"]);
        source.get("data").filter(|_| is_part)
    }

    fn is_protocol_word(&self, value: &Value<'_>) -> bool {
        let Some(holder) = value.parent() else {
            return false;
        };
        let list = holder.parent();
        let is_in = |name: &str| list.is_some_and(|list| has_key(&list, name));
        is_in("content")
            || is_in("tools")
            || is_in("mcp_servers")
            || has_key(&holder, "tool_choice")
    }

    fn conversations(&self, document: &Document) -> Vec<Vec<Turn>> {
        let root = document.root();
        let turn = |content: Option<Value<'_>>| {
            let mut texts = Vec::new();
            if let Some(content) = content {
                block_texts(&content, &mut texts);
            }
            texts
        };
        let messages = root.get("messages");
        let messages = messages.iter().flat_map(Value::values);
        let mut turns = vec![turn(root.get("system"))];
        turns.extend(messages.map(|message| turn(message.get("content"))));
        vec![turns]
    }

    fn results(&self, document: &Document) -> Vec<(NodeId, String)> {
        let blocks = || {
            let messages = document.root().get("messages");
            let messages: Vec<Value<'_>> = messages.iter().flat_map(Value::values).collect();
            let contents = messages
                .into_iter()
                .filter_map(|message| message.get("content"));
            contents.flat_map(|content| content.values())
        };
        let named = |block: Value<'_>| {
            let (id, name) = (block.get("id")?.string()?, block.get("name")?.string()?);
            Some((id.into_owned(), name.into_owned()))
        };
        let names: HashMap<String, String> = blocks().filter_map(named).collect();
        let mut results = Vec::new();
        for block in blocks() {
            let id = block.get("tool_use_id").and_then(|id| id.string());
            let name = id.and_then(|id: Cow<'_, str>| names.get(id.as_ref()));
            let (Some(name), Some(content)) = (name, block.get("content")) else {
                continue;
            };
            let label = without_verbs(name);
            let texts = together::texts(&content).into_iter();
            results.extend(texts.map(|text| (text, label.clone())));
        }
        results
    }

    fn opening(&self, document: &Document) -> String {
        let messages = document.root().get("messages");
        let messages: Vec<Value<'_>> = messages.iter().flat_map(Value::values).collect();
        together::opening(&messages)
    }

    fn asks_for_json(&self, root: &Value<'_>) -> bool {
        let config = root
            .get("output_config")
            .and_then(|config| config.get("format"));
        let format = config.or_else(|| root.get("output_format"));
        format.is_some_and(|format| is_kind(&format, "json_schema"))
    }
}

/// The texts of a content as they are read: those of blocks, and of what tools returned.
fn block_texts(content: &Value<'_>, texts: &mut Vec<NodeId>) {
    match content.kind() {
        Kind::String => texts.push(content.id()),
        Kind::Array => {
            for block in content.values() {
                let text = block.get("text").filter(|text| text.kind() == Kind::String);
                texts.extend(text.map(|text| text.id()));
                if let Some(inner) = block.get("content") {
                    block_texts(&inner, texts);
                }
            }
        }
        _ => {}
    }
}

fn is_kind(object: &Value<'_>, kind: &str) -> bool {
    type_of(object).is_some_and(|name| name == kind)
}

fn is_message(value: &Value<'_>) -> bool {
    let list = value.parent();
    list.is_some_and(|list| is_parameter(&list, "messages"))
}

/// Whether this is a block of what the model said before.
fn is_thought(block: &Value<'_>) -> bool {
    let content = block.parent().filter(|list| has_key(list, "content"));
    let message = content.and_then(|list| list.parent()).filter(is_message);
    let role = message.and_then(|message| message.get("role")?.string());
    role.is_some_and(|role| role == "assistant")
}

fn is_signed(block: &Value<'_>) -> bool {
    let signature = block.get("signature").and_then(|text| text.string());
    is_kind(block, "thinking")
        && is_thought(block)
        && signature.is_some_and(|signature| !signature.is_empty())
}

/// Whether this is one of the pages that a search of the provider's found.
fn is_result(found: &Value<'_>) -> bool {
    let list = found.parent().filter(|list| has_key(list, "content"));
    let holder = list.and_then(|list| list.parent());
    holder.is_some_and(|holder| is_kind(&holder, "web_search_tool_result"))
}
