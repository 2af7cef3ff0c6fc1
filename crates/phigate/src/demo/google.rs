//! A simulated Google.

use http::{HeaderName, StatusCode};
use serde_json::{Value, json};

use super::script::{self, Answer, Asked, Choice, End, Form, Offer};
use super::{Family, id};

#[derive(Clone, Copy)]
pub(super) struct Google;

impl Family for Google {
    fn key_header(self) -> HeaderName {
        HeaderName::from_static("x-goog-api-key")
    }

    fn read(self, body: &Value) -> Asked {
        let contents = body["contents"].as_array().cloned().unwrap_or_default();
        let parts = |content: &Value| content["parts"].as_array().cloned().unwrap_or_default();
        let last = contents.last().map(&parts).unwrap_or_default();
        let results = last.iter().filter_map(|part| part.get("functionResponse"));
        let mut spoken = contents
            .iter()
            .rev()
            .filter(|content| content["role"] == "user")
            .map(|content| &content["parts"]);
        let spoken = spoken.find(|parts| !script::text(parts).is_empty());
        let config = &body["generationConfig"];
        let schema = config
            .get("responseJsonSchema")
            .or_else(|| config.get("responseSchema"));
        let offers = body["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|tool| {
                tool["functionDeclarations"]
                    .as_array()
                    .into_iter()
                    .flatten()
            });
        Asked {
            system: String::new(),
            said: spoken.map(script::text).unwrap_or_default(),
            wish: spoken.map(script::last_text).unwrap_or_default(),
            prompt_chars: script::count_chars(&body["contents"]),
            attachments: contents
                .iter()
                .flat_map(parts)
                .filter(|part| part.get("inlineData").is_some())
                .count(),
            tools: offers.map(offer).collect(),
            choice: choice(&body["toolConfig"]["functionCallingConfig"]),
            results: results
                .map(|result| {
                    (
                        result["name"].as_str().unwrap_or_default().to_owned(),
                        result["response"].to_string(),
                    )
                })
                .collect(),
            form: match (schema, config["responseMimeType"].as_str()) {
                (Some(schema), _) => Form::Schema(schema.clone()),
                (None, Some("application/json")) => Form::Object,
                _ => Form::Text,
            },
            limit: config["maxOutputTokens"].as_u64(),
            stops: script::strings(&config["stopSequences"]),
            thinks: config["thinkingConfig"]["includeThoughts"] == json!(true),
        }
    }

    fn whole(self, model: &str, _body: &Value, answer: &Answer) -> Value {
        let parts: Vec<Value> = parts(answer, |text| vec![text]).into_iter().collect();
        response(model, &id(""), answer, &json!(parts), Some(answer.end))
    }

    fn events(self, model: &str, _body: &Value, answer: &Answer) -> Vec<String> {
        let id = id("");
        let parts = parts(answer, |text| script::pieces(text).collect());
        let mut events: Vec<Value> = parts
            .into_iter()
            .map(|part| response(model, &id, answer, &json!([part]), None))
            .collect();
        events.push(response(
            model,
            &id,
            answer,
            &json!([{"text": ""}]),
            Some(answer.end),
        ));
        events
            .iter()
            .map(|event| format!("data: {event}\r\n\r\n"))
            .collect()
    }

    fn error(self, status: StatusCode, message: &str) -> Value {
        let word = match status.as_u16() {
            400 => "INVALID_ARGUMENT",
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            _ => "INTERNAL",
        };
        json!({"error": {"code": status.as_u16(), "message": message, "status": word}})
    }
}

fn choice(calling: &Value) -> Choice {
    let named = calling["allowedFunctionNames"][0].as_str();
    match (calling["mode"].as_str(), named) {
        (Some("NONE"), _) => Choice::Never,
        (Some("ANY"), Some(name)) => Choice::Named(name.to_owned()),
        (Some("ANY"), None) => Choice::Any,
        _ => Choice::Free,
    }
}

fn offer(function: &Value) -> Offer {
    let schema = function
        .get("parametersJsonSchema")
        .or_else(|| function.get("parameters"));
    Offer {
        name: function["name"].as_str().unwrap_or_default().to_owned(),
        schema: schema.cloned().unwrap_or_default(),
    }
}

/// The parts of an answer; `cut` divides texts.
fn parts<'a>(answer: &'a Answer, cut: impl Fn(&'a str) -> Vec<&'a str>) -> Vec<Value> {
    let mut parts: Vec<Value> = answer
        .thought
        .iter()
        .map(|thought| json!({"text": thought, "thought": true}))
        .collect();
    parts.extend(
        cut(&answer.text)
            .into_iter()
            .filter(|piece| !piece.is_empty())
            .map(|piece| json!({"text": piece})),
    );
    parts.extend(
        answer
            .calls
            .iter()
            .map(|(name, args)| json!({"functionCall": {"name": name, "args": args}})),
    );
    parts
}

fn response(model: &str, id: &str, answer: &Answer, parts: &Value, end: Option<End>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(end) = end {
        candidate["finishReason"] = json!(if end == End::Limit {
            "MAX_TOKENS"
        } else {
            "STOP"
        });
    }
    let mut usage = json!({"promptTokenCount": answer.prompt_tokens, "candidatesTokenCount": answer.answer_tokens, "totalTokenCount": answer.prompt_tokens + answer.answer_tokens + answer.thought_tokens});
    if answer.thought_tokens > 0 {
        usage["thoughtsTokenCount"] = json!(answer.thought_tokens);
    }
    json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": model, "responseId": id})
}
