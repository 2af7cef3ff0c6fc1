//! Kinds of PHI and profiles, end to end.

use crate::support::{Gateway, Provider, ask};
use serde_json::{Value, json};

const TEXT: &str =
    "NPI 1245319599 referred the patient. Her social security number is 536-22-8741.";
const REASON: [&str; 2] = ["--reason", "a test of kinds"];

/// The text that reached the provider.
fn sent(gateway: &Gateway, provider: &Provider, key: &str, text: &str) -> String {
    assert_eq!(gateway.chat(key, &ask("gpt-4o", text)).status, 200);
    let content = provider.last().json()["messages"][0]["content"].take();
    content.as_str().unwrap_or_default().to_owned()
}

fn profile(gateway: &Gateway) -> String {
    gateway.command(&["profile", "get"]).trim().to_owned()
}

fn on(gateway: &Gateway) -> Vec<String> {
    let listed = gateway.command(&["kind", "list", "--json"]);
    let rows: Vec<Value> = serde_json::from_str(&listed).unwrap();
    let on = rows.iter().filter(|row| row["on"] == true);
    on.map(|row| row["code"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn profile_binds_the_next_request() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    gateway.command(&["mode", "set", "mask"]);
    let sent = || sent(&gateway, &provider, &key, TEXT);
    let eight = TEXT.replace("536-22-8741", "[SSN]");
    let all = eight.replace("1245319599", "[NPI]");
    assert_eq!(
        (profile(&gateway).as_str(), sent()),
        ("eight", eight.clone())
    );
    gateway.command(&["profile", "set", "safe_harbor"]);
    assert_eq!(
        (profile(&gateway).as_str(), sent()),
        ("safe_harbor", all.clone())
    );
    gateway.command(&[&["kind", "set", "npi", "off"], &REASON[..]].concat());
    assert_eq!(
        (profile(&gateway).as_str(), sent()),
        ("custom", eight.clone())
    );
    gateway.command(&["kind", "set", "npi", "on"]);
    assert_eq!((profile(&gateway).as_str(), sent()), ("safe_harbor", all));
    gateway.command(&[&["profile", "set", "eight"], &REASON[..]].concat());
    assert_eq!((profile(&gateway).as_str(), sent()), ("eight", eight));
}

#[test]
fn less_detection_needs_a_reason() {
    let gateway = Gateway::offline();
    gateway.command(&["profile", "set", "safe_harbor"]);
    for command in [
        &["kind", "set", "ssn", "off"][..],
        &["kind", "set", "date", "off"],
        &["kind", "set", "date", "on", "--threshold", "1"],
        &["profile", "set", "eight"],
    ] {
        let refused = gateway.try_command(command, "");
        let told = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{command:?}");
        assert!(told.contains("--reason"), "{command:?}: {told}");
        assert_eq!(profile(&gateway), "safe_harbor");
    }
    gateway.command(&[&["kind", "set", "ssn", "off"], &REASON[..]].concat());
    gateway.command(&["kind", "set", "ssn", "on", "--threshold", "0.1"]);
    gateway.command(&[&["profile", "set", "eight"], &REASON[..]].concat());
    let trail = gateway.command(&["audit", "export"]);
    let acts: Vec<Value> = trail
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|act: &Value| {
            let act = act["act"].as_str().unwrap_or_default();
            act == "kind.set" || act == "profile.set"
        })
        .collect();
    let said = |at: usize| {
        let act = &acts[at];
        [&act["target"], &act["from"], &act["to"], &act["reason"]].map(Clone::clone)
    };
    let (none, reason) = (Value::Null, json!(REASON[1]));
    assert_eq!(
        said(0),
        [
            none.clone(),
            json!("eight"),
            json!("safe_harbor"),
            none.clone()
        ]
    );
    let before = json!("on, threshold 0.2, placeholder");
    assert_eq!(
        said(1),
        [json!("ssn"), before, json!("off"), reason.clone()]
    );
    assert_eq!(
        said(3),
        [none, json!("safe_harbor"), json!("eight"), reason]
    );
    let reduced = acts
        .iter()
        .map(|act| act["details"]["protection"] == "reduced");
    assert!(reduced.eq([false, true, false, true]), "{acts:?}");
    assert_eq!(acts.len(), 4);
    gateway.command(&["audit", "verify"]);
}

#[test]
fn wrong_kinds_and_profiles_are_refused() {
    let gateway = Gateway::offline();
    gateway.command(&["mode", "set", "mask"]);
    for (command, named) in [
        (&["profile", "set", "hipaa"][..], "hipaa"),
        (&["profile", "set", "SAFE_HARBOR"], "SAFE_HARBOR"),
        (&["profile", "set", "custom"], "custom"),
        (&["kind", "set", "zip", "on"], "zip"),
        (
            &["kind", "set", "date", "on", "--replace", "shift"],
            "shift",
        ),
        (
            &["kind", "set", "url", "on", "--replace", "generalize"],
            "url",
        ),
        (&["kind", "set", "date", "maybe"], "maybe"),
        (
            &["kind", "set", "date", "on", "--threshold", "1.5"],
            "threshold",
        ),
        (
            &["kind", "set", "date", "on", "--threshold", "NaN"],
            "threshold",
        ),
    ] {
        let refused = gateway.try_command(command, "");
        let told = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{command:?}");
        assert!(told.contains(named), "{command:?}: {told}");
    }
    assert_eq!(
        (profile(&gateway).as_str(), on(&gateway).len()),
        ("eight", 8)
    );
}

#[test]
fn threshold_and_policy_switch_the_same_kinds() {
    let gateway = Gateway::offline();
    gateway.command(&["settings", "set", "threshold_npi=0.5"]);
    gateway.command(&[&["policy", "set", "phone=off"], &REASON[..]].concat());
    let codes = on(&gateway);
    let has = |code: &str| codes.iter().any(|one| one == code);
    assert!(has("npi") && !has("phone"), "{codes:?}");
    gateway.command(&["kind", "set", "phone", "on"]);
    let shown = gateway.command(&["policy", "show"]);
    assert!(
        shown
            .lines()
            .any(|line| line.starts_with("phone") && line.contains("flag"))
    );
    let refused = gateway.try_command(&["policy", "set", "date=mask"], "");
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(told.contains("phigate kind set date on"), "{told}");
}

const BORN: &str =
    "The patient's date of birth is 03/14/1962, her social security number is 536-22-8741.";

#[test]
fn generalized_values_replace_placeholders_in_mask_mode() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    gateway.command(&["profile", "set", "safe_harbor", "--generalize"]);
    assert_eq!(profile(&gateway), "safe_harbor");
    let sent = |mode: &str, text: &str| {
        gateway.command(&[&["mode", "set", mode], &REASON[..]].concat());
        sent(&gateway, &provider, &key, text)
    };
    let redacted = BORN.replace("03/14/1962", "").replace("536-22-8741", "");
    let masked = BORN.replace("03/14/1962", "1962");
    let masked = masked.replace("536-22-8741", "[SSN]");
    assert_eq!(sent("flag", BORN), BORN);
    assert_eq!(sent("redact", BORN), redacted);
    assert_eq!(sent("mask", BORN), masked);
    assert_eq!(sent("mask", &masked), masked);
    let old = BORN.replace("1962", "1921");
    let hidden = old.replace("03/14/1921", "[DOB]");
    assert_eq!(sent("mask", &old), hidden.replace("536-22-8741", "[SSN]"));
    let answer = gateway.chat(&key, &ask("gpt-4o", BORN));
    let records = gateway.records(&answer.request_id());
    let decision = records.iter().find(|one| one["record"] == "decision");
    assert_eq!(decision.unwrap()["types"], json!({"ssn": 1, "dob": 1}));
    gateway.command(&["kind", "set", "dob", "on", "--replace", "placeholder"]);
    assert_eq!(sent("mask", BORN), masked.replace("is 1962", "is [DOB]"));
}

#[test]
fn generalized_value_gets_no_token() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    gateway.command(&["mode", "set", "mask"]);
    gateway.command(&["restore", "set", "on"]);
    gateway.command(&["kind", "set", "dob", "on", "--replace", "generalize"]);
    let sent = sent(&gateway, &provider, &key, BORN);
    assert!(
        sent.contains("birth is 1962,") && sent.contains("[SSN_"),
        "{sent}"
    );
}

#[test]
fn scan_service_takes_a_profile() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    let scan = |fields: Value| {
        let mut body = json!({"text": TEXT});
        let fields = fields.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(fields);
        gateway.post("/v1/scan", &key, &body.to_string())
    };
    let types = |fields: Value| {
        let answer = scan(fields);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.header("x-gateway-phi-types").unwrap().to_owned()
    };
    assert_eq!(types(json!({})), "ssn");
    assert_eq!(types(json!({"profile": "safe_harbor"})), "ssn,npi");
    gateway.command(&["profile", "set", "safe_harbor", "--generalize"]);
    assert_eq!(types(json!({"profile": null})), "ssn,npi");
    assert_eq!(types(json!({"profile": "eight"})), "ssn");
    for (wrong, code) in [
        (json!("hipaa"), "invalid_value"),
        (json!(""), "invalid_value"),
        (json!(8), "invalid_type"),
    ] {
        let error = scan(json!({"profile": wrong})).error();
        assert_eq!((error.0, error.2.as_str()), (400, code));
    }
    let masked = json!({"text": BORN, "action": "mask"}).to_string();
    let masked = gateway.post("/v1/scan", &key, &masked).json();
    let text = masked["results"][0]["text"].as_str().unwrap();
    assert!(text.contains("birth is 1962,"), "{text}");
    let told = gateway.try_command(&["doctor"], "").stdout;
    let told = String::from_utf8(told).unwrap();
    assert!(
        told.contains("ZIP table of") && told.contains("2020"),
        "{told}"
    );
}

#[test]
fn scan_command_takes_a_profile() {
    let gateway = Gateway::offline();
    let scan = |profile: &str| {
        let arguments = ["scan", "--mask", "--profile", profile];
        gateway.command_with_input(&arguments, TEXT)
    };
    let eight = TEXT.replace("536-22-8741", "[SSN]");
    assert_eq!(scan("eight"), eight);
    assert_eq!(scan("safe_harbor"), eight.replace("1245319599", "[NPI]"));
    let refused = gateway.try_command(&["scan", "--profile", "custom"], TEXT);
    assert_eq!(refused.status.code(), Some(2));
}
