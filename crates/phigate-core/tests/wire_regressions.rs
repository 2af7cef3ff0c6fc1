//! Mistakes of other translators about answers, once each, after a survey of their bug reports.

use crate::wire_support::*;
use serde_json::{Value, json};

#[test]
fn cached_tokens_are_part_of_the_prompt() {
    let usage = reply(
        &ask(ANTHROPIC, json!({})),
        &anthropic_answer(json!([]), "end_turn"),
    )["usage"]
        .clone();
    assert_eq!(
        (
            &usage["prompt_tokens"],
            &usage["prompt_tokens_details"]["cached_tokens"]
        ),
        (&json!(35), &json!(20))
    );
    let request = ask(
        ANTHROPIC,
        json!({"stream": true, "stream_options": {"include_usage": true}}),
    );
    let streamed = stream(&request, &anthropic_stream(&[], "end_turn"));
    let last = streamed.chunks().pop().expect("there are chunks");
    assert_eq!(
        (
            &last["choices"],
            &last["usage"]["prompt_tokens"],
            &last["usage"]["completion_tokens"]
        ),
        (&json!([]), &json!(35), &json!(7))
    );
}

#[test]
fn the_total_is_prompt_plus_completion() {
    for (request, answer) in [
        (
            ask(ANTHROPIC, json!({})),
            anthropic_answer(json!([{"type": "text", "text": "Hi"}]), "end_turn"),
        ),
        (
            ask(GOOGLE, json!({})),
            google_answer(json!([{"text": "Hi"}]), Some("STOP")),
        ),
    ] {
        let usage = &reply(&request, &answer)["usage"];
        let count = |name: &str| usage[name].as_u64().expect("counts are whole numbers");
        assert_eq!(
            count("total_tokens"),
            count("prompt_tokens") + count("completion_tokens")
        );
    }
}

#[test]
fn stop_with_calls_becomes_tool_calls_reason() {
    let parts = json!([{"functionCall": {"name": "look_up", "args": {"city": "Oslo"}}}]);
    let request = ask(GOOGLE, json!({"tools": [tool("look_up")]}));
    assert_eq!(
        reply(&request, &google_answer(parts.clone(), Some("STOP")))["choices"][0]["finish_reason"],
        "tool_calls"
    );
    let events = google_events(&[
        google_answer(parts, None),
        google_answer(json!([{"text": ""}]), Some("STOP")),
    ]);
    assert_eq!(
        stream(&request, &events).finish_reasons(),
        [(0, "tool_calls".to_owned())]
    );
}

#[test]
fn recitation_is_filtered_and_malformed_call_fails() {
    let request = ask(GOOGLE, json!({"tools": [tool("look_up")]}));
    let recited = google_answer(json!([{"text": "Once"}]), Some("RECITATION"));
    assert_eq!(
        reply(&request, &recited)["choices"][0]["finish_reason"],
        "content_filter"
    );
    for reason in [
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
    ] {
        let answer = google_answer(json!([]), Some(reason));
        let failure = try_reply(&request, &answer).expect_err("a botched call is no answer");
        assert_eq!(
            (failure.kind.status(), failure.kind.code().code()),
            (502, "provider_error"),
            "{reason}"
        );
        let streamed = stream(&request, &google_events(&[answer]));
        assert!(
            streamed.failure.is_some() && !streamed.text.contains("[DONE]"),
            "{reason}"
        );
    }
}

#[test]
fn tool_call_indexes_continue_across_stream() {
    let one = |city: &str| {
        google_answer(
            json!([{"functionCall": {"name": "look_up", "args": {"city": city}}}]),
            None,
        )
    };
    let events = google_events(&[
        one("Oslo"),
        one("Rome"),
        google_answer(json!([{"text": ""}]), Some("STOP")),
    ]);
    let calls = stream(&ask(GOOGLE, json!({})), &events).calls();
    let cities: Vec<&str> = calls.iter().map(|call| call.2.as_str()).collect();
    assert_eq!(cities, [r#"{"city":"Oslo"}"#, r#"{"city":"Rome"}"#]);
    assert_ne!(calls[0].0, calls[1].0, "every call has an id of its own");
}

#[test]
fn stream_error_is_never_normal_end() {
    let anthropic = anthropic_stream(
        &block(
            0,
            json!({"type": "text", "text": ""}),
            &[json!({"type": "text_delta", "text": "Hel"})],
        ),
        "end_turn",
    );
    let broken_anthropic = format!(
        "{}event: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\"overloaded_error\",\"message\":\"Jane Roe\"}}}}\n\n{}",
        anthropic
            .split("event: content_block_stop")
            .next()
            .expect("there is a start"),
        anthropic_events(&[json!({"type": "message_stop"})])
    );
    let broken_google = google_events(&[
        google_answer(json!([{"text": "Hel"}]), None),
        json!({"error": {"code": 503, "message": "Jane Roe", "status": "UNAVAILABLE"}}),
    ]);
    let chunk = json!({"id": "chatcmpl-9", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "Hel"}, "finish_reason": null}]});
    let broken_openai = format!(
        "data: {chunk}\n\ndata: {{\"error\":{{\"message\":\"Jane Roe\"}}}}\n\ndata: [DONE]\n\n"
    );
    for (model, events) in [
        (ANTHROPIC, broken_anthropic),
        (GOOGLE, broken_google),
        (OPENAI, broken_openai),
    ] {
        let streamed = stream(&ask(model, json!({"stream": true})), &events);
        let failure = streamed.failure.as_ref().expect("the stream broke");
        assert!(
            streamed.text.contains("Hel")
                && !streamed.text.contains("[DONE]")
                && !streamed.text.contains("Jane"),
            "{model}"
        );
        assert!(streamed.finish_reasons().is_empty(), "{model}");
        let words = failure.kind.message();
        assert!(!words.contains("Jane") && !format!("{failure:?}").contains("Jane"));
    }
}

#[test]
fn signed_thoughts_come_back_unchanged() {
    let thought = json!({"type": "thinking", "thinking": "Look first.", "signature": "c2lnbmVk"});
    let hidden = json!({"type": "redacted_thinking", "data": "aGlkZGVu"});
    let used =
        json!({"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {"city": "Oslo"}});
    let request = ask(
        ANTHROPIC,
        json!({"tools": [tool("look_up")], "reasoning_effort": "low"}),
    );
    let message = reply(
        &request,
        &anthropic_answer(json!([thought, hidden, used]), "tool_use"),
    )["choices"][0]["message"]
        .clone();
    assert_eq!(message["reasoning_content"], "Look first.");
    let mut blocks = block(
        0,
        json!({"type": "thinking", "thinking": "", "signature": ""}),
        &[
            json!({"type": "thinking_delta", "thinking": "Look first."}),
            json!({"type": "signature_delta", "signature": "c2lnbmVk"}),
        ],
    );
    blocks.extend(block(1, hidden.clone(), &[]));
    let streamed = stream(&request, &anthropic_stream(&blocks, "end_turn"));
    assert_eq!(streamed.joined("reasoning_content"), "Look first.");
    let carried: Vec<Value> = streamed
        .deltas()
        .iter()
        .flat_map(|delta| {
            delta["thinking_blocks"]
                .as_array()
                .cloned()
                .unwrap_or_default()
        })
        .collect();
    assert_eq!(json!(carried), message["thinking_blocks"]);

    let result = json!({"role": "tool", "tool_call_id": "toolu_1", "content": "18 C"});
    let mut next = ask(
        ANTHROPIC,
        json!({"tools": [tool("look_up")], "reasoning_effort": "low"}),
    );
    next["messages"] = json!([{"role": "user", "content": "Weather?"}, message, result]);
    let body = sent(&next);
    assert_eq!(
        body["messages"][1]["content"],
        json!([thought, hidden, used])
    );
    assert_eq!(body["thinking"]["type"], "enabled");
}

#[test]
fn call_signature_is_kept_or_replaced() {
    let model = "gemini-3-flash-preview";
    let parts =
        json!([{"functionCall": {"name": "look_up", "args": {}}, "thoughtSignature": "c2lnbmVk"}]);
    let message = reply(
        &ask(model, json!({})),
        &google_answer(parts.clone(), Some("STOP")),
    )["choices"][0]["message"]
        .clone();
    let streamed = stream(
        &ask(model, json!({})),
        &google_events(&[google_answer(parts, Some("STOP"))]),
    );
    assert!(streamed.text.contains("c2lnbmVk"));
    let id = message["tool_calls"][0]["id"].clone();
    let result = json!({"role": "tool", "tool_call_id": id, "content": "18 C"});
    let mut next = ask(model, json!({}));
    next["messages"] = json!([{"role": "user", "content": "Weather?"}, message, result]);
    assert_eq!(
        sent(&next)["contents"][1]["parts"][0]["thoughtSignature"],
        "c2lnbmVk"
    );
    next["messages"][1]["tool_calls"][0]
        .as_object_mut()
        .expect("a call is an object")
        .remove("extra_content");
    assert!(sent(&next)["contents"][1]["parts"][0]["thoughtSignature"].is_string());
}

#[test]
fn call_without_input_gets_empty_object() {
    let used = json!({"type": "tool_use", "id": "toolu_1", "name": "now", "input": {}});
    let request = ask(ANTHROPIC, json!({}));
    let whole = reply(&request, &anthropic_answer(json!([used]), "tool_use"));
    assert_eq!(
        whole["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"],
        "{}"
    );
    let events = anthropic_stream(
        &block(
            0,
            used,
            &[json!({"type": "input_json_delta", "partial_json": ""})],
        ),
        "tool_use",
    );
    assert_eq!(
        stream(&request, &events).calls(),
        [("toolu_1".to_owned(), "now".to_owned(), "{}".to_owned())]
    );
    let google = google_answer(json!([{"functionCall": {"name": "now"}}]), Some("STOP"));
    assert_eq!(
        reply(&ask(GOOGLE, json!({})), &google)["choices"][0]["message"]["tool_calls"][0]["function"]
            ["arguments"],
        "{}"
    );
}

#[test]
fn unknown_stop_reason_stops_and_is_noted() {
    for (request, answer) in [
        (
            ask(ANTHROPIC, json!({})),
            anthropic_answer(json!([{"type": "text", "text": "Hi"}]), "brand_new"),
        ),
        (
            ask(GOOGLE, json!({})),
            google_answer(json!([{"text": "Hi"}]), Some("BRAND_NEW")),
        ),
    ] {
        let (body, summary) = try_reply(&request, &answer).expect("a new word is not a failure");
        assert_eq!(body["choices"][0]["finish_reason"], "stop");
        assert!(summary.has_unknown_stop_reason);
    }
}
