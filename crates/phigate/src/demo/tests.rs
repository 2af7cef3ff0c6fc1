//! The simulated providers speak the formats that the gateway reads.

#![allow(
    clippy::needless_pass_by_value,
    reason = "tests read better with json! in place"
)]

use http::Request;
use http_body_util::BodyExt;
use phi_detect::Detector;
use phigate_core::doors::CHAT;
use phigate_core::egress;
use phigate_core::protect::{self, Outcome, Policy, Scanner};
use phigate_core::request::RequestLimits;
use phigate_core::wire::{ReplyContext, Site, format_for_model};
use phigate_types::Mode;
use tower::ServiceExt;

use super::*;

const MODELS: &[&str] = &["gpt-4o", "claude-sonnet-4-5", "gemini-2.5-flash"];

/// Sends a request through the translation to the simulated provider, and gives status and body.
async fn ask(request: &Value) -> (ReplyContext, StatusCode, Bytes) {
    let model = request["model"].as_str().unwrap();
    let format = format_for_model(model).unwrap();
    let body = request.to_string();
    let scanner = Scanner::new(Detector::default().without_names());
    let read =
        phigate_core::request::Request::read(CHAT.form, body.into(), &RequestLimits::default())
            .unwrap();
    let policy = Policy {
        mode: Mode::FLAG,
        allow_unscannable: true,
    };
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
async fn every_family_says_what_it_was_sent() {
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

#[tokio::test]
async fn streams_are_complete_and_say_the_same() {
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
async fn tools_are_called_when_the_prompt_asks_and_their_results_are_told() {
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
        "/v1/messages",
        "/v1beta/models/gemini-pro:generateContent",
    ] {
        let response = router()
            .oneshot(Request::post(path).body(Body::from("{}")).unwrap())
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path}");
    }
}
