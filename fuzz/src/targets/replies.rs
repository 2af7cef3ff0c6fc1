//! Whole replies and errors of providers, in every format and at every door.

use phigate_core::doors::DOORS;
use phigate_core::wire::{Expectation, FORMATS, ReplyContext};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "replies",
    run,
    seeds: &[
        br#"{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"gpt","choices":[{"index":0,"message":{"role":"assistant","content":"Hello.","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":7,"total_tokens":16}}"#,
        br#"{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[{"type":"text","text":"Hello."},{"type":"tool_use","id":"t","name":"n","input":{"a":1}}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":7}}"#,
        br#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello."},{"functionCall":{"name":"f","args":{}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9}}"#,
        br#"{"output":{"message":{"role":"assistant","content":[{"text":"Hello."},{"toolUse":{"toolUseId":"t","name":"n","input":{}}}]}},"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3}}"#,
        br#"{"id":"resp_1","object":"response","status":"completed","model":"gpt","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}],"usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}"#,
        br#"{"error":{"message":"maximum context length","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        br#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        br#"[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"x","details":[{"retryDelay":"3s"}]}}]"#,
    ],
};

fn run(bytes: &[u8]) {
    let context = ReplyContext {
        completion_id: "chatcmpl-1".to_owned(),
        created: 1_700_000_000,
        model: "a-model".to_owned(),
        expectation: Expectation::default(),
        event_bytes_max: 1 << 20,
    };
    for format in FORMATS {
        for door in DOORS.iter().filter(|door| format.takes(door.form)) {
            let Ok(reply) = door.read_reply(*format, &context, bytes) else {
                continue;
            };
            let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(&reply.body).is_ok();
            let is_relayed = format.relays(door.form);
            assert!(
                is_json || is_relayed,
                "translated into something else than JSON"
            );
        }
        for status in [400, 401, 429, 500, 529] {
            let failure = format.read_failure(status, Some("7"), bytes);
            assert!((400..600).contains(&failure.kind.status()));
        }
    }
}
