//! Streams of providers, translated and relayed: every cut gives the same output, a broken stream never looks finished,
//! and translated events are JSON.

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use phigate_core::doors::Door;
use phigate_core::wire::{Expectation, ReplyContext, format_of_family};
use phigate_types::ProviderKind;

use super::Target;
use crate::cuts::{cut, same_for_every_cut};

pub(super) const OPENAI: Target = Target {
    name: "stream_openai",
    run: |bytes| play("chat", ProviderKind::OpenAi, bytes),
    seeds: &[
        b"\x07data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"a\"},\"finish_reason\":null}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2,\"total_tokens\":5}}\n\ndata: [DONE]\n\n",
        b"\x07data: {\"error\":{\"message\":\"x\",\"type\":\"server_error\"}}\n\n",
    ],
};

pub(super) const ANTHROPIC: Target = Target {
    name: "stream_anthropic",
    run: |bytes| play("chat", ProviderKind::Anthropic, bytes),
    seeds: ANTHROPIC_SEEDS,
};

pub(super) const MESSAGES: Target = Target {
    name: "relay_messages",
    run: |bytes| play("messages", ProviderKind::Anthropic, bytes),
    seeds: ANTHROPIC_SEEDS,
};

const ANTHROPIC_SEEDS: &[&[u8]] = &[
    b"\x09event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"claude\",\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    b"\x09data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{}}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":1}\"}}\n\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n",
];

pub(super) const GOOGLE: Target = Target {
    name: "stream_google",
    run: |bytes| play("chat", ProviderKind::Google, bytes),
    seeds: &[
        b"\x0bdata: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Hm\",\"thought\":true},{\"text\":\"a\"}]},\"index\":0}],\"modelVersion\":\"g\",\"responseId\":\"r\"}\r\n\r\ndata: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{\"a\":1}}}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":3,\"candidatesTokenCount\":2,\"totalTokenCount\":5}}\r\n\r\n",
        b"\x0bdata: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n",
    ],
};

pub(super) const BEDROCK: Target = Target {
    name: "stream_bedrock",
    run: |bytes| {
        let (step, rest) = cut(bytes);
        let first = u8::try_from(step).unwrap_or(1);
        play("chat", ProviderKind::Bedrock, &[&[first][..], &framed(rest)].concat());
    },
    // Lines with an event's kind, a tab and its payload, which become frames.
    seeds: &[
        b"\x0dmessageStart\t{\"role\":\"assistant\"}\ncontentBlockDelta\t{\"contentBlockIndex\":0,\"delta\":{\"text\":\"a\"}}\ncontentBlockStop\t{\"contentBlockIndex\":0}\nmessageStop\t{\"stopReason\":\"end_turn\"}\nmetadata\t{\"usage\":{\"inputTokens\":1,\"outputTokens\":2,\"totalTokens\":3}}",
        b"\x0dcontentBlockStart\t{\"contentBlockIndex\":1,\"start\":{\"toolUse\":{\"toolUseId\":\"t\",\"name\":\"n\"}}}\ncontentBlockDelta\t{\"contentBlockIndex\":1,\"delta\":{\"toolUse\":{\"input\":\"{}\"}}}\n!throttlingException\t{\"message\":\"x\"}",
    ],
};

pub(super) const RESPONSES: Target = Target {
    name: "relay_responses",
    run: |bytes| play("responses", ProviderKind::OpenAi, bytes),
    seeds: &[
        b"\x0fevent: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"status\":\"in_progress\",\"model\":\"gpt\"}}\n\nevent: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"i\",\"output_index\":0,\"content_index\":0,\"delta\":\"a\"}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"usage\":{\"input_tokens\":1,\"output_tokens\":2,\"total_tokens\":3}}}\n\n",
    ],
};

pub(super) const COMPLETIONS: Target = Target {
    name: "relay_completions",
    run: |bytes| play("completions", ProviderKind::OpenAi, bytes),
    seeds: &[
        b"\x11data: {\"id\":\"c\",\"object\":\"text_completion\",\"choices\":[{\"index\":0,\"text\":\"a\",\"finish_reason\":null}]}\n\ndata: {\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    ],
};

fn context() -> ReplyContext {
    ReplyContext {
        completion_id: "chatcmpl-1".to_owned(),
        created: 1_700_000_000,
        model: "a-model".to_owned(),
        expectation: Expectation::default(),
        event_bytes_max: 1 << 20,
    }
}

fn play(door: &str, family: ProviderKind, bytes: &[u8]) {
    let (door, format) = (Door::with_id(door), format_of_family(family));
    let (Some(door), Some(format)) = (door, format) else {
        panic!("the door and the format exist");
    };
    let (out, is_fine, is_done) = same_for_every_cut(bytes, |pieces| {
        let mut translator = door.open_stream(format, &context());
        let mut out = Vec::new();
        let pushed = pieces
            .iter()
            .try_for_each(|piece| translator.push(piece, &mut out));
        let ended = pushed.and_then(|()| translator.finish(&mut out));
        let is_done = translator.is_done();
        (out, ended.is_ok(), is_done)
    });
    assert!(is_done || !is_fine, "ended well without being done");
    let is_translated = !format.relays(door.form);
    if is_translated {
        check_events(&out);
    }
}

/// Checks that translated output consists of events of JSON.
fn check_events(out: &[u8]) {
    let text = std::str::from_utf8(out).expect("translated streams are UTF-8");
    for event in text.split_terminator("\n\n") {
        let data = event
            .strip_prefix("data: ")
            .expect("each event is one line of data");
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(data).is_ok();
        assert!(is_json || data == "[DONE]", "an event is not JSON");
    }
}

/// Turns lines of `kind TAB payload` into frames; `!` before the kind makes it an exception. A line without a tab stays
/// unchanged.
fn framed(lines: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in lines.split(|byte| *byte == b'\n') {
        let Some(tab) = line.iter().position(|byte| *byte == b'\t') else {
            out.extend_from_slice(line);
            continue;
        };
        let kind = String::from_utf8_lossy(&line[..tab]).into_owned();
        let (kind, word, name) = match kind.strip_prefix('!') {
            Some(kind) => (kind.to_owned(), "exception", ":exception-type"),
            None => (kind, "event", ":event-type"),
        };
        let header = |name: &'static str, value: String| {
            Header::new(name, HeaderValue::String(value.into()))
        };
        let message = Message::new(line[tab + 1..].to_vec())
            .add_header(header(":message-type", word.to_owned()))
            .add_header(header(name, kind));
        // Some kinds are too long for a header; then there is no frame.
        let _ = write_message_to(&message, &mut out);
    }
    out
}
