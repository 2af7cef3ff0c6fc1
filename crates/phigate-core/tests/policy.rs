//! Requests under policies that treat kinds differently.

use phi_detect::Detector;
use phigate_core::doors::CHAT;
use phigate_core::egress;
use phigate_core::protect::{self, AllowList, Outcome, Policy, Scanned, Scanner};
use phigate_core::request::{Request, RequestLimits};
use phigate_core::wire::{Site, format_for_model};
use phigate_types::{Action, Levels, Mode, Named, ProviderKind, Word};
use serde_json::json;

const TEXT: &str = "The patient's name is Maria Delgado. Her social security number is 536-22-8741. Call 206-555-0142 or write to maria.delgado@examplehealth.org today.";

fn scanner() -> Scanner {
    Scanner::new(Detector::default())
}

fn scanned(text: &str) -> Scanned {
    let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": text}]});
    let body = body.to_string().into_bytes();
    let request = Request::read(CHAT.form, body, &RequestLimits::default()).unwrap();
    protect::scan(&scanner(), request)
}

/// Words of the account (`ssn=block,name=mask`) over a mode.
fn levels(mode: Mode, words: &str) -> Levels {
    let words = words.split(',').filter_map(|word| word.split_once('='));
    let words = words.map(|(kind, word)| (kind.into(), word.parse::<Word>().unwrap()));
    Levels {
        mode,
        account: words.collect(),
        ..Levels::default()
    }
}

fn policy(mode: Mode, words: &str) -> Policy {
    Policy::of_levels(levels(mode, words))
}

fn outcome(policy: &Policy, text: &str) -> Outcome {
    protect::apply(policy, &scanner(), scanned(text))
}

/// The text and the action of a request that may leave.
fn sent(policy: &Policy, text: &str) -> (String, Action) {
    let Outcome::Forward(clean) = outcome(policy, text) else {
        panic!("not forwarded");
    };
    let body: serde_json::Value =
        serde_json::from_str(clean.request().document().expose()).unwrap();
    let content = body["messages"][0]["content"].as_str().unwrap();
    (content.to_owned(), clean.action())
}

#[test]
fn each_finding_gets_its_own_action() {
    let mixed = policy(Mode::FLAG, "name=mask,ssn=redact,email=mask");
    let wanted = TEXT
        .replace("Maria Delgado", "[NAME]")
        .replace("536-22-8741", "")
        .replace("maria.delgado@examplehealth.org", "[EMAIL]");
    assert_eq!(sent(&mixed, TEXT), (wanted, Action::REDACTED));
    let flagged = policy(Mode::MASK, "name=flag,ssn=flag,phone=flag,email=flag");
    assert_eq!(sent(&flagged, TEXT), (TEXT.to_owned(), Action::FORWARDED));
}

#[test]
fn flagged_value_stays_beside_masked_value() {
    let text = "Her social security number is 536-22-8741. Call 206-555-0142 soon.";
    let policy = policy(Mode::FLAG, "ssn=mask");
    let wanted = text.replace("536-22-8741", "[SSN]");
    assert_eq!(sent(&policy, text), (wanted, Action::MASKED));
}

#[test]
fn one_blocked_kind_refuses_the_request() {
    let policy = policy(Mode::MASK, "email=block");
    assert!(matches!(outcome(&policy, TEXT), Outcome::Block(_)));
    let clean = "Call 206-555-0142 in the morning.";
    let masked = clean.replace("206-555-0142", "[PHONE]");
    assert_eq!(sent(&policy, clean), (masked, Action::MASKED));
}

#[test]
fn every_level_below_the_account_tightens() {
    let base = || levels(Mode::FLAG, "");
    let named = |words: &str| Named {
        name: "n".into(),
        words: [(words.into(), Mode::MASK)].into(),
    };
    let (mut group, mut key) = (base(), base());
    group.group = Some(named("ssn"));
    key.key = Some(named("ssn"));
    let plain = || Policy::uniform(Mode::FLAG);
    for policy in [
        Policy::of_levels(group),
        Policy::of_levels(key),
        plain().at_provider("openai", Some(Mode::MASK)),
        plain().on_request(Some(Mode::MASK)),
    ] {
        let (text, action) = sent(&policy, TEXT);
        assert!(text.contains("[SSN]") && action == Action::MASKED, "{text}");
    }
}

#[test]
fn report_names_action_and_level() {
    let policy = policy(Mode::FLAG, "ssn=redact").at_provider("eu", Some(Mode::MASK));
    let scanned = scanned(TEXT);
    let ruled = scanned.report().ruled(&policy);
    let of = |kind: &str| {
        let found = ruled.iter().find(|finding| finding.kind == kind).unwrap();
        let by = found.by.as_deref().unwrap_or_default();
        (found.action.map(Mode::code), by.to_owned())
    };
    assert_eq!(of("ssn"), (Some("redact"), "account".to_owned()));
    assert_eq!(of("name"), (Some("mask"), "provider:eu".to_owned()));
}

#[test]
fn unscannable_part_needs_all_kinds_flagged() {
    let body = r#"{"model":"gpt-4o","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x.example/a.png"}}]}]}"#;
    let outcome = |policy: &Policy| {
        let request = Request::read(CHAT.form, body.into(), &RequestLimits::default()).unwrap();
        protect::apply(policy, &scanner(), protect::scan(&scanner(), request))
    };
    let one_masked = policy(Mode::FLAG, "ssn=mask");
    assert!(matches!(outcome(&one_masked), Outcome::Refuse(..)));
    let allowed = one_masked.allowing_unscannable(true);
    assert!(matches!(outcome(&allowed), Outcome::Forward(_)));
    let all_flagged = policy(Mode::FLAG, "ssn=off,name=flag");
    assert!(matches!(outcome(&all_flagged), Outcome::Forward(_)));
}

#[test]
fn translated_request_keeps_flagged_findings() {
    let mixed = policy(Mode::FLAG, "ssn=mask");
    let Outcome::Forward(clean) = outcome(&mixed, TEXT) else {
        panic!("not forwarded");
    };
    let model = "claude-3-5-sonnet-20241022";
    let format = format_for_model(model).unwrap();
    let site = Site::new(ProviderKind::Anthropic, model);
    let request = format.write_request(&clean, &site, &|user| user.to_owned());
    let cleared = egress::clear(&scanner(), request.unwrap()).unwrap();
    let body = String::from_utf8_lossy(cleared.body()).into_owned();
    assert!(
        body.contains("[SSN]") && body.contains("206-555-0142"),
        "{body}"
    );
}

/// A scanner of an account that allows these values, as `kind:form`.
fn allowing(values: &'static [&'static str]) -> Scanner {
    let lookup = move |kind: &str, form: &str| {
        let at = values
            .iter()
            .position(|one| *one == format!("{kind}:{form}"));
        at.map(|at| format!("entry{at}").into())
    };
    scanner().with_allowed(Some(AllowList::new(lookup)))
}

/// The text of a request in an account that allows values, and its findings and allowed values by kind.
fn treated(scanner: &Scanner, policy: &Policy, text: &str) -> (String, String) {
    let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": text}]});
    let body = body.to_string().into_bytes();
    let request = Request::read(CHAT.form, body, &RequestLimits::default()).unwrap();
    let scanned = protect::scan(scanner, request);
    let counts = |counts: Vec<(phi_detect::PhiKind, usize)>| {
        let counts = counts
            .iter()
            .map(|(kind, count)| format!("{} {count}", kind.code()));
        counts.collect::<Vec<_>>().join(",")
    };
    let report = scanned.report();
    let said = format!(
        "{}; {}",
        counts(report.counts().collect()),
        counts(report.allowed().collect())
    );
    let Outcome::Forward(clean) = protect::apply(policy, scanner, scanned) else {
        return ("blocked".to_owned(), said);
    };
    let sent = clean.request().document();
    let content = sent
        .root()
        .get("messages")
        .unwrap()
        .values()
        .next()
        .unwrap();
    let content = content.get("content").unwrap().string().unwrap();
    (content.into_owned(), said)
}

#[test]
fn allowed_value_is_no_finding() {
    let scanner = allowing(&[
        "email:*@stmary.example",
        "name:maria delgado",
        "phone:2065550142",
    ]);
    for (text, sent, said) in [
        (
            "Write to Desk@StMary.example.",
            "Write to Desk@StMary.example.",
            "; email 1",
        ),
        (
            "Write to desk@stmary.example or to jane.roe@stmary.example.org.",
            "Write to desk@stmary.example or to [EMAIL].",
            "email 1; email 1",
        ),
        (
            "The patient's name is Maria  DELGADO, please call.",
            "The patient's name is Maria  DELGADO, please call.",
            "; name 1",
        ),
        (
            "The patient's name is Maria Delgado Ortega, please call.",
            "The patient's name is [NAME], please call.",
            "name 1; ",
        ),
        (
            "Her social security number is 536-22-8741. Call 206-555-0142 or (206) 555-0142.",
            "Her social security number is [SSN]. Call 206-555-0142 or (206) 555-0142.",
            "ssn 1; phone 2",
        ),
    ] {
        let found = treated(&scanner, &Policy::uniform(Mode::MASK), text);
        assert_eq!(found, (sent.to_owned(), said.to_owned()));
    }
    let blocked = Policy::uniform(Mode::BLOCK);
    let only = treated(&scanner, &blocked, "Write to desk@stmary.example soon.");
    assert_eq!(only.0, "Write to desk@stmary.example soon.");
    let both = treated(
        &scanner,
        &blocked,
        "Write to desk@stmary.example, SSN 536-22-8741.",
    );
    assert_eq!(both.0, "blocked");
}

#[test]
fn allowed_value_is_ignored_in_free_text() {
    let scanner = allowing(&["email:desk@stmary.example"]);
    let text = "Write to desk@stmary.example or to jane.roe@stmary.example.";
    let found = scanner.scan_text(None, text);
    let spans: Vec<&str> = found.iter().map(|one| &text[one.span.clone()]).collect();
    assert_eq!(spans, ["jane.roe@stmary.example"]);
}
