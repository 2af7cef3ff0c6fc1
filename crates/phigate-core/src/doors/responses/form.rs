//! Format of a Responses request.

use std::collections::HashMap;

use phigate_types::ProviderKind;

use crate::json::{Document, Kind, NodeId, Value};
use crate::request::check::Checked;
use crate::request::together::{self, texts, without_verbs};
use crate::request::{
    Form, Place, RequestLimits, Setting, Turn, has_key, has_only, is_parameter, type_of,
};

use super::{check, unscannable};

/// The format of Responses.
pub(super) struct ResponsesForm;

impl Form for ResponsesForm {
    fn id(&self) -> &'static str {
        "responses"
    }

    fn native(&self) -> (ProviderKind, &'static [&'static str]) {
        (ProviderKind::OpenAi, &["v1", "responses"])
    }

    fn check(&self, root: &Value<'_>, limits: &RequestLimits) -> Checked {
        check::request(root, limits)
    }

    /// Content that the provider encrypted comes back as it gave it, in the types of items that carry it.
    fn place(&self, value: &Value<'_>) -> Option<Place> {
        let Some(key) = value.key().and_then(|key| key.string()) else {
            return Some(Place::Text);
        };
        let is_of_item = || value.parent().is_some_and(|holder| is_item(&holder));
        match key.as_ref() {
            "model" if is_parameter(value, "model") => Some(Place::Structure),
            "role" if is_of_item() => Some(Place::Structure),
            "encrypted_content" if is_of_item() && is_encrypted(value) => Some(Place::Opaque),
            _ => Some(Place::Text),
        }
    }

    fn unscannable<'d>(&self, document: &'d Document) -> Vec<(Value<'d>, &'static str)> {
        unscannable::parts(document)
    }

    fn document<'d>(&self, part: &Value<'d>) -> Option<Value<'d>> {
        let is_list = |list: &Value<'d>| has_key(list, "content") || has_key(list, "output");
        let is_part = part.parent().filter(is_list).is_some()
            && type_of(part).is_some_and(|kind| kind == "input_file")
            && has_only(part, &["type", "filename", "file_data", "detail"]);
        part.get("file_data").filter(|_| is_part)
    }

    fn text_type(&self) -> &'static str {
        "input_text"
    }

    fn is_protocol_word(&self, value: &Value<'_>) -> bool {
        let Some(holder) = value.parent() else {
            return false;
        };
        let list = holder.parent();
        let is_in = |name: &str| list.is_some_and(|list| has_key(&list, name));
        let is_named = [
            "tool_choice",
            "format",
            "function",
            "conversation",
            "prompt",
        ]
        .iter()
        .any(|name| has_key(&holder, name));
        is_item(&holder)
            || is_in("tools")
            || is_named
            || is_parameter(value, "previous_response_id")
    }

    fn conversations(&self, document: &Document) -> Vec<Vec<Turn>> {
        let root = document.root();
        let turn =
            |content: Option<Value<'_>>| content.map_or_else(Vec::new, |content| texts(&content));
        let mut turns = vec![turn(root.get("instructions"))];
        match root.get("input") {
            Some(input) if input.kind() == Kind::Array => {
                let items = input.values();
                turns.extend(
                    items.map(|item| turn(item.get("content").or_else(|| item.get("output")))),
                );
            }
            input => turns.push(turn(input)),
        }
        vec![turns]
    }

    fn results(&self, document: &Document) -> Vec<(NodeId, String)> {
        let items = || items(document).into_iter();
        let named = |item: Value<'_>| {
            let (id, name) = (item.get("call_id")?.string()?, item.get("name")?.string()?);
            Some((id.into_owned(), name.into_owned()))
        };
        let names: HashMap<String, String> = items().filter_map(named).collect();
        let mut results = Vec::new();
        for item in items() {
            let id = item.get("call_id").and_then(|id| id.string());
            let name = id.and_then(|id| names.get(id.as_ref()));
            let (Some(name), Some(output)) = (name, item.get("output")) else {
                continue;
            };
            let label = without_verbs(name);
            let texts = texts(&output).into_iter();
            results.extend(texts.map(|text| (text, label.clone())));
        }
        results
    }

    fn opening(&self, document: &Document) -> String {
        let input = document.root().get("input");
        match input.and_then(|input| input.string()) {
            Some(text) => text.into_owned(),
            None => {
                let says = |item: &Value<'_>| item.get("role").is_some();
                let items: Vec<Value<'_>> = items(document).into_iter().filter(says).collect();
                together::opening(&items)
            }
        }
    }

    fn asks_for_json(&self, root: &Value<'_>) -> bool {
        let format = root.get("text").and_then(|text| text.get("format"));
        let kind = format.and_then(|format| type_of(&format));
        kind.is_some_and(|kind| matches!(kind.as_ref(), "json_object" | "json_schema"))
    }

    /// Turns off storage at the provider. A later request could refer to stored text, which the gateway would not see.
    fn settings(&self) -> &'static [Setting] {
        &[Setting {
            name: "store",
            value: "false",
        }]
    }
}

/// Types of items that carry encrypted content.
const ENCRYPTED: &[&str] = &["compaction", "compaction_summary", "reasoning"];

/// Whether the item that holds this value is of a type that carries encrypted content.
fn is_encrypted(value: &Value<'_>) -> bool {
    let kind = value
        .parent()
        .and_then(|item| Some(type_of(&item)?.into_owned()));
    kind.is_some_and(|kind| ENCRYPTED.contains(&kind.as_str()))
}

fn items(document: &Document) -> Vec<Value<'_>> {
    let input = document.root().get("input");
    let input = input.filter(|input| input.kind() == Kind::Array);
    input.iter().flat_map(Value::values).collect()
}

fn is_item(value: &Value<'_>) -> bool {
    let list = value.parent();
    list.is_some_and(|list| is_parameter(&list, "input"))
}
