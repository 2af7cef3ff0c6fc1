//! Mistakes of other translators about requests, once each, after a survey of their bug reports.

use crate::wire_support::*;
use phigate_types::Mode;
use serde_json::{Value, json};

#[test]
fn one_stop_sequence_is_still_a_list() {
    assert_eq!(
        sent(&ask(ANTHROPIC, json!({"stop": "END"})))["stop_sequences"],
        json!(["END"])
    );
    assert_eq!(
        sent(&ask(GOOGLE, json!({"stop": "END"})))["generationConfig"]["stopSequences"],
        json!(["END"])
    );
}

#[test]
fn an_answer_in_json_is_never_forgotten() {
    let wish = json!({"response_format": {"type": "json_object"}});
    assert_eq!(
        sent(&ask(GOOGLE, wish.clone()))["generationConfig"]["responseMimeType"],
        "application/json"
    );
    assert_eq!(
        sent(&ask(ANTHROPIC, wish.clone()))["output_config"]["format"]["type"],
        "json_schema"
    );
    let refusal = try_send(&ask(ANTHROPIC_OLD, wish))
        .err()
        .expect("old models cannot");
    assert_eq!(refusal.param, "response_format");
}

#[test]
fn parallel_call_limit_is_mapped_or_named() {
    let with = |parallel: bool| {
        sent(&ask(
            ANTHROPIC,
            json!({"tools": [tool("look_up")], "parallel_tool_calls": parallel}),
        ))
    };
    assert_eq!(
        with(false)["tool_choice"],
        json!({"type": "auto", "disable_parallel_tool_use": true})
    );
    assert!(with(true).get("tool_choice").is_none());
    let google = try_send(&ask(
        GOOGLE,
        json!({"tools": [tool("look_up")], "parallel_tool_calls": false}),
    ))
    .expect("it is dropped, not refused");
    assert_eq!(google.dropped, ["parallel_tool_calls"]);
}

fn parallel_turn(model: &str) -> Value {
    let calls = json!([
        call("call_a", "look_up", r#"{"city":"Oslo"}"#),
        call("call_b", "look_up", r#"{"city":"Rome"}"#)
    ]);
    let mut request = ask(model, json!({"tools": [tool("look_up")]}));
    request["messages"] = json!([
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": "Let me look.", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call_b", "content": "{\"degrees\":24.50}"},
        {"role": "tool", "tool_call_id": "call_a", "content": "18 C"},
        {"role": "user", "content": "Thanks"},
    ]);
    request
}

#[test]
fn results_of_parallel_calls_come_together() {
    let turns = sent(&parallel_turn(ANTHROPIC))["messages"].clone();
    let ids: Vec<&Value> = turns[2]["content"]
        .as_array()
        .expect("blocks")
        .iter()
        .filter_map(|block| block.get("tool_use_id"))
        .collect();
    assert_eq!(ids, ["call_b", "call_a"]);
    assert_eq!(
        (
            turns.as_array().map(Vec::len),
            &turns[2]["content"][2]["text"]
        ),
        (Some(3), &json!("Thanks"))
    );

    let contents = sent(&parallel_turn(GOOGLE))["contents"].clone();
    assert_eq!(
        contents[2]["parts"][0]["functionResponse"]["response"],
        json!({"result": "18 C"}),
        "in the order of the calls"
    );
    assert_eq!(
        contents[2]["parts"][1]["functionResponse"]["response"]["degrees"],
        json!(24.5)
    );
    assert_eq!(
        contents[3],
        json!({"role": "user", "parts": [{"text": "Thanks"}]})
    );
}

#[test]
fn later_system_messages_are_kept() {
    let mut request = ask(GOOGLE, json!({}));
    request["messages"] = json!([{"role": "system", "content": "A"}, {"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}, {"role": "developer", "content": "D"}, {"role": "user", "content": "e"}]);
    assert_eq!(
        sent(&request)["contents"][0]["parts"],
        json!([{"text": "A\n\nD\n\nb"}])
    );
    request["model"] = json!(ANTHROPIC);
    assert_eq!(sent(&request)["system"], "A\n\nD");
}

#[test]
fn text_beside_tool_calls_is_kept() {
    assert_eq!(
        sent(&parallel_turn(GOOGLE))["contents"][1]["parts"][0],
        json!({"text": "Let me look."})
    );
    assert_eq!(
        sent(&parallel_turn(ANTHROPIC))["messages"][1]["content"][0],
        json!({"type": "text", "text": "Let me look."})
    );
}

#[test]
fn audio_and_files_are_never_dropped_silently() {
    let with = |model: &str, part: Value| {
        let mut request = ask(model, json!({}));
        request["messages"] = json!([{"role": "user", "content": [part]}]);
        try_send(&request)
    };
    let sound =
        json!({"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}});
    let paper = json!({"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}});
    let stored = json!({"type": "file", "file": {"file_id": "file-1"}});
    let strange = json!({"type": "hologram", "hologram": {}});
    let body = |result: Result<crate::wire_support::Sent, _>| {
        String::from_utf8(result.expect("it can be sent").body).expect("JSON is UTF-8")
    };
    assert_eq!(
        with(ANTHROPIC, sound.clone())
            .err()
            .map(|refusal| refusal.param),
        Some("messages[0].content[0]".to_owned())
    );
    assert!(
        body(with(GOOGLE, sound))
            .contains(r#""inlineData":{"mimeType":"audio/wav","data":"UklGRg=="}"#)
    );
    assert!(body(with(ANTHROPIC, paper.clone())).contains(r#""type":"document""#));
    assert!(body(with(GOOGLE, paper)).contains("application/pdf"));
    for model in [ANTHROPIC, GOOGLE] {
        assert!(
            with(model, stored.clone()).is_err() && with(model, strange.clone()).is_err(),
            "{model}"
        );
    }
}

#[test]
fn the_end_user_never_leaves_as_named() {
    for field in ["user", "safety_identifier"] {
        let request = try_send(&ask(ANTHROPIC, json!({field: "jane.roe@example.org"})))
            .expect("the user is mapped");
        let body = String::from_utf8(request.body).expect("JSON is UTF-8");
        assert!(
            !body.contains("jane")
                && body.contains(r#""metadata":{"user_id":"hash-of-20-letters"}"#),
            "{field}"
        );
        let google = try_send(&ask(GOOGLE, json!({field: "jane.roe@example.org"})))
            .expect("the user is dropped");
        assert!(
            !String::from_utf8_lossy(&google.body).contains("jane") && google.dropped == [field]
        );
    }
}

#[test]
fn several_answers_are_given_or_refused() {
    assert_eq!(
        try_send(&ask(ANTHROPIC, json!({"n": 2})))
            .err()
            .map(|refusal| refusal.param),
        Some("n".to_owned())
    );
    assert!(
        try_send(&ask(ANTHROPIC, json!({"n": 1}))).is_ok_and(|request| request.dropped.is_empty())
    );
    assert_eq!(
        sent(&ask(GOOGLE, json!({"n": 2})))["generationConfig"]["candidateCount"],
        2
    );
    let mut answer = google_answer(json!([{"text": "One"}]), Some("STOP"));
    let second =
        json!({"index": 1, "content": {"parts": [{"text": "Two"}]}, "finishReason": "MAX_TOKENS"});
    answer["candidates"]
        .as_array_mut()
        .expect("a list")
        .push(second);
    let choices = reply(&ask(GOOGLE, json!({"n": 2})), &answer)["choices"].clone();
    assert_eq!(
        (
            &choices[1]["index"],
            &choices[1]["message"]["content"],
            &choices[1]["finish_reason"]
        ),
        (&json!(1), &json!("Two"), &json!("length"))
    );
    let streamed = stream(&ask(GOOGLE, json!({"n": 2})), &google_events(&[answer]));
    assert_eq!(
        streamed.finish_reasons(),
        [(0, "stop".to_owned()), (1, "length".to_owned())]
    );
}

#[test]
fn tool_schemas_match_google_model_support() {
    let schema = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {"unit": {"const": "C"}, "place": {"type": ["string", "null"]}}, "additionalProperties": false});
    let tools =
        json!([{"type": "function", "function": {"name": "look_up", "parameters": schema}}]);
    let declared = |model: &str| {
        sent(&ask(model, json!({"tools": tools})))["tools"][0]["functionDeclarations"][0].clone()
    };
    assert_eq!(
        declared(GOOGLE)["parametersJsonSchema"],
        schema,
        "new models read JSON Schema as it is"
    );
    let subset = json!({"type": "object", "properties": {"unit": {"type": "string", "enum": ["C"]}, "place": {"nullable": true, "type": "string"}}});
    assert_eq!(declared("gemini-1.5-pro")["parameters"], subset);
}

#[test]
fn anthropic_always_gets_a_limit_of_tokens() {
    for model in [
        "claude-2.1",
        "claude-3-opus-20240229",
        ANTHROPIC,
        "claude-opus-4-8",
        "claude-of-the-future",
    ] {
        let limit = sent(&ask(model, json!({})))["max_tokens"].as_u64();
        assert!(limit.is_some_and(|limit| limit >= 4_096), "{model}");
    }
    assert_eq!(
        sent(&ask(
            ANTHROPIC,
            json!({"max_tokens": 9, "max_completion_tokens": 7})
        ))["max_tokens"],
        7
    );
    assert!(try_send(&ask(ANTHROPIC, json!({"max_tokens": 0}))).is_err());
}

#[test]
fn tool_history_survives_translation_to_anthropic() {
    // Number text and key order of arguments are the caller's business.
    let body = r#"{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"?"},{"role":"assistant","tool_calls":[{"id":"call:1/ä","type":"function","function":{"name":"f","arguments":"{\"z\":1.50,\"a\":12345678901234567890}"}}]},{"role":"tool","tool_call_id":"call:1/ä","content":"ok"}]}"#;
    let request =
        send_bytes(ANTHROPIC, body.as_bytes(), Mode::FLAG).expect("the request can be translated");
    let text = String::from_utf8(request.body).expect("JSON is UTF-8");
    assert!(
        text.contains(r#""input":{"z":1.50,"a":12345678901234567890}"#),
        "{text}"
    );
    let json: Value = serde_json::from_str(&text).expect("the provider gets JSON");
    let id = json["messages"][1]["content"][0]["id"]
        .as_str()
        .expect("an id");
    assert!(
        id.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    );
    assert_eq!(json["messages"][2]["content"][0]["tool_use_id"], id);
    assert_eq!(
        (&json["tools"][0]["name"], &json["tool_choice"]["type"]),
        (&json!("f"), &json!("none")),
        "tools of the history are declared"
    );
}

#[test]
fn an_openai_caller_talks_to_anthropic_directly() {
    let request = ask(ANTHROPIC, json!({"max_tokens": 50, "temperature": 0.25}));
    let translated = try_send(&request).expect("the request can be translated");
    assert_eq!(translated.path, ["v1", "messages"]);
    assert_eq!(
        serde_json::from_slice::<Value>(&translated.body).expect("JSON"),
        json!({"model": ANTHROPIC, "max_tokens": 50, "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}], "temperature": 0.25})
    );
    let answer = anthropic_answer(
        json!([{"type": "text", "text": "Good "}, {"type": "text", "text": "day"}]),
        "end_turn",
    );
    let body = reply(&request, &answer);
    assert_eq!(
        body["choices"],
        json!([{"index": 0, "message": {"role": "assistant", "content": "Good day", "refusal": null}, "logprobs": null, "finish_reason": "stop"}])
    );
    assert_eq!(
        (
            &body["id"],
            &body["object"],
            &body["created"],
            &body["model"]
        ),
        (
            &json!("chatcmpl-1"),
            &json!("chat.completion"),
            &json!(1_760_000_000),
            &json!("claude-test-1")
        )
    );
}
