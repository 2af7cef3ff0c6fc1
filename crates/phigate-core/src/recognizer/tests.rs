//! Definitions that are accepted and refused, and what recognizers find.

use phi_detect::{Extra, FindsExtra};
use serde_json::{Map, Value, json};

use super::*;

fn fields() -> Map<String, Value> {
    let fields = json!({
        "code": "x_trial",
        "label": "Trial subject",
        "pattern": r"QXT-\d{5}",
        "found": ["QXT-10001"],
        "not_found": ["QXT-204"],
    });
    fields.as_object().unwrap().clone()
}

/// The base definition with some fields replaced, or removed by `null`.
fn with(changes: &Value) -> Result<Recognizer, WrongDefinition> {
    let mut fields = fields();
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => fields.remove(name),
            value => fields.insert(name.clone(), value.clone()),
        };
    }
    Recognizer::new(Definition::read(&fields)?)
}

fn found(recognizer: Recognizer, field: Option<&str>, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let recognizers = Recognizers::new(vec![recognizer]);
    recognizers.find(field, text, &|| true, &mut |extra: Extra| {
        found.push(text[extra.span].to_owned());
    });
    found
}

#[test]
fn pattern_finds_its_values() {
    let text = "Files QXT-20417 and QXT-99001, QXT-204, and [X_TRIAL].";
    assert_eq!(
        found(with(&json!({})).unwrap(), None, text),
        ["QXT-20417", "QXT-99001"]
    );
}

#[test]
fn words_are_found_whole() {
    let words = json!({
        "pattern": null,
        "words": ["Kestrel", "Kestrel Lantern", "Ångström", "#12"],
        "found": ["the kestrel unit"],
        "not_found": ["the Kestrels unit"],
    });
    let text = "KESTREL, kestrel\nlantern, Kestrelson, aKestrel, ångström, #12";
    let wanted = ["KESTREL", "kestrel\nlantern", "ångström", "#12"];
    assert_eq!(found(with(&words).unwrap(), None, text), wanted);
}

#[test]
fn required_label_comes_before_the_value() {
    let labelled = || {
        with(&json!({
            "labels": ["trial subject"],
            "require_label": true,
            "found": ["trial subject QXT-20417"],
            "not_found": ["part QXT-20417", "QXT-20417 trial subject"],
        }))
        .unwrap()
    };
    assert!(found(labelled(), None, "part QXT-20417").is_empty());
    assert_eq!(
        found(labelled(), Some("trialSubject"), "QXT-20417").len(),
        1
    );
    assert_eq!(
        found(labelled(), None, r#"{"trial_subject": "QXT-20417"}"#).len(),
        1
    );
    let far = format!("trial subject {} QXT-20417", "x ".repeat(80));
    assert!(found(labelled(), None, &far).is_empty());
}

#[test]
fn check_digit_must_be_right() {
    let luhn = json!({
        "pattern": r"\d{11}",
        "check": "luhn",
        "found": ["79927398713"],
        "not_found": ["79927398710"],
    });
    let text = "Badges 79927398713 and 79927398714.";
    assert_eq!(found(with(&luhn).unwrap(), None, text), ["79927398713"]);
}

#[test]
fn placeholders_and_tokens_are_not_found() {
    let any = json!({ "pattern": "X_TRIAL|QXT|7K3QD", "not_found": ["QX"] });
    let text = "[X_TRIAL] [X_TRIAL_7K3QD] [SSN_7K3QD] [QXT] X_TRIAL";
    assert_eq!(found(with(&any).unwrap(), None, text), ["QXT", "X_TRIAL"]);
}

#[test]
fn wrong_definitions_name_the_field() {
    let long = |length: usize| r"QXT-\d{5}|".to_owned() + &"W".repeat(length - 10);
    assert!(with(&json!({ "pattern": long(500) })).is_ok());
    for (changes, field) in [
        (json!({ "pattern": long(501) }), "pattern"),
        (json!({ "pattern": null }), "pattern"),
        (json!({ "pattern": "" }), "pattern"),
        (json!({ "words": ["QXT-20417"] }), "pattern"),
        (json!({ "pattern": r"QXT-(\d{5}" }), "pattern"),
        (json!({ "pattern": r"QXT-(\d)\1{4}" }), "pattern"),
        (json!({ "pattern": r"QXT-\d{5}(?!\d)" }), "pattern"),
        (json!({ "pattern": r"QXT-(?:\w{1,1000}){1000}" }), "pattern"),
        (json!({ "pattern": r"(?:QXT-\d{5})?" }), "pattern"),
        (json!({ "pattern": r"[QXT\d-]*" }), "pattern"),
        (json!({ "pattern": r"QXT-\d{5}|" }), "pattern"),
        (json!({ "pattern": r"\b" }), "pattern"),
        (json!({ "pattern": r"[a&&b]" }), "pattern"),
        (json!({ "pattern": r"(?s).+" }), "pattern"),
        (json!({ "pattern": r"[\s\S]" }), "pattern"),
        (json!({ "pattern": r"\S+" }), "pattern"),
        (json!({ "pattern": null, "words": [] }), "words"),
        (json!({ "pattern": null, "words": ["QXT", ""] }), "words"),
        (json!({ "check": "crc32" }), "check"),
        (json!({ "code": null }), "code"),
        (json!({ "code": "ssn" }), "code"),
        (json!({ "code": "x_" }), "code"),
        (json!({ "code": 3 }), "code"),
        (json!({ "label": " " }), "label"),
        (json!({ "labels": "trial" }), "labels"),
        (json!({ "require_label": true }), "require_label"),
        (json!({ "require_label": "yes" }), "require_label"),
        (json!({ "found": null }), "found"),
        (json!({ "found": [] }), "found"),
        (json!({ "found": "QXT-10001" }), "found"),
        (json!({ "found": ["QXT-10001", "nothing"] }), "found"),
        (json!({ "not_found": ["see QXT-11111 there"] }), "not_found"),
        (json!({ "not_found": null }), "not_found"),
        (json!({ "action": "mask" }), "field"),
    ] {
        let error = with(&changes).unwrap_err();
        assert_eq!(error.field, field, "{changes}: {error}");
        assert!(!error.to_string().contains("QXT"), "{error}");
    }
}

#[test]
fn stored_definition_is_read_back() {
    for changes in [
        json!({ "labels": ["trial"], "require_label": true, "found": ["trial QXT-20417"] }),
        json!({ "pattern": null, "words": ["QXT-10001"] }),
    ] {
        let fields = with(&changes).unwrap().definition().fields();
        let again = Definition::read(fields.as_object().unwrap()).unwrap();
        assert_eq!(again.fields(), fields);
        assert!(!format!("{again:?}").contains("QXT"));
    }
}
