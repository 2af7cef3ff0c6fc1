//! One full request for each door and service, and each of them with the marker in one of its strings.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use phigate_core::doors::DOORS;
use serde_json::{Map, Value, json};

/// A request and its path.
pub struct Sample {
    pub path: &'static str,
    pub body: Value,
}

/// A request for every door and every service. Doors that are not listed get the last one.
pub fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for door in DOORS {
        for body in bodies_of(door.id()) {
            let path = door.path;
            samples.push(Sample { path, body });
        }
    }
    let (texts, guardrail) = (
        json!({ "texts": ["Hi.", "Bye."], "action": "mask" }),
        "/beta/litellm_basic_guardrail_api",
    );
    let guarded = json!({ "texts": ["Hi."], "input_type": "request", "request_data": { "user": "u" },
        "structured_messages": [{ "role": "user", "content": "Hi." }] });
    samples.push(Sample {
        path: "/v1/scan",
        body: texts,
    });
    samples.push(Sample {
        path: guardrail,
        body: guarded,
    });
    samples
}

fn bodies_of(door: &str) -> Vec<Value> {
    match door {
        "chat" => ["gpt-4o", "claude-opus-4-5", "gemini-2.5-pro"]
            .map(chat)
            .to_vec(),
        "messages" | "count_tokens" => vec![messages()],
        "responses" => vec![responses()],
        _ => vec![
            json!({ "model": "gpt-4o", "input": ["Hi.", "Bye."], "prompt": "Hi.", "suffix": "end",
            "messages": [{ "role": "user", "content": "Hi." }], "user": "u", "x_future": { "note": "n" } }),
        ],
    }
}

fn chat(model: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { "q": { "type": "string", "description": "what", "enum": ["a"] } } });
    let call = json!({ "id": "call_1", "type": "function", "function": { "name": "look_up", "arguments": "{\"q\":\"a\"}" } });
    let picture = json!({ "type": "image_url", "image_url": { "url": "https://pictures.example/a.png", "detail": "low" } });
    json!({
        "model": model,
        "messages": [
            { "role": "system", "content": "Be brief." },
            { "role": "user", "name": "caller", "content": [{ "type": "text", "text": "Hi." }, picture] },
            { "role": "assistant", "content": null, "tool_calls": [call] },
            { "role": "tool", "tool_call_id": "call_1", "content": "found" },
            { "role": "user", "content": "And now?" },
        ],
        "tools": [{ "type": "function", "function": { "name": "look_up", "description": "Looks up.", "parameters": schema } }],
        "tool_choice": { "type": "function", "function": { "name": "look_up" } },
        "response_format": { "type": "json_schema", "json_schema": { "name": "answer", "schema": { "type": "object" } } },
        "metadata": { "team": "ward" },
        "stop": ["END"],
        "user": "u",
        "reasoning_effort": "low",
        "x_future": [{ "note": "n" }],
    })
}

fn messages() -> Value {
    let source = json!({ "type": "text", "media_type": "text/plain", "data": "a" });
    json!({
        "model": "claude-opus-4-5",
        "max_tokens": 9,
        "system": [{ "type": "text", "text": "Be brief.", "cache_control": { "type": "ephemeral" } }],
        "messages": [
            { "role": "user", "content": [{ "type": "document", "source": source, "title": "A" }] },
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "toolu_1", "name": "note", "input": { "q": "a" } }] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "toolu_1", "content": "found" }] },
        ],
        "tools": [{ "name": "note", "description": "Notes.", "input_schema": { "type": "object" } }],
        "metadata": { "user_id": "u" },
        "stop_sequences": ["END"],
        "x_future": "n",
    })
}

fn responses() -> Value {
    json!({
        "model": "gpt-4o",
        "instructions": "Be brief.",
        "store": false,
        "input": [
            { "role": "user", "content": [{ "type": "input_text", "text": "Hi." }] },
            { "type": "function_call", "call_id": "c", "name": "note", "arguments": "{\"q\":\"a\"}" },
            { "type": "function_call_output", "call_id": "c", "output": "found" },
        ],
        "tools": [{ "type": "function", "name": "note", "description": "Notes.", "parameters": { "type": "object" } }],
        "text": { "format": { "type": "text" } },
        "metadata": { "team": "ward" },
        "x_future": { "note": "n" },
    })
}

/// The body once for each of its strings, values and keys, with the marker in its place.
pub fn marked(body: &Value, marker: &str) -> Vec<Value> {
    let count = strings(body);
    let mark = |number: usize| {
        let mut left = number;
        replaced(body, marker, &mut left)
    };
    (0..count).map(mark).collect()
}

/// Values and keys that are strings.
fn strings(value: &Value) -> usize {
    match value {
        Value::String(_) => 1,
        Value::Array(items) => items.iter().map(strings).sum(),
        Value::Object(fields) => fields.values().map(|value| 1 + strings(value)).sum(),
        _ => 0,
    }
}

/// A copy in which string number `left` is the marker.
fn replaced(value: &Value, marker: &str, left: &mut usize) -> Value {
    let mut is_it = || {
        let is_it = *left == 0;
        *left = left.wrapping_sub(1);
        is_it
    };
    match value {
        Value::String(_) if is_it() => marker.into(),
        Value::Array(items) => items
            .iter()
            .map(|item| replaced(item, marker, left))
            .collect(),
        Value::Object(fields) => {
            let mut copy = Map::new();
            for (name, value) in fields {
                let is_it = *left == 0;
                *left = left.wrapping_sub(1);
                let name = if is_it { marker } else { name };
                copy.insert(name.to_owned(), replaced(value, marker, left));
            }
            Value::Object(copy)
        }
        other => other.clone(),
    }
}

/// Returns requests with documents that hold a text in every way: on pages, beside them, in their names and broken off.
pub fn documents(text: &str) -> Vec<Value> {
    let pdf = crate::support::pages(text, text, text);
    let rtf = format!("{{\\rtf1 {text}{{\\info{{\\title {text}}}}}}}").into_bytes();
    let html = format!("<html><p title='{text}'>{text}<!-- {text} --></html>").into_bytes();
    let mail = format!("From: {text}\r\nMIME-Version: 1.0\r\nSubject: {text}\r\n\r\n{text}\r\n");
    let script = crate::support::pdf(&[&format!("<</S/JavaScript/JS({text})>>")]);
    let image = [b"\x89PNG\r\n\x1a\n", text.as_bytes()].concat();
    let half = pdf[..pdf.len() / 2].to_vec();
    let all = [pdf, half, rtf, html, mail.into_bytes(), script, image];
    let body = |bytes: Vec<u8>| {
        let data = BASE64.encode(bytes);
        let file = json!({ "filename": format!("{text}.pdf"), "file_data": format!("data:application/pdf;base64,{data}") });
        json!({ "model": "gpt-4o", "messages": [{ "role": "user", "content": [{ "type": "file", "file": file }] }] })
    };
    all.map(body).into()
}
