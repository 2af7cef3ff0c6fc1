//! Streams: the same output from any cut, nothing that broke off looks finished, and nothing panics.

use crate::wire_support::*;
use phigate_types::Mode;
use proptest::prelude::*;
use serde_json::{Value, json};

fn openai_stream() -> String {
    let chunk = |delta: Value, finish: Value| json!({"id": "chatcmpl-9", "object": "chat.completion.chunk", "created": 1_760_000_000, "model": "gpt-test-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    let usage = json!({"id": "chatcmpl-9", "object": "chat.completion.chunk", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}});
    let chunks = [
        chunk(json!({"role": "assistant", "content": ""}), json!(null)),
        chunk(json!({"content": "naïve 漢字 👩‍⚕️"}), json!(null)),
        chunk(json!({}), json!("stop")),
        usage,
    ];
    let events: String = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect();
    format!(": hello\n\n{events}data: [DONE]\n\n")
}

fn rich_anthropic_stream() -> String {
    let mut blocks = block(
        0,
        json!({"type": "thinking", "thinking": "", "signature": ""}),
        &[
            json!({"type": "thinking_delta", "thinking": "Hm é"}),
            json!({"type": "signature_delta", "signature": "c2ln"}),
        ],
    );
    blocks.extend(block(
        1,
        json!({"type": "text", "text": ""}),
        &[
            json!({"type": "text_delta", "text": "naïve "}),
            json!({"type": "text_delta", "text": "漢字 👩‍⚕️"}),
        ],
    ));
    blocks.push(json!({"type": "ping"}));
    blocks.extend(block(
        2,
        json!({"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {}}),
        &[
            json!({"type": "input_json_delta", "partial_json": ""}),
            json!({"type": "input_json_delta", "partial_json": "{\"city\":"}),
            json!({"type": "input_json_delta", "partial_json": "\"Oslo\"}"}),
        ],
    ));
    blocks.extend(block(
        3,
        json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}),
        &[json!({"type": "input_json_delta", "partial_json": "{}"})],
    ));
    blocks.extend(block(
        4,
        json!({"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}}),
        &[],
    ));
    blocks.push(json!({"type": "x_future", "x": 1}));
    anthropic_stream(&blocks, "tool_use")
}

fn rich_google_stream() -> String {
    google_events(&[
        google_answer(
            json!([{"text": "Hm é", "thought": true}, {"text": "naïve "}]),
            None,
        ),
        google_answer(
            json!([{"text": "漢字 👩‍⚕️"}, {"functionCall": {"name": "look_up", "args": {"city": "Oslo"}}, "thoughtSignature": "c2ln"}]),
            None,
        ),
        google_answer(
            json!([{"functionCall": {"name": "now", "id": "own-id"}}, {"text": "", "thoughtSignature": "c2lo"}]),
            Some("STOP"),
        ),
    ])
}

fn asked(model: &str) -> Value {
    ask(
        model,
        json!({"stream": true, "stream_options": {"include_usage": true}, "tools": [tool("look_up"), tool("now")]}),
    )
}

#[test]
fn rich_stream_is_read_to_end() {
    for (model, events) in [
        (ANTHROPIC, rich_anthropic_stream()),
        (GOOGLE, rich_google_stream()),
    ] {
        let streamed = stream(&asked(model), &events);
        assert!(streamed.failure.is_none() && streamed.is_done(), "{model}");
        assert_eq!(
            streamed.deltas()[0],
            json!({"role": "assistant", "content": ""}),
            "{model}"
        );
        assert_eq!(
            (
                streamed.joined("content").as_str(),
                streamed.joined("reasoning_content").as_str()
            ),
            ("naïve 漢字 👩‍⚕️", "Hm é"),
            "{model}"
        );
        let calls: Vec<(String, String)> = streamed
            .calls()
            .into_iter()
            .map(|call| (call.1, call.2))
            .collect();
        assert_eq!(
            calls,
            [
                ("look_up".to_owned(), "{\"city\":\"Oslo\"}".to_owned()),
                ("now".to_owned(), "{}".to_owned())
            ],
            "{model}"
        );
        assert_eq!(
            streamed.finish_reasons(),
            [(0, "tool_calls".to_owned())],
            "{model}"
        );
        check_frame(model, &streamed);
    }
}

/// Checks the members common to all chunks, the usage chunk, and the summary.
fn check_frame(model: &str, streamed: &Streamed) {
    let chunks = streamed.chunks();
    for field in ["id", "created", "model", "object"] {
        assert!(
            chunks.iter().all(|chunk| chunk[field] == chunks[0][field]),
            "{model} {field}"
        );
    }
    let (last, others) = chunks.split_last().expect("there are chunks");
    assert_eq!(last["choices"], json!([]), "{model}");
    assert_eq!(
        last["usage"]["total_tokens"],
        json!(if model == GOOGLE { 40 } else { 42 }),
        "{model}"
    );
    assert!(
        others
            .iter()
            .all(|chunk| chunk.get("usage") == Some(&Value::Null)),
        "{model}"
    );
    assert_eq!(
        streamed.summary.finish_reason.as_deref(),
        Some("tool_calls"),
        "{model}"
    );
    assert!(
        streamed
            .summary
            .served_model
            .as_deref()
            .is_some_and(|served| served.ends_with("-test-1") && !served.contains('/')),
        "{model}"
    );
}

#[test]
fn openai_stream_is_forwarded_byte_for_byte() {
    let streamed = stream(&asked(OPENAI), &openai_stream());
    assert_eq!(
        (streamed.text.as_str(), streamed.failure.is_none()),
        (openai_stream().as_str(), true)
    );
    let summary = streamed.summary;
    assert_eq!(
        (
            summary.served_model.as_deref(),
            summary.finish_reason.as_deref()
        ),
        (Some("gpt-test-1"), Some("stop"))
    );
    assert_eq!(summary.usage.map(|usage| usage.total_tokens), Some(5));
}

#[test]
fn usage_is_sent_only_when_asked_for() {
    for (model, events) in [
        (ANTHROPIC, rich_anthropic_stream()),
        (GOOGLE, rich_google_stream()),
    ] {
        let streamed = stream(&ask(model, json!({"stream": true})), &events);
        assert!(
            streamed.is_done() && !streamed.text.contains("usage"),
            "{model}"
        );
        assert!(
            streamed.summary.usage.is_some(),
            "the audit trail learns it all the same"
        );
    }
}

#[test]
fn truncated_stream_never_looks_finished() {
    for (model, events) in [
        (ANTHROPIC, rich_anthropic_stream()),
        (GOOGLE, rich_google_stream()),
        (OPENAI, openai_stream()),
    ] {
        // The body ends in an orderly way, but before the provider's own end. Google's last event is its end.
        let end = if model == GOOGLE {
            events.rfind("data:").expect("events")
        } else {
            events.trim_end().rfind("data:").expect("events")
        };
        for to in (0..end)
            .filter(|to| events.is_char_boundary(*to))
            .step_by(7)
        {
            let streamed = stream(&asked(model), &events[..to]);
            assert!(
                streamed.failure.is_some() && !streamed.text.contains("[DONE]"),
                "{model} cut at {to}"
            );
            assert!(
                model == OPENAI || streamed.finish_reasons().is_empty(),
                "{model} cut at {to}"
            );
        }
    }
}

#[test]
fn a_missing_last_blank_line_is_forgiven() {
    for (model, events) in [
        (ANTHROPIC, rich_anthropic_stream()),
        (GOOGLE, rich_google_stream()),
        (OPENAI, openai_stream()),
    ] {
        let streamed = stream(&asked(model), events.trim_end());
        assert!(streamed.failure.is_none() && streamed.is_done(), "{model}");
    }
}

#[test]
fn bad_answers_of_status_200_are_failures() {
    let large = format!("data: \"{}", "x".repeat(1024 * 1024));
    for model in [ANTHROPIC, GOOGLE, OPENAI] {
        for events in [
            "",
            "<html>not a stream</html>",
            "data: {\n\n",
            "data: 7\n\n",
            "data: \u{1}\n\n",
            "{\"error\":{\"code\":500}}",
            large.as_str(),
        ] {
            let streamed = stream(&asked(model), events);
            assert!(
                streamed.failure.is_some() && streamed.text.is_empty(),
                "{model}"
            );
        }
        let streamed = stream_cut(&asked(model), b"data: \xff\xfe\n\n", &[]);
        assert!(streamed.failure.is_some(), "{model}");
    }
}

#[rustfmt::skip]
const WORDS: &[&str] = &[
    // Values that the formats look for.
    "", "x", "text", "user", "assistant", "tool", "system", "function", "tool_use", "thinking", "json_schema", "none", "auto", "required",
    "high", "STOP", "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop",
    "error", "refusal", "$.a[0].b", "{\"a\":1}", "data:image/png;base64,AAAA", "image_url", "allowed_tools",
];

#[rustfmt::skip]
const KEYS: &[&str] = &[
    // Keys that the formats look for.
    "type", "role", "content", "text", "messages", "tools", "tool_calls", "function", "name", "arguments", "id", "index", "delta",
    "content_block", "message", "usage", "candidates", "parts", "functionCall", "args", "partialArgs", "jsonPath", "stringValue",
    "willContinue", "finishReason", "stop_reason", "error", "choices", "tool_choice", "response_format", "json_schema", "schema",
    "reasoning_effort", "stop", "partial_json", "input", "thought", "thinking_blocks", "extra_content", "image_url", "url", "parameters",
    "$ref", "allOf", "output", "reasoningContent", "toolUse", "tool_call_id", "stream_options", "model", "n", "seed", "details", "code",
];

/// JSON made of the words that the formats look for, so that it reaches deep into them.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(WORDS).prop_map(Value::from)
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        let member = (
            prop::sample::select(KEYS).prop_map(str::to_owned),
            inner.clone(),
        );
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            prop::collection::vec(member, 0..6).prop_map(|members| members
                .into_iter()
                .collect::<serde_json::Map<_, _>>()
                .into()),
        ]
    })
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_output(cuts in prop::collection::vec(0usize..4_000, 0..60)) {
        let mut cuts = cuts;
        cuts.sort_unstable();
        for (model, events) in [(ANTHROPIC, rich_anthropic_stream()), (GOOGLE, rich_google_stream()), (OPENAI, openai_stream())] {
            for events in [events.clone(), events.replace("\r\n", "\n").replace('\n', "\r\n"), events.replace("\r\n", "\n").replace('\n', "\r")] {
                let whole = stream(&asked(model), &events);
                prop_assert!(whole.failure.is_none());
                let pieces = stream_cut(&asked(model), events.as_bytes(), &cuts);
                prop_assert_eq!(&pieces.text, &whole.text);
                prop_assert_eq!(&pieces.summary, &whole.summary);
            }
        }
    }

    #[test]
    fn translation_never_panics_and_ignores_cuts(request in any_json(), answers in prop::collection::vec(any_json(), 0..5), raw in prop::collection::vec(any::<u8>(), 0..200), cut in 0usize..600) {
        for format in all_formats() {
            let model = format.listed_models()[5];
            let mut body = request.clone();
            if let Some(members) = body.as_object_mut() {
                members.insert("model".to_owned(), json!(model));
            }
            for bytes in [body.to_string().into_bytes(), request.to_string().into_bytes(), raw.clone()] {
                let _ = send_bytes(model, &bytes, Mode::FLAG);
            }
            let asked = ask(model, json!({}));
            for answer in &answers {
                let _ = format.read_reply(&context(&asked), answer.to_string().as_bytes());
                let _ = format.read_failure(400, Some("x"), answer.to_string().as_bytes());
            }
            let _ = format.read_reply(&context(&asked), &raw);
            let _ = format.read_failure(500, None, &raw);
            let mut events = google_events(&answers).into_bytes();
            events.extend_from_slice(&raw);
            let whole = stream_cut(&asked, &events, &[]);
            let pieces = stream_cut(&asked, &events, &[cut]);
            prop_assert_eq!(&whole.text, &pieces.text);
            prop_assert_eq!(whole.failure.map(|failure| failure.kind), pieces.failure.map(|failure| failure.kind));
        }
    }

    #[test]
    fn sent_body_is_always_json(messages in prop::collection::vec(("[a-z]{0,3}|漢|\"|\\\\|\n", any::<bool>()), 1..6), extra in any_json()) {
        let messages: Vec<Value> = messages.into_iter().map(|(text, is_user)| json!({"role": if is_user { "user" } else { "assistant" }, "content": text})).collect();
        for model in [ANTHROPIC, GOOGLE, OPENAI, BEDROCK] {
            if let Ok(sent) = try_send(&ask(model, json!({"messages": messages, "response_format": extra, "tools": extra, "stop": extra}))) {
                prop_assert!(serde_json::from_slice::<Value>(&sent.body).is_ok());
            }
        }
    }
}
