//! Bedrock: Converse in both directions, and binary streams.

use crate::wire_support::*;
use phigate_types::Mode;
use proptest::prelude::*;
use serde_json::{Value, json};

const NOVA: &str = "amazon.nova-pro-v1:0";
const LLAMA: &str = "meta.llama3-70b-instruct-v1:0";
const CLAUDE_3: &str = "anthropic.claude-3-haiku-20240307-v1:0";
const PROFILE: &str = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123";
const PNG: &str = "iVBORw0KGgoAAAANSUhEUg==";

/// One frame, written by hand: lengths, checksums, string headers, payload.
fn frame(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    for (name, value) in headers {
        packed.push(u8::try_from(name.len()).expect("names are short"));
        packed.extend_from_slice(name.as_bytes());
        packed.push(7);
        let length = u16::try_from(value.len()).expect("values are short");
        packed.extend_from_slice(&length.to_be_bytes());
        packed.extend_from_slice(value.as_bytes());
    }
    let number = |value: usize| {
        u32::try_from(value)
            .expect("frames are small")
            .to_be_bytes()
    };
    let mut frame = Vec::new();
    frame.extend_from_slice(&number(16 + packed.len() + payload.len()));
    frame.extend_from_slice(&number(packed.len()));
    frame.extend_from_slice(&crc32fast::hash(&frame).to_be_bytes());
    frame.extend_from_slice(&packed);
    frame.extend_from_slice(payload);
    let checksum = crc32fast::hash(&frame);
    frame.extend_from_slice(&checksum.to_be_bytes());
    frame
}

fn event(kind: &str, value: &Value) -> Vec<u8> {
    let headers = [
        (":event-type", kind),
        (":content-type", "application/json"),
        (":message-type", "event"),
    ];
    frame(&headers, value.to_string().as_bytes())
}

fn exception(kind: &str) -> Vec<u8> {
    let headers = [(":exception-type", kind), (":message-type", "exception")];
    frame(&headers, br#"{"message":"Jane Roe"}"#)
}

fn delta(index: u64, delta: &Value) -> Vec<u8> {
    event(
        "contentBlockDelta",
        &json!({"contentBlockIndex": index, "delta": delta, "p": "abc"}),
    )
}

fn stop(index: u64) -> Vec<u8> {
    event("contentBlockStop", &json!({"contentBlockIndex": index}))
}

fn tool_start(index: u64, id: &str, name: &str) -> Vec<u8> {
    let start = json!({"toolUse": {"toolUseId": id, "name": name}});
    event(
        "contentBlockStart",
        &json!({"contentBlockIndex": index, "start": start}),
    )
}

fn usage() -> Value {
    json!({"inputTokens": 5, "outputTokens": 7, "totalTokens": 42, "cacheReadInputTokens": 20, "cacheWriteInputTokens": 10})
}

/// A stream with everything in it: thoughts, text, tools with and without input, and an unknown event.
fn rich_frames() -> Vec<Vec<u8>> {
    vec![
        event("messageStart", &json!({"role": "assistant"})),
        delta(0, &json!({"reasoningContent": {"text": "Hm "}})),
        delta(0, &json!({"reasoningContent": {"text": "é"}})),
        delta(0, &json!({"reasoningContent": {"signature": "c2ln"}})),
        stop(0),
        delta(1, &json!({"text": "naïve "})),
        event("somethingNew", &json!({"a": 1})),
        delta(1, &json!({"text": "漢字 👩‍⚕️"})),
        stop(1),
        tool_start(2, "t1", "look_up"),
        delta(2, &json!({"toolUse": {"input": "{\"city\":"}})),
        delta(2, &json!({"toolUse": {"input": "\"Oslo\"}"}})),
        stop(2),
        tool_start(3, "t2", "now"),
        stop(3),
        event("messageStop", &json!({"stopReason": "tool_use"})),
        event(
            "metadata",
            &json!({"usage": usage(), "metrics": {"latencyMs": 3}}),
        ),
    ]
}

fn asked() -> Value {
    ask(
        BEDROCK,
        json!({"stream": true, "stream_options": {"include_usage": true}, "tools": [tool("look_up"), tool("now")]}),
    )
}

#[expect(clippy::needless_pass_by_value, reason = "callers write it in place")]
fn answer(content: Value, stop_reason: &str) -> Value {
    json!({"output": {"message": {"role": "assistant", "content": content}}, "stopReason": stop_reason, "usage": usage(), "metrics": {"latencyMs": 3}})
}

#[test]
fn path_holds_model_and_method() {
    for (model, stream, method) in [
        (NOVA, false, "converse"),
        (PROFILE, true, "converse-stream"),
    ] {
        let sent = try_send(&ask(model, json!({"stream": stream}))).expect("it can be sent");
        assert_eq!(
            (sent.path, sent.query),
            (
                vec!["model".to_owned(), model.to_owned(), method.to_owned()],
                None
            )
        );
    }
}

#[test]
fn a_conversation_becomes_system_content_and_turns() {
    let messages = json!([
        {"role": "system", "content": "One."},
        {"role": "user", "content": "Both?"},
        {"role": "assistant", "content": null, "tool_calls": [call("a-1", "look_up", "{\"city\":\"Paris\"}"), call("a 2", "now", "")]},
        {"role": "tool", "tool_call_id": "a-1", "content": "18 °C"},
        {"role": "tool", "tool_call_id": "a 2", "content": ""},
        {"role": "developer", "content": "Two."},
        {"role": "user", "content": [
            {"type": "text", "text": "And this?", "cache_control": {"type": "ephemeral"}},
            {"type": "image_url", "image_url": {"url": format!("data:image/jpeg;base64,{PNG}")}},
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0="}}]},
    ]);
    let body = sent(&ask(
        BEDROCK,
        json!({"messages": messages, "tools": [tool("look_up")]}),
    ));
    assert_eq!(body["system"], json!([{"text": "One."}, {"text": "Two."}]));
    let calls = json!([
        {"toolUse": {"toolUseId": "a-1", "name": "look_up", "input": {"city": "Paris"}}},
        {"toolUse": {"toolUseId": "a_202", "name": "now", "input": {}}}]);
    let results = json!([
        {"toolResult": {"toolUseId": "a-1", "content": [{"text": "18 °C"}]}},
        {"toolResult": {"toolUseId": "a_202", "content": []}},
        {"text": "And this?"},
        {"cachePoint": {"type": "default"}},
        {"image": {"format": "png", "source": {"bytes": PNG}}},
        {"document": {"format": "pdf", "name": "document-1", "source": {"bytes": "JVBERi0="}}}]);
    assert_eq!(
        body["messages"],
        json!([{"role": "user", "content": [{"text": "Both?"}]}, {"role": "assistant", "content": calls}, {"role": "user", "content": results}])
    );
}

#[test]
fn fields_unsupported_by_model_are_named() {
    let schema =
        json!({"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}});
    let marked = json!([{"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]}]);
    let forced = json!({"tools": [tool("a")], "tool_choice": "required"});
    let one = json!({"tools": [tool("a")], "parallel_tool_calls": false});
    for (model, fields, adjusted, dropped) in [
        (BEDROCK, json!({"temperature": 1.5}), "temperature", ""),
        (
            BEDROCK,
            json!({"temperature": 0.5, "top_p": 0.5}),
            "",
            "top_p",
        ),
        (NOVA, json!({"temperature": 0.5, "top_p": 0.5}), "", ""),
        (
            LLAMA,
            json!({"reasoning_effort": "low"}),
            "",
            "reasoning_effort",
        ),
        (
            "openai.gpt-oss-120b-1:0",
            json!({"reasoning_effort": "xhigh"}),
            "reasoning_effort",
            "",
        ),
        (
            LLAMA,
            json!({"response_format": schema}),
            "",
            "response_format",
        ),
        (CLAUDE_3, json!({"response_format": schema}), "", ""),
        (LLAMA, forced, "tool_choice", ""),
        (LLAMA, one.clone(), "", "parallel_tool_calls"),
        (BEDROCK, one, "", ""),
        (LLAMA, json!({"messages": marked}), "messages", ""),
        (BEDROCK, json!({"user": "u"}), "", "user"),
    ] {
        let expected: Vec<Vec<String>> = [adjusted, dropped]
            .map(|name| {
                Some(name.to_owned())
                    .filter(|name| !name.is_empty())
                    .into_iter()
                    .collect()
            })
            .to_vec();
        let (adjusted, dropped) = names(model, &fields);
        assert_eq!(vec![adjusted, dropped], expected, "{model} {fields}");
    }
}

#[test]
fn each_family_gets_its_own_additional_fields() {
    let base = "/additionalModelRequestFields";
    let at = |path: &str| format!("{base}{path}");
    check(
        BEDROCK,
        &json!({"reasoning_effort": "medium"}),
        &[(
            &at("/thinking"),
            json!({"type": "enabled", "budget_tokens": 2048}),
        )],
    );
    check(
        "global.anthropic.claude-opus-4-6-v1",
        &json!({"reasoning_effort": "high"}),
        &[
            (&at("/thinking/type"), json!("adaptive")),
            ("/outputConfig/effort", json!("high")),
        ],
    );
    check(
        "openai.gpt-oss-20b-1:0",
        &json!({"reasoning_effort": "low"}),
        &[(&at("/reasoning_effort"), json!("low"))],
    );
    check(
        "us.amazon.nova-2-lite-v1:0",
        &json!({"reasoning_effort": "high"}),
        &[(&at("/reasoningConfig/maxReasoningEffort"), json!("high"))],
    );
    check(
        BEDROCK,
        &json!({"tools": [tool("a")], "parallel_tool_calls": false}),
        &[(
            &at("/tool_choice"),
            json!({"type": "auto", "disable_parallel_tool_use": true}),
        )],
    );
    check(
        NOVA,
        &json!({"max_tokens": 9, "stop": "END"}),
        &[
            (base, json!(null)),
            (
                "/inferenceConfig",
                json!({"maxTokens": 9, "stopSequences": ["END"]}),
            ),
        ],
    );
}

#[test]
fn answer_schema_follows_model_capabilities() {
    let fields = json!({"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object", "properties": {"x": {"type": "string"}}}}}});
    let native = "{\"properties\":{\"x\":{\"type\":\"string\"}},\"type\":\"object\"}";
    check(
        BEDROCK,
        &fields,
        &[
            (
                "/outputConfig/textFormat/structure/jsonSchema/schema",
                json!(native),
            ),
            ("/toolConfig", json!(null)),
        ],
    );
    check(
        CLAUDE_3,
        &fields,
        &[
            ("/toolConfig/toolChoice", json!({"any": {}})),
            ("/toolConfig/tools/0/toolSpec/name", json!("json_tool_call")),
        ],
    );
    let request = ask(CLAUDE_3, fields);
    let answer = answer(
        json!([{"toolUse": {"toolUseId": "t", "name": "json_tool_call", "input": {"x": "y"}}}]),
        "tool_use",
    );
    let choice = &reply(&request, &answer)["choices"][0];
    assert_eq!(
        (&choice["message"]["content"], &choice["finish_reason"]),
        (&json!("{\"x\":\"y\"}"), &json!("stop"))
    );
}

#[test]
fn disabled_tools_are_kept_for_tool_history() {
    check(
        BEDROCK,
        &json!({"tools": [tool("a")], "tool_choice": "none"}),
        &[("/toolConfig", json!(null))],
    );
    let history = json!([
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "tool_calls": [call("t1", "a", "{}")]},
        {"role": "tool", "tool_call_id": "t1", "content": "x"}]);
    for fields in [
        json!({"messages": history}),
        json!({"messages": history, "tools": [tool("a")], "tool_choice": "none"}),
    ] {
        check(
            BEDROCK,
            &fields,
            &[
                ("/toolConfig/tools/0/toolSpec/name", json!("a")),
                (
                    "/additionalModelRequestFields/tool_choice",
                    json!({"type": "none"}),
                ),
            ],
        );
    }
}

#[test]
fn unsendable_parameter_is_refused_and_named() {
    let parts = |part: Value| json!({"messages": [{"role": "user", "content": [part]}]});
    for (fields, param) in [
        (
            parts(json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}})),
            "messages[0].content[0]",
        ),
        (
            parts(json!({"type": "image_url", "image_url": {"url": "data:image/bmp;base64,AAAA"}})),
            "messages[0].content[0]",
        ),
        (
            parts(json!({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}})),
            "messages[0].content[0]",
        ),
        (
            parts(
                json!({"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0="}}),
            ),
            "messages[0].content",
        ),
        (
            json!({"messages": [{"role": "user", "content": " "}]}),
            "messages[0].content",
        ),
        (json!({"stop": ["a", ""]}), "stop[1]"),
        (json!({"tools": [tool("a b")]}), "tools[0].function.name"),
        (json!({"reasoning_effort": "hard"}), "reasoning_effort"),
    ] {
        let refusal = try_send(&ask(BEDROCK, fields)).err();
        assert_eq!(refusal.map(|refusal| refusal.param).as_deref(), Some(param));
    }
}

#[test]
fn thoughts_return_verbatim_unless_masking_changed_them() {
    let thought = json!({"reasoningContent": {"reasoningText": {"text": "SSN 536-22-8741", "signature": "c2ln"}}});
    let hidden = json!({"reasoningContent": {"redactedContent": "AAAA"}});
    let given = reply(
        &ask(BEDROCK, json!({})),
        &answer(json!([thought, hidden, {"text": "a"}]), "end_turn"),
    );
    let message = &given["choices"][0]["message"];
    assert_eq!(
        (&message["content"], &message["reasoning_content"]),
        (&json!("a"), &json!("SSN 536-22-8741"))
    );
    let back = ask(
        BEDROCK,
        json!({"messages": [{"role": "user", "content": "Hi"}, message, {"role": "user", "content": "More"}]}),
    );
    assert_eq!(
        sent(&back)["messages"][1]["content"],
        json!([thought, hidden, {"text": "a"}])
    );
    let masked = send_masked(&back);
    assert!(
        !String::from_utf8_lossy(&masked.body).contains("c2ln")
            && masked.adjusted.contains(&"messages".to_owned())
    );
}

#[test]
fn system_content_moves_to_first_turn() {
    let fields = json!({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]});
    check(
        "amazon.titan-text-express-v1",
        &fields,
        &[
            ("/system", json!(null)),
            (
                "/messages/0/content",
                json!([{"text": "Be brief."}, {"text": "Hi"}]),
            ),
        ],
    );
    let alone = json!({"messages": [{"role": "system", "content": "Be brief."}]});
    check(
        BEDROCK,
        &alone,
        &[
            ("/system", json!(null)),
            ("/messages/0/role", json!("user")),
        ],
    );
}

#[test]
fn every_stop_reason_has_its_finish_reason() {
    for (stop_reason, finish) in [
        ("end_turn", Some("stop")),
        ("stop_sequence", Some("stop")),
        ("max_tokens", Some("length")),
        ("model_context_window_exceeded", Some("length")),
        ("guardrail_intervened", Some("content_filter")),
        ("content_filtered", Some("content_filter")),
        ("tool_use", Some("tool_calls")),
        ("something_new", Some("stop")),
        ("malformed_tool_use", None),
        ("malformed_model_output", None),
    ] {
        let request = ask(BEDROCK, json!({"stream": true}));
        let whole = try_reply(&request, &answer(json!([{"text": "a"}]), stop_reason));
        let told = whole.ok().and_then(|(reply, _)| {
            reply["choices"][0]["finish_reason"]
                .as_str()
                .map(str::to_owned)
        });
        assert_eq!(told.as_deref(), finish, "{stop_reason}");
        let mut frames = rich_frames();
        frames[15] = event("messageStop", &json!({"stopReason": stop_reason}));
        let streamed = stream_cut(&request, &frames.concat(), &[]);
        assert_eq!(
            streamed
                .finish_reasons()
                .first()
                .map(|(_, reason)| reason.as_str()),
            finish,
            "{stop_reason}"
        );
        assert_eq!(streamed.is_done(), finish.is_some(), "{stop_reason}");
    }
}

#[test]
fn tokens_are_counted_as_openai_counts_them() {
    let reply = reply(
        &ask(BEDROCK, json!({})),
        &answer(json!([{"text": "a"}]), "end_turn"),
    );
    assert_eq!(
        reply["usage"],
        json!({"prompt_tokens": 35, "completion_tokens": 7, "total_tokens": 42, "prompt_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 10}, "completion_tokens_details": {"reasoning_tokens": 0}})
    );
}

#[test]
fn rich_stream_is_read_to_end() {
    let streamed = stream_cut(&asked(), &rich_frames().concat(), &[]);
    assert!(streamed.failure.is_none() && streamed.is_done());
    assert_eq!(
        (
            streamed.joined("content").as_str(),
            streamed.joined("reasoning_content").as_str()
        ),
        ("naïve 漢字 👩‍⚕️", "Hm é")
    );
    let call = |id: &str, name: &str, arguments: &str| {
        (id.to_owned(), name.to_owned(), arguments.to_owned())
    };
    assert_eq!(
        streamed.calls(),
        [
            call("t1", "look_up", "{\"city\":\"Oslo\"}"),
            call("t2", "now", "{}")
        ]
    );
    let thoughts = json!([{"type": "thinking", "thinking": "Hm é", "signature": "c2ln"}]);
    assert!(
        streamed
            .deltas()
            .iter()
            .any(|delta| delta["thinking_blocks"] == thoughts)
    );
    let chunks = streamed.chunks();
    assert_eq!(
        chunks
            .last()
            .map(|chunk| chunk["usage"]["total_tokens"].clone()),
        Some(json!(42))
    );
    assert!(chunks.iter().all(|chunk| chunk["model"] == json!(BEDROCK)));
}

#[test]
fn stream_exception_keeps_meaning_and_hides_message() {
    for (frame, code) in [
        (exception("throttlingException"), "provider_rate_limited"),
        (
            exception("serviceUnavailableException"),
            "provider_overloaded",
        ),
        (exception("modelTimeoutException"), "provider_timeout"),
        (exception("validationException"), "provider_rejected"),
        (exception("modelStreamErrorException"), "provider_error"),
        (exception("internalServerException"), "provider_error"),
        (
            frame(
                &[
                    (":message-type", "error"),
                    (":error-code", "InternalFailure"),
                ],
                b"",
            ),
            "provider_error",
        ),
    ] {
        for before in [0, 6] {
            let mut frames = rich_frames()[..before].concat();
            frames.extend_from_slice(&frame);
            let streamed = stream_cut(&asked(), &frames, &[]);
            let failure = streamed.failure.as_ref();
            assert_eq!(
                failure.map(|failure| failure.kind.code().code()),
                Some(code)
            );
            assert!(!streamed.text.contains("[DONE]") && !format!("{failure:?}").contains("Jane"));
        }
    }
}

#[test]
fn damaged_frames_end_the_stream_at_once() {
    let good = rich_frames();
    let flipped = |at: usize| {
        let mut frame = good[5].clone();
        frame[at] ^= 1;
        frame
    };
    let long = frame(
        &[(":message-type", "event"), (":event-type", "x")],
        &vec![b' '; 2 * 1024 * 1024],
    );
    for bad in [
        flipped(3),
        flipped(9),
        flipped(good[5].len() - 20),
        flipped(good[5].len() - 1),
        b"<html>Bad gateway</html>".to_vec(),
        [&[0xff, 0xff, 0xff, 0xf0, 0, 0, 0, 16][..], &[0; 8]].concat(),
        [&[0, 0, 0, 32, 0, 0, 0, 255][..], &[0; 24]].concat(),
        long[..1024].to_vec(),
        frame(&[(":message-type", "event")], b"{}"),
        frame(&[], b"{}"),
        event(
            "contentBlockDelta",
            &json!({"contentBlockIndex": 9, "delta": {"toolUse": {"input": "{}"}}}),
        ),
        frame(
            &[(":message-type", "event"), (":event-type", "messageStop")],
            b"{",
        ),
    ] {
        let mut frames = good[..5].concat();
        frames.extend_from_slice(&bad);
        let streamed = stream_cut(&asked(), &frames, &[]);
        let code = streamed
            .failure
            .map(|failure| (failure.kind.code().code(), failure.kind));
        assert_eq!(
            code,
            Some(("provider_error", phigate_core::wire::FailureKind::Error))
        );
    }
}

#[test]
fn truncated_stream_never_looks_finished() {
    let frames = rich_frames().concat();
    for to in (0..frames.len()).step_by(11) {
        let streamed = stream_cut(&asked(), &frames[..to], &[]);
        assert!(
            streamed.failure.is_some() && !streamed.text.contains("[DONE]"),
            "cut at {to}"
        );
        assert!(streamed.finish_reasons().is_empty(), "cut at {to}");
    }
}

#[test]
fn errors_keep_their_meaning() {
    let format = format_of(BEDROCK);
    for (status, told, code) in [
        (400, 400, "provider_rejected"),
        (403, 502, "provider_auth_failed"),
        (404, 404, "provider_rejected"),
        (408, 504, "provider_timeout"),
        (424, 502, "provider_error"),
        (429, 429, "provider_rate_limited"),
        (500, 502, "provider_error"),
        (503, 503, "provider_overloaded"),
    ] {
        let failure = format.read_failure(status, None, br#"{"message":"Jane Roe"}"#);
        assert_eq!(
            (failure.kind.status(), failure.kind.code().code()),
            (told, code),
            "{status}"
        );
        assert!(
            failure
                .provider_message
                .is_some_and(|text| text.expose() == "Jane Roe")
        );
    }
}

#[test]
fn masked_text_is_all_that_leaves() {
    let request = ask(
        BEDROCK,
        json!({"messages": [{"role": "user", "content": "SSN 536-22-8741"}]}),
    );
    let sent =
        send_bytes(BEDROCK, request.to_string().as_bytes(), Mode::MASK).expect("it can be sent");
    assert!(!String::from_utf8_lossy(&sent.body).contains("536"));
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_output(cuts in prop::collection::vec(0usize..4_000, 0..60), damage in prop::option::of(0usize..3_000)) {
        let mut cuts = cuts;
        cuts.sort_unstable();
        let mut frames = rich_frames().concat();
        if let Some(at) = damage.filter(|at| *at < frames.len()) {
            frames[at] ^= 0x20;
        }
        let whole = stream_cut(&asked(), &frames, &[]);
        let pieces = stream_cut(&asked(), &frames, &cuts);
        prop_assert_eq!(&pieces.text, &whole.text);
        prop_assert_eq!(&pieces.summary, &whole.summary);
        prop_assert_eq!(pieces.failure.map(|failure| failure.kind), whole.failure.map(|failure| failure.kind));
        prop_assert_eq!(damage.is_some_and(|at| at < frames.len()), !whole.text.contains("[DONE]"));
    }
}
