//! Shared parts of the wire format tests: sending, answering and streaming without a network.

#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(
    clippy::needless_pass_by_value,
    reason = "tests read better with json! in place"
)]

use phi_detect::Detector;
use phigate_core::doors::CHAT;
use phigate_core::egress;
use phigate_core::json::Bounds;
use phigate_core::protect::{self, Outcome, Policy, Scanner};
use phigate_core::request::{Request, RequestLimits};
use phigate_core::wire::{
    Expectation, FORMATS, Header, ProviderFailure, Refusal, ReplyContext, ReplySummary, Site,
    WireFormat,
};
use phigate_types::Mode;
use serde_json::{Value, json};

pub(crate) const ANTHROPIC: &str = "claude-sonnet-4-5";
pub(crate) const ANTHROPIC_OLD: &str = "claude-3-haiku-20240307";
pub(crate) const GOOGLE: &str = "gemini-2.5-flash";
pub(crate) const OPENAI: &str = "gpt-4o";
pub(crate) const BEDROCK: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

/// Every format that translates, and the one that does not.
pub(crate) fn all_formats() -> impl Iterator<Item = &'static dyn WireFormat> {
    FORMATS.iter().copied()
}

/// The format in which this model is asked here.
pub(crate) fn format_of(model: &str) -> &'static dyn WireFormat {
    let format = all_formats().find(|format| format.serves(model));
    format.expect("some format serves the model")
}

/// A request about nothing in particular, with these fields.
pub(crate) fn ask(model: &str, fields: Value) -> Value {
    let mut request = json!({"model": model, "messages": [{"role": "user", "content": "Hello"}]});
    for (name, value) in fields.as_object().expect("the fields are an object") {
        request[name] = value.clone();
    }
    request
}

/// Request as a provider gets it.
pub(crate) struct Sent {
    pub(crate) path: Vec<String>,
    pub(crate) query: Option<String>,
    pub(crate) headers: &'static [Header],
    pub(crate) body: Vec<u8>,
    pub(crate) adjusted: Vec<String>,
    pub(crate) dropped: Vec<String>,
    pub(crate) expectation: Expectation,
}

/// Translates a request.
pub(crate) fn try_send(request: &Value) -> Result<Sent, Refusal> {
    let model = request["model"].as_str().expect("the request has a model");
    send_bytes(model, request.to_string().as_bytes(), Mode::FLAG)
}

/// Takes a request given as bytes through all steps. The detector is without its model, so that tests stay quick.
pub(crate) fn send_bytes(model: &str, body: &[u8], mode: Mode) -> Result<Sent, Refusal> {
    let format = format_of(model);
    let kind = format.id().parse().expect("every format is a kind");
    send_to(format, &Site::new(kind, model), body, mode)
}

/// Sends a request to a provider of which more is known.
pub(crate) fn send_to(
    format: &dyn WireFormat,
    site: &Site<'_>,
    body: &[u8],
    mode: Mode,
) -> Result<Sent, Refusal> {
    let limits = RequestLimits {
        json: Bounds::NONE,
        ..RequestLimits::default()
    };
    let request = Request::read(CHAT.form, body.to_vec(), &limits).map_err(|error| Refusal {
        code: error.code,
        param: error.param.unwrap_or_default(),
        message: error.message.into(),
    })?;
    let scanner = Scanner::new(Detector::default().without_names());
    let policy = Policy::uniform(mode).allowing_unscannable(true);
    let scanned = protect::scan(&scanner, request);
    let Outcome::Forward(clean) = protect::apply(&policy, &scanner, scanned) else {
        panic!("the request is not forwarded");
    };
    let hash_user = |user: &str| format!("hash-of-{}-letters", user.len());
    let request = format.write_request(&clean, site, &hash_user)?;
    let cleared = egress::clear(&scanner, request).expect("the request may leave");
    Ok(Sent {
        path: cleared.path().to_vec(),
        query: cleared.query().map(str::to_owned),
        headers: cleared.headers(),
        adjusted: cleared.adjusted().to_vec(),
        dropped: cleared.dropped().to_vec(),
        expectation: cleared.expectation().clone(),
        body: cleared.into_body(),
    })
}

/// Sends a request that is masked on the way.
pub(crate) fn send_masked(request: &Value) -> Sent {
    let model = request["model"].as_str().expect("the request has a model");
    let sent = send_bytes(model, request.to_string().as_bytes(), Mode::MASK);
    sent.expect("the request can be translated")
}

/// The body that reaches the provider.
pub(crate) fn sent(request: &Value) -> Value {
    let request = try_send(request).expect("the request can be translated");
    serde_json::from_slice(&request.body).expect("the provider gets JSON")
}

/// Returns the caller's view of this answer from the provider.
pub(crate) fn try_reply(
    request: &Value,
    answer: &Value,
) -> Result<(Value, ReplySummary), ProviderFailure> {
    let format = format_of(request["model"].as_str().unwrap_or_default());
    let reply = format.read_reply(&context(request), answer.to_string().as_bytes())?;
    Ok((
        serde_json::from_slice(&reply.body).expect("the caller gets JSON"),
        reply.summary,
    ))
}

/// Returns the caller's view of an answer that can be translated.
pub(crate) fn reply(request: &Value, answer: &Value) -> Value {
    try_reply(request, answer)
        .expect("the answer can be translated")
        .0
}

/// A stream as the caller sees it.
pub(crate) struct Streamed {
    pub(crate) text: String,
    pub(crate) failure: Option<ProviderFailure>,
    pub(crate) summary: ReplySummary,
}

/// Plays a provider's stream, cut after these positions.
pub(crate) fn stream_cut(request: &Value, events: &[u8], cuts: &[usize]) -> Streamed {
    let format = format_of(request["model"].as_str().unwrap_or_default());
    let mut translator = format.open_stream(&context(request));
    let (mut out, mut from, mut failure) = (Vec::new(), 0, None);
    for &cut in cuts.iter().chain([&events.len()]) {
        let to = cut.clamp(from, events.len());
        if let Err(error) = translator.push(&events[from..to], &mut out) {
            failure = Some(error);
            break;
        }
        from = to;
    }
    if failure.is_none() {
        failure = translator.finish(&mut out).err();
    }
    let summary = translator.summary().clone();
    Streamed {
        text: String::from_utf8(out).expect("streams are UTF-8"),
        failure,
        summary,
    }
}

/// Plays a provider's stream in one piece.
pub(crate) fn stream(request: &Value, events: &str) -> Streamed {
    stream_cut(request, events.as_bytes(), &[])
}

impl Streamed {
    /// The JSON of all events but `[DONE]`.
    pub(crate) fn chunks(&self) -> Vec<Value> {
        let events = self
            .text
            .split("\n\n")
            .filter_map(|event| event.strip_prefix("data: "));
        events
            .filter(|data| *data != "[DONE]")
            .map(|data| serde_json::from_str(data).expect("chunks are JSON"))
            .collect()
    }

    pub(crate) fn is_done(&self) -> bool {
        self.text.ends_with("data: [DONE]\n\n")
    }

    /// All deltas of the first choice.
    pub(crate) fn deltas(&self) -> Vec<Value> {
        let chunks = self.chunks();
        let choices = chunks
            .iter()
            .flat_map(|chunk| chunk["choices"].as_array().cloned().unwrap_or_default());
        choices
            .filter(|choice| choice["index"] == 0)
            .map(|choice| choice["delta"].clone())
            .collect()
    }

    /// One text field of all deltas, put together.
    pub(crate) fn joined(&self, field: &str) -> String {
        self.deltas()
            .iter()
            .filter_map(|delta| delta[field].as_str())
            .collect()
    }

    /// Tool calls put together as clients do it: by index, names and arguments appended.
    pub(crate) fn calls(&self) -> Vec<(String, String, String)> {
        let mut calls: Vec<(String, String, String)> = Vec::new();
        for part in self
            .deltas()
            .iter()
            .flat_map(|delta| delta["tool_calls"].as_array().cloned().unwrap_or_default())
        {
            let index = usize::try_from(part["index"].as_u64().expect("a fragment has an index"))
                .expect("few calls");
            if index == calls.len() {
                calls.push(Default::default());
            }
            let call = calls
                .get_mut(index)
                .expect("indexes run from 0 without gaps");
            call.0.push_str(part["id"].as_str().unwrap_or_default());
            call.1
                .push_str(part["function"]["name"].as_str().unwrap_or_default());
            call.2
                .push_str(part["function"]["arguments"].as_str().unwrap_or_default());
        }
        calls
    }

    /// The finish reasons, in order of appearance, with their choice.
    pub(crate) fn finish_reasons(&self) -> Vec<(u64, String)> {
        let chunks = self.chunks();
        let choices = chunks
            .iter()
            .flat_map(|chunk| chunk["choices"].as_array().cloned().unwrap_or_default());
        choices
            .filter_map(|choice| {
                Some((
                    choice["index"].as_u64()?,
                    choice["finish_reason"].as_str()?.to_owned(),
                ))
            })
            .collect()
    }
}

/// The context of a reply to this request.
pub(crate) fn context(request: &Value) -> ReplyContext {
    let expectation = try_send(request)
        .map(|request| request.expectation)
        .unwrap_or_default();
    let model = request["model"].as_str().unwrap_or_default().to_owned();
    ReplyContext {
        completion_id: "chatcmpl-1".to_owned(),
        created: 1_760_000_000,
        model,
        expectation,
        event_bytes_max: 1024 * 1024,
    }
}

/// Anthropic's events from their JSON.
pub(crate) fn anthropic_events(events: &[Value]) -> String {
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

/// A whole stream of Anthropic's around these block events.
pub(crate) fn anthropic_stream(blocks: &[Value], stop_reason: &str) -> String {
    let usage = json!({"input_tokens": 5, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 10, "output_tokens": 1});
    let mut events = vec![
        json!({"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "model": "claude-test-1", "content": [], "usage": usage}}),
        json!({"type": "ping"}),
    ];
    events.extend_from_slice(blocks);
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop_reason, "stop_sequence": null}, "usage": {"output_tokens": 7}}));
    events.push(json!({"type": "message_stop"}));
    anthropic_events(&events)
}

/// A block of Anthropic's stream: its start, its deltas and its stop.
pub(crate) fn block(index: u64, start: Value, deltas: &[Value]) -> Vec<Value> {
    let mut events =
        vec![json!({"type": "content_block_start", "index": index, "content_block": start})];
    events.extend(
        deltas
            .iter()
            .map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
    );
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

/// Google's events from their JSON.
pub(crate) fn google_events(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("data: {event}\r\n\r\n"))
        .collect()
}

/// An answer of Google's with these parts.
pub(crate) fn google_answer(parts: Value, finish_reason: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}});
    if let Some(reason) = finish_reason {
        candidate["finishReason"] = json!(reason);
    }
    let usage = json!({"promptTokenCount": 30, "cachedContentTokenCount": 20, "candidatesTokenCount": 4, "thoughtsTokenCount": 6, "totalTokenCount": 40});
    json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "models/gemini-test-1"})
}

/// An answer of Anthropic's with these blocks.
pub(crate) fn anthropic_answer(content: Value, stop_reason: &str) -> Value {
    let usage = json!({"input_tokens": 5, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 10, "output_tokens": 7});
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test-1", "content": content, "stop_reason": stop_reason, "stop_sequence": null, "usage": usage})
}

/// A function that may be called.
pub(crate) fn tool(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name, "description": "Looks it up", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}})
}

/// A tool call in a message of the caller.
pub(crate) fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

/// Checks a path into JSON and its expected value. `null` also matches a missing value.
pub(crate) fn check(model: &str, fields: &Value, expected: &[(&str, Value)]) {
    let body = sent(&ask(model, fields.clone()));
    for (path, value) in expected {
        assert_eq!(
            body.pointer(path).unwrap_or(&Value::Null),
            value,
            "{model} {path} of {body}"
        );
    }
}

/// The names of adjusted and of dropped parameters.
pub(crate) fn names(model: &str, fields: &Value) -> (Vec<String>, Vec<String>) {
    let request = try_send(&ask(model, fields.clone())).expect("the request can be translated");
    (request.adjusted, request.dropped)
}
