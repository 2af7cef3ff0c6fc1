//! Callers, providers and stores that try to make the gateway disclose, forget or invent something.

use std::time::Duration;

use crate::support::{CLEAN_TEXT, Gateway, Provider, Reply, SSN_TEXT, ask, openai_stream};
use serde_json::{Value, json};

#[test]
fn dropped_phi_parameter_is_named_by_position() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let body = r#"{"model":"claude-3-5-sonnet","messages":[{"role":"user","content":"Hi."}],"x_new":1,"ssn_536-22-8741":1,"käse":1}"#;
    let answer = gateway.chat(&gateway.key(), body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let mut dropped: Vec<&str> = answer
        .header("x-gateway-params-dropped")
        .unwrap()
        .split(',')
        .collect();
    dropped.sort_unstable();
    assert_eq!(dropped, ["x_new", "{3}", "{4}"]);
}

#[test]
fn hostile_provider_metadata_is_withheld_from_records() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    let reply = |model: &str, reason: &str| {
        let choice = json!({ "index": 0, "message": { "role": "assistant", "content": "Hi." }, "finish_reason": reason });
        let reply = json!({ "id": "c", "object": "chat.completion", "created": 1, "model": model, "choices": [choice] });
        Reply::Json(200, reply.to_string())
    };
    for (asked, said, reason, told) in [
        (
            "gpt-4o",
            "gpt-4o-2024-08-06",
            "stop",
            ("gpt-4o-2024-08-06", "stop"),
        ),
        ("gpt-4o", SSN_TEXT, SSN_TEXT, ("[withheld]", "other")),
        // An identifier by its letters, and PHI.
        ("gpt-4o", "gpt-536-22-8741", "stop", ("[withheld]", "stop")),
        (
            "gpt-536-22-8741",
            "gpt-536-22-8741",
            "length",
            ("[withheld]", "length"),
        ),
    ] {
        provider.answer_next(reply(said, reason));
        let answer = gateway.chat(&key, &ask(asked, SSN_TEXT));
        assert_eq!(
            answer.json()["model"],
            said,
            "the caller gets what the provider said"
        );
        let records = gateway.records(&answer.request_id());
        let outcome = &records[1];
        assert_eq!(
            (
                outcome["served_model"].as_str(),
                outcome["finish_reason"].as_str()
            ),
            (Some(told.0), Some(told.1))
        );
        assert!(!format!("{records:?}").contains("22-8741"), "{records:?}");
    }
}

/// The store's database, for keeping the gateway from writing to it.
fn database(gateway: &Gateway) -> rusqlite::Connection {
    rusqlite::Connection::open(gateway.data().join("phigate.db")).unwrap()
}

/// The records of a request once it has both.
fn records(gateway: &Gateway, request_id: &str) -> Vec<Value> {
    for _ in 0..100 {
        let records = gateway.records(request_id);
        if records.len() > 1 {
            return records;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{request_id} was never recorded");
}

#[test]
fn answer_with_delayed_outcome_is_recorded_once() {
    let pause = Duration::from_millis(800);
    let said = json!({"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-test",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "SSN 219-09-4218."}, "finish_reason": "stop"}]});
    // Findings in a reply are sealed, and wait for the store for a while.
    for (replies, waits) in [("off", false), ("flag", true)] {
        let provider = Provider::start();
        let gateway = Gateway::start(&provider);
        gateway.command(&["replies", "set", replies]);
        let (key, database) = (gateway.key(), database(&gateway));
        provider.answer_next(Reply::Late(pause, Some(said.to_string())));
        let answer = std::thread::scope(|scope| {
            let asked = scope.spawn(|| gateway.chat(&key, &ask("gpt-4o", SSN_TEXT)));
            while provider.seen().is_empty() {
                std::thread::sleep(Duration::from_millis(10));
            }
            // The decision is on disk by now. The outcome meets a store that another process has locked.
            database.execute_batch("BEGIN IMMEDIATE").unwrap();
            asked.join().unwrap()
        });
        database.execute_batch("ROLLBACK").unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        let id = answer.request_id();
        if waits {
            gateway.logged_after(&format!("outcome of request {id} waits"));
        }
        let records = records(&gateway, &id);
        let outcomes = records.iter().filter(|one| one["record"] == "outcome");
        let outcomes: Vec<&Value> = outcomes.collect();
        assert_eq!(outcomes.len(), 1, "{records:?}");
        assert_eq!(outcomes[0]["status"], 200);
        for time in ["total_ms", "first_byte_ms"] {
            let took = Duration::from_millis(outcomes[0][time].as_u64().unwrap());
            assert!(took >= pause, "{time}: {records:?}");
        }
    }
}

#[test]
fn only_clean_flag_mode_requests_precede_records() {
    let provider = Provider::start();
    let gateway = Gateway::start_counting(&provider);
    let (key, database) = (gateway.key(), database(&gateway));
    // The first content to be sealed makes the key for it, which is written too.
    gateway.chat(&key, &ask("gpt-4o", SSN_TEXT));
    for (mode, text, found, status) in [
        ("flag", CLEAN_TEXT, "false", 200),
        ("flag", SSN_TEXT, "true", 503),
        ("mask", CLEAN_TEXT, "false", 503),
        ("block", SSN_TEXT, "true", 503),
    ] {
        gateway.set_mode(mode);
        let before = provider.seen().len();
        database.execute_batch("BEGIN IMMEDIATE").unwrap();
        let answer = gateway.chat(&key, &ask("gpt-4o", text));
        database.execute_batch("ROLLBACK").unwrap();
        assert_eq!(answer.status, status, "{mode}: {}", answer.text());
        assert_eq!(
            answer.header("x-gateway-phi-detected"),
            Some(found),
            "{mode}"
        );
        let is_forwarded = status == 200;
        assert_eq!(
            provider.seen().len() - before,
            usize::from(is_forwarded),
            "{mode}"
        );
        if is_forwarded {
            let decision = &records(&gateway, &answer.request_id())[0];
            assert_eq!(decision["phi_detected"], false);
        }
    }
    assert_eq!(
        gateway.counted("phigate_audit_write_failures_total", &[]),
        3
    );
}

#[test]
fn record_states_size_of_scanned_text() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let answer = gateway.chat(&gateway.key(), &ask("gpt-4o", SSN_TEXT));
    let sizes = gateway.records(&answer.request_id())[0]["sizes"].clone();
    let (body, text) = (
        sizes["body"].as_u64().unwrap(),
        sizes["text"].as_u64().unwrap(),
    );
    assert!(text >= SSN_TEXT.len() as u64 && text < body, "{sizes}");
}

#[test]
fn record_limits_findings_but_counts_all() {
    let provider = Provider::start();
    let gateway = Gateway::start_with(&provider, &[("PHIGATE_LIMITS_RECORD_FINDINGS", "2")]);
    let text = "SSN 536-22-8741, SSN 536-22-8742, SSN 536-22-8743, a@example.com";
    let answer = gateway.chat(&gateway.key(), &ask("gpt-4o", text));
    let decision = &gateway.records(&answer.request_id())[0];
    assert_eq!(decision["types"], json!({ "ssn": 3, "email": 1 }));
    assert_eq!(decision["findings"].as_array().unwrap().len(), 2);
}

#[test]
fn event_over_limit_ends_stream_with_error() {
    let provider = Provider::start();
    let gateway = Gateway::start_with(&provider, &[("PHIGATE_LIMITS_EVENT_BYTES", "1024")]);
    let large = "x".repeat(2000);
    let events = openai_stream(&["Hello", &large]);
    provider.answer_next(Reply::Events(events, Duration::ZERO));
    let mut body: serde_json::Value = serde_json::from_str(&ask("gpt-4o", CLEAN_TEXT)).unwrap();
    body["stream"] = json!(true);
    let answer = gateway.chat(&gateway.key(), &body.to_string());
    let text = answer.text();
    assert!(
        text.contains("provider_error") && !text.contains("[DONE]"),
        "{text}"
    );
}
