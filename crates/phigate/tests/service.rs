//! The detector as a service, by the real server: scans, LiteLLM's guardrail, Presidio's interface, and their records.

use crate::support::{Answer, CLEAN_TEXT, Gateway, Provider, SSN_TEXT, exchange};
use serde_json::{Value, json};

const GUARDRAIL: &str = "/beta/litellm_basic_guardrail_api";

/// The records of a request once it has both; clean ones are written a moment later.
fn records(gateway: &Gateway, answer: &Answer) -> Vec<Value> {
    for _ in 0..50 {
        let records = gateway.records(&answer.request_id());
        if records.len() > 1 {
            return records;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    gateway.records(&answer.request_id())
}

/// Posts JSON to another listener, without a key.
fn post(address: &str, path: &str, body: &Value) -> Answer {
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    exchange(address, &[head.as_bytes(), body.as_bytes()].concat())
}

fn get(address: &str, path: &str) -> Answer {
    let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    exchange(address, head.as_bytes())
}

#[test]
fn scan_records_no_content_and_forwards_nothing() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    for mode in ["flag", "block", "mask", "redact"] {
        gateway.set_mode(mode);
        let asked = json!({ "texts": [SSN_TEXT, CLEAN_TEXT], "action": "mask" });
        let answer = gateway.post("/v1/scan", &key, &asked.to_string());
        assert_eq!(
            (answer.status, answer.header("x-gateway-phi-types")),
            (200, Some("ssn"))
        );
        let results = &answer.json()["results"];
        assert_eq!(results[0]["text"], "My SSN is [SSN].");
        assert_eq!(results[1], json!({ "findings": [], "text": CLEAN_TEXT }));
        let records = records(&gateway, &answer);
        let words: Vec<&Value> = records.iter().map(|record| &record["record"]).collect();
        assert_eq!(words, ["decision", "outcome"], "{mode}");
        let decision = &records[0];
        assert_eq!(
            (&decision["action"], &decision["mode"]),
            (&json!("scanned"), &json!(mode))
        );
        assert_eq!(decision["types"], json!({ "ssn": 1 }));
        assert_eq!(decision["findings"][0]["path"], "texts[0]");
        assert_eq!(
            decision["detector_version"],
            answer.json()["detector_version"]
        );
        assert_eq!(records[1]["status"], 200);
        let revealed = gateway.try_command(
            &[
                "audit",
                "reveal",
                &answer.request_id(),
                "--reason",
                "a test",
            ],
            "",
        );
        assert!(!String::from_utf8_lossy(&revealed.stdout).contains("536-22-8741"));
    }
    // A scan discloses nothing, so it is not among the disclosures.
    let found = gateway.command(&["audit", "find", "--ssn", "536-22-8741", "--json"]);
    assert_eq!(found, "");
    assert!(provider.seen().is_empty());
    assert!(
        !gateway.is_on_disk(b"536-22-8741") && !gateway.logs.lock().unwrap().contains("536-22")
    );
    assert!(
        gateway
            .command(&["audit", "list", "--action", "scanned"])
            .contains("scanned")
    );
    gateway.command(&["audit", "verify"]);
}

#[test]
fn scans_are_refused_like_every_request() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    let refused = gateway.post(
        "/v1/scan",
        &key,
        r#"{"text":"a","texts":["My SSN is 536-22-8741."]}"#,
    );
    assert_eq!(
        refused.error(),
        (400, "invalid_request_error".into(), "invalid_value".into())
    );
    assert_eq!(refused.json()["error"]["param"], "texts");
    let decision = &records(&gateway, &refused)[0];
    assert_eq!(
        (&decision["action"], &decision["error_code"]),
        (&json!("refused"), &json!("invalid_value"))
    );
    let wrong = gateway.post("/v1/scan", "phg_abcdefghijkl_wrong", r#"{"text":"a"}"#);
    assert_eq!(wrong.error().2, "invalid_api_key");
    let unknown = post(&gateway.address, "/v1/scan", &json!({ "text": "a" }));
    assert_eq!(unknown.error().2, "missing_api_key");
    let method = gateway.get("/v1/scan", &key);
    assert_eq!(
        (method.error().2.as_str(), method.header("allow")),
        ("method_not_allowed", Some("POST"))
    );
}

#[test]
fn scan_over_time_limit_gets_no_result() {
    let provider = Provider::start();
    let gateway = Gateway::start_with(&provider, &[("PHIGATE_LIMITS_SCAN_MS", "10")]);
    let key = gateway.key();
    // Ten milliseconds are not enough for this; partial results are not returned.
    let text = "Patient Jane Roe, 12 Elm Street, SSN 536-22-8741. ".repeat(60_000);
    let answer = gateway.post("/v1/scan", &key, &json!({ "text": text }).to_string());
    assert_eq!(
        answer.error(),
        (503, "gateway_error".into(), "detector_unavailable".into())
    );
}

#[test]
fn litellm_is_answered_as_the_mode_says() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    let asked =
        json!({ "texts": [SSN_TEXT], "input_type": "request", "structured_messages": null })
            .to_string();
    for (mode, verdict) in [
        ("flag", json!({ "action": "NONE" })),
        (
            "mask",
            json!({ "action": "GUARDRAIL_INTERVENED", "texts": ["My SSN is [SSN]."] }),
        ),
        (
            "redact",
            json!({ "action": "GUARDRAIL_INTERVENED", "texts": ["My SSN is ."] }),
        ),
    ] {
        gateway.set_mode(mode);
        let answer = gateway.post(GUARDRAIL, &key, &asked);
        assert_eq!((answer.status, answer.json()), (200, verdict), "{mode}");
        assert_eq!(answer.header("x-gateway-phi-types"), Some("ssn"));
        assert_eq!(records(&gateway, &answer)[0]["action"], "scanned");
    }
    gateway.command(&["mode", "set", "block"]);
    let head = format!(
        "POST {GUARDRAIL} HTTP/1.1\r\nHost: {}\r\nX-Api-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        gateway.address,
        asked.len()
    );
    let answer = exchange(
        &gateway.address,
        &[head.as_bytes(), asked.as_bytes()].concat(),
    );
    assert_eq!(answer.json()["action"], "BLOCKED");
    assert!(
        answer.json()["blocked_reason"]
            .as_str()
            .unwrap()
            .contains("ssn")
    );
    assert!(provider.seen().is_empty());
}

#[test]
fn presidio_listener_serves_and_records() {
    let provider = Provider::start();
    let gateway = Gateway::start_with(&provider, &[("PHIGATE_PRESIDIO_LISTEN", "127.0.0.1:0")]);
    let address = gateway.logged_after("Presidio's interface on ");
    let address = address.trim_end_matches(',');
    let asked = json!({ "text": SSN_TEXT, "language": "en" });
    let found = post(address, "/analyze", &asked);
    assert_eq!(
        (found.status, &found.json()[0]["entity_type"]),
        (200, &json!("US_SSN"))
    );
    let changed = post(
        address,
        "/anonymize",
        &json!({ "text": SSN_TEXT, "analyzer_results": found.json() }),
    );
    assert_eq!(changed.json()["text"], "My SSN is <US_SSN>.");
    for answer in [&found, &changed] {
        let decision = &records(&gateway, answer)[0];
        assert_eq!(
            (&decision["action"], &decision["key_id"]),
            (&json!("scanned"), &json!("presidio"))
        );
        assert_eq!(decision["types"], json!({ "ssn": 1 }));
    }
    let hash = json!({ "DEFAULT": { "type": "hash", "salt": "0123456789abcdef" } });
    let hashed = post(
        address,
        "/anonymize",
        &json!({ "text": "abc", "anonymizers": hash, "analyzer_results": [{ "entity_type": "X", "start": 0, "end": 3, "score": 1 }] }),
    );
    // SHA-256 of "abc0123456789abcdef", as any other program gives it.
    let wanted = "a98e029ed029d04e9897394ec35a4f73ccbe4fc01b386f19835ee5cbca762360";
    assert_eq!(hashed.json()["text"], wanted);
    assert!(
        get(address, "/supportedentities?language=en")
            .text()
            .contains("US_MBI")
    );
    assert!(
        get(address, "/recognizers")
            .text()
            .contains("UsSsnRecognizer")
    );
    assert_eq!(get(address, "/health").status, 200);
    for refused in [
        post(address, "/analyze", &json!({ "text": SSN_TEXT })),
        post(address, "/v1/scan", &asked),
        get(address, "/analyze"),
        get(address, "/supportedentities?language=xx"),
    ] {
        assert!((400..500).contains(&refused.status));
        assert!(refused.json()["error"].is_string(), "{}", refused.text());
    }
    let key = gateway.key();
    assert_eq!(
        gateway.post("/analyze", &key, &asked.to_string()).status,
        404
    );
    assert!(!gateway.is_on_disk(b"536-22-8741"));
}

#[test]
fn presidio_refuses_plain_text_and_unknown_account() {
    let gateway = Gateway::offline();
    let serve = |options: &[&str]| {
        let common = [
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--metrics-listen",
            "off",
        ];
        let output = gateway.try_command(&[&common, options].concat(), "");
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let public = serve(&["--presidio-listen", "0.0.0.0:0"]);
    assert!(
        public.contains("presidio_listen") && public.contains("tls.cert"),
        "{public}"
    );
    let nobody = serve(&[
        "--presidio-listen",
        "127.0.0.1:0",
        "--presidio-account",
        "nobody",
    ]);
    assert!(nobody.contains("--presidio-account"), "{nobody}");
}
