//! Named providers, end to end: choice of the provider for a model, its permission for PHI, and fallbacks.

use crate::support::{Answer, CLEAN_TEXT, Gateway, Provider, Reply, SSN_TEXT, ask, exchange};
use serde_json::{Value, json};

const MASKED: &str = "My SSN is [SSN].";

/// Sets a provider at a stand-in.
fn set(gateway: &Gateway, name: &str, at: &Provider, options: &[&str]) {
    let url = at.url();
    let head = ["provider", "set", name, "--key-stdin", "--base-url", &url];
    let key = format!("sk-of-{name}-0123456789\n");
    gateway.command_with_input(&[&head[..], options].concat(), &key);
}

/// Two stand-ins behind one gateway: `first` serves `one`, `second` serves `two`, which is asked when `one` fails.
fn pair(first: &[&str], second: &[&str]) -> (Gateway, Provider, Provider) {
    let (one, two) = (Provider::start(), Provider::start());
    let mut gateway = Gateway::offline();
    gateway.set("PHIGATE_LIMITS_PROVIDER_RETRIES", "0");
    gateway.set("PHIGATE_LIMITS_FIRST_BYTE_MS", "700");
    gateway.set("PHIGATE_LIMITS_STREAM_IDLE_MS", "700");
    let first = [&["--kind", "openai", "--models", "one"], first].concat();
    let second = [&["--kind", "openai", "--models", "two"], second].concat();
    set(&gateway, "first", &one, &first);
    set(&gateway, "second", &two, &second);
    gateway.command(&["fallback", "set", "one", "two"]);
    gateway.set_metrics();
    gateway.serve();
    (gateway, one, two)
}

fn said(status: u16) -> Reply {
    let error =
        json!({"error": {"message": "no", "type": "server_error", "param": null, "code": null}});
    Reply::Json(status, error.to_string())
}

fn content(seen: &crate::support::Seen) -> Value {
    seen.json()["messages"][0]["content"].clone()
}

fn record(gateway: &Gateway, answer: &Answer, kind: &str) -> Value {
    let mut records = gateway.records(&answer.request_id());
    records.retain(|record| record["record"] == kind);
    records.into_iter().next().unwrap_or_default()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn model_goes_to_provider_serving_it() {
    let (azure, local) = (Provider::start(), Provider::start());
    let mut gateway = Gateway::offline();
    set(
        &gateway,
        "eu",
        &azure,
        &["--kind", "azure", "--models", "gpt-4o=chat-prod"],
    );
    let dated = [
        "--kind",
        "azure",
        "--models",
        "old=chat/old",
        "--api-version",
        "2024-10-21",
    ];
    set(&gateway, "dated", &azure, &dated);
    set(
        &gateway,
        "llama",
        &local,
        &["--kind", "openai", "--models", "llama-*,fast=llama-8b"],
    );
    gateway.serve();
    let key = gateway.key();
    for (model, at, target, asked, name) in [
        (
            "gpt-4o",
            &azure,
            "/openai/v1/chat/completions",
            "chat-prod",
            "eu",
        ),
        (
            "eu/gpt-4o",
            &azure,
            "/openai/v1/chat/completions",
            "chat-prod",
            "eu",
        ),
        (
            "old",
            &azure,
            "/openai/deployments/chat%2Fold/chat/completions?api-version=2024-10-21",
            "chat/old",
            "dated",
        ),
        ("fast", &local, "/v1/chat/completions", "llama-8b", "llama"),
        (
            "llama-3.3",
            &local,
            "/v1/chat/completions",
            "llama-3.3",
            "llama",
        ),
    ] {
        let answer = gateway.chat(&key, &ask(model, CLEAN_TEXT));
        assert_eq!(answer.status, 200, "{model}: {}", answer.text());
        assert_eq!(answer.header("x-gateway-provider"), Some(name));
        assert_eq!(answer.header("x-gateway-attempts"), None);
        let seen = at.last();
        assert_eq!(seen.target, target);
        assert_eq!(seen.json()["model"], asked);
        let shown = format!("sk-of-{name}-0123456789");
        let (header, shown) = match name {
            "llama" => ("authorization", format!("Bearer {shown}")),
            _ => ("api-key", shown),
        };
        assert_eq!(seen.header(header), Some(shown.as_str()));
        let decision = record(&gateway, &answer, "decision");
        assert_eq!(
            (&decision["provider"], &decision["model"]),
            (&json!(name), &json!(model))
        );
    }
    for (model, status, code) in [
        ("gpt-5", 400, "provider_not_configured"),
        ("eu/gpt-5", 404, "model_not_found"),
        ("nobody/gpt-4o", 404, "model_not_found"),
    ] {
        let answer = gateway.chat(&key, &ask(model, CLEAN_TEXT));
        assert_eq!(answer.error().0, status, "{model}");
        assert_eq!(answer.error().2, code, "{model}");
        assert_eq!(answer.header("x-gateway-provider"), None);
    }
    let models = gateway.get("/v1/models", &key).json();
    let owner = |id: &str| {
        let models = models["data"].as_array().unwrap();
        let found = models.iter().find(|model| model["id"] == id);
        found.map(|model| model["owned_by"].clone())
    };
    assert_eq!(owner("gpt-4o"), Some(json!("eu")));
    assert_eq!(owner("fast"), Some(json!("llama")));
    assert_eq!(owner("llama-*"), None);
}

#[test]
fn azure_filter_is_reported_and_fields_pass() {
    let azure = Provider::start();
    let mut gateway = Gateway::offline();
    set(
        &gateway,
        "eu",
        &azure,
        &["--kind", "azure", "--models", "m=dep"],
    );
    gateway.serve();
    let key = gateway.key();
    let filtered = json!({"error": {"code": "content_filter", "message": "Filtered: 536-22-8741", "param": "prompt", "type": null}});
    azure.answer_next(Reply::Json(400, filtered.to_string()));
    let answer = gateway.chat(&key, &ask("m", CLEAN_TEXT));
    let error = (400, "invalid_request_error".into(), "content_filter".into());
    assert_eq!(answer.error(), error);
    assert!(!answer.text().contains("536-22-8741"), "{}", answer.text());
    let completion = json!({"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4o",
        "prompt_filter_results": [{"prompt_index": 0}],
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop",
            "content_filter_results": {"hate": {"filtered": false}}}]});
    azure.answer_next(Reply::Json(200, completion.to_string()));
    assert_eq!(gateway.chat(&key, &ask("m", CLEAN_TEXT)).json(), completion);
}

#[test]
fn phi_agreement_decides_receiving_provider() {
    let (never, masked) = (Provider::start(), Provider::start());
    let mut gateway = Gateway::offline();
    let kind = ["--kind", "openai", "--models", "m"];
    set(
        &gateway,
        "a-never",
        &never,
        &[&kind[..], &["--phi", "never"]].concat(),
    );
    set(
        &gateway,
        "b-masked",
        &masked,
        &[&kind[..], &["--phi", "masked"]].concat(),
    );
    gateway.serve();
    let key = gateway.key();
    let clean = gateway.chat(&key, &ask("m", CLEAN_TEXT));
    assert_eq!(clean.header("x-gateway-provider"), Some("a-never"));
    let answer = gateway.chat(&key, &ask("m", SSN_TEXT));
    assert_eq!(answer.header("x-gateway-provider"), Some("b-masked"));
    assert_eq!(content(&masked.last()), MASKED);
    let decision = record(&gateway, &answer, "decision");
    assert_eq!(
        (
            &decision["mode"],
            &decision["action"],
            &decision["provider"]
        ),
        (&json!("flag"), &json!("masked"), &json!("b-masked"))
    );
    let refused = gateway.chat(&key, &ask("a-never/m", SSN_TEXT));
    assert_eq!(
        refused.error(),
        (403, "phi_error".into(), "provider_not_covered".into())
    );
    assert_eq!(refused.json()["error"]["phi_types"], json!(["ssn"]));
    let past = [
        "provider",
        "set",
        "b-masked",
        "--agreement",
        "BAA 7",
        "--agreement-expires",
        "2020-01-31",
        "--reason",
        "a test of ended agreements",
    ];
    gateway.command(&past);
    let refused = gateway.chat(&key, &ask("m", SSN_TEXT));
    assert_eq!(refused.error().2, "provider_not_covered");
    gateway.command(&["mode", "set", "block"]);
    let blocked = gateway.chat(&key, &ask("m", SSN_TEXT));
    assert_eq!(blocked.error().2, "phi_blocked");
    assert_eq!((never.seen().len(), masked.seen().len()), (1, 1));
}

#[test]
fn failed_request_falls_back_recording_every_attempt() {
    let (gateway, one, two) = pair(&[], &["--phi", "masked"]);
    let key = gateway.key();
    one.answer_next(said(503));
    let answer = gateway.chat(&key, &ask("one", SSN_TEXT));
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("x-gateway-provider"), Some("second"));
    assert_eq!(answer.header("x-gateway-attempts"), Some("2"));
    assert_eq!(
        (content(&one.last()), content(&two.last())),
        (json!(SSN_TEXT), json!(MASKED))
    );
    let kinds: Vec<Value> = gateway
        .records(&answer.request_id())
        .iter()
        .map(|record| record["record"].clone())
        .collect();
    assert_eq!(kinds, ["decision", "attempt", "outcome"]);
    let attempt = record(&gateway, &answer, "attempt");
    assert_eq!(
        (&attempt["provider"], &attempt["model"], &attempt["action"]),
        (&json!("second"), &json!("two"), &json!("masked"))
    );
    assert_eq!(attempt["number"], 2);
    let outcome = record(&gateway, &answer, "outcome");
    let attempts = outcome["attempts"].as_array().unwrap();
    let told = |at: usize| {
        let one = &attempts[at];
        json!([
            one["provider"],
            one["model"],
            one["status"],
            one["error_code"]
        ])
    };
    assert_eq!(told(0), json!(["first", "one", 503, "provider_overloaded"]));
    assert_eq!(told(1), json!(["second", "two", 200, null]));
    let id = answer.request_id();
    let revealed = gateway.command(&["audit", "reveal", &id, "--reason", "test"]);
    let revealed: Value = serde_json::from_str(&revealed).unwrap();
    assert_eq!(
        revealed["sent"].as_str().unwrap().as_bytes(),
        one.last().body
    );
    assert_eq!(
        revealed["attempts"][0]["sent"].as_str().unwrap().as_bytes(),
        two.last().body
    );
    gateway.command(&["audit", "verify"]);
}

#[test]
fn dropped_parameters_are_those_of_answering_provider() {
    let (one, two) = (Provider::start(), Provider::start());
    let mut gateway = Gateway::offline();
    set(
        &gateway,
        "first",
        &one,
        &["--kind", "openai", "--models", "one"],
    );
    set(
        &gateway,
        "second",
        &two,
        &["--kind", "anthropic", "--models", "two"],
    );
    gateway.command(&["fallback", "set", "one", "two"]);
    gateway.serve();
    let body =
        json!({"model": "one", "messages": [{"role": "user", "content": CLEAN_TEXT}], "x_new": 1});
    let key = gateway.key();
    let dropped = |answer: &Answer| {
        let dropped = answer.header("x-gateway-params-dropped");
        dropped.map(str::to_owned)
    };
    let answer = gateway.chat(&key, &body.to_string());
    assert_eq!((answer.status, dropped(&answer)), (200, None));
    one.answer_next(said(400));
    let answer = gateway.chat(&key, &body.to_string());
    assert_eq!((answer.status, dropped(&answer)), (400, None));
    one.answer_next(said(503));
    let answer = gateway.chat(&key, &body.to_string());
    assert_eq!(
        (answer.status, dropped(&answer)),
        (200, Some("x_new".to_owned()))
    );
}

#[test]
fn unrecordable_attempt_is_not_sent() {
    let (gateway, one, two) = pair(&[], &[]);
    let key = gateway.key();
    one.answer_next(Reply::Silence(std::time::Duration::from_secs(2)));
    let database = rusqlite::Connection::open(gateway.data().join("phigate.db")).unwrap();
    let answer = std::thread::scope(|scope| {
        let answer = scope.spawn(|| gateway.chat(&key, &ask("one", SSN_TEXT)));
        while one.seen().is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        // The decision is on disk by now. The attempt meets a store that another process has locked.
        database.execute_batch("BEGIN IMMEDIATE").unwrap();
        answer.join().unwrap()
    });
    database.execute_batch("ROLLBACK").unwrap();
    assert_eq!(answer.error().2, "audit_unavailable");
    assert_eq!(two.connections(), 0);
    assert_eq!(
        gateway.counted("phigate_audit_write_failures_total", &[]),
        1
    );
}

#[test]
fn only_retryable_failures_fall_back() {
    let (gateway, one, two) = pair(&[], &[]);
    let key = gateway.key();
    for (reply, status, goes_on) in [
        (said(429), 200, true),
        (said(500), 200, true),
        (Reply::Silence(std::time::Duration::from_secs(2)), 200, true),
        (said(400), 400, false),
        (said(401), 502, false),
        (said(404), 404, false),
    ] {
        let before = two.seen().len();
        one.answer_next(reply);
        let answer = gateway.chat(&key, &ask("one", CLEAN_TEXT));
        assert_eq!(answer.status, status, "{}", answer.text());
        assert_eq!(two.seen().len() - before, usize::from(goes_on), "{status}");
        // A success in between: a provider that keeps failing would be left alone.
        gateway.chat(&key, &ask("one", CLEAN_TEXT));
    }
    one.answer_next(said(500));
    two.answer_next(said(429));
    let answer = gateway.chat(&key, &ask("one", CLEAN_TEXT));
    assert_eq!(answer.error().2, "provider_rate_limited");
    assert_eq!(answer.header("x-gateway-attempts"), Some("2"));
}

#[test]
fn stream_falls_back_only_before_first_byte() {
    let (gateway, one, two) = pair(&[], &[]);
    let key = gateway.key();
    let body = ask("one", CLEAN_TEXT).replace("{\"messages\"", "{\"stream\":true,\"messages\"");
    one.answer_next(said(500));
    let answer = gateway.chat(&key, &body);
    assert!(
        answer.text().ends_with("data: [DONE]\n\n"),
        "{}",
        answer.text()
    );
    assert_eq!(answer.header("x-gateway-provider"), Some("second"));
    let pieces = crate::support::openai_stream(&["Hel", "lo."])[..2].to_vec();
    one.answer_next(Reply::CutEvents(pieces));
    let answer = gateway.chat(&key, &body);
    assert!(answer.text().contains("\"error\"") && !answer.text().contains("[DONE]"));
    assert_eq!(two.seen().len(), 1);
}

#[test]
fn answer_broken_before_delivery_falls_back() {
    let (gateway, one, two) = pair(&[], &[]);
    let key = gateway.key();
    let whole = ask("one", CLEAN_TEXT);
    let stream = whole.replace("{\"messages\"", "{\"stream\":true,\"messages\"");
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n";
    let events = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let refusal =
        r#"data: {"error":{"message":"x","type":"server_error","param":null,"code":null}}"#;
    let raw = |head: &str, body: &str, wait: u64| {
        let wait = std::time::Duration::from_millis(wait);
        Reply::Raw(format!("{head}{body}").into_bytes(), wait)
    };
    for (what, body, reply, code) in [
        ("cut", &whole, raw(head, "{\"id\":", 0), "provider_error"),
        ("stalled", &whole, raw(head, "", 3000), "provider_timeout"),
        (
            "unreadable",
            &whole,
            Reply::Json(200, "<html>".into()),
            "provider_error",
        ),
        ("cut", &stream, raw(events, "", 0), "provider_error"),
        (
            "stalled",
            &stream,
            raw(events, "", 3000),
            "provider_timeout",
        ),
        (
            "refused",
            &stream,
            raw(events, &format!("{refusal}\n\n"), 0),
            "provider_error",
        ),
    ] {
        let before = two.seen().len();
        one.answer_next(reply);
        let answer = gateway.chat(&key, body);
        assert_eq!(answer.status, 200, "{what}: {}", answer.text());
        let provider = answer.header("x-gateway-provider");
        assert_eq!(
            (provider, answer.header("x-gateway-attempts")),
            (Some("second"), Some("2")),
            "{what}"
        );
        assert_eq!(two.seen().len(), before + 1, "{what}");
        assert!(!answer.text().contains("\"error\""), "{what}");
        let kinds: Vec<Value> = gateway
            .records(&answer.request_id())
            .iter()
            .map(|record| record["record"].clone())
            .collect();
        assert_eq!(kinds, ["decision", "attempt", "outcome"], "{what}");
        let outcome = record(&gateway, &answer, "outcome");
        let first = &outcome["attempts"][0];
        assert_eq!(
            (&first["status"], &first["error_code"]),
            (&json!(200), &json!(code)),
            "{what}"
        );
        // A success in between: a provider that keeps failing would be left alone.
        gateway.chat(&key, &whole);
    }
}

#[test]
fn stopping_gateway_asks_no_other_provider() {
    let (mut gateway, one, two) = pair(&[], &[]);
    gateway.signal("-TERM");
    gateway.wait();
    gateway.set("PHIGATE_LIMITS_DRAIN_MS", "200");
    gateway.serve();
    let key = gateway.key();
    let events = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let pause = std::time::Duration::from_secs(5);
    one.answer_next(Reply::Raw(events.into(), pause));
    let body = ask("one", CLEAN_TEXT).replace("{\"messages\"", "{\"stream\":true,\"messages\"");
    std::thread::scope(|scope| {
        scope.spawn(|| std::panic::catch_unwind(|| gateway.chat(&key, &body)));
        while one.seen().is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        gateway.signal("-TERM");
    });
    assert_eq!(gateway.wait(), Some(0));
    assert_eq!(two.connections(), 0);
}

#[test]
fn failing_provider_is_skipped_if_another_serves() {
    let (gateway, one, two) = pair(&[], &[]);
    let key = gateway.key();
    for _ in 0..12 {
        one.answer_next(said(500));
        let answer = gateway.chat(&key, &ask("one", CLEAN_TEXT));
        assert_eq!(answer.status, 200);
    }
    assert_eq!(two.seen().len(), 12);
    assert_eq!(one.seen().len(), 3, "asked until it was known to fail");
    gateway.command(&["fallback", "remove", "one"]);
    let answer = gateway.chat(&key, &ask("one", CLEAN_TEXT));
    assert_eq!(answer.header("x-gateway-provider"), Some("first"));
}

#[test]
fn attempt_is_recorded_before_provider_is_asked() {
    let (mut gateway, one, two) = pair(&[], &[]);
    let key = gateway.key();
    one.answer_next(said(500));
    two.answer_next(Reply::Silence(std::time::Duration::from_secs(5)));
    let (address, body) = (gateway.address.clone(), ask("one", SSN_TEXT));
    let caller = std::thread::spawn(move || {
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let _ = std::panic::catch_unwind(|| exchange(&address, head.as_bytes()));
    });
    while two.seen().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    gateway.signal("-KILL");
    gateway.wait();
    caller.join().unwrap();
    gateway.serve();
    let export = gateway.command(&["audit", "export"]);
    let mut records: Vec<Value> = export
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    records.retain(|record| !record["request_id"].is_null());
    let told: Vec<(&Value, &Value)> = records
        .iter()
        .map(|record| (&record["record"], &record["provider"]))
        .collect();
    assert_eq!(told[0], (&json!("decision"), &json!("first")));
    assert_eq!(told[1], (&json!("attempt"), &json!("second")));
    assert_eq!(records[2]["error_code"], "interrupted");
    gateway.command(&["audit", "verify"]);
}

#[test]
fn provider_set_names_bad_option_keeps_rest() {
    let gateway = Gateway::offline();
    for (arguments, option) in [
        (&["new", "--models", "m"][..], "--kind"),
        (&["b", "--kind", "bedrock"], "--region"),
        (&["a", "--kind", "azure"], "--base-url"),
        (&["o", "--kind", "openai", "--auth", "entra"], "--auth"),
        (
            &["o", "--kind", "openai", "--api-version", "v1"],
            "--api-version",
        ),
        (&["o", "--kind", "openai", "--models", "a,,b"], "--models"),
        (
            &["o", "--kind", "openai", "--agreement-expires", "2027-02-30"],
            "--agreement-expires",
        ),
    ] {
        let command = [&["provider", "set"], arguments, &["--key-stdin"]].concat();
        let output = gateway.try_command(&command, "sk-test-of-no-value\n");
        let words = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(words.contains(option), "{arguments:?}: {words}");
        assert!(!words.contains("sk-test-of-no-value"), "{words}");
    }
    let set = [
        "provider",
        "set",
        "az",
        "--kind",
        "azure",
        "--base-url",
        "https://x.openai.azure.com",
        "--key-stdin",
    ];
    let more = [
        "--models",
        "m=dep",
        "--agreement",
        "BAA 7",
        "--priority",
        "7",
    ];
    gateway.command_with_input(&[&set[..], &more].concat(), "sk-test-of-no-value\n");
    gateway.command(&["provider", "set", "az", "--phi", "masked"]);
    let shown = gateway.command(&["provider", "show", "az"]);
    for word in [
        "azure",
        "https://x.openai.azure.com",
        "m=dep",
        "BAA 7",
        "7",
        "masked",
    ] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let listed: Value =
        serde_json::from_str(&gateway.command(&["provider", "list", "--json"])).unwrap();
    assert_eq!(
        (&listed[0]["name"], &listed[0]["kind"]),
        (&json!("az"), &json!("azure"))
    );
    gateway.command(&["provider", "remove", "az"]);
    let export = gateway.command(&["audit", "export"]);
    assert!(export.contains("provider.set") && export.contains("provider.remove"));
    assert!(!export.contains("sk-test-of-no-value"));
}

#[test]
fn provider_test_names_usual_mistake() {
    let azure = Provider::start();
    let gateway = Gateway::offline();
    set(
        &gateway,
        "eu",
        &azure,
        &["--kind", "azure", "--models", "m=dep"],
    );
    gateway.command(&["provider", "test", "eu", "--model", "m"]);
    assert_eq!(azure.last().json()["model"], "dep");
    let refusal = json!({"error": {"code": "DeploymentNotFound", "message": "no"}});
    azure.answer_next(Reply::Json(404, refusal.to_string()));
    let output = gateway.try_command(&["provider", "test", "eu", "--model", "m"], "");
    assert_eq!(output.status.code(), Some(1));
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains("deployment does not exist"), "{words}");
    let output = gateway.try_command(&["provider", "test", "nobody"], "");
    assert_eq!(output.status.code(), Some(2));
}
