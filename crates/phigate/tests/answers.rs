//! Answers that explain themselves: action, places of PHI, durations, and the records.

use crate::doors::{ask, doors};
use crate::support::{Answer, CLEAN_TEXT, Gateway, Provider, Reply, SSN_TEXT};
use serde_json::{Value, json};

/// The action, the count and the three times of an answer.
fn check_told(answer: &Answer, action: &str, count: &str, what: &str) {
    let told = [
        answer.header("x-gateway-action"),
        answer.header("x-gateway-phi-count"),
    ];
    assert_eq!(
        told,
        [Some(action), Some(count)],
        "{what}: {}",
        answer.text()
    );
    let timing = answer.header("server-timing").unwrap_or_default();
    let parts: Vec<&str> = timing.split(", ").collect();
    let names: Vec<&str> = parts
        .iter()
        .filter_map(|part| part.split(";dur=").next())
        .collect();
    assert_eq!(names, ["scan", "record", "provider"], "{what}: {timing}");
    for part in parts {
        let (_, took) = part.split_once(";dur=").unwrap();
        assert!(
            took.parse::<f64>().is_ok_and(|ms| ms < 60_000.0),
            "{what}: {timing}"
        );
    }
}

#[test]
fn every_door_reports_action_and_times() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    for (mode, action, status) in [
        ("flag", "forwarded", 200),
        ("mask", "masked", 200),
        ("redact", "redacted", 200),
        ("block", "blocked", 403),
    ] {
        gateway.set_mode(mode);
        for (door, row) in doors().iter().enumerate() {
            let what = format!("{} in {mode}", row.0);
            let answer = ask(&gateway, &provider, &key, door, SSN_TEXT);
            assert_eq!(answer.status, status, "{what}: {}", answer.text());
            check_told(&answer, action, "1", &what);
            let clean = ask(&gateway, &provider, &key, door, CLEAN_TEXT);
            check_told(&clean, "forwarded", "0", &what);
        }
        let scan = gateway.post("/v1/scan", &key, &json!({"text": SSN_TEXT}).to_string());
        check_told(&scan, "scanned", "1", mode);
    }
}

#[test]
fn streams_and_failures_tell_action_and_times() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    gateway.set_mode("mask");
    let asked = |stream: bool| {
        let messages = json!([{"role": "user", "content": SSN_TEXT}]);
        json!({"model": "gpt-4o", "messages": messages, "stream": stream}).to_string()
    };
    check_told(&gateway.chat(&key, &asked(true)), "masked", "1", "a stream");
    provider.answer_next(Reply::Json(404, "{}".into()));
    let failed = gateway.chat(&key, &asked(false));
    assert_eq!(failed.status, 404);
    check_told(&failed, "masked", "1", "a failure of the provider");
    let image = json!({"type": "image_url", "image_url": {"url": "https://example.org/x.png"}});
    let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": [image]}]});
    let refused = gateway.chat(&key, &body.to_string());
    assert_eq!(refused.error().2, "unscannable_content");
    check_told(&refused, "refused", "0", "a part that cannot be scanned");
    for words in ["owner", "allow_unscannable=on"] {
        assert!(refused.text().contains(words), "{}", refused.text());
    }
    for early in [
        gateway.chat("phg_no", &asked(false)),
        gateway.chat(&key, "{"),
    ] {
        for name in ["x-gateway-action", "x-gateway-phi-count", "server-timing"] {
            assert_eq!(early.header(name), None, "{name}: {}", early.status);
        }
    }
}

#[test]
fn outcome_has_time_that_phigate_added() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    provider.answer_next(Reply::Late(std::time::Duration::from_millis(700), None));
    let answer = ask_chat(&gateway, &key, SSN_TEXT);
    let records = gateway.records(&answer.request_id());
    let outcome = records
        .iter()
        .find(|one| one["record"] == "outcome")
        .unwrap();
    let (total, added) = (outcome["total_ms"].as_f64(), outcome["added_ms"].as_f64());
    assert!(
        total.unwrap() >= 700.0 && added.unwrap() < 600.0,
        "{outcome}"
    );
}

fn ask_chat(gateway: &Gateway, key: &str, text: &str) -> Answer {
    let messages = json!([{"role": "user", "content": text}]);
    gateway.chat(
        key,
        &json!({"model": "gpt-4o", "messages": messages}).to_string(),
    )
}

#[test]
fn refusal_for_phi_lists_places() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    gateway.set_mode("block");
    for (door, row) in doors().iter().enumerate() {
        let answer = ask(&gateway, &provider, &key, door, SSN_TEXT);
        let error = &answer.json()["error"];
        let found = error["findings"].as_array().unwrap();
        assert_eq!(found.len(), 1, "{}: {error}", row.0);
        assert_eq!(found[0]["type"], "ssn", "{}", row.0);
        let start = SSN_TEXT.find("536").unwrap() as u64;
        assert_eq!(found[0]["start"], start, "{}", row.0);
        assert_eq!(found[0]["end"], start + 11, "{}", row.0);
        assert!(found[0]["path"].is_string() && found[0]["rule"].is_string());
        assert_eq!(
            found[0].as_object().unwrap().len(),
            5,
            "no more than places"
        );
        assert!(!answer.text().contains("6-22"), "{}", row.0);
    }
    let many = ask_chat(&gateway, &key, &format!("{SSN_TEXT}\n").repeat(30));
    assert_eq!(many.header("x-gateway-phi-count"), Some("30"));
    assert_eq!(
        many.json()["error"]["findings"].as_array().unwrap().len(),
        20
    );
    gateway.command(&["provider", "set", "openai", "--phi", "never"]);
    gateway.set_mode("mask");
    let uncovered = ask_chat(&gateway, &key, SSN_TEXT);
    assert_eq!(uncovered.error().2, "provider_not_covered");
    assert_eq!(uncovered.json()["error"]["findings"][0]["type"], "ssn");
}

#[test]
fn key_reads_records_of_its_own_requests() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let (key, other) = (gateway.key(), gateway.key());
    let set = [
        "provider",
        "set",
        "openai",
        "--phi",
        "masked",
        "--agreement",
        "BAA 2026-114",
    ];
    gateway.command(&set);
    let ids: Vec<String> = [SSN_TEXT, CLEAN_TEXT]
        .iter()
        .map(|text| ask_chat(&gateway, &key, text).request_id())
        .collect();
    for (id, action) in ids.iter().zip(["masked", "forwarded"]) {
        let path = format!("/v1/requests/{id}");
        let answer = gateway.get(&path, &key);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let told = answer.json();
        let (decision, outcome) = (&told["decision"], &told["outcome"]);
        assert_eq!(decision["action"], action);
        assert_eq!(decision["phi"], "masked");
        assert_eq!(decision["agreement"], "BAA 2026-114");
        assert_eq!(outcome["status"], 200);
        assert_eq!(decision["sealed"], Value::Null);
        assert!(!answer.text().contains("536-22"), "no content");
        for (key, path) in [
            (other.as_str(), path.as_str()),
            (&key, "/v1/requests/01890000-0000-7000-8000-000000000000"),
            (&key, "/v1/requests/nonsense"),
        ] {
            let missing = gateway.get(path, key);
            assert_eq!(
                (missing.status, missing.error().2.as_str()),
                (404, "not_found")
            );
        }
        assert_eq!(gateway.get(&path, "phg_no").status, 401);
    }
    gateway.command(&["audit", "verify"]);
}

#[test]
fn further_attempt_records_its_own_agreement() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    let agreed = ["--phi", "masked", "--agreement", "BAA of the second"];
    gateway.command(&[&["provider", "set", "anthropic"][..], &agreed].concat());
    gateway.command(&["fallback", "set", "gpt-4o", "claude-opus-4-5"]);
    provider.answer_next(Reply::Json(503, "{}".into()));
    let answer = ask_chat(&gateway, &key, SSN_TEXT);
    assert_eq!(answer.header("x-gateway-attempts"), Some("2"));
    check_told(&answer, "masked", "1", "what the last provider got");
    let told = gateway
        .get(&format!("/v1/requests/{}", answer.request_id()), &key)
        .json();
    assert_eq!(told["decision"]["phi"], "allowed");
    assert_eq!(told["decision"]["agreement"], Value::Null);
    let attempt = &told["attempts"][0];
    assert_eq!(
        (&attempt["phi"], &attempt["agreement"]),
        (&json!("masked"), &json!("BAA of the second"))
    );
    let list = ["audit", "list", "--json", "--provider", "anthropic"];
    assert!(gateway.command(&list).contains(&answer.request_id()));
}

#[test]
fn erased_content_cannot_be_revealed() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    let id = ask_chat(&gateway, &key, SSN_TEXT).request_id();
    let reveal = ["audit", "reveal", &id, "--reason", "a test"];
    assert!(gateway.command(&reveal).contains("536-22"));
    let unexplained = gateway.try_command(&["audit", "erase", &id], "");
    assert_eq!(unexplained.status.code(), Some(2));
    let erase = ["audit", "erase", &id, "--reason", "asked by the patient"];
    gateway.command(&["settings", "set", "legal_hold=on"]);
    let held = gateway.try_command(&erase, "");
    assert_eq!(held.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&held.stderr).contains("legal hold"));
    gateway.command(&["settings", "set", "legal_hold=off", "--reason", "a test"]);
    gateway.command(&erase);
    let refused = gateway.try_command(&reveal, "");
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("was erased"));
    let shown = gateway.command(&["audit", "show", &id]);
    assert!(shown.contains("content.erase") && shown.contains("asked by the patient"));
    gateway.command(&["audit", "verify"]);
}
