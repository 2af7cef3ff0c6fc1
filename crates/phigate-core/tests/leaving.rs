//! Changes to a request when it leaves: tokens in place of values, and the last look at the provider's format.

use phi_detect::{Depth, Detector, Findings, PhiKind};
use phigate_core::doors::CHAT;
use phigate_core::egress::{self, Cleared, Held};
use phigate_core::protect::{
    self, CleanRequest, Outcome, Policy, Reading, ScanMemory, Scanned, Scanner,
};
use phigate_core::request::{Request, RequestLimits};
use phigate_core::wire::{self, Site};
use phigate_types::{Mode, ProviderKind};
use serde_json::{Value, json};

fn scanner() -> Scanner {
    Scanner::new(Detector::default())
}

fn scanned(scanner: &Scanner, body: &Value) -> Scanned {
    let body = body.to_string().into_bytes();
    let request = Request::read(CHAT.form, body, &RequestLimits::default()).unwrap();
    protect::scan(scanner, request)
}

fn policy(mode: Mode) -> Policy {
    Policy::uniform(mode)
}

fn said(texts: &[&str]) -> Value {
    let messages = texts
        .iter()
        .map(|text| json!({"role": "user", "content": text}));
    json!({"model": "claude-sonnet-4-5", "messages": messages.collect::<Vec<_>>()})
}

fn clean(outcome: Outcome) -> CleanRequest {
    match outcome {
        Outcome::Forward(clean) => clean,
        Outcome::Block(_) | Outcome::Refuse(..) | Outcome::Unfinished(_) => panic!("{outcome:?}"),
    }
}

/// Masks with tokens that `name` gives; the request, and what tokens were asked for.
fn with_tokens(
    mode: Mode,
    body: &Value,
    name: &str,
) -> (CleanRequest, Vec<(&'static str, String)>) {
    let (scanner, mut asked) = (scanner(), Vec::new());
    let mut token_of = |kind: PhiKind, value: &str| {
        asked.push((kind.code(), value.to_owned()));
        format!("[{name}{}]", asked.len())
    };
    let scanned = scanned(&scanner, body);
    let outcome = protect::apply_with(&policy(mode), &scanner, scanned, Some(&mut token_of));
    (clean(outcome), asked)
}

fn sent(clean: &CleanRequest) -> Value {
    serde_json::from_str(clean.request().document().expose()).unwrap()
}

#[test]
fn values_get_tokens_and_original_is_kept() {
    let parts = |first: &str, second: &str| {
        json!({"model": "gpt-4o", "messages": [
            {"role": "user", "content": [{"type": "text", "text": first}, {"type": "text", "text": second}]},
            {"role": "user", "content": "Mail é jane@example.org, then kim@example.org."},
        ]})
    };
    let body = parts("My SSN is 536-2", "2-8741, thanks.");
    let (clean, asked) = with_tokens(Mode::MASK, &body, "T");
    let kinds_and_values: Vec<_> = asked
        .iter()
        .map(|(kind, value)| (*kind, value.as_str()))
        .collect();
    let wanted = [
        ("ssn", "536-22-8741"),
        ("email", "jane@example.org"),
        ("email", "kim@example.org"),
    ];
    assert_eq!(kinds_and_values, wanted);
    let mut masked = parts("My SSN is [T1]", ", thanks.");
    masked["messages"][1]["content"] = json!("Mail é [T2], then [T3].");
    assert_eq!(sent(&clean), masked);
    assert_eq!(clean.original(), body.to_string().as_bytes());
    let values = scanned(&scanner(), &body);
    let values: Vec<_> = values
        .values()
        .map(|(kind, value)| (kind.code(), value.expose().to_owned()))
        .collect();
    assert_eq!(values, asked);
}

#[test]
fn escaped_value_is_decoded_for_token() {
    let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": r#"{"dob":"07\/02\/1971"}"#}});
    let body =
        json!({"model": "gpt-4o", "messages": [{"role": "assistant", "tool_calls": [call]}]});
    let (_, asked) = with_tokens(Mode::MASK, &body, "T");
    assert_eq!(asked, [("dob", "07/02/1971".to_owned())]);
}

#[test]
fn a_clean_request_is_its_own_original() {
    let body = said(&["What is the usual dose of amoxicillin?"]);
    let (clean, asked) = with_tokens(Mode::MASK, &body, "T");
    assert!(asked.is_empty());
    assert_eq!(clean.original(), body.to_string().as_bytes());
}

#[test]
fn redact_mode_creates_no_tokens() {
    let (clean, asked) = with_tokens(Mode::REDACT, &said(&["SSN 536-22-8741 is on file"]), "T");
    assert_eq!(asked, []);
    assert_eq!(sent(&clean), said(&["SSN  is on file"]));
}

#[test]
fn tokens_are_json_escaped_and_not_scanned() {
    for name in ["a\"b", "a\\b", "a\nb", "mail kim@example.org "] {
        let (clean, _) = with_tokens(Mode::MASK, &said(&["SSN 536-22-8741."]), name);
        assert_eq!(sent(&clean), said(&[&format!("SSN [{name}1].")]));
    }
}

#[test]
fn phi_revealed_by_redaction_is_removed() {
    let scanner = Scanner::new(Detector::default().with_depth(Depth::Fast));
    let body = said(&["SSN 536-22 a@example.com 8741 is on file"]);
    let outcome = protect::apply(&policy(Mode::REDACT), &scanner, scanned(&scanner, &body));
    let sent = sent(&clean(outcome)).to_string();
    assert!(!sent.contains("8741"), "{sent}");
}

#[test]
fn every_text_that_was_json_stays_json() {
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}});
    let calls = [
        call("c1", r#"{"ssn":"536-22-8741"}"#),
        call("c2", r#"{"ssn":536228741}"#),
    ];
    let body = json!({"model": "gpt-4o", "messages": [{"role": "assistant", "tool_calls": calls}]});
    let outcome = protect::apply(&policy(Mode::MASK), &scanner(), scanned(&scanner(), &body));
    let sent = sent(&clean(outcome));
    for call in sent["messages"][0]["tool_calls"].as_array().unwrap() {
        let arguments = call["function"]["arguments"].as_str().unwrap();
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        assert_eq!(arguments, json!({"ssn": "[SSN]"}));
    }
}

/// Remembers that nothing was found in anything, so that only the last look finds it.
struct Blind;

impl ScanMemory for Blind {
    fn recall_or(&self, _: Reading<'_>, _: &str, _: &mut dyn FnMut() -> Findings) -> Findings {
        Detector::default().scan("")
    }
}

/// The last look at a request that was scanned by one scanner, with another one.
fn look(first: &Scanner, last: &Scanner, body: &Value) -> Result<Cleared, Held> {
    let clean = clean(protect::apply(
        &policy(Mode::MASK),
        first,
        scanned(first, body),
    ));
    let model = body["model"].as_str().unwrap();
    let format = wire::format_for_model(model).unwrap();
    let site = Site::new(ProviderKind::Anthropic, model);
    let request = format.write_request(&clean, &site, &|_| String::new());
    egress::clear(last, request.unwrap())
}

#[test]
fn last_look_releases_only_clean_requests() {
    let body = said(&[
        "Hello.",
        "Mail a@example.org, SSN 536-22-8741, SSN 536-22-8742.",
    ]);
    let cleared = look(&scanner(), &scanner(), &body).unwrap();
    let sent: Value = serde_json::from_slice(cleared.body()).unwrap();
    assert!(
        sent.to_string()
            .contains("Mail [EMAIL], SSN [SSN], SSN [SSN].")
    );

    let blind = Scanner::with_memory(Detector::default(), Blind);
    let held = look(&blind, &scanner(), &body).unwrap_err();
    let Held::Phi(kinds) = held else {
        panic!("{held:?}")
    };
    let kinds: Vec<_> = kinds.into_iter().map(PhiKind::code).collect();
    assert_eq!(kinds, ["ssn", "email"]);

    let hurried = scanner().with_deadline(|| false);
    let held = look(&blind, &hurried, &body).unwrap_err();
    assert_eq!(held, Held::Unfinished);
}
