//! Round trips of the simulated providers through the gateway's formats.

#![allow(
    clippy::needless_pass_by_value,
    reason = "tests read better with json! in place"
)]

use http::Request;
use http_body_util::BodyExt;
use phi_detect::Detector;
use phigate_core::doors::{CHAT, COMPLETIONS, COUNT_TOKENS, Door, EMBEDDINGS, MESSAGES, RESPONSES};
use phigate_core::egress;
use phigate_core::protect::{self, Outcome, Policy, Scanner};
use phigate_core::request::RequestLimits;
use phigate_core::wire::{ReplyContext, Site, format_for_model};
use phigate_types::Mode;
use tower::ServiceExt;

use super::*;

const MODELS: &[&str] = &["gpt-4o", "claude-sonnet-4-5", "gemini-2.5-flash"];

async fn ask(request: &Value) -> (ReplyContext, StatusCode, Bytes) {
    ask_at(&CHAT, request).await
}

/// Sends a translated request to the simulated provider; returns status and body.
async fn ask_at(door: &Door, request: &Value) -> (ReplyContext, StatusCode, Bytes) {
    let model = request["model"].as_str().unwrap();
    let format = format_for_model(model).unwrap();
    let body = request.to_string();
    let scanner = Scanner::new(Detector::default().without_names());
    let read =
        phigate_core::request::Request::read(door.form, body.into(), &RequestLimits::default())
            .unwrap();
    let policy = Policy::uniform(Mode::FLAG).allowing_unscannable(true);
    let scanned = protect::scan(&scanner, read);
    let Outcome::Forward(clean) = protect::apply(&policy, &scanner, scanned) else {
        panic!("not forwarded");
    };
    let kind = format.family();
    let site = Site::new(kind, model);
    let sent = format.write_request(&clean, &site, &|_| "hash".to_owned());
    let sent = egress::clear(&scanner, sent.unwrap()).unwrap();
    let mut builder = Request::post(format!(
        "/{}?{}",
        sent.path().join("/"),
        sent.query().unwrap_or_default()
    ));
    builder = builder.header(kind.key_header(), "key");
    for (name, value) in sent.headers() {
        builder = builder.header(*name, *value);
    }
    let expectation = sent.expectation().clone();
    let response = router()
        .oneshot(builder.body(Body::from(sent.into_body())).unwrap())
        .await
        .unwrap();
    let context = ReplyContext {
        completion_id: "chatcmpl-1".to_owned(),
        created: 1_760_000_000,
        model: model.to_owned(),
        expectation,
        event_bytes_max: 1024 * 1024,
    };
    let status = response.status();
    let body = response
        .into_body()
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    (context, status, body)
}

async fn reply(request: Value) -> Value {
    let (context, _, body) = ask(&request).await;
    let format = format_for_model(&context.model).unwrap();
    serde_json::from_slice(&format.read_reply(&context, &body).unwrap().body).unwrap()
}

fn request(model: &str, said: &str, fields: Value) -> Value {
    let mut request = json!({"model": model, "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": said}]});
    for (name, value) in fields.as_object().unwrap() {
        request[name] = value.clone();
    }
    request
}

fn weather() -> Value {
    json!([{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}])
}

#[tokio::test]
async fn every_family_echoes_the_prompt() {
    for model in MODELS {
        let reply = reply(request(model, "My name is [NAME]", json!({}))).await;
        let text = reply["choices"][0]["message"]["content"].as_str().unwrap();
        assert!(
            text.starts_with("You said: ")
                && text.contains("My name is [NAME]")
                && text.contains("Be kind."),
            "{model}: {text}"
        );
        let usage = &reply["usage"];
        assert_eq!(
            usage["total_tokens"].as_u64(),
            Some(
                usage["prompt_tokens"].as_u64().unwrap()
                    + usage["completion_tokens"].as_u64().unwrap()
            )
        );
        assert_eq!(reply["model"], format!("{model}-demo"));
    }
}

/// A request for each further door, with the pointer to the answer in its reply.
fn at_further_doors(said: &str) -> Vec<(&'static Door, Value, &'static str)> {
    let message = json!([{"role": "user", "content": [{"type": "text", "text": "<reminder>Use a tool.</reminder>"}, {"type": "text", "text": said}]}]);
    vec![
        (
            &MESSAGES,
            json!({"model": "claude-opus-4-5", "max_tokens": 900, "system": "Be kind.", "messages": message}),
            "/content/0/text",
        ),
        (
            &RESPONSES,
            json!({"model": "gpt-4o", "instructions": "Be kind.", "input": said}),
            "/output/0/content/0/text",
        ),
        (
            &COMPLETIONS,
            json!({"model": "gpt-3.5-turbo-instruct", "prompt": said}),
            "/choices/0/text",
        ),
    ]
}

#[tokio::test]
async fn every_door_echoes_whole_and_streamed() {
    for (door, mut request, place) in at_further_doors("My name is [NAME]") {
        let (context, _, body) = ask_at(door, &request).await;
        let format = format_for_model(&context.model).unwrap();
        let reply = door.read_reply(format, &context, &body).unwrap();
        assert!(reply.summary.usage.is_some(), "{door:?}");
        assert_eq!(reply.summary.finish_reason.as_deref(), Some("stop"));
        let reply: Value = serde_json::from_slice(&reply.body).unwrap();
        let text = reply.pointer(place).and_then(Value::as_str).unwrap();
        assert!(text.contains("My name is [NAME]"), "{door:?} {text}");
        request["stream"] = json!(true);
        let (context, _, body) = ask_at(door, &request).await;
        let mut stream = door.open_stream(format, &context);
        let mut out = Vec::new();
        stream.push(&body, &mut out).unwrap();
        stream.finish(&mut out).unwrap();
        assert_eq!(out, body, "{door:?}");
        assert_eq!(stream.summary().finish_reason.as_deref(), Some("stop"));
        assert!(out.windows(6).any(|word| word == b"[NAME]"), "{door:?}");
    }
}

#[tokio::test]
async fn further_doors_call_tools() {
    let schema =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let said = "What is the weather in Oslo?";
    for (door, mut request, tool) in [
        (
            &RESPONSES,
            json!({"model": "gpt-4o", "input": said}),
            json!({"type": "function", "name": "get_weather", "parameters": schema}),
        ),
        (
            &MESSAGES,
            json!({"model": "claude-opus-4-5", "max_tokens": 900, "messages": [{"role": "user", "content": said}]}),
            json!({"name": "get_weather", "input_schema": schema}),
        ),
    ] {
        request["tools"] = json!([tool]);
        request["stream"] = json!(true);
        let (context, _, body) = ask_at(door, &request).await;
        let format = format_for_model(&context.model).unwrap();
        let mut stream = door.open_stream(format, &context);
        stream.push(&body, &mut Vec::new()).unwrap();
        assert_eq!(
            stream.summary().finish_reason.as_deref(),
            Some("tool_calls"),
            "{door:?}"
        );
    }
}

#[tokio::test]
async fn texts_get_numbers_and_tokens_are_counted() {
    let request =
        json!({"model": "text-embedding-3-small", "input": ["a", "b", "a"], "dimensions": 8});
    let (_, _, body) = ask_at(&EMBEDDINGS, &request).await;
    let reply: Value = serde_json::from_slice(&body).unwrap();
    let numbers = |index: usize| &reply["data"][index]["embedding"];
    assert_eq!(numbers(0), numbers(2));
    assert_ne!(numbers(0), numbers(1));
    assert_eq!(numbers(0).as_array().unwrap().len(), 8);
    let request = json!({"model": "text-embedding-3-small", "input": "a", "dimensions": 8, "encoding_format": "base64"});
    let (_, _, body) = ask_at(&EMBEDDINGS, &request).await;
    let reply: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        reply["data"][0]["embedding"].as_str().unwrap().len(),
        (8 * 4_usize).div_ceil(3) * 4
    );
    let (_, request, _) = at_further_doors("Hello").remove(0);
    let (_, _, body) = ask_at(&COUNT_TOKENS, &request).await;
    let reply: Value = serde_json::from_slice(&body).unwrap();
    assert!(reply["input_tokens"].as_u64().unwrap() > 5);
}

#[tokio::test]
async fn commands_come_from_the_last_part() {
    for (door, request, _) in at_further_doors("Please simulate 429") {
        let (_, status, _) = ask_at(door, &request).await;
        assert_eq!(status.as_u16(), 429, "{door:?}");
    }
    // Text of an agent before the user's text does not count.
    let parts =
        json!([{"type": "text", "text": "simulate 500"}, {"type": "text", "text": "Hello"}]);
    let request = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": parts}]});
    assert_eq!(ask(&request).await.1, StatusCode::OK);
    let long = "word ".repeat(4_000);
    let reply =
        reply(json!({"model": "gpt-4o", "messages": [{"role": "user", "content": long}]})).await;
    let text = reply["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(
        text.len() < 2_000 && text.contains("(… 18800 characters …)"),
        "{text}"
    );
}

#[tokio::test]
async fn streams_equal_whole_answers() {
    for model in MODELS {
        let (context, status, body) = ask(&request(
            model,
            "Hello",
            json!({"stream": true, "stream_options": {"include_usage": true}}),
        ))
        .await;
        assert_eq!(status, StatusCode::OK);
        let mut translator = format_for_model(model).unwrap().open_stream(&context);
        let mut out = Vec::new();
        translator.push(&body, &mut out).unwrap();
        translator.finish(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.ends_with("data: [DONE]\n\n") && text.matches("data: ").count() > 8,
            "{model}"
        );
        assert!(
            translator
                .summary()
                .usage
                .is_some_and(|usage| usage.completion_tokens > 0),
            "{model}"
        );
    }
}

#[tokio::test]
async fn tools_are_called_and_results_reported() {
    for model in MODELS {
        let asked = request(
            model,
            "What is the weather in Oslo?",
            json!({"tools": weather()}),
        );
        let message = reply(asked.clone()).await["choices"][0]["message"].clone();
        let call = &message["tool_calls"][0];
        assert_eq!(
            (&call["function"]["name"], &call["function"]["arguments"]),
            (&json!("get_weather"), &json!("{\"city\":\"Oslo\"}")),
            "{model}"
        );
        let mut next = asked.clone();
        let result = json!({"role": "tool", "tool_call_id": call["id"], "content": "18 C"});
        next["messages"]
            .as_array_mut()
            .unwrap()
            .extend([message.clone(), result]);
        let told = reply(next).await["choices"][0]["message"]["content"].clone();
        assert!(told.as_str().unwrap().contains("18 C"), "{model}: {told}");
        let unasked = reply(request(model, "Hello", json!({"tools": weather()}))).await;
        assert_eq!(unasked["choices"][0]["finish_reason"], "stop", "{model}");
    }
}

#[tokio::test]
async fn answers_fit_schemas_limits_and_stops() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}, "size": {"type": "integer"}}, "required": ["city", "size"], "additionalProperties": false});
    let form = json!({"type": "json_schema", "json_schema": {"name": "place", "schema": schema}});
    for model in MODELS {
        let content = reply(request(
            model,
            "A place in Oslo",
            json!({"response_format": form}),
        ))
        .await["choices"][0]["message"]["content"]
            .clone();
        let place: Value = serde_json::from_str(content.as_str().unwrap()).unwrap();
        assert_eq!(place, json!({"city": "Oslo", "size": 1}), "{model}");
        let short = reply(request(model, "Hello", json!({"max_tokens": 2}))).await;
        assert_eq!(
            (
                &short["choices"][0]["message"]["content"],
                &short["choices"][0]["finish_reason"]
            ),
            (&json!("You said: "), &json!("length")),
            "{model}"
        );
        let stopped = reply(request(model, "Hello", json!({"stop": "said"}))).await;
        assert_eq!(
            stopped["choices"][0]["message"]["content"], "You ",
            "{model}"
        );
    }
}

#[tokio::test]
async fn object_fits_a_schema_in_the_prompt() {
    let schema = json!({"properties": {"city": {"type": "string"}, "size": {"type": "integer"}}});
    let prompt = format!("Describe Oslo. Answer with {{an object}} of this schema: {schema}");
    let form = json!({"response_format": {"type": "json_object"}});
    let reply = reply(request("gpt-4o", &prompt, form)).await;
    let content = reply["choices"][0]["message"]["content"].as_str().unwrap();
    let place: Value = serde_json::from_str(content).unwrap();
    assert!(place["city"].is_string(), "{place}");
    assert_eq!(place["size"], 1, "{place}");
}

#[tokio::test]
async fn failures_come_as_asked() {
    for model in MODELS {
        for status in [429, 500, 503] {
            let (context, got, body) = ask(&request(
                model,
                &format!("Please simulate {status}"),
                json!({}),
            ))
            .await;
            assert_eq!(got.as_u16(), status, "{model}");
            let failure = format_for_model(&context.model)
                .unwrap()
                .read_failure(status, None, &body);
            assert!(failure.provider_message.is_some(), "{model} {status}");
        }
        let (context, _, body) =
            ask(&request(model, "simulate cut", json!({"stream": true}))).await;
        let mut translator = format_for_model(model).unwrap().open_stream(&context);
        let mut out = Vec::new();
        let ended = translator
            .push(&body, &mut out)
            .and_then(|()| translator.finish(&mut out));
        assert!(ended.is_err(), "{model}");
    }
}

#[tokio::test]
async fn a_request_without_a_key_is_refused() {
    for path in [
        "/v1/chat/completions",
        "/v1/responses",
        "/v1/completions",
        "/v1/embeddings",
        "/v1/messages",
        "/v1/messages/count_tokens",
        "/v1beta/models/gemini-pro:generateContent",
    ] {
        let response = router()
            .oneshot(Request::post(path).body(Body::from("{}")).unwrap())
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path}");
    }
}
