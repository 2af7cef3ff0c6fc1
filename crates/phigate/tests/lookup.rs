//! Was this identifier ever sent? The answer is relied on after a breach, so it must not depend on how it is written.

use crate::support::{Gateway, Provider, ask};

#[test]
fn identifier_is_found_in_any_spelling() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    let sent = [
        "Patient Wei Zhang, date of birth 03/04/1961, has a cough.",
        "Please call John Q. Smith at 415-555-0134 about his results.",
        "MRN 00412345 was admitted. SSN 536-22-8741.",
        "The patient lives at 12 Elm Street, Springfield, IL 62704.",
    ];
    for text in sent {
        assert_eq!(gateway.chat(&key, &ask("gpt-4o", text)).status, 200);
    }
    for (option, typed) in [
        ("--dob", "03/04/1961"),
        ("--dob", "3/4/1961"),
        ("--dob", "1961-03-04"),
        ("--dob", "March 4, 1961"),
        ("--dob", "3 April 1961"),
        ("--phone", "4155550134"),
        ("--phone", "+1 415 555 0134"),
        ("--name", "Mr. Wei Zhang"),
        ("--name", "Zhang, Wei"),
        ("--name", "Smith, John"),
        ("--name", "John Smith"),
        ("--mrn", "412345"),
        ("--ssn", "536228741"),
        ("--address", "12 Elm St, Springfield IL 62704"),
        ("--address", "12 Elm Street"),
    ] {
        let found = gateway.command(&["audit", "find", option, typed, "--json"]);
        assert_eq!(found.lines().count(), 1, "{option} {typed}: {found}");
        let found: serde_json::Value = serde_json::from_str(&found).unwrap();
        assert_eq!(found["action"], "forwarded", "{option} {typed}");
    }
    let missing = gateway.try_command(&["audit", "find", "--ssn", "536-22-8742"], "");
    let told = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert_eq!(missing.status.code(), Some(0));
    assert!(
        told.contains("tried:") && told.contains("not covered:"),
        "{told}"
    );
    assert!(!told.contains("never"), "{told}");
    for (option, typed) in [("--ssn", "123"), ("--dob", "1961"), ("--phone", "555")] {
        let refused = gateway.try_command(&["audit", "find", option, typed], "");
        assert_eq!(refused.status.code(), Some(2), "{option} {typed}");
    }
}

#[test]
fn number_is_found_as_another_kind() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    let text = "MRN 4471902 was admitted. SSN 536-22-8741.";
    assert_eq!(gateway.chat(&key, &ask("gpt-4o", text)).status, 200);
    gateway.command(&["mode", "set", "block"]);
    assert_eq!(gateway.chat(&key, &ask("gpt-4o", text)).status, 403);
    let find = ["audit", "find", "--phone", "447-1902"];
    let found = gateway.try_command(&[&find[..], &["--json"]].concat(), "");
    let told = String::from_utf8_lossy(&found.stderr).into_owned();
    assert!(told.contains("found as MRN"), "{told}");
    let lines = String::from_utf8(found.stdout).unwrap();
    let hits = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let hits: Vec<serde_json::Value> = hits.collect();
    let shown: Vec<_> = hits
        .iter()
        .map(|hit| (&hit["action"], &hit["provider"]))
        .collect();
    let (blocked, forwarded) = ("blocked".into(), "forwarded".into());
    assert_eq!(
        shown,
        [
            (&blocked, &serde_json::Value::Null),
            (&forwarded, &"openai".into())
        ]
    );
    assert_eq!(hits[0]["found_as"][0], "mrn");
    let one = gateway.command(&[&find[..], &["--limit", "1"]].concat());
    assert!(one.starts_with("TIME") && one.lines().count() == 2, "{one}");
    let none = gateway.command(&[&find[..], &["--since", "2999-01-01"]].concat());
    assert_eq!(none, "");
}

#[test]
fn unsupported_paths_suggest_alternatives() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    for (path, words) in [
        ("/v1/responses/resp_1", "at /v1/responses"),
        ("/v1/messages/batches", "/v1/messages/count_tokens"),
        ("/v1/assistants", "/v1/chat/completions"),
        ("/v1/files", "/v1/chat/completions"),
        ("/chat/completions", "/v1"),
    ] {
        for answer in [gateway.post(path, "none", "{}"), gateway.get(path, "none")] {
            assert_eq!(answer.status, 404, "{path}");
            let error: serde_json::Value = serde_json::from_str(&answer.text()).unwrap();
            let error = &error["error"];
            assert_eq!(error["code"], "not_found");
            let message = error["message"].as_str().unwrap_or_default();
            assert!(message.contains(words), "{message}");
        }
    }
    let unknown = gateway.post("/v1/nothing", "none", "{}");
    assert_eq!(unknown.status, 404);
    assert!(provider.seen().is_empty());
}
