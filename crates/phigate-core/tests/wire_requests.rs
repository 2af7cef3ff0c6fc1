//! Parameters in the words of each provider, and what cannot be said.

use crate::wire_support::*;
use serde_json::{Value, json};

#[test]
fn sampling_fields_follow_model_support() {
    for (model, temperature, top_p, sent_temperature, sent_top_p, adjusted, dropped) in [
        (
            ANTHROPIC_OLD,
            json!(0.5),
            json!(0.9),
            json!(0.5),
            json!(0.9),
            "",
            "",
        ),
        (
            ANTHROPIC_OLD,
            json!(1.5),
            json!(null),
            json!(1),
            json!(null),
            "temperature",
            "",
        ),
        (
            ANTHROPIC,
            json!(0.5),
            json!(0.9),
            json!(0.5),
            json!(null),
            "",
            "top_p",
        ),
        (
            ANTHROPIC,
            json!(null),
            json!(0.9),
            json!(null),
            json!(0.9),
            "",
            "",
        ),
        (
            "claude-opus-4-8",
            json!(0.5),
            json!(0.9),
            json!(null),
            json!(null),
            "",
            "temperature,top_p",
        ),
    ] {
        let fields = json!({"temperature": temperature, "top_p": top_p});
        check(
            model,
            &fields,
            &[("/temperature", sent_temperature), ("/top_p", sent_top_p)],
        );
        let named = names(model, &fields);
        assert_eq!(
            (named.0.join(","), named.1.join(",")),
            (adjusted.to_owned(), dropped.to_owned()),
            "{model}"
        );
    }
    check(
        GOOGLE,
        &json!({"temperature": 2, "top_p": 0.5, "max_tokens": 9, "stop": ["A", "B"]}),
        &[(
            "/generationConfig",
            json!({"maxOutputTokens": 9, "temperature": 2, "topP": 0.5, "stopSequences": ["A", "B"]}),
        )],
    );
    check(GOOGLE, &json!({}), &[("/generationConfig", json!(null))]);
}

/// Model, effort, limit of tokens, a place in the body, its value, and the names of adjusted and dropped parameters.
type Reasoning = [&'static str; 7];

#[rustfmt::skip]
const REASONING: &[Reasoning] = &[
    // By family, oldest model first.
    [ANTHROPIC_OLD, "high", "null", "/thinking", "null", "", "reasoning_effort"],
    [ANTHROPIC, "high", "null", "/thinking", r#"{"type":"enabled","budget_tokens":4096}"#, "", ""],
    [ANTHROPIC, "high", "2000", "/thinking/budget_tokens", "1999", "reasoning_effort", ""],
    [ANTHROPIC, "high", "1000", "/thinking", "null", "", "reasoning_effort"],
    [ANTHROPIC, "none", "null", "/thinking", "null", "", ""],
    ["claude-opus-4-6", "xhigh", "null", "/thinking", r#"{"type":"adaptive"}"#, "reasoning_effort", ""],
    ["claude-opus-4-6", "xhigh", "null", "/output_config/effort", r#""high""#, "reasoning_effort", ""],
    ["claude-opus-4-8", "xhigh", "null", "/thinking/display", r#""summarized""#, "", ""],
    ["claude-opus-4-8", "xhigh", "null", "/output_config/effort", r#""xhigh""#, "", ""],
    ["claude-sonnet-5", "minimal", "null", "/output_config/effort", r#""low""#, "reasoning_effort", ""],
    ["claude-sonnet-5", "none", "null", "/thinking", r#"{"type":"disabled"}"#, "", ""],
    ["claude-fable-5", "none", "null", "/thinking", "null", "", "reasoning_effort"],
    ["gemini-1.5-pro", "low", "null", "/generationConfig", "null", "", "reasoning_effort"],
    [GOOGLE, "none", "null", "/generationConfig/thinkingConfig", r#"{"thinkingBudget":0}"#, "", ""],
    [GOOGLE, "medium", "null", "/generationConfig/thinkingConfig", r#"{"includeThoughts":true,"thinkingBudget":8192}"#, "", ""],
    ["gemini-2.5-pro", "none", "null", "/generationConfig", "null", "", "reasoning_effort"],
    ["gemini-2.5-pro", "minimal", "null", "/generationConfig/thinkingConfig/thinkingBudget", "128", "", ""],
    ["gemini-3-pro-preview", "medium", "null", "/generationConfig/thinkingConfig/thinkingLevel", r#""high""#, "reasoning_effort", ""],
    ["gemini-3-flash-preview", "minimal", "null", "/generationConfig/thinkingConfig/thinkingLevel", r#""minimal""#, "", ""],
];

#[test]
fn reasoning_request_follows_model_form() {
    for [model, effort, limit, place, value, adjusted, dropped] in REASONING {
        let json = |text: &str| serde_json::from_str::<Value>(text).expect("the row is JSON");
        let fields = json!({"reasoning_effort": effort, "max_completion_tokens": json(limit)});
        check(model, &fields, &[(place, json(value))]);
        let (changed, left_out) = names(model, &fields);
        assert_eq!(
            [changed.join(","), left_out.join(",")],
            [*adjusted, *dropped],
            "{model} {effort}"
        );
    }
}

#[test]
fn thinking_excludes_temperature_and_forced_tools() {
    let thinking = json!({"reasoning_effort": "low", "temperature": 0.5});
    assert_eq!(names(ANTHROPIC, &thinking).1, ["temperature"]);
    let forced =
        json!({"reasoning_effort": "low", "tools": [tool("f")], "tool_choice": "required"});
    check(
        ANTHROPIC,
        &forced,
        &[
            ("/thinking", json!(null)),
            ("/tool_choice/type", json!("any")),
        ],
    );
    assert_eq!(names(ANTHROPIC, &forced).1, ["reasoning_effort"]);
    let unforceable = json!({"tools": [tool("f")], "tool_choice": "required"});
    check(
        "claude-fable-5",
        &unforceable,
        &[("/tool_choice/type", json!("auto"))],
    );
    assert_eq!(names("claude-fable-5", &unforceable).0, ["tool_choice"]);
    let history = json!([{"role": "user", "content": "?"}, {"role": "assistant", "tool_calls": [call("c1", "f", "{}")]}, {"role": "tool", "tool_call_id": "c1", "content": "ok"}]);
    assert_eq!(
        names(
            ANTHROPIC,
            &json!({"reasoning_effort": "low", "messages": history, "tools": [tool("f")]})
        )
        .1,
        ["reasoning_effort"]
    );
}

/// Fields that cannot be sent, and the place to blame. The word `zebra` represents content.
#[rustfmt::skip]
const REFUSED: &[(&str, &str)] = &[
    // By parameter.
    (r#"{"messages":[]}"#, "messages"),
    (r#"{"messages":[{"role":"function","name":"zebra","content":"x"}]}"#, "messages[0].role"),
    (r#"{"messages":[{"role":"user","content":7}]}"#, "messages[0].content"),
    (r#"{"messages":[{"role":"user","content":[{"type":"zebra"}]}]}"#, "messages[0].content[0].type"),
    (r#"{"messages":[{"role":"user","content":[{"type":"text"}]}]}"#, "messages[0].content[0].text"),
    (r#"{"messages":[{"role":"tool","content":"zebra"}]}"#, "messages[0].tool_call_id"),
    (r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{zebra"}}]}]}"#, "messages[0].tool_calls[0].function.arguments"),
    (r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"[\"zebra\"]"}}]}]}"#, "messages[0].tool_calls[0].function.arguments"),
    (r#"{"messages":[{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1,\"a\":\"zebra\"}"}}]}]}"#, "messages[0].tool_calls[0].function.arguments"),
    (r#"{"reasoning_effort":"zebra"}"#, "reasoning_effort"),
    (r#"{"response_format":{"type":"zebra"}}"#, "response_format.type"),
    (r#"{"stop":[7]}"#, "stop[0]"),
    (r#"{"stream_options":"zebra"}"#, "stream_options"),
    (r#"{"temperature":"zebra"}"#, "temperature"),
    (r#"{"tools":[{"type":"custom","custom":{"name":"zebra"}}]}"#, "tools[0].type"),
    (r#"{"tools":[{"type":"function","function":{"name":"ze bra"}}]}"#, "tools[0].function.name"),
    (r#"{"tool_choice":"required"}"#, "tool_choice"),
    (r#"{"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":{"type":"function","function":{"name":"zebra"}}}"#, "tool_choice"),
];

#[test]
fn unsendable_value_is_named_but_never_quoted() {
    for (fields, param) in REFUSED {
        let fields: Value = serde_json::from_str(fields).expect("the row is JSON");
        for model in [ANTHROPIC, GOOGLE] {
            let refusal = try_send(&ask(model, fields.clone()))
                .err()
                .unwrap_or_else(|| panic!("{model} {fields}"));
            assert_eq!(refusal.param, *param, "{model} {fields}");
            assert!(!refusal.message.contains("zebra"), "{model} {fields}");
        }
    }
    let refused_place = |model: &str, fields: Value| {
        try_send(&ask(model, fields))
            .err()
            .map(|refusal| refusal.param)
    };
    assert_eq!(
        refused_place(ANTHROPIC, json!({"stop": ["END", "\n"]})).as_deref(),
        Some("stop[1]")
    );
    let unknown = json!({"messages": [{"role": "user", "content": "?"}, {"role": "tool", "tool_call_id": "zebra", "content": "ok"}]});
    assert_eq!(
        refused_place(GOOGLE, unknown).as_deref(),
        Some("messages[1].tool_call_id")
    );
}

#[test]
fn request_path_and_headers_follow_provider() {
    for (model, stream, path) in [
        ("gpt-4o", true, "/v1/chat/completions"),
        ("claude-opus-4-5", true, "/v1/messages"),
        (
            "gemini-pro",
            false,
            "/v1beta/models/gemini-pro:generateContent",
        ),
        (
            "models/gemini-pro",
            true,
            "/v1beta/models/gemini-pro:streamGenerateContent",
        ),
    ] {
        let request = try_send(&ask(model, json!({"stream": stream}))).expect("it can be sent");
        assert_eq!(format!("/{}", request.path.join("/")), path);
        assert_eq!(request.query.is_some(), stream && path.contains("stream"));
        assert!(
            request
                .headers
                .contains(&("content-type", "application/json")),
            "{model}"
        );
    }
}
