//! Alerts: each a record, once per cause, subject and day, counted, and acknowledged by a person.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Gateway, Provider, ask};

const SSN: &str = "The SSN of the patient is 536-22-8741.";

/// The alerts in the trail with their subjects, once there are as many as expected.
fn alerts(gateway: &Gateway, expected: usize) -> Vec<(String, String)> {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let trail = gateway.command(&["audit", "export"]);
        let records = trail
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let text =
            |record: &Value, name: &str| record[name].as_str().unwrap_or_default().to_owned();
        let mut found: Vec<(String, String)> = records
            .filter(|record: &Value| record["record"] == "alert")
            .map(|record| (text(&record, "alert"), text(&record, "subject")))
            .collect();
        found.sort();
        if found.len() >= expected || Instant::now() > until {
            return found;
        }
        std::thread::sleep(Duration::from_millis(300));
    }
}

fn pair(alert: &str, subject: &str) -> (String, String) {
    (alert.to_owned(), subject.to_owned())
}

#[test]
fn reduced_protection_alerts_once_and_is_acknowledged() {
    let provider = Provider::start();
    let gateway = Gateway::start_counting(&provider);
    gateway.set_mode("mask");
    assert_eq!(alerts(&gateway, 0), []);
    for _ in 0..2 {
        gateway.command(&["mode", "set", "flag", "--reason", "a trial of alerts"]);
        gateway.set_mode("mask");
    }
    let reduced = [pair("protection_reduced", "mode.set")];
    assert_eq!(alerts(&gateway, 1), reduced);
    let until = Instant::now() + Duration::from_secs(30);
    let label = ["alert=\"protection_reduced\""];
    while gateway.counted("phigate_alerts_total", &label) == 0 {
        assert!(Instant::now() < until, "the alert is not counted");
        std::thread::sleep(Duration::from_millis(200));
    }
    let listed = gateway.command(&["alert", "list", "--json"]);
    assert!(listed.contains("\"subject\": \"mode.set\""), "{listed}");
    gateway.command(&[
        "alert",
        "acknowledge",
        "protection_reduced",
        "--reason",
        "as agreed",
    ]);
    assert_eq!(gateway.command(&["alert", "list"]), "");
    let all = gateway.command(&["alert", "list", "--all", "--json"]);
    assert!(all.contains("\"reason\": \"as agreed\""), "{all}");
    let again = gateway.try_command(&["alert", "acknowledge", "protection_reduced"], "");
    assert_eq!(again.status.code(), Some(2));
    assert!(gateway.command(&["audit", "verify"]).contains("intact"));
}

#[test]
fn requests_and_agreements_raise_their_alerts() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let (first, second) = (gateway.key(), gateway.key());
    let id = |key: &str| key.split('_').nth(1).unwrap().to_owned();
    for key in [&first, &second, &first] {
        assert_eq!(gateway.chat(key, &ask("gpt-4o", SSN)).status, 200);
    }
    gateway.set_mode("block");
    for _ in 0..20 {
        assert_eq!(gateway.chat(&first, &ask("gpt-4o", SSN)).status, 403);
    }
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(240);
    let soon = soon.strftime("%Y-%m-%d").to_string();
    let set = [
        "provider",
        "set",
        "openai",
        "--agreement",
        "BAA",
        "--agreement-expires",
        &soon,
    ];
    gateway.command(&set);
    let mut expected = vec![
        pair("agreement_ends", "openai"),
        pair("blocked_share", "requests"),
        pair("phi_new_key", &id(&first)),
        pair("phi_new_key", &id(&second)),
    ];
    expected.sort();
    assert_eq!(alerts(&gateway, 4), expected);
    let text = gateway.command(&["alert", "list", "--json"]);
    assert!(!text.contains("536-22-8741"), "{text}");
}
