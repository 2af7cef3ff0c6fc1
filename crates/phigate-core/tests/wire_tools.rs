//! Tools and answers after a schema.

use crate::wire_support::*;
use serde_json::json;

#[test]
fn tools_and_the_choice_among_them() {
    let named = json!({"type": "function", "function": {"name": "b"}});
    let allowed = json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "b"}}]}});
    for (choice, anthropic, google) in [
        (
            json!("auto"),
            json!({"type": "auto"}),
            json!({"mode": "AUTO"}),
        ),
        (
            json!("none"),
            json!({"type": "none"}),
            json!({"mode": "NONE"}),
        ),
        (
            json!("required"),
            json!({"type": "any"}),
            json!({"mode": "ANY"}),
        ),
        (
            named,
            json!({"type": "tool", "name": "b"}),
            json!({"mode": "ANY", "allowedFunctionNames": ["b"]}),
        ),
        (
            allowed.clone(),
            json!({"type": "any"}),
            json!({"mode": "ANY"}),
        ),
    ] {
        let fields = json!({"tools": [tool("a"), tool("b")], "tool_choice": choice});
        check(ANTHROPIC, &fields, &[("/tool_choice", anthropic)]);
        check(
            GOOGLE,
            &fields,
            &[("/toolConfig/functionCallingConfig", google)],
        );
    }
    let fields = json!({"tools": [tool("a"), tool("b")], "tool_choice": allowed});
    check(
        ANTHROPIC,
        &fields,
        &[("/tools/0/name", json!("b")), ("/tools/1", json!(null))],
    );
    check(
        GOOGLE,
        &fields,
        &[
            ("/tools/0/functionDeclarations/0/name", json!("b")),
            ("/tools/0/functionDeclarations/1", json!(null)),
        ],
    );
    let bare =
        json!({"tools": [{"type": "function", "function": {"name": "now", "strict": true}}]});
    check(
        ANTHROPIC,
        &bare,
        &[(
            "/tools/0",
            json!({"name": "now", "input_schema": {"type": "object"}, "strict": true}),
        )],
    );
    check(
        GOOGLE,
        &bare,
        &[("/tools/0/functionDeclarations/0", json!({"name": "now"}))],
    );
    assert_eq!(
        (names(ANTHROPIC_OLD, &bare).0, names(GOOGLE, &bare).0),
        (vec!["tools".to_owned()], vec!["tools".to_owned()])
    );
}

#[test]
fn an_answer_after_a_schema() {
    let schema = json!({"type": "object", "properties": {"z": {"type": "number"}, "a": {"type": "string"}}, "required": ["z"], "additionalProperties": false});
    let fields = json!({"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": schema}}});
    check(
        ANTHROPIC,
        &fields,
        &[
            (
                "/output_config/format",
                json!({"type": "json_schema", "schema": schema}),
            ),
            ("/tools", json!(null)),
        ],
    );
    check(
        GOOGLE,
        &fields,
        &[(
            "/generationConfig",
            json!({"responseMimeType": "application/json", "responseJsonSchema": schema}),
        )],
    );
    check(
        "gemini-1.5-pro",
        &fields,
        &[
            ("/generationConfig/responseSchema/required", json!(["z"])),
            (
                "/generationConfig/responseSchema/additionalProperties",
                json!(null),
            ),
        ],
    );
}

#[test]
fn old_model_schema_answer_hides_tool_call() {
    let schema = json!({"type": "object", "properties": {"z": {"type": "number"}, "a": {"type": "string"}}, "required": ["z"], "additionalProperties": false});
    let fields = json!({"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": schema}}});
    check(
        ANTHROPIC_OLD,
        &fields,
        &[
            ("/tools/0/input_schema", schema.clone()),
            ("/tool_choice", json!({"type": "any"})),
        ],
    );
    let request = ask(ANTHROPIC_OLD, fields.clone());
    let name = sent(&request)["tools"][0]["name"].clone();
    let used = json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": {"z": 1}});
    let body = reply(&request, &anthropic_answer(json!([used]), "tool_use"));
    assert_eq!(
        (
            &body["choices"][0]["message"]["content"],
            &body["choices"][0]["finish_reason"]
        ),
        (&json!("{\"z\":1}"), &json!("stop"))
    );
    assert!(body["choices"][0]["message"].get("tool_calls").is_none());
    let start = json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": {}});
    let pieces = [
        json!({"type": "input_json_delta", "partial_json": "{\"z\""}),
        json!({"type": "input_json_delta", "partial_json": ":1}"}),
    ];
    let streamed = stream(
        &request,
        &anthropic_stream(&block(0, start, &pieces), "tool_use"),
    );
    assert_eq!(
        (
            streamed.joined("content").as_str(),
            streamed.finish_reasons()
        ),
        ("{\"z\":1}", vec![(0, "stop".to_owned())])
    );

    let with_tools = ask(
        ANTHROPIC_OLD,
        json!({"response_format": fields["response_format"], "tools": [tool("json_tool_call")]}),
    );
    let offered = sent(&with_tools)["tools"].clone();
    assert_ne!(
        offered[0]["name"], offered[1]["name"],
        "the caller's tool keeps its name"
    );
}
