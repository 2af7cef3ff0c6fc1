//! Answers that are not plain text: blocked, refused, with probabilities, or errors.

use crate::wire_support::*;
use serde_json::{Value, json};

#[test]
fn blocked_prompt_becomes_empty_filtered_answer() {
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4, "totalTokenCount": 4}});
    let body = reply(&ask(GOOGLE, json!({})), &blocked);
    assert_eq!(
        (
            &body["choices"][0]["message"]["content"],
            &body["choices"][0]["finish_reason"],
            &body["model"]
        ),
        (&json!(""), &json!("content_filter"), &json!(GOOGLE))
    );
    let streamed = stream(
        &ask(GOOGLE, json!({"stream": true})),
        &google_events(&[blocked]),
    );
    assert_eq!(
        (streamed.finish_reasons(), streamed.is_done()),
        (vec![(0, "content_filter".to_owned())], true)
    );
}

#[test]
fn a_refusal_says_so() {
    let details = json!({"type": "refusal", "category": "bio", "explanation": "Not this."});
    let mut answer = anthropic_answer(json!([]), "refusal");
    answer["stop_details"] = details.clone();
    let choice = reply(&ask(ANTHROPIC, json!({})), &answer)["choices"][0].clone();
    assert_eq!(
        (
            &choice["finish_reason"],
            &choice["message"]["refusal"],
            &choice["message"]["content"]
        ),
        (&json!("content_filter"), &json!("Not this."), &json!(null))
    );
    let spoken = reply(
        &ask(ANTHROPIC, json!({})),
        &anthropic_answer(json!([{"type": "text", "text": "I cannot."}]), "refusal"),
    );
    assert_eq!(spoken["choices"][0]["message"]["refusal"], "I cannot.");
    let streamed = stream(
        &ask(ANTHROPIC, json!({})),
        &anthropic_stream(&[], "refusal"),
    );
    assert_eq!(
        (
            streamed.joined("refusal").is_empty(),
            streamed.finish_reasons()
        ),
        (false, vec![(0, "content_filter".to_owned())])
    );
}

#[test]
fn probabilities_are_translated() {
    let mut answer = google_answer(json!([{"text": "Hi"}]), Some("STOP"));
    let token = json!({"token": "Hi", "tokenId": 7, "logProbability": -0.25});
    answer["candidates"][0]["logprobsResult"] =
        json!({"chosenCandidates": [token], "topCandidates": [{"candidates": [token]}]});
    let request = ask(GOOGLE, json!({"logprobs": true, "top_logprobs": 9}));
    assert_eq!(
        sent(&request)["generationConfig"],
        json!({"responseLogprobs": true, "logprobs": 5})
    );
    let expected = json!({"content": [{"token": "Hi", "logprob": -0.25, "bytes": [72, 105], "top_logprobs": [{"token": "Hi", "logprob": -0.25, "bytes": [72, 105]}]}], "refusal": null});
    assert_eq!(reply(&request, &answer)["choices"][0]["logprobs"], expected);
    let streamed = stream(&request, &google_events(&[answer]));
    assert!(
        streamed
            .chunks()
            .iter()
            .any(|chunk| chunk["choices"][0]["logprobs"] == expected)
    );
}

#[test]
fn provider_error_keeps_meaning_and_hides_message() {
    let error = |format: &str, status: u16, retry: Option<&str>, body: Value| {
        let format = phigate_core::wire::format_of_family(format.parse().expect("a family"))
            .expect("the format is there");
        format.read_failure(status, retry, body.to_string().as_bytes())
    };
    let openai = error(
        "openai",
        400,
        None,
        json!({"error": {"message": "Jane Roe", "type": "invalid_request_error", "param": "messages[3].Jane", "code": "x"}}),
    );
    assert_eq!(
        (
            openai.kind.status(),
            openai.kind.code().code(),
            openai.param.as_deref()
        ),
        (400, "provider_rejected", Some("messages[3]"))
    );
    assert_eq!(
        openai
            .provider_message
            .as_ref()
            .map(|text| text.expose().to_owned())
            .as_deref(),
        Some("Jane Roe")
    );
    assert!(!format!("{openai:?}").contains("Jane"));
    let busy = error(
        "anthropic",
        529,
        Some("7"),
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    );
    assert_eq!(
        (
            busy.kind.status(),
            busy.kind.code().code(),
            busy.retry_after_s
        ),
        (503, "provider_overloaded", Some(7))
    );
    let key = json!([{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}]);
    assert_eq!(
        error("google", 400, None, key).kind.code().code(),
        "provider_auth_failed"
    );
    let quota = json!({"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "38.2s"}]}});
    assert_eq!(error("google", 429, None, quota).retry_after_s, Some(39));
}

#[test]
fn error_in_successful_answer_keeps_its_kind() {
    for (model, answer, code) in [
        (
            OPENAI,
            json!({"error": {"message": "Jane Roe", "code": null}}),
            "provider_error",
        ),
        (
            ANTHROPIC,
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Jane Roe"}}),
            "provider_overloaded",
        ),
        (
            ANTHROPIC,
            json!({"error": {"type": "invalid_request_error", "message": "Jane Roe"}}),
            "provider_rejected",
        ),
        (
            GOOGLE,
            json!([{"error": {"code": 429, "message": "Jane Roe", "status": "RESOURCE_EXHAUSTED"}}]),
            "provider_rate_limited",
        ),
    ] {
        let whole = try_reply(&ask(model, json!({})), &answer).expect_err("an error is no answer");
        let streamed = stream(
            &ask(model, json!({"stream": true})),
            &format!("data: {answer}\n\n"),
        );
        let streamed = streamed.failure.expect("an error is no stream");
        for failure in [whole, streamed] {
            assert_eq!(
                (
                    failure.kind.code().code(),
                    failure.provider_message.is_none()
                ),
                (code, true),
                "{model}"
            );
        }
    }
}
