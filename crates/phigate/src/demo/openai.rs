//! A simulated OpenAI.

use http::{HeaderName, StatusCode, header};
use serde_json::{Value, json};

use super::script::{self, Answer, Asked, Choice, End, Form, Offer};
use super::{Family, id};

#[derive(Clone, Copy)]
pub(super) struct OpenAi;

impl Family for OpenAi {
    fn key_header(self) -> HeaderName {
        header::AUTHORIZATION
    }

    fn read(self, body: &Value) -> Asked {
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let said_by = |role: &'static str| {
            let spoken = messages
                .iter()
                .filter(move |message| message["role"] == role);
            spoken.map(|message| script::text(&message["content"]))
        };
        let parts = messages
            .iter()
            .flat_map(|message| message["content"].as_array().into_iter().flatten());
        let offers = body["tools"].as_array().into_iter().flatten();
        Asked {
            system: said_by("system")
                .chain(said_by("developer"))
                .collect::<Vec<_>>()
                .join("\n\n"),
            said: said_by("user").next_back().unwrap_or_default(),
            wish: messages
                .iter()
                .rfind(|message| message["role"] == "user")
                .map(|message| script::last_text(&message["content"]))
                .unwrap_or_default(),
            prompt_chars: script::count_chars(&body["messages"]),
            attachments: parts.filter(|part| part["type"] != "text").count(),
            tools: offers.map(|tool| offer(&tool["function"])).collect(),
            choice: choice(&body["tool_choice"]),
            results: results(&messages),
            form: form(&body["response_format"]),
            limit: body["max_completion_tokens"]
                .as_u64()
                .or(body["max_tokens"].as_u64()),
            stops: script::strings(&body["stop"]),
            thinks: false,
        }
    }

    fn whole(self, model: &str, _body: &Value, answer: &Answer) -> Value {
        let mut message = json!({"role": "assistant", "content": answer.text, "refusal": null, "annotations": []});
        if !answer.calls.is_empty() {
            message["content"] = Value::Null;
            message["tool_calls"] = answer
                .calls
                .iter()
                .map(|(name, arguments)| call(name, &arguments.to_string()))
                .collect();
        }
        let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(answer.end)});
        json!({"id": id("chatcmpl-"), "object": "chat.completion", "created": now(), "model": model, "choices": [choice], "usage": usage(answer), "system_fingerprint": "fp_demo"})
    }

    fn events(self, model: &str, body: &Value, answer: &Answer) -> Vec<String> {
        let include_usage = body["stream_options"]["include_usage"] == json!(true);
        let (id, created) = (id("chatcmpl-"), now());
        let chunk = |choices: Value, usage: Value| {
            let mut chunk = json!({"id": id, "object": "chat.completion.chunk", "created": created, "model": model, "choices": choices, "system_fingerprint": "fp_demo"});
            if include_usage {
                chunk["usage"] = usage;
            }
            format!("data: {chunk}\n\n")
        };
        let delta = |delta: Value, finish: Value| {
            chunk(
                json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]),
                Value::Null,
            )
        };
        let mut events = vec![delta(
            json!({"role": "assistant", "content": if answer.calls.is_empty() { json!("") } else { Value::Null }}),
            Value::Null,
        )];
        events.extend(
            script::pieces(&answer.text).map(|piece| delta(json!({"content": piece}), Value::Null)),
        );
        for (index, (name, arguments)) in answer.calls.iter().enumerate() {
            let mut start = call(name, "");
            start["index"] = json!(index);
            events.push(delta(json!({"tool_calls": [start]}), Value::Null));
            let fragments = arguments.to_string();
            events.extend(script::pieces(&fragments).map(|piece| {
                delta(
                    json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}),
                    Value::Null,
                )
            }));
        }
        events.push(delta(json!({}), json!(finish_reason(answer.end))));
        if include_usage {
            events.push(chunk(json!([]), usage(answer)));
        }
        events.push("data: [DONE]\n\n".to_owned());
        events
    }

    fn error(self, status: StatusCode, message: &str) -> Value {
        error(status, message)
    }
}

/// An error in OpenAI's format.
pub(super) fn error(status: StatusCode, message: &str) -> Value {
    let kind = if status.is_client_error() {
        "invalid_request_error"
    } else {
        "server_error"
    };
    json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
}

pub(super) fn offer(function: &Value) -> Offer {
    Offer {
        name: function["name"].as_str().unwrap_or_default().to_owned(),
        schema: function["parameters"].clone(),
    }
}

fn choice(choice: &Value) -> Choice {
    match choice.as_str() {
        Some("none") => Choice::Never,
        Some("required") => Choice::Any,
        _ => choice["function"]["name"]
            .as_str()
            .map_or(Choice::Free, |name| Choice::Named(name.to_owned())),
    }
}

fn form(format: &Value) -> Form {
    match format["type"].as_str() {
        Some("json_object") => Form::Object,
        Some("json_schema") => Form::Schema(format["json_schema"]["schema"].clone()),
        _ => Form::Text,
    }
}

/// The results of tools, if they come last.
fn results(messages: &[Value]) -> Vec<(String, String)> {
    let last = messages
        .iter()
        .rev()
        .take_while(|message| message["role"] == "tool")
        .count();
    let results = messages[messages.len() - last..].iter();
    results
        .map(|message| {
            (
                called(messages, &message["tool_call_id"]),
                script::text(&message["content"]),
            )
        })
        .collect()
}

/// The tool that was called with this id.
fn called(messages: &[Value], id: &Value) -> String {
    let mut calls = messages
        .iter()
        .flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
    calls
        .find(|call| call["id"] == *id)
        .and_then(|call| call["function"]["name"].as_str())
        .unwrap_or("the tool")
        .to_owned()
}

fn call(name: &str, arguments: &str) -> Value {
    json!({"id": id("call_"), "type": "function", "function": {"name": name, "arguments": arguments}})
}

pub(super) fn finish_reason(end: End) -> &'static str {
    match end {
        End::Said => "stop",
        End::Limit => "length",
        End::Calls => "tool_calls",
    }
}

pub(super) fn usage(answer: &Answer) -> Value {
    json!({
        "prompt_tokens": answer.prompt_tokens, "completion_tokens": answer.answer_tokens, "total_tokens": answer.prompt_tokens + answer.answer_tokens,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    })
}

pub(super) fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}
