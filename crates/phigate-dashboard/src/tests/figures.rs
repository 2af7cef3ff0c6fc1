//! Figures of the overview, compared with a count over the records of an export.

use std::collections::BTreeMap;

use phigate_store::{Filter, Outcome, Record};
use phigate_types::{Action, Mode};

use super::pages::as_owner;
use super::*;
use crate::view::{counted, grouped, percent};

/// Every action with and without PHI, under every mode, with the statuses that go with it.
async fn every_outcome(world: &World) {
    let mut more = 1;
    for mode in Mode::all() {
        for action in [Action::FORWARDED, mode.action, Action::REFUSED] {
            for phi in [true, false] {
                // Different numbers of each, so that no two counts agree by chance.
                for _ in 0..more {
                    one(world, mode, action, phi).await;
                }
                more = more % 3 + 1;
            }
        }
    }
}

async fn one(world: &World, mode: Mode, action: Action, phi: bool) {
    let request_id = Uuid::now_v7();
    let types = if phi {
        json!({"name": 2, "ssn": 1})
    } else {
        json!({})
    };
    let decision: Decision = serde_json::from_value(json!({
        "request_id": request_id, "time": jiff::Timestamp::now(), "account": "default",
        "key_id": world.key_id, "mode": mode, "action": action, "model": "gpt-4o", "family": "openai",
        "stream": false, "phi_detected": phi, "types": types, "findings": [], "unscannable": [],
        "sizes": {"body": 10, "text": 5}, "detector_version": "test"
    }))
    .unwrap();
    let account_id = world.owner.account_id.clone();
    let new = NewDecision {
        account_id: account_id.clone(),
        decision,
        original: None,
        sent: None,
        identifiers: Vec::new(),
        tokens: Vec::new(),
    };
    let trail = &world.vault.trail;
    trail
        .record_decision(new, Duration::from_secs(10))
        .await
        .unwrap();
    let (status, error) = match (action == Action::FORWARDED, phi) {
        (true, false) => (200, None),
        (true, true) => (502, Some("provider_error")),
        (false, true) => (403, Some("phi_blocked")),
        (false, false) => (400, Some("invalid_json")),
    };
    let outcome: Outcome = serde_json::from_value(json!({
        "request_id": request_id, "time": jiff::Timestamp::now(), "account": "default", "status": status,
        "key_id": world.key_id, "error_code": error,
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}, "total_ms": 16
    }))
    .unwrap();
    trail
        .record_outcome(&account_id, &outcome, Duration::from_secs(10))
        .await
        .unwrap();
}

/// Counts of the lines of an export.
#[derive(Default)]
struct Counts {
    requests: u64,
    with_phi: u64,
    tokens: u64,
    flagged: u64,
    by_action: BTreeMap<Action, u64>,
    failed: u64,
    answered: u64,
    total_ms: Vec<u64>,
    by_key: BTreeMap<String, (u64, u64)>,
    by_model: BTreeMap<String, (u64, u64)>,
    by_error: BTreeMap<String, u64>,
    by_type: BTreeMap<String, u64>,
}

async fn counts(world: &World) -> Counts {
    let mut counts = Counts::default();
    let trail = &world.vault.trail;
    let filter = Filter::default();
    let account = &world.owner.account_id;
    let mut export = trail.audit_export(account, &filter, "test").await.unwrap();
    while let Some(line) = export.next().await.unwrap() {
        match line.record {
            Some(Record::Decision(decision)) => {
                counts.requests += 1;
                *counts.by_action.entry(decision.action).or_default() += 1;
                let phi = u64::from(decision.phi_detected);
                let of_key = counts.by_key.entry(decision.key_id).or_default();
                *of_key = (of_key.0 + phi, of_key.1 + 1);
                let model = decision.model.unwrap_or_default();
                let of_model = counts.by_model.entry(model).or_default();
                *of_model = (of_model.0 + phi, of_model.1 + 1);
                counts.with_phi += u64::from(decision.phi_detected);
                let went_on = decision.action == Action::FORWARDED;
                counts.flagged += u64::from(decision.phi_detected && went_on);
                for kind in decision.types.into_keys() {
                    *counts.by_type.entry(kind).or_default() += 1;
                }
            }
            Some(Record::Outcome(outcome)) => {
                counts.tokens += outcome.usage.map_or(0, |usage| usage.total_tokens);
                counts.answered += 1;
                counts.failed += u64::from(outcome.status.is_some_and(|status| status >= 500));
                counts.total_ms.extend(outcome.total_ms);
                if let Some(code) = outcome.error_code {
                    *counts.by_error.entry(code.to_string()).or_default() += 1;
                }
            }
            _ => {}
        }
    }
    counts
}

#[tokio::test]
async fn every_overview_figure_counts_log_records() {
    let world = World::new().await;
    every_outcome(&world).await;
    let counts = counts(&world).await;
    let done = |action: Action| counts.by_action.get(&action).copied().unwrap_or(0);
    let forwarded = done(Action::FORWARDED);
    let (_, page) = as_owner(&world, Method::GET, "/", "").await;
    let page = page.replace("&#38;", "&");
    let mut expected = vec![
        value(
            "Requests",
            &grouped(counts.requests),
            &counted(counts.tokens, "token"),
        ),
        value(
            "With PHI",
            &percent(counts.with_phi, counts.requests),
            &counted(counts.with_phi, "request"),
        ),
        value(
            "Blocked",
            &grouped(done(Action::BLOCKED)),
            &format!(
                "{} refused for other reasons",
                grouped(done(Action::REFUSED))
            ),
        ),
        value(
            "Failed",
            &grouped(counts.failed),
            &format!(
                "{} of answers were 5xx",
                percent(counts.failed, counts.answered)
            ),
        ),
        // Every answer took the same, to about the nine per cent that the counters know.
        value("Latency, median", "16 ms", "p95 16 ms, p99 16 ms"),
        format!("{} requests in the last 24 hours", counts.requests),
        format!("PHI was found in {}.", counts.with_phi),
        format!(
            "{} requests with PHI were forwarded unchanged",
            counts.flagged
        ),
        // The chart says its totals to people who cannot see it.
        format!("{} No PHI, ", forwarded - counts.flagged),
        format!("{} PHI, forwarded", counts.flagged),
    ];
    for action in Action::all().filter(|action| *action != Action::FORWARDED) {
        expected.push(format!("{} {}", done(action), action.label()));
    }
    assert!(counts.total_ms.iter().all(|ms| *ms == 16));
    assert_eq!(counts.by_key.len(), 1);
    for (phi, all) in counts.by_key.values() {
        expected.push(bar(&page, "intake", &format!("{phi} of {all}")));
    }
    for (model, (phi, all)) in &counts.by_model {
        expected.push(bar(&page, model, &format!("{phi} of {all}")));
    }
    for (code, count) in &counts.by_error {
        expected.push(bar(&page, code, &count.to_string()));
    }
    for (code, count) in &counts.by_type {
        let kind = phi_detect::PhiKind::from_code(code).unwrap();
        expected.push(bar(&page, kind.label(), &count.to_string()));
    }
    for words in expected {
        assert!(page.contains(&words), "not on the page: {words}");
    }
}

fn value(label: &str, value: &str, note: &str) -> String {
    format!(
        "<span class=\"label\">{label}</span><span class=\"value\">{value}</span><span class=\"note\">{note}</span>"
    )
}

/// The end of the row with this label, with the count that it should have.
fn bar(page: &str, label: &str, count: &str) -> String {
    let row = page
        .split("<dt>")
        .find(|row| row.contains(&format!(">{label}</a>")));
    let row = row.unwrap_or_else(|| panic!("no bar {label}"));
    let end = row.split("<dd class=\"num\">").nth(1).unwrap_or_default();
    let shown = end.split('<').next().unwrap_or_default();
    assert_eq!(shown, count, "{label}");
    format!(">{label}</a>")
}
