//! Format of a chat-completion request.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

use phigate_types::ProviderKind;

use crate::json::{Document, NodeId, Value};
use crate::request::check::Checked;
use crate::request::together::{self, texts, without_verbs};
use crate::request::{Form, Place, RequestLimits, Turn};
use crate::request::{has_key, has_only, is_parameter, type_of};

use super::check;
use super::unscannable::opaque_parts;

/// The format of chat completions.
pub(crate) struct ChatForm;

impl Form for ChatForm {
    fn id(&self) -> &'static str {
        "chat"
    }

    fn native(&self) -> (ProviderKind, &'static [&'static str]) {
        (ProviderKind::OpenAi, &["v1", "chat", "completions"])
    }

    fn check(&self, root: &Value<'_>, limits: &RequestLimits) -> Checked {
        check::request(root, limits)
    }

    /// The model selects the provider and the role says who speaks. Both were checked; neither can be rewritten.
    fn place(&self, value: &Value<'_>) -> Option<Place> {
        let key = value.key().and_then(|key| key.string());
        Some(match key.as_deref() {
            Some("model") if is_parameter(value, "model") => Place::Structure,
            Some("role") if is_message(value.parent()) => Place::Structure,
            Some(key @ ("data" | "signature" | "thought_signature")) if is_carried(value, key) => {
                Place::Opaque
            }
            _ => Place::Text,
        })
    }

    fn unscannable<'d>(&self, document: &'d Document) -> Vec<(Value<'d>, &'static str)> {
        opaque_parts(document)
    }

    fn document<'d>(&self, part: &Value<'d>) -> Option<Value<'d>> {
        let file = part.get("file")?;
        let is_part = is_in_content(part)
            && type_of(part).is_some_and(|kind| kind == "file")
            && has_only(part, &["type", "file", "cache_control"])
            && has_only(&file, &["filename", "file_data", "format"]);
        file.get("file_data").filter(|_| is_part)
    }

    fn is_protocol_word(&self, value: &Value<'_>) -> bool {
        match value.key().and_then(|key| key.string()).as_deref() {
            Some("name") => is_protocol_name(value),
            Some("id" | "tool_call_id") => is_call_id(value),
            _ => false,
        }
    }

    fn conversations(&self, document: &Document) -> Vec<Vec<Turn>> {
        together::conversations(document)
    }

    fn results(&self, document: &Document) -> Vec<(NodeId, String)> {
        let calls = Calls::of(document);
        let mut results = Vec::new();
        for message in document
            .root()
            .get("messages")
            .iter()
            .flat_map(Value::values)
        {
            let (Some(label), Some(content)) = (calls.label(&message), message.get("content"))
            else {
                continue;
            };
            let texts = texts(&content).into_iter();
            results.extend(texts.map(|text| (text, label.clone())));
        }
        results
    }

    fn opening(&self, document: &Document) -> String {
        let messages: Vec<Value<'_>> = match document.root().get("messages") {
            Some(messages) => messages.values().collect(),
            None => Vec::new(),
        };
        together::opening(&messages)
    }

    fn asks_for_json(&self, root: &Value<'_>) -> bool {
        let format = root.get("response_format");
        let kind = format.and_then(|format| format.get("type"));
        let kind = kind.and_then(|kind| kind.string());
        kind.is_some_and(|kind| matches!(kind.as_ref(), "json_object" | "json_schema"))
    }
}

fn is_message(value: Option<Value<'_>>) -> bool {
    value
        .and_then(|message| message.parent())
        .is_some_and(|list| has_key(&list, "messages"))
}

/// Whether a value is a part of a message.
fn is_in_content(part: &Value<'_>) -> bool {
    let list = part.parent().filter(|list| has_key(list, "content"));
    list.is_some_and(|list| is_message(list.parent()))
}

/// Whether a value is a signature or ciphertext of a provider that answers carry in extensions of the format.
fn is_carried(value: &Value<'_>, key: &str) -> bool {
    let Some(holder) = value.parent() else {
        return false;
    };
    let above = holder.parent();
    if key == "thought_signature" {
        return above.is_some_and(|at| has_key(&at, "extra_content"));
    }
    let carrier = match key {
        "data" => "redacted_thinking",
        _ => "thinking",
    };
    above.is_some_and(|list| has_key(&list, "thinking_blocks"))
        && type_of(&holder).is_some_and(|kind| kind == carrier)
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

/// The functions whose results a request carries: `get_ssn` says what the bare number is that it returned.
struct Calls<'d> {
    document: &'d Document,
    /// Names of functions by the ids of their calls. Gathered when first asked for: most requests have none.
    names: OnceCell<HashMap<Cow<'d, str>, Cow<'d, str>>>,
}

impl<'d> Calls<'d> {
    fn of(document: &'d Document) -> Self {
        Self {
            document,
            names: OnceCell::new(),
        }
    }

    /// Returns the meaning of the result in this message, by the name of the function that was called
    /// (`date_of_birth`).
    fn label(&self, message: &Value<'d>) -> Option<String> {
        let role = message.get("role")?.string()?;
        let name = match role.as_ref() {
            "function" => message.get("name")?.string()?,
            "tool" => {
                let id = message.get("tool_call_id")?.string()?;
                self.names.get_or_init(|| self.gather()).get(&id)?.clone()
            }
            _ => return None,
        };
        Some(without_verbs(&name))
    }

    fn gather(&self) -> HashMap<Cow<'d, str>, Cow<'d, str>> {
        let messages = self.document.root().get("messages");
        let calls = messages
            .iter()
            .flat_map(Value::values)
            .filter_map(|message| message.get("tool_calls"))
            .flat_map(|calls| calls.values());
        let named = calls.filter_map(|call| {
            let called = call.get("function").or_else(|| call.get("custom"))?;
            Some((call.get("id")?.string()?, called.get("name")?.string()?))
        });
        named.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Bounds;

    #[test]
    fn conversation_is_identified_by_first_user_message() {
        for (messages, expected) in [
            (r#"[{"role":"user","content":"a\u0062"}]"#, "ab"),
            (
                r#"[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"role":"user","content":"c"}]"#,
                "ab",
            ),
            (r#"[{"role":"system","content":"s"}]"#, "s"),
            (r#"[{"role":"user","content":null}]"#, ""),
            ("[]", ""),
        ] {
            let body = format!(r#"{{"messages":{messages}}}"#);
            let document = Document::parse(body.into_bytes(), Bounds::NONE).expect("it is JSON");
            assert_eq!(ChatForm.opening(&document), expected);
        }
    }
}
