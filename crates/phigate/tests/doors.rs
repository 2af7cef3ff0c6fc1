//! Every door, by the real server: forwarded as it came, recorded and counted by its name, refused in its own words.

use std::process::{Command, Stdio};

use crate::support::{Answer, CLEAN_TEXT, Gateway, Provider, Reply, SSN_TEXT};
use serde_json::{Value, json};

pub(crate) type BodyAround = fn(&str) -> Value;

/// Each door: its word, its path, a body around a text, and a provider's answer.
pub(crate) fn doors() -> Vec<(&'static str, &'static str, BodyAround, Value)> {
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test", "content": [{"type": "text", "text": "Hello."}], "stop_reason": "end_turn", "usage": {"input_tokens": 9, "output_tokens": 7}});
    let completion = json!({"id": "c", "object": "chat.completion", "model": "gpt-test", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}]});
    vec![
        (
            "chat",
            "/v1/chat/completions",
            |text| json!({"model": "gpt-4o", "messages": [{"role": "user", "content": text}]}),
            completion,
        ),
        (
            "messages",
            "/v1/messages",
            |text| json!({"model": "claude-opus-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": text}]}),
            message,
        ),
        (
            "count_tokens",
            "/v1/messages/count_tokens",
            |text| json!({"model": "claude-opus-4-5", "messages": [{"role": "user", "content": text}]}),
            json!({"input_tokens": 9}),
        ),
        (
            "responses",
            "/v1/responses",
            |text| json!({"model": "gpt-4o", "input": text, "store": false}),
            json!({"id": "resp_1", "object": "response", "status": "completed", "error": null, "model": "gpt-test", "output": []}),
        ),
        (
            "embeddings",
            "/v1/embeddings",
            |text| json!({"model": "text-embedding-3-small", "input": text}),
            json!({"object": "list", "model": "e", "data": [{"object": "embedding", "index": 0, "embedding": [0.5]}], "usage": {"prompt_tokens": 1, "total_tokens": 1}}),
        ),
        (
            "completions",
            "/v1/completions",
            |text| json!({"model": "gpt-3.5-turbo-instruct", "prompt": text}),
            json!({"id": "cmpl-1", "object": "text_completion", "model": "g", "choices": [{"index": 0, "text": "Hello.", "finish_reason": "stop"}]}),
        ),
    ]
}

pub(crate) fn ask(
    gateway: &Gateway,
    provider: &Provider,
    key: &str,
    door: usize,
    text: &str,
) -> Answer {
    let (_, path, body, reply) = &doors()[door];
    provider.answer_next(Reply::Json(200, reply.to_string()));
    gateway.post(path, key, &body(text).to_string())
}

/// The request ids of a listing, waiting for records that are written a moment later.
fn listed(gateway: &Gateway, arguments: &[&str], count: usize) -> Vec<String> {
    let mut ids = Vec::new();
    for _ in 0..50 {
        let text = gateway.command(arguments);
        let records = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let decisions = records.filter(|record| record["record"] == "decision");
        ids = decisions
            .map(|record| record["request_id"].as_str().unwrap().to_owned())
            .collect();
        if ids.len() >= count {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    ids
}

#[test]
fn doors_forward_requests_unchanged_and_label_records() {
    let provider = Provider::start();
    let gateway = Gateway::start_counting(&provider);
    let key = gateway.key();
    let mut ids = Vec::new();
    for (number, (word, path, body, reply)) in doors().into_iter().enumerate() {
        let answer = ask(&gateway, &provider, &key, number, CLEAN_TEXT);
        assert_eq!((answer.status, answer.json()), (200, reply), "{word}");
        let seen = provider.last();
        assert_eq!(
            (seen.target.as_str(), seen.json()),
            (path, body(CLEAN_TEXT))
        );
        ids.push(answer.request_id());
    }
    for ((word, ..), id) in doors().iter().zip(&ids) {
        for command in [
            &["audit", "list", "--json", "--door", word][..],
            &["audit", "export", "--door", word],
        ] {
            assert_eq!(
                listed(&gateway, command, 1),
                std::slice::from_ref(id),
                "{command:?}"
            );
        }
    }
    let refused = gateway.try_command(&["audit", "list", "--door", "back"], "");
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        refused.status.code() == Some(2) && words.contains("count_tokens"),
        "{words}"
    );
    let page = gateway.metrics();
    for (word, ..) in doors() {
        let counted = page
            .lines()
            .find(|line| line.contains(&format!("door=\"{word}\"")));
        assert!(
            counted.is_some_and(|line| line.contains("status=\"200\"") && line.ends_with(" 1")),
            "{word}: {page}"
        );
    }
}

#[test]
fn phi_refusal_uses_door_error_format() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    gateway.command(&["mode", "set", "block"]);
    let key = gateway.key();
    for (word, path, body, _) in doors() {
        let answer = gateway.post(path, &key, &body(SSN_TEXT).to_string());
        let (error, text) = (answer.json(), answer.text());
        assert_eq!(answer.status, 403, "{word}");
        assert_eq!(error["error"]["type"], "phi_error", "{text}");
        assert_eq!(
            (&error["error"]["code"], &error["error"]["phi_types"]),
            (&json!("phi_blocked"), &json!(["ssn"]))
        );
        assert_eq!(
            error["type"] == "error",
            path.starts_with("/v1/messages"),
            "{text}"
        );
    }
    assert_eq!(provider.connections(), 0);
}

/// The events of a response that says these words, numbered, without its end.
fn response_events(words: &[&str]) -> Vec<String> {
    let place = json!({"item_id": "msg_1", "output_index": 0, "content_index": 0});
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}}),
    ];
    for word in words {
        let mut event = place.clone();
        event["type"] = json!("response.output_text.delta");
        event["delta"] = json!(word);
        events.push(event);
    }
    let numbered = events.into_iter().enumerate().map(|(number, mut event)| {
        event["sequence_number"] = json!(number);
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        )
    });
    numbered.collect()
}

/// The data of a stream's events.
fn data(answer: &Answer) -> Vec<Value> {
    let text = answer.text();
    let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
    lines
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

#[test]
fn responses_stream_error_takes_next_sequence_number() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    let body = json!({"model": "gpt-4o", "input": CLEAN_TEXT, "stream": true}).to_string();
    let phi = [
        "Her social",
        " security number is",
        " 219-09-4218",
        ". And",
        " so on",
    ];
    for (replies, words, code) in [
        ("off", &["Hel", "lo"][..], "provider_error"),
        ("mask", &phi[..], "provider_error"),
        ("block", &phi[..], "phi_in_reply"),
    ] {
        gateway.command(&["replies", "set", replies]);
        provider.answer_next(Reply::CutEvents(response_events(words)));
        let answer = gateway.post("/v1/responses", &key, &body);
        let events = data(&answer);
        let numbers: Vec<u64> = events
            .iter()
            .map(|event| event["sequence_number"].as_u64().unwrap())
            .collect();
        assert_eq!(
            numbers,
            (0..events.len() as u64).collect::<Vec<_>>(),
            "{replies}: {}",
            answer.text()
        );
        let last = events.last().unwrap();
        assert_eq!(
            (&last["type"], &last["code"]),
            (&json!("error"), &json!(code)),
            "{replies}"
        );
        assert!(
            replies == "off" || !answer.text().contains("4218"),
            "{}",
            answer.text()
        );
    }
}

/// A service account whose tokens come from a stand-in, with a key made for this test.
fn service_account() -> String {
    let arguments = [
        "genpkey",
        "-algorithm",
        "RSA",
        "-pkeyopt",
        "rsa_keygen_bits:2048",
    ];
    let key = Command::new("openssl")
        .args(arguments)
        .stderr(Stdio::null())
        .output();
    let key = String::from_utf8(key.expect("openssl is installed").stdout).unwrap();
    json!({"type": "service_account", "client_email": "gateway@ward.iam.gserviceaccount.com", "private_key_id": "1", "private_key": key, "token_uri": "https://oauth2.googleapis.com/token"}).to_string()
}

#[test]
fn messages_reach_vertex_claude_with_token() {
    let (provider, clouds) = (Provider::start(), Provider::start());
    let mut gateway = Gateway::offline();
    let token_url = format!("{}/token", clouds.url());
    let arguments = [
        "provider",
        "set",
        "vertex-us",
        "--kind",
        "vertex",
        "--project",
        "ward",
        "--region",
        "us-east5",
        "--base-url",
        &provider.url(),
        "--token-url",
        &token_url,
        "--models",
        "claude-opus-4-5",
        "--key-stdin",
    ];
    gateway.command_with_input(&arguments, &service_account());
    gateway.serve();
    gateway.command(&["mode", "set", "mask"]);
    let key = gateway.key();
    let token =
        json!({"access_token": "ya29.invented", "expires_in": 3600, "token_type": "Bearer"});
    clouds.answer_next(Reply::Json(200, token.to_string()));
    let (_, path, body, reply) = &doors()[1];
    let answer = ask(&gateway, &provider, &key, 1, SSN_TEXT);
    assert_eq!(
        (answer.status, &answer.json()),
        (200, reply),
        "{}",
        answer.text()
    );
    assert_eq!(answer.header("x-gateway-provider"), Some("vertex-us"));
    let seen = provider.last();
    let place = "/v1/projects/ward/locations/us-east5/publishers/anthropic/models/";
    assert_eq!(seen.target, format!("{place}claude-opus-4-5:rawPredict"));
    assert_eq!(seen.header("authorization"), Some("Bearer ya29.invented"));
    assert_eq!(seen.header("anthropic-version"), None);
    let sent = seen.json();
    assert_eq!(
        (&sent["anthropic_version"], sent.get("model")),
        (&json!("vertex-2023-10-16"), None)
    );
    assert_eq!(sent["messages"][0]["content"], "My SSN is [SSN].");
    let events = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-test\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    provider.answer_next(Reply::Events(
        vec![events.to_owned()],
        std::time::Duration::ZERO,
    ));
    let mut streamed = body(CLEAN_TEXT);
    streamed["stream"] = json!(true);
    let answer = gateway.post(path, &key, &streamed.to_string());
    assert_eq!((answer.status, answer.text().as_str()), (200, events));
    assert!(provider.last().target.ends_with(":streamRawPredict"));
    let counted = ask(&gateway, &provider, &key, 2, CLEAN_TEXT);
    assert_eq!(
        (counted.status, counted.json()),
        (200, json!({"input_tokens": 9}))
    );
    let seen = provider.last();
    assert_eq!(seen.target, format!("{place}count-tokens:rawPredict"));
    assert_eq!(seen.json()["model"], "claude-opus-4-5");
}
