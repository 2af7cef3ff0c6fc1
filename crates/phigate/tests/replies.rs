//! Replies, end to end: masked values come back, PHI that the model wrote is dealt with, and both are on record.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::{Answer, CLEAN_TEXT, Gateway, Provider, Reply, ask, exchange, openai_stream};
use serde_json::{Value, json};

const NOTE: &str = "The patient's name is Jane Roe. Her social security number is 536-22-8741.";
const NEW: &str = "Her social security number is 219-09-4218.";

fn completion(content: &str) -> Reply {
    let body = json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": "gpt-test",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]});
    Reply::Json(200, body.to_string())
}

/// The tokens of a text that was sent, in order.
fn tokens(sent: &Value) -> Vec<String> {
    let text = sent["messages"][0]["content"]
        .as_str()
        .expect("the content is text");
    let starts = text.match_indices('[').map(|(at, _)| at);
    starts
        .map(|at| text[at..=at + text[at..].find(']').expect("a token ends")].to_owned())
        .collect()
}

fn content(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let content = &answer.json()["choices"][0]["message"]["content"];
    content.as_str().expect("the content is text").to_owned()
}

/// The text of a stream, and the error that ended it.
fn streamed(answer: &Answer) -> (String, Option<Value>) {
    let (mut text, mut error) = (String::new(), None);
    for line in answer.text().lines() {
        let Some(data) = line.strip_prefix("data: ").filter(|data| *data != "[DONE]") else {
            continue;
        };
        let chunk: Value = serde_json::from_str(data).expect("chunks are JSON");
        text += chunk["choices"][0]["delta"]["content"]
            .as_str()
            .unwrap_or_default();
        error = chunk.get("error").cloned().or(error);
    }
    (text, error)
}

fn outcome(gateway: &Gateway, answer: &Answer) -> Value {
    let records = gateway.records(&answer.request_id());
    let outcome = records
        .into_iter()
        .find(|record| record["record"] == "outcome");
    outcome.expect("there is an outcome")
}

#[test]
fn masked_values_return_unseen_by_provider() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    gateway.command(&["mode", "set", "mask"]);
    gateway.command(&["restore", "set", "on"]);
    let key = gateway.key();
    gateway.chat(&key, &ask("gpt-4o", NOTE));
    let [name, ssn] = &tokens(&provider.last().json())[..] else {
        panic!("two values, two tokens");
    };
    let words = format!("Dear {name}, {} is on file.", ssn.to_lowercase());
    provider.answer_next(completion(&words));
    let whole = gateway.chat(&key, &ask("gpt-4o", NOTE));
    assert_eq!(content(&whole), "Dear Jane Roe, 536-22-8741 is on file.");
    assert_eq!(whole.header("x-gateway-phi-restored"), Some("2"));
    assert_eq!(whole.header("cache-control"), Some("no-store"));
    assert_eq!(outcome(&gateway, &whole)["restored"], 2);
    let letters: Vec<String> = words.chars().map(String::from).collect();
    let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
    provider.answer_next(Reply::Events(openai_stream(&letters), Duration::ZERO));
    let body =
        json!({"model": "gpt-4o", "stream": true, "messages": [{"role": "user", "content": NOTE}]});
    let stream = gateway.chat(&key, &body.to_string());
    assert_eq!(
        streamed(&stream),
        ("Dear Jane Roe, 536-22-8741 is on file.".to_owned(), None)
    );
    assert_eq!(stream.header("cache-control"), Some("no-store"));
    assert_eq!(outcome(&gateway, &stream)["restored"], 2);
    for seen in provider.seen() {
        let sent = String::from_utf8(seen.body).unwrap();
        assert!(!sent.contains("Jane") && !sent.contains("8741"), "{sent}");
        assert!(
            sent.contains(name.as_str()) && sent.contains(ssn.as_str()),
            "{sent}"
        );
    }
    let told = gateway.command(&["audit", "resolve", name, "--reason", "test"]);
    assert_eq!(told.trim(), "Jane Roe");
    let unknown = gateway.try_command(
        &["audit", "resolve", "[NAME_00000]", "--reason", "test"],
        "",
    );
    assert_eq!(unknown.status.code(), Some(1));
}

#[test]
fn new_reply_phi_is_treated_and_sealed() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    for (choice, expected) in [
        ("flag", NEW),
        ("mask", "Her social security number is [SSN]."),
        ("redact", "Her social security number is ."),
    ] {
        gateway.command(&["replies", "set", choice]);
        provider.answer_next(completion(NEW));
        let answer = gateway.chat(&key, &ask("gpt-4o", CLEAN_TEXT));
        assert_eq!(content(&answer), expected);
        assert_eq!(answer.header("x-gateway-reply-phi-types"), Some("ssn"));
        assert_eq!(answer.header("x-gateway-phi-detected"), Some("false"));
        let told = outcome(&gateway, &answer);
        assert_eq!(told["reply_types"], json!({"ssn": 1}), "{told}");
        let revealed =
            gateway.command(&["audit", "reveal", &answer.request_id(), "--reason", "test"]);
        let revealed: Value = serde_json::from_str(&revealed).unwrap();
        assert!(revealed["reply"].as_str().unwrap().contains("219-09-4218"));
    }
    assert!(!gateway.is_on_disk(b"219-09-4218"));
    gateway.command(&["audit", "verify"]);
}

#[test]
fn withheld_reply_leaks_no_found_phi() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    gateway.command(&["replies", "set", "block"]);
    provider.answer_next(completion(NEW));
    let answer = gateway.chat(&key, &ask("gpt-4o", CLEAN_TEXT));
    assert_eq!(
        answer.error(),
        (403, "phi_error".into(), "phi_in_reply".into())
    );
    assert_eq!(answer.json()["error"]["phi_types"], json!(["ssn"]));
    let told = outcome(&gateway, &answer);
    assert_eq!(
        (&told["status"], &told["reply_action"]),
        (&json!(403), &json!("blocked"))
    );
    let words = [
        "It is ",
        "simple. Her SSN is 2",
        "19-09-42",
        "18, you see. ",
        "Bye.",
    ];
    provider.answer_next(Reply::Events(openai_stream(&words), Duration::ZERO));
    let body = json!({"model": "gpt-4o", "stream": true, "messages": [{"role": "user", "content": CLEAN_TEXT}]});
    let stream = gateway.chat(&key, &body.to_string());
    let (text, error) = streamed(&stream);
    assert_eq!(text, "It is simple.");
    assert_eq!(error.unwrap()["code"], "phi_in_reply");
    assert!(!stream.is_whole && !stream.text().contains("[DONE]"));
}

#[test]
fn a_conversation_is_named_in_visible_characters() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    gateway.command(&["mode", "set", "mask"]);
    gateway.command(&["restore", "set", "on"]);
    let (key, body) = (gateway.key(), ask("gpt-4o", NOTE));
    let named = |name: &str| {
        let request = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\ncontent-type: application/json\r\nx-gateway-conversation: {name}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        exchange(&gateway.address, request.as_bytes())
    };
    let mut seen = Vec::new();
    for name in ["visit-17", "visit-17", "visit-18"] {
        assert_eq!(named(name).status, 200);
        seen.push(tokens(&provider.last().json()));
        assert!(provider.last().header("x-gateway-conversation").is_none());
    }
    assert!(seen[0] == seen[1] && seen[0] != seen[2]);
    for name in ["two words", &"x".repeat(129)] {
        let (status, _, code) = named(name).error();
        assert_eq!((status, code.as_str()), (400, "invalid_value"));
    }
}

/// Sends a request and hangs up once these words were read.
fn leave_after(gateway: &Gateway, key: &str, body: &str, words: &str) {
    let mut socket = TcpStream::connect(&gateway.address).unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket
        .write_all(&[head.as_bytes(), body.as_bytes()].concat())
        .unwrap();
    let mut read = Vec::new();
    let mut piece = [0; 4096];
    while !String::from_utf8_lossy(&read).contains(words) {
        let length = socket.read(&mut piece).unwrap();
        assert_ne!(length, 0, "{}", String::from_utf8_lossy(&read));
        read.extend_from_slice(&piece[..length]);
    }
}

/// The only outcome there is, once it is written.
fn the_outcome(gateway: &Gateway) -> Value {
    for _ in 0..200 {
        let export = gateway.command(&["audit", "export"]);
        let mut records = export
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        if let Some(outcome) = records.find(|record| record["record"] == "outcome") {
            return outcome;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("no outcome was written");
}

#[test]
fn reply_is_sealed_when_caller_disconnects() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    gateway.command(&["replies", "set", "flag"]);
    let words = [
        "Her SSN is 219-09-4218. ",
        "That is all. ",
        "Or ",
        "is it? ",
        "Well.",
    ];
    provider.answer_next(Reply::Events(
        openai_stream(&words),
        Duration::from_millis(300),
    ));
    let body = json!({"model": "gpt-4o", "stream": true, "messages": [{"role": "user", "content": CLEAN_TEXT}]});
    leave_after(&gateway, &key, &body.to_string(), "219-09-4218");
    let told = the_outcome(&gateway);
    assert_eq!(told["error_code"], "client_disconnected", "{told}");
    assert_eq!(told["reply_types"], json!({"ssn": 1}), "{told}");
    assert_eq!(told["attempts"][0]["error_code"], "client_disconnected");
    let id = told["request_id"].as_str().unwrap();
    let logs = gateway.logs.lock().unwrap().clone();
    let mut lines = logs.lines().filter(|line| line.contains(id));
    assert!(
        lines.any(|line| line.contains("client_disconnected")),
        "{logs}"
    );
    let revealed = gateway.command(&["audit", "reveal", id, "--reason", "test"]);
    let revealed: Value = serde_json::from_str(&revealed).unwrap();
    assert!(revealed["reply"].as_str().unwrap().contains("219-09-4218"));
}

#[test]
fn replies_with_repeated_keys_are_provider_errors() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    let said = |text: &str| format!(r#"[{{"type":"text","text":"{text}"}}]"#);
    let (one, other) = (said("fine"), said(NEW));
    let chat = ask("gpt-4o", CLEAN_TEXT);
    let message = json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": CLEAN_TEXT}]});
    let input = json!({"model": "gpt-4o", "input": CLEAN_TEXT});
    let vector = json!({"model": "text-embedding-3-small", "input": CLEAN_TEXT});
    let prompt = json!({"model": "gpt-3.5-turbo-instruct", "prompt": CLEAN_TEXT});
    for (path, body, reply) in [
        (
            "/v1/chat/completions",
            chat,
            format!(r#"{{"choices":{one},"choices":{other}}}"#),
        ),
        (
            "/v1/messages",
            message.to_string(),
            format!(r#"{{"type":"message","content":{one},"content":{other}}}"#),
        ),
        (
            "/v1/responses",
            input.to_string(),
            format!(r#"{{"status":"completed","output":{one},"output":{other}}}"#),
        ),
        (
            "/v1/embeddings",
            vector.to_string(),
            r#"{"data":[],"data":[]}"#.to_owned(),
        ),
        (
            "/v1/completions",
            prompt.to_string(),
            r#"{"choices":[],"choices":[]}"#.to_owned(),
        ),
    ] {
        provider.answer_next(Reply::Json(200, reply));
        let answer = gateway.post(path, &key, &body);
        assert_eq!(answer.status, 502, "{path}: {}", answer.text());
        assert_eq!(answer.json()["error"]["code"], "provider_error", "{path}");
        assert!(!answer.text().contains("fine") && !answer.text().contains("219-09"));
        let told = outcome(&gateway, &answer);
        assert_eq!(
            (&told["status"], &told["error_code"]),
            (&json!(502), &json!("provider_error")),
            "{told}"
        );
    }
    let events = [r#"{"choices":[{"index":0,"delta":{"content":"one","content":"two"}}]}"#];
    let events = events.map(str::to_owned).to_vec();
    provider.answer_next(Reply::Events(events, Duration::ZERO));
    let body = json!({"model": "gpt-4o", "stream": true, "messages": [{"role": "user", "content": CLEAN_TEXT}]});
    let stream = gateway.chat(&key, &body.to_string());
    assert_eq!(stream.json()["error"]["code"], "provider_error");
}
