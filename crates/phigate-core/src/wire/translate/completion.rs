//! Writing chat completions and their chunks.

use super::super::{ReplyContext, Usage};
use crate::json::Json;

/// One choice of a complete answer.
#[derive(Default)]
pub(in super::super) struct Choice {
    /// Position among the choices.
    pub(in super::super) index: u64,
    /// The model's text.
    pub(in super::super) text: String,
    /// The text of a refusal.
    pub(in super::super) refusal: Option<String>,
    /// The reasoning text.
    pub(in super::super) reasoning: String,
    /// The tool calls.
    pub(in super::super) calls: Vec<Json<'static>>,
    /// The finish reason.
    pub(in super::super) finish_reason: &'static str,
    /// Token probabilities.
    pub(in super::super) logprobs: Option<Json<'static>>,
    /// A field of one format alone, which the caller sends back with the conversation.
    pub(in super::super) carrier: Option<(&'static str, Json<'static>)>,
}

/// A tool call as a message holds it.
pub(in super::super) fn tool_call(id: String, name: &str, arguments: String) -> Json<'static> {
    let function = Json::object([
        ("name", Json::text(name.to_owned())),
        ("arguments", Json::text(arguments)),
    ]);
    Json::object([
        ("id", Json::text(id)),
        ("type", Json::text("function")),
        ("function", function),
    ])
}

/// The body of a complete answer.
pub(in super::super) fn completion(
    context: &ReplyContext,
    model: &str,
    choices: Vec<Choice>,
    usage: &Usage,
) -> Vec<u8> {
    Json::object([
        ("id", Json::text(context.completion_id.as_str())),
        ("object", Json::text("chat.completion")),
        ("created", context.created.into()),
        ("model", Json::text(model)),
        (
            "choices",
            Json::List(choices.into_iter().map(choice_json).collect()),
        ),
        ("usage", usage_json(usage)),
    ])
    .to_bytes()
}

fn choice_json(choice: Choice) -> Json<'static> {
    let says_nothing =
        choice.text.is_empty() && (choice.refusal.is_some() || !choice.calls.is_empty());
    let content = if says_nothing {
        Json::Null
    } else {
        Json::text(choice.text)
    };
    let mut message = Json::object([
        ("role", Json::text("assistant")),
        ("content", content),
        ("refusal", choice.refusal.map_or(Json::Null, Json::text)),
    ]);
    if !choice.reasoning.is_empty() {
        message.insert("reasoning_content", Json::text(choice.reasoning));
    }
    if !choice.calls.is_empty() {
        message.insert("tool_calls", Json::List(choice.calls));
    }
    if let Some((name, value)) = choice.carrier {
        message.insert(name, value);
    }
    Json::object([
        ("index", choice.index.into()),
        ("message", message),
        ("logprobs", choice.logprobs.unwrap_or(Json::Null)),
        ("finish_reason", Json::text(choice.finish_reason)),
    ])
}

fn usage_json(usage: &Usage) -> Json<'static> {
    let prompt_details = Json::object([
        ("cached_tokens", usage.cached_tokens.into()),
        ("cache_write_tokens", usage.cache_write_tokens.into()),
    ]);
    let completion_details = Json::object([("reasoning_tokens", usage.reasoning_tokens.into())]);
    Json::object([
        ("prompt_tokens", usage.prompt_tokens.into()),
        ("completion_tokens", usage.completion_tokens.into()),
        ("total_tokens", usage.total_tokens.into()),
        ("prompt_tokens_details", prompt_details),
        ("completion_tokens_details", completion_details),
    ])
}

/// Writes the chunks of one stream. They share id, time and model.
pub(in super::super) struct ChunkWriter {
    id: String,
    created: u64,
    model: String,
    include_usage: bool,
}

impl ChunkWriter {
    /// A writer for the answer of this model.
    pub(in super::super) fn new(context: &ReplyContext, model: &str) -> Self {
        Self {
            id: context.completion_id.clone(),
            created: context.created,
            model: model.to_owned(),
            include_usage: context.expectation.include_usage,
        }
    }

    /// Writes the first chunk of a choice.
    pub(in super::super) fn role(&self, index: u64, out: &mut Vec<u8>) {
        self.delta(
            index,
            Json::object([
                ("role", Json::text("assistant")),
                ("content", Json::text("")),
            ]),
            None,
            out,
        );
    }

    /// Writes a delta with one field of a choice.
    pub(in super::super) fn field(
        &self,
        index: u64,
        name: &'static str,
        value: Json<'_>,
        out: &mut Vec<u8>,
    ) {
        self.delta(index, Json::object([(name, value)]), None, out);
    }

    /// Appends text to a field of the only choice, unless the text is empty.
    pub(in super::super) fn say(&self, field: &'static str, text: &str, out: &mut Vec<u8>) {
        if !text.is_empty() {
            self.field(0, field, Json::text(text), out);
        }
    }

    /// Appends tool input of the only choice, unless it is empty: to the call with this number, or to the answer tool.
    pub(in super::super) fn input(&self, call: Option<u64>, fragment: &str, out: &mut Vec<u8>) {
        match call {
            Some(call) if !fragment.is_empty() => self.arguments(0, call, fragment, out),
            Some(_) => {}
            None => self.say("content", fragment, out),
        }
    }

    /// Writes the start of a tool call, with all or none of its arguments.
    pub(in super::super) fn call(
        &self,
        index: u64,
        tool_index: u64,
        mut call: Json<'_>,
        out: &mut Vec<u8>,
    ) {
        if let Json::Object(members) = &mut call {
            members.insert(0, ("index".into(), tool_index.into()));
        }
        self.field(index, "tool_calls", Json::List(vec![call]), out);
    }

    /// Writes more arguments of a tool call.
    pub(in super::super) fn arguments(
        &self,
        index: u64,
        tool_index: u64,
        fragment: &str,
        out: &mut Vec<u8>,
    ) {
        let function = Json::object([("arguments", Json::text(fragment))]);
        let call = Json::object([("index", tool_index.into()), ("function", function)]);
        self.field(index, "tool_calls", Json::List(vec![call]), out);
    }

    /// Writes the end of a choice.
    pub(in super::super) fn finish(&self, index: u64, reason: &str, out: &mut Vec<u8>) {
        self.delta(index, Json::object([]), Some(reason), out);
    }

    /// Writes text with its token probabilities.
    pub(in super::super) fn text_with_logprobs(
        &self,
        index: u64,
        text: &str,
        logprobs: Json<'_>,
        out: &mut Vec<u8>,
    ) {
        let choice = choice_delta(
            index,
            Json::object([("content", Json::text(text))]),
            logprobs,
            None,
        );
        self.chunk(vec![choice], None, out);
    }

    /// Writes the end of the stream: usage if it was asked for, and `[DONE]`.
    pub(in super::super) fn done(&self, usage: &Usage, out: &mut Vec<u8>) {
        if self.include_usage {
            self.chunk(Vec::new(), Some(usage), out);
        }
        out.extend_from_slice(b"data: [DONE]\n\n");
    }

    fn delta(&self, index: u64, delta: Json<'_>, finish_reason: Option<&str>, out: &mut Vec<u8>) {
        self.chunk(
            vec![choice_delta(index, delta, Json::Null, finish_reason)],
            None,
            out,
        );
    }

    fn chunk(&self, choices: Vec<Json<'_>>, usage: Option<&Usage>, out: &mut Vec<u8>) {
        let mut chunk = Json::object([
            ("id", Json::text(self.id.as_str())),
            ("object", Json::text("chat.completion.chunk")),
            ("created", self.created.into()),
            ("model", Json::text(self.model.as_str())),
            ("choices", Json::List(choices)),
        ]);
        if self.include_usage {
            chunk.insert("usage", usage.map_or(Json::Null, usage_json));
        }
        out.extend_from_slice(b"data: ");
        chunk.write(out);
        out.extend_from_slice(b"\n\n");
    }
}

fn choice_delta<'a>(
    index: u64,
    delta: Json<'a>,
    logprobs: Json<'a>,
    finish_reason: Option<&'a str>,
) -> Json<'a> {
    Json::object([
        ("index", index.into()),
        ("delta", delta),
        ("logprobs", logprobs),
        (
            "finish_reason",
            finish_reason.map_or(Json::Null, Json::text),
        ),
    ])
}
