//! Replies to play, whole and streamed, for the tests of restoring and scanning.

#![allow(dead_code, reason = "each test file uses some")]

pub(crate) mod chance;
pub(crate) mod forms;
pub(crate) mod judges;

use std::sync::Arc;

use phi_detect::{Detector, PhiKind};
use phigate_core::doors::CHAT;
use phigate_core::protect::Scanner;
use phigate_core::reply::{Echoes, Issued, ReplyRules, ReplyScan, Stop, Tally, ToolNames};
use phigate_core::text::PhiText;
use phigate_types::Replies;
use serde_json::{Value, json};

/// The tokens of the tests, with their values.
pub(crate) const TOKENS: &[(&str, &str)] = &[
    ("NAME_7K3QD", "Jane Roe"),
    ("NAME_7K3QDX", "Ana \"Lu\" Roe"),
    ("SSN_4M2NP", "536-22-8741"),
    ("MEDICARE_ID_0Z9YX", "1EG4-TE5-MK73"),
    ("ADDRESS_AAAAA", "12 Elm St,\nSpokane"),
];

/// Returns the rules for a reply.
pub(crate) fn rules(restores: bool, replies: Replies) -> ReplyRules {
    let tokens = TOKENS.iter().filter(|_| restores);
    let tokens = tokens.map(|(name, value)| ((*name).to_owned(), PhiText::new(*value)));
    let ssn = PhiKind::from_code("ssn").expect("the kind is in the table");
    let request = br#"{"messages":[{"role":"user","content":"SSN 536-22-8741 is hers."}]}"#;
    let scan = (replies != Replies::Off).then(|| ReplyScan {
        scanner: Arc::new(Scanner::new(Detector::default())),
        action: replies,
        echoes: Echoes::new(request.to_vec(), [(ssn, PhiText::new("536-22-8741"))]),
    });
    ReplyRules {
        issued: Issued::new(tokens),
        tools: ToolNames::default(),
        scan,
        content_is_json: false,
    }
}

/// The texts of a reply: content, reasoning, and the arguments of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Texts {
    pub(crate) reasoning: String,
    pub(crate) content: String,
    pub(crate) arguments: String,
}

impl Texts {
    pub(crate) fn content(text: &str) -> Self {
        Self {
            content: text.to_owned(),
            ..Self::default()
        }
    }

    pub(crate) fn arguments(text: &str) -> Self {
        Self {
            arguments: text.to_owned(),
            ..Self::default()
        }
    }
}

/// The caller's view of a whole reply.
pub(crate) fn play_whole(rules: &Arc<ReplyRules>, texts: &Texts) -> (Result<Texts, Stop>, Tally) {
    let call = json!([{"id": "call_1", "type": "function", "function": {"name": "note", "arguments": texts.arguments}}]);
    let message = json!({"role": "assistant", "content": texts.content, "reasoning_content": texts.reasoning, "tool_calls": call});
    let body = json!({"id": "c", "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    let reply = CHAT.whole_reply(rules, body.to_string().into_bytes());
    let texts = reply.body.map(|body| {
        let body: Value = serde_json::from_slice(&body).expect("it is JSON");
        let message = &body["choices"][0]["message"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Texts {
            reasoning: text(&message["reasoning_content"]),
            content: text(&message["content"]),
            arguments: text(&message["tool_calls"][0]["function"]["arguments"]),
        }
    });
    (texts, reply.tally)
}

/// The events of a stream of these texts, each in deltas of this many characters.
pub(crate) fn events(texts: &Texts, mut sizes: impl FnMut() -> usize) -> String {
    let mut out = String::new();
    let mut event = |delta: Value, finish: Option<&str>| {
        let chunk = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        out.push_str(&format!("data: {chunk}\n\n"));
    };
    event(json!({"role": "assistant", "content": ""}), None);
    let mut deltas = |text: &str| {
        let (mut pieces, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let cut = rest
                .char_indices()
                .nth(sizes().max(1))
                .map_or(rest.len(), |(at, _)| at);
            pieces.push(rest[..cut].to_owned());
            rest = &rest[cut..];
        }
        pieces
    };
    for piece in deltas(&texts.reasoning) {
        event(json!({"reasoning_content": piece}), None);
    }
    for piece in deltas(&texts.content) {
        event(json!({"content": piece}), None);
    }
    if !texts.arguments.is_empty() {
        let call = json!([{"index": 0, "id": "call_1", "type": "function", "function": {"name": "note", "arguments": ""}}]);
        event(json!({"tool_calls": call}), None);
    }
    for piece in deltas(&texts.arguments) {
        event(
            json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}),
            None,
        );
    }
    event(json!({}), Some("stop"));
    out + "data: [DONE]\n\n"
}

/// The caller's view of a stream, with its end and its counts.
#[derive(Debug, Default)]
pub(crate) struct Played {
    pub(crate) texts: Texts,
    pub(crate) stop: Option<Stop>,
    pub(crate) tally: Tally,
    pub(crate) is_done: bool,
    pub(crate) finish: Option<String>,
}

/// Plays a stream in these pieces.
pub(crate) fn play_stream<'p>(
    rules: &Arc<ReplyRules>,
    pieces: impl IntoIterator<Item = &'p [u8]>,
) -> Played {
    let mut stage = CHAT.reply_stream(Arc::clone(rules), 1 << 20);
    let (mut out, mut played) = (Vec::new(), Played::default());
    for piece in pieces {
        if let Err(stop) = stage.push(piece, &mut out) {
            played.stop = Some(stop);
            break;
        }
    }
    played.tally = stage.tally().clone();
    for event in String::from_utf8(out).expect("it is UTF-8").split("\n\n") {
        let Some(data) = event.strip_prefix("data: ") else {
            continue;
        };
        if data == "[DONE]" {
            played.is_done = true;
            continue;
        }
        let chunk: Value = serde_json::from_str(data).expect("it is JSON");
        assert_eq!(
            (&chunk["id"], &chunk["object"]),
            (&json!("c"), &json!("chat.completion.chunk"))
        );
        let choice = &chunk["choices"][0];
        assert!(played.finish.is_none(), "text after the finish reason");
        played.finish = choice["finish_reason"].as_str().map(str::to_owned);
        let delta = &choice["delta"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        played.texts.reasoning += &text(&delta["reasoning_content"]);
        played.texts.content += &text(&delta["content"]);
        played.texts.arguments += &text(&delta["tool_calls"][0]["function"]["arguments"]);
    }
    played
}
