//! Recognizers, end to end: kinds that an account defines are kinds like all others.

use crate::support::{Answer, Gateway, Provider, ask};
use serde_json::{Value, json};

const STUDY: &str = r#"
code = "x_study"
label = "Study id"
pattern = 'ZKP-\d{4}'
found = ["sample ZKP-1001"]
not_found = ["sample ZKP-1"]
"#;
const TEXT: &str = "The sample ZKP-4471 was filed with SSN 536-22-8741 today.";
const REASON: &[&str] = &["--reason", "a test of recognizers"];

/// A gateway with the recognizer, and the path of its definition.
fn site(provider: &Provider) -> (Gateway, String) {
    let gateway = Gateway::start(provider);
    let file = gateway.data().with_extension("toml");
    std::fs::write(&file, STUDY).unwrap();
    let file = file.to_str().unwrap().to_owned();
    gateway.command(&["recognizer", "add", &file]);
    (gateway, file)
}

fn sent(provider: &Provider) -> String {
    let content = provider.last().json()["messages"][0]["content"].take();
    content.as_str().unwrap_or_default().to_owned()
}

fn decision(gateway: &Gateway, answer: &Answer) -> Value {
    let records = gateway.records(&answer.request_id());
    let mut decisions = records.into_iter();
    let is_decision = |record: &Value| record["record"] == "decision";
    decisions.find(is_decision).unwrap_or_default()
}

#[test]
fn own_kind_is_masked_recorded_and_filtered() {
    let provider = Provider::start();
    let (gateway, _) = site(&provider);
    let key = gateway.key();
    gateway.set_mode("mask");
    let answer = gateway.chat(&key, &ask("gpt-4o", TEXT));
    let masked = "The sample [X_STUDY] was filed with SSN [SSN] today.";
    assert_eq!(sent(&provider), masked);
    assert_eq!(answer.header("x-gateway-phi-types"), Some("ssn,x_study"));
    let decision = decision(&gateway, &answer);
    assert_eq!(decision["types"], json!({"ssn": 1, "x_study": 1}));
    assert_eq!(decision["findings"][0]["rule"], "recognizer");
    let listed = gateway.command(&["audit", "list", "--type", "x_study"]);
    assert!(listed.contains("ssn,x_study"), "{listed}");
    gateway.chat(&key, &ask("gpt-4o", masked));
    assert_eq!(sent(&provider), masked);
}

#[test]
fn own_kind_has_words_at_every_level() {
    let provider = Provider::start();
    let (gateway, _) = site(&provider);
    let key = gateway.key();
    let chat = || gateway.chat(&key, &ask("gpt-4o", TEXT));
    gateway.command(&["policy", "set", "x_study=redact", "--key", &key[4..16]]);
    chat();
    assert_eq!(sent(&provider), TEXT.replace("ZKP-4471", ""));
    let table = gateway.get("/v1/policy", &key).json();
    let rows = table["policy"].as_array().unwrap();
    let wanted =
        json!({"kind": "x_study", "action": "redact", "by": format!("key:{}", &key[4..16])});
    assert_eq!(rows.last(), Some(&wanted));
    gateway.command(&[&["policy", "set", "x_study=off"], REASON].concat());
    chat();
    assert_eq!(sent(&provider), TEXT);
    gateway.command(&[&["recognizer", "remove", "x_study"], REASON].concat());
    let shown = gateway.command(&["policy", "show", "--json"]);
    assert!(!shown.contains("x_study"), "{shown}");
    let refused = gateway.try_command(&["policy", "set", "x_study=mask"], "");
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn own_kind_is_found_by_the_services() {
    let provider = Provider::start();
    let (gateway, _) = site(&provider);
    let key = gateway.key();
    let body = json!({"json": {"a": [{"id": "ZKP-4471"}], "zkp": 12}, "action": "mask"});
    let answer = gateway.post("/v1/scan", &key, &body.to_string()).json();
    let result = &answer["results"][0];
    assert_eq!(result["findings"][0]["path"], "a[0].id");
    assert_eq!(result["json"]["a"][0]["id"], "[X_STUDY]");
}

#[test]
fn wrong_definition_changes_nothing() {
    let provider = Provider::start();
    let (gateway, file) = site(&provider);
    for (wrong, named) in [
        (STUDY.replace(r"ZKP-\d{4}", "("), "pattern"),
        (STUDY.replace("ZKP-1001", "ZKP"), "found"),
        (format!("{STUDY}\naction = \"mask\""), "action"),
        (format!("{STUDY}\n[[["), "line"),
    ] {
        std::fs::write(&file, wrong).unwrap();
        let refused = gateway.try_command(&["recognizer", "add", &file], "");
        let words = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{words}");
        assert!(words.contains(named) && !words.contains("ZKP"), "{words}");
    }
    let listed = gateway.command(&["recognizer", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed[0]["found"], json!(["sample ZKP-1001"]));
    std::fs::write(&file, STUDY).unwrap();
    let again = gateway.try_command(&["recognizer", "add", &file], "");
    let words = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(
        again.status.code() == Some(2) && words.contains("--reason"),
        "{words}"
    );
    let removed = gateway.try_command(&["recognizer", "remove", "x_study"], "");
    assert_eq!(removed.status.code(), Some(2));
    std::fs::remove_file(&file).unwrap();
    assert!(
        !gateway.is_on_disk(b"ZKP-1001"),
        "a definition is not sealed"
    );
}
