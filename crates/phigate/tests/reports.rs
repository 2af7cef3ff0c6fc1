//! Reports equal what was sent, say who received it, and are found out when they were changed.

use serde_json::Value;

use crate::support::{Gateway, Provider, ask};

const SSN: &str = "536-22-8741";

/// Sends this many requests with the number, and returns their ids.
fn send(gateway: &Gateway, key: &str, count: usize) -> Vec<String> {
    let text = format!("The SSN of the patient is {SSN}.");
    let sent = (0..count).map(|_| gateway.chat(key, &ask("gpt-4o", &text)).request_id());
    sent.collect()
}

fn report(gateway: &Gateway, words: &[&str], input: &str) -> String {
    let words = [&["report"], words].concat();
    gateway.command_with_input(&words, input)
}

fn json(gateway: &Gateway, words: &[&str], input: &str) -> Value {
    let text = report(gateway, &[words, &["--format", "json"]].concat(), input);
    serde_json::from_str(&text).unwrap()
}

const EVER: &[&str] = &["incident", "--since", "2020-01-01", "--until", "2100-01-01"];

#[test]
fn report_figures_equal_requests_sent() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    let flagged = send(&gateway, &key, 3);
    gateway.set_mode("mask");
    let masked = send(&gateway, &key, 2);
    gateway.set_mode("block");
    let blocked = send(&gateway, &key, 4);
    gateway.chat(&key, &ask("gpt-4o", "The weather is fine."));
    let month = jiff::Timestamp::now().strftime("%Y-%m").to_string();
    for words in [EVER, &["monthly", "--month", &month]] {
        let told = json(&gateway, words, "");
        assert_eq!(told["requests"], 10, "{words:?}");
        assert_eq!(told["with_phi"], 9);
        assert_eq!(told["phi_as_it_was"], 3);
        let actions = serde_json::json!({"forwarded": 4, "masked": 2, "blocked": 4});
        assert_eq!(told["actions"], actions);
        assert_eq!(told["types"], serde_json::json!({"ssn": 9}));
        let openai = serde_json::json!({"requests": 6, "with_phi": 5, "phi_as_it_was": 3});
        assert_eq!(told["by_provider"]["openai"], openai);
        let keys = told["by_key"].as_object().unwrap();
        assert_eq!(keys.values().next().unwrap()["requests"], 10);
    }
    let told = json(&gateway, &["disclosures", "--ssn", "-"], "536 22 8741\n");
    let ids = |list: &str| {
        let rows = told[list].as_array().unwrap().iter();
        let ids = rows.map(|row| row["request_id"].as_str().unwrap().to_owned());
        ids.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(ids("disclosures"), flagged.into_iter().collect());
    assert_eq!(ids("withheld"), masked.into_iter().chain(blocked).collect());
    assert_eq!(told["disclosures"][0]["recipient"], "openai");
    let text = told.to_string();
    assert!(
        text.contains("ending in 8741") && !text.contains("536"),
        "{text}"
    );
}

#[test]
fn kind_that_policy_only_flags_is_disclosed() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = gateway.key();
    gateway.command(&["policy", "set", "ssn=mask"]);
    let text = format!("SSN {SSN}, MRN 4471902 was admitted.");
    assert_eq!(gateway.chat(&key, &ask("gpt-4o", &text)).status, 200);
    let mrn = json(&gateway, &["disclosures", "--mrn", "-"], "4471902");
    assert_eq!(
        (&mrn["disclosed"], &mrn["not_disclosed"]),
        (&1.into(), &0.into())
    );
    let ssn = json(&gateway, &["disclosures", "--ssn", "-"], SSN);
    assert_eq!(
        (&ssn["disclosed"], &ssn["not_disclosed"]),
        (&0.into(), &1.into())
    );
    assert_eq!(json(&gateway, EVER, "")["phi_as_it_was"], 1);
}

#[test]
fn report_is_signed_and_change_is_found() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    send(&gateway, &gateway.key(), 1);
    gateway.command(&[
        "settings",
        "set",
        "letterhead=St. Mary Hospital; Privacy Office",
    ]);
    let public = gateway.command(&["audit", "public-key"]);
    let file = gateway.data().join("report");
    let path = file.to_str().unwrap();
    for format in ["html", "json", "csv"] {
        let words = ["controls", "--reference", "Case 17", "--format", format];
        let text = report(&gateway, &words, "");
        for words in ["St. Mary Hospital", "Case 17", "letterhead"] {
            assert!(text.contains(words), "{format}: {words}");
        }
        std::fs::write(&file, &text).unwrap();
        let verify = ["report", "verify", path];
        let offline = [
            &verify[..],
            &["--public-key", public.trim(), "--data", "/none"],
        ]
        .concat();
        for verify in [&verify[..], &offline] {
            let verdict = gateway.try_command(verify, "");
            assert_eq!(verdict.status.code(), Some(0), "{format}");
        }
        std::fs::write(&file, text.replacen("Case 17", "Case 18", 1)).unwrap();
        let verdict = gateway.try_command(&verify, "");
        assert_eq!(verdict.status.code(), Some(1), "{format}");
    }
    let missing = gateway.try_command(&["report", "verify", "/no/such/file"], "");
    assert_eq!(missing.status.code(), Some(2));
    let acts = gateway.command(&["audit", "export"]);
    let made = acts.lines().filter(|line| line.contains("\"report.make\""));
    assert_eq!(made.count(), 3);
    assert!(!acts.contains("Case 17"));
}

#[test]
fn misleading_report_is_refused() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    for (words, input, told) in [
        (
            &["incident", "--since", "2024-02-01", "--until", "2024-01-01"][..],
            "",
            "before",
        ),
        (&[EVER, &["--provider", "no-such"]].concat(), "", "provider"),
        (&[EVER, &["--key", "abcdefghijkl"]].concat(), "", "key"),
        (&["monthly", "--month", "2190-01"], "", "--month"),
        (&["monthly", "--month", "2024-13"], "", "--month"),
        (&["disclosures", "--ssn", SSN], "", "standard input"),
        (&["disclosures", "--ssn", "-"], "hello", "nine digits"),
        (&["disclosures"], "", "--ssn"),
        (&["controls", "--reference", ""], "", "reference"),
    ] {
        let refused = gateway.try_command(&[&["report"], words].concat(), input);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{words:?}");
        assert!(said.contains(told), "{words:?}: {said}");
    }
}
