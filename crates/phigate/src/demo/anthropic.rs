//! A simulated Anthropic.

use http::{HeaderName, StatusCode};
use serde_json::{Value, json};

use super::script::{self, Answer, Asked, Choice, End, Form, Offer};
use super::{Family, id};

#[derive(Clone, Copy)]
pub(super) struct Anthropic;

impl Family for Anthropic {
    fn key_header(self) -> HeaderName {
        HeaderName::from_static("x-api-key")
    }

    fn read(self, body: &Value) -> Asked {
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let blocks = |message: &Value| message["content"].as_array().cloned().unwrap_or_default();
        let last = messages.last().map(&blocks).unwrap_or_default();
        let results = last
            .iter()
            .filter(|block| block["type"] == "tool_result")
            .map(|block| {
                (
                    called(&messages, &block["tool_use_id"]),
                    script::text(&block["content"]),
                )
            });
        let mut spoken = messages
            .iter()
            .rev()
            .filter(|message| message["role"] == "user")
            .map(|message| &message["content"]);
        let spoken = spoken.find(|content| !script::text(content).is_empty());
        let schema = &body["output_config"]["format"]["schema"];
        let offers = body["tools"].as_array().into_iter().flatten();
        Asked {
            system: script::text(&body["system"]),
            said: spoken.map(script::text).unwrap_or_default(),
            wish: spoken.map(script::last_text).unwrap_or_default(),
            prompt_chars: script::count_chars(&body["messages"])
                + script::count_chars(&body["system"]),
            attachments: messages
                .iter()
                .flat_map(blocks)
                .filter(|block| block["type"] == "image" || block["type"] == "document")
                .count(),
            tools: offers
                .map(|tool| Offer {
                    name: tool["name"].as_str().unwrap_or_default().to_owned(),
                    schema: tool["input_schema"].clone(),
                })
                .collect(),
            choice: choice(&body["tool_choice"]),
            results: results.collect(),
            form: match schema {
                Value::Null => Form::Text,
                schema if schema.get("properties").is_none() => Form::Object,
                schema => Form::Schema(schema.clone()),
            },
            limit: body["max_tokens"].as_u64(),
            stops: script::strings(&body["stop_sequences"]),
            thinks: matches!(
                body["thinking"]["type"].as_str(),
                Some("enabled" | "adaptive")
            ),
        }
    }

    fn whole(self, model: &str, _body: &Value, answer: &Answer) -> Value {
        let content: Vec<Value> = blocks(answer).into_iter().map(|(block, _)| block).collect();
        json!({
            "id": id("msg_"), "type": "message", "role": "assistant", "model": model, "content": content,
            "stop_reason": stop_reason(answer.end), "stop_sequence": null, "usage": {"input_tokens": answer.prompt_tokens, "output_tokens": output_tokens(answer)},
        })
    }

    fn events(self, model: &str, _body: &Value, answer: &Answer) -> Vec<String> {
        let message = json!({"id": id("msg_"), "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": answer.prompt_tokens, "output_tokens": 1}});
        let mut events = vec![
            json!({"type": "message_start", "message": message}),
            json!({"type": "ping"}),
        ];
        for (index, (block, deltas)) in blocks(answer).into_iter().enumerate() {
            events.push(json!({"type": "content_block_start", "index": index, "content_block": emptied(block)}));
            events.extend(deltas.into_iter().map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ));
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
        events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop_reason(answer.end), "stop_sequence": null}, "usage": {"output_tokens": output_tokens(answer)}}));
        events.push(json!({"type": "message_stop"}));
        events
            .iter()
            .map(|event| {
                format!(
                    "event: {}\ndata: {event}\n\n",
                    event["type"].as_str().unwrap_or_default()
                )
            })
            .collect()
    }

    fn error(self, status: StatusCode, message: &str) -> Value {
        let kind = match status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            503 | 529 => "overloaded_error",
            _ => "api_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": id("req_")})
    }
}

/// The blocks of an answer, each with the deltas of a stream.
fn blocks(answer: &Answer) -> Vec<(Value, Vec<Value>)> {
    let mut blocks = Vec::new();
    if let Some(thought) = &answer.thought {
        let mut deltas: Vec<Value> = script::pieces(thought)
            .map(|piece| json!({"type": "thinking_delta", "thinking": piece}))
            .collect();
        deltas.push(json!({"type": "signature_delta", "signature": "ZGVtbw=="}));
        blocks.push((
            json!({"type": "thinking", "thinking": thought, "signature": "ZGVtbw=="}),
            deltas,
        ));
    }
    if !answer.text.is_empty() {
        let deltas =
            script::pieces(&answer.text).map(|piece| json!({"type": "text_delta", "text": piece}));
        blocks.push((
            json!({"type": "text", "text": answer.text}),
            deltas.collect(),
        ));
    }
    for (name, input) in &answer.calls {
        let written = input.to_string();
        let mut deltas = vec![json!({"type": "input_json_delta", "partial_json": ""})];
        deltas.extend(
            script::pieces(&written)
                .map(|piece| json!({"type": "input_json_delta", "partial_json": piece})),
        );
        blocks.push((
            json!({"type": "tool_use", "id": id("toolu_"), "name": name, "input": input}),
            deltas,
        ));
    }
    blocks
}

/// A block at its start, without the content that deltas will add.
fn emptied(mut block: Value) -> Value {
    for (field, nothing) in [
        ("text", json!("")),
        ("thinking", json!("")),
        ("signature", json!("")),
        ("input", json!({})),
    ] {
        if let Some(value) = block.get_mut(field) {
            *value = nothing;
        }
    }
    block
}

fn choice(chosen: &Value) -> Choice {
    match chosen["type"].as_str() {
        Some("none") => Choice::Never,
        Some("any") => Choice::Any,
        Some("tool") => Choice::Named(chosen["name"].as_str().unwrap_or_default().to_owned()),
        _ => Choice::Free,
    }
}

fn called(messages: &[Value], id: &Value) -> String {
    let mut blocks = messages
        .iter()
        .flat_map(|message| message["content"].as_array().into_iter().flatten());
    blocks
        .find(|block| block["id"] == *id)
        .and_then(|block| block["name"].as_str())
        .unwrap_or("the tool")
        .to_owned()
}

/// Counts tokens without an answer.
#[derive(Clone, Copy)]
pub(super) struct Count;

impl Family for Count {
    fn key_header(self) -> HeaderName {
        Anthropic.key_header()
    }

    fn read(self, body: &Value) -> Asked {
        Anthropic.read(body)
    }

    fn whole(self, _model: &str, _body: &Value, answer: &Answer) -> Value {
        json!({"input_tokens": answer.prompt_tokens})
    }

    fn events(self, _model: &str, _body: &Value, _answer: &Answer) -> Vec<String> {
        Vec::new()
    }

    fn error(self, status: StatusCode, message: &str) -> Value {
        Anthropic.error(status, message)
    }
}

fn stop_reason(end: End) -> &'static str {
    match end {
        End::Said => "end_turn",
        End::Limit => "max_tokens",
        End::Calls => "tool_use",
    }
}

fn output_tokens(answer: &Answer) -> u64 {
    answer.answer_tokens + answer.thought_tokens
}
