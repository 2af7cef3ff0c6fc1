//! Policy, end to end: words of every level, the request header, records, and the answer to callers.

use crate::support::{Answer, Gateway, Provider, ask};
use serde_json::{Value, json};

const TEXT: &str =
    "The patient's name is Maria Delgado. Her social security number is 536-22-8741.";
const REASON: &[&str] = &["--reason", "a test of policies"];

fn set(gateway: &Gateway, words: &str, level: &[&str]) {
    gateway.command(&[&["policy", "set", words], level, REASON].concat());
}

/// The text that reached the provider.
fn sent(provider: &Provider) -> String {
    let content = provider.last().json()["messages"][0]["content"].take();
    content.as_str().unwrap_or_default().to_owned()
}

fn decision(gateway: &Gateway, answer: &Answer) -> Value {
    let records = gateway.records(&answer.request_id());
    let mut decisions = records.into_iter();
    decisions
        .find(|record| record["record"] == "decision")
        .unwrap_or_default()
}

fn id(key: &str) -> String {
    key["phg_".len()..][..12].to_owned()
}

#[test]
fn each_level_tightens_the_next_request() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    let group = ["--group", "wards"];
    gateway.command(&["key", "set", &id(&key), "--group", "wards"]);
    let chat = || gateway.chat(&key, &ask("gpt-4o", TEXT));
    assert_eq!(chat().status, 200);
    assert_eq!(sent(&provider), TEXT);
    set(&gateway, "ssn=mask", &[]);
    set(&gateway, "name=redact,ssn=flag", &group);
    let answer = chat();
    let wanted = TEXT
        .replace("Maria Delgado", "")
        .replace("536-22-8741", "[SSN]");
    assert_eq!(sent(&provider), wanted);
    let decision = decision(&gateway, &answer);
    assert_eq!(
        (&decision["action"], &decision["mode"]),
        (&json!("redacted"), &json!("flag"))
    );
    let said = |kind: &str| {
        let findings = decision["findings"].as_array().unwrap();
        let found = findings
            .iter()
            .find(|finding| finding["type"] == kind)
            .unwrap();
        (found["action"].clone(), found["by"].clone())
    };
    assert_eq!(said("ssn"), (json!("mask"), json!("account")));
    assert_eq!(said("name"), (json!("redact"), json!("group:wards")));
    let name = decision["policy"].as_str().unwrap().to_owned();
    let exported = gateway.command(&["audit", "export"]);
    let spelled = |line: &&str| line.contains("policy.set") && line.contains(&name);
    assert!(
        exported.lines().any(|line| spelled(&line)),
        "{name} is not spelled out"
    );
    set(&gateway, "ssn=block", &["--key", &id(&key)]);
    let (asked, answer) = (provider.count(), chat());
    assert_eq!(
        (answer.status, answer.error().2),
        (403, "phi_blocked".to_owned())
    );
    assert_eq!(
        provider.count(),
        asked,
        "a blocked request reached the provider"
    );
    let table = gateway.get("/v1/policy", &key).json();
    let rows = table["policy"].as_array().unwrap().clone();
    let row = |kind: &str| rows.iter().find(|row| row["kind"] == kind).unwrap().clone();
    let by = format!("key:{}", id(&key));
    assert_eq!(
        row("ssn"),
        json!({"kind": "ssn", "action": "block", "by": by})
    );
    assert_eq!(row("npi")["action"], "off");
}

#[test]
fn request_header_tightens_only_when_allowed() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    let body = ask("gpt-4o", TEXT);
    let with = |value: &str| {
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\nX-Gateway-PHI-Mode: {value}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            gateway.address,
            body.len()
        );
        crate::support::exchange(&gateway.address, head.as_bytes())
    };
    assert_eq!(with("nonsense").status, 200);
    assert_eq!(sent(&provider), TEXT);
    gateway.command(&["policy", "request-header", "on"]);
    assert_eq!(with("mask").status, 200);
    assert!(!sent(&provider).contains("536"));
    assert_eq!(with("block").error().2, "phi_blocked");
    for wrong in ["flag", "off", "", "mask, block", "nonsense"] {
        let answer = with(wrong);
        assert_eq!(
            (answer.status, answer.error().2),
            (400, "invalid_value".to_owned()),
            "{wrong}"
        );
    }
}

#[test]
fn kind_that_is_off_is_not_found() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    gateway.set_mode("mask");
    set(&gateway, "name=off", &[]);
    let answer = gateway.chat(&gateway.key(), &ask("gpt-4o", TEXT));
    assert_eq!(answer.header("x-gateway-phi-types"), Some("ssn"));
    assert_eq!(sent(&provider), TEXT.replace("536-22-8741", "[SSN]"));
}

#[test]
fn loosening_needs_a_reason() {
    let gateway = Gateway::offline();
    gateway.command(&["policy", "set", "ssn=block,name=mask"]);
    for words in ["ssn=mask", "name=inherit", "phone=off"] {
        let refused = gateway.try_command(&["policy", "set", words], "");
        assert_eq!(refused.status.code(), Some(2), "{words}");
        let told = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(told.contains("reason"), "{told}");
    }
    let key = gateway.command(&["key", "create", "--group", "wards"]);
    let leave = ["key", "set", &id(key.trim()), "--group", ""];
    assert_eq!(gateway.try_command(&leave, "").status.code(), Some(2));
    gateway.command(&[&leave[..], REASON].concat());
    for (words, named) in [
        ("animal=mask", "animal"),
        ("ssn=hide", "hide"),
        ("ssn", "ssn"),
    ] {
        let refused = gateway.try_command(&["policy", "set", words, "--reason", "x"], "");
        assert_eq!(refused.status.code(), Some(2), "{words}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains(named));
    }
}

#[test]
fn policy_is_explained_and_tried() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    gateway.set_mode("mask");
    let answer = gateway.chat(&gateway.key(), &ask("gpt-4o", TEXT));
    let explain = gateway.command_with_input(&["policy", "explain", "--json"], TEXT);
    let explained: Value = serde_json::from_str(&explain).unwrap();
    for finding in explained["findings"].as_array().unwrap() {
        assert_eq!(
            (&finding["action"], &finding["by"]),
            (&json!("mask"), &json!("account"))
        );
        assert!(finding["score"].as_f64() >= finding["threshold"].as_f64());
    }
    let tried = gateway.command(&["policy", "try", "ssn=block", "--json"]);
    let rows: Value = serde_json::from_str(&tried).unwrap();
    let ssn = |row: &&Value| row["kind"] == "ssn";
    let row = rows["rows"]
        .as_array()
        .unwrap()
        .iter()
        .find(ssn)
        .unwrap()
        .clone();
    assert_eq!(
        (&row["old"], &row["new"], &row["count"]),
        (&json!("mask"), &json!("block"), &json!(1))
    );
    assert_eq!(row["requests"], json!([answer.request_id()]));
    assert!(!tried.contains("536") && !tried.contains("Delgado"));
    let acts = gateway.command(&["audit", "export"]);
    assert!(acts.contains("policy.try"));
}

const DESK: &str = "desk@stmary.example";

#[test]
fn allowed_value_passes_every_door() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    gateway.set_mode("block");
    let key = gateway.key();
    let text = format!("Write to {DESK} about it.");
    let chat = || gateway.chat(&key, &ask("gpt-4o", &text));
    assert_eq!(chat().status, 403);
    gateway.command(&[&["allow", "add", "email", "*@StMary.example"], REASON].concat());
    let answer = chat();
    assert_eq!((answer.status, sent(&provider)), (200, text.clone()));
    let decision = decision(&gateway, &answer);
    assert_eq!(decision["phi_detected"], false);
    assert_eq!(decision["allowed"], json!({"email": 1}));
    let body = json!({"text": format!("{text} Or to {DESK}.net.")}).to_string();
    let found = gateway.post("/v1/scan", &key, &body).json();
    let found = found["results"][0]["findings"].as_array().unwrap().clone();
    assert_eq!(found.len(), 1, "{found:?}");
    let explain = gateway.command_with_input(&["policy", "explain", "--json"], &text);
    assert!(!explain.contains("email"), "{explain}");
    assert!(!gateway.is_on_disk(DESK.as_bytes()) && !gateway.is_on_disk(b"stmary.example"));
    let listed = || -> Value {
        let list = gateway.command(&["allow", "list", "--json"]);
        serde_json::from_str(&list).unwrap()
    };
    let id = listed()[0]["id"].as_str().unwrap().to_owned();
    gateway.command(&["allow", "remove", &id]);
    assert_eq!((chat().status, listed()), (403, json!([])));
}

#[test]
fn wrong_entries_are_refused() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    for (words, named) in [
        (&["ssn", "536-22-8741", "--reason", "x"][..], "ssn"),
        (&["animal", "cat", "--reason", "x"], "animal"),
        (&["email", DESK], "reason"),
        (&["email", "*@*.example", "--reason", "our desk"], "*"),
        (&["email", DESK, "--key", "k"], "--key"),
    ] {
        let refused = gateway.try_command(&[&["allow", "add"], words].concat(), "");
        assert_eq!(refused.status.code(), Some(2), "{words:?}");
        let told = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(told.contains(named) && !told.contains("536-22"), "{told}");
    }
    let unknown = gateway.try_command(&["allow", "remove", "nothing"], "");
    assert_eq!(unknown.status.code(), Some(2));
    assert_eq!(gateway.command(&["allow", "list", "--json"]).trim(), "[]");
}
