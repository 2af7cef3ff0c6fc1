//! Thinking in Anthropic's messages: signed thinking stays as it is, unsigned thinking is a text like any other.

use std::sync::Arc;

use crate::reply_support::rules;
use phigate_core::doors::MESSAGES;
use phigate_types::Replies;
use serde_json::{Value, json};

const THOUGHT: &str = "[NAME_7K3QD] asks.";

/// A block of thinking as the caller gets it whole.
fn whole(block: &Value) -> Value {
    let rules = Arc::new(rules(true, Replies::Off));
    let message = json!({"type": "message", "content": [block], "stop_reason": "end_turn"});
    let reply = MESSAGES.whole_reply(&rules, message.to_string().into_bytes());
    let reply: Value = serde_json::from_slice(&reply.body.unwrap()).unwrap();
    reply["content"][0]["thinking"].clone()
}

/// Returns the text of a stream that begins its block so.
fn streamed(start: &Value, signature: Option<&str>) -> String {
    let rules = Arc::new(rules(true, Replies::Off));
    let mut stage = MESSAGES.reply_stream(rules, 1 << 20);
    let delta = |delta: Value| json!({"type": "content_block_delta", "index": 0, "delta": delta});
    let mut events =
        vec![json!({"type": "content_block_start", "index": 0, "content_block": start})];
    events.extend(
        THOUGHT
            .split_inclusive('_')
            .map(|piece| delta(json!({"type": "thinking_delta", "thinking": piece}))),
    );
    events.extend(
        signature
            .map(|signature| delta(json!({"type": "signature_delta", "signature": signature}))),
    );
    events.push(json!({"type": "content_block_stop", "index": 0}));
    let mut out = Vec::new();
    for event in events {
        let event = format!("event: x\ndata: {event}\n\n");
        stage.push(event.as_bytes(), &mut out).unwrap();
    }
    let text = String::from_utf8(out).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = data.map(|data| serde_json::from_str::<Value>(data).unwrap());
    events
        .map(|event| {
            event["delta"]["thinking"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
}

#[test]
fn signed_thoughts_are_never_restored() {
    assert_eq!(
        whole(&json!({"type": "thinking", "thinking": THOUGHT, "signature": "c2ln"})),
        THOUGHT
    );
    let start = json!({"type": "thinking", "thinking": "", "signature": ""});
    assert_eq!(streamed(&start, Some("c2ln")), THOUGHT);
}

#[test]
fn unsigned_thoughts_are_restored() {
    let restored = "Jane Roe asks.";
    assert_eq!(
        whole(&json!({"type": "thinking", "thinking": THOUGHT})),
        restored
    );
    assert_eq!(
        whole(&json!({"type": "thinking", "thinking": THOUGHT, "signature": ""})),
        restored
    );
    assert_eq!(
        streamed(&json!({"type": "thinking", "thinking": ""}), None),
        restored
    );
}
