//! Masking and redacting whole requests: bytes outside findings stay unchanged, and a second scan finds nothing.

use phigate_core::doors::CHAT;
use phigate_core::protect::{self, Outcome, Policy};
use phigate_core::request::{Request, RequestLimits};
use phigate_types::Mode;

use super::Target;
use super::scan::TEXTS;
use crate::detectors::SCANNER;

pub(super) const TARGET: Target = Target {
    name: "rewrite",
    run,
    seeds: TEXTS,
};

const HEAD: &str = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"#;
const TAIL: &str = "}]}";

fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let body = format!("{HEAD}{}{TAIL}", serde_json::Value::from(text));
    for mode in [Mode::MASK, Mode::REDACT] {
        let Some(once) = rewritten(mode, body.clone()) else {
            continue;
        };
        let inside = once
            .strip_prefix(HEAD)
            .and_then(|rest| rest.strip_suffix(TAIL));
        assert!(inside.is_some(), "something outside the text was changed");
        let request = Request::read(
            CHAT.form,
            once.clone().into_bytes(),
            &RequestLimits::default(),
        );
        let scanned = protect::scan(&SCANNER, request.expect("it is a request still"));
        assert!(
            !scanned.report().has_phi(),
            "scanning again finds something"
        );
        if mode == Mode::MASK {
            let told: String = serde_json::from_str(inside.unwrap_or_default()).expect("a string");
            check_outside(text, &told);
        }
    }
}

/// The request as it would be sent; `None` if it would not be sent.
fn rewritten(mode: Mode, body: String) -> Option<String> {
    let request = Request::read(CHAT.form, body.into_bytes(), &RequestLimits::default()).ok()?;
    let policy = Policy::uniform(mode).allowing_unscannable(true);
    let scanned = protect::scan(&SCANNER, request);
    match protect::apply(&policy, &SCANNER, scanned) {
        Outcome::Forward(clean) => Some(clean.request().document().expose().to_owned()),
        _ => None,
    }
}

/// Checks that the pieces between placeholders occur in the text in this order, with the same beginning and end.
fn check_outside(text: &str, masked: &str) {
    let pieces = outside(masked);
    let mut rest = text;
    for (number, piece) in pieces.iter().enumerate() {
        let at = rest
            .find(piece)
            .expect("a piece outside findings stood in the text");
        assert!(number > 0 || at == 0, "the beginning was changed");
        rest = &rest[at + piece.len()..];
    }
    let last = pieces.last().copied().unwrap_or_default();
    assert!(text.ends_with(last), "the end was changed");
}

/// Returns the pieces of a text between words in brackets (`[SSN]`).
fn outside(masked: &str) -> Vec<&str> {
    let (mut pieces, mut from, mut at) = (Vec::new(), 0, 0);
    while let Some(open) = masked[at..].find('[').map(|open| at + open) {
        let word = masked[open + 1..]
            .bytes()
            .take_while(|byte| byte.is_ascii_uppercase() || *byte == b'_');
        let close = open + 1 + word.count();
        if close > open + 1 && masked[close..].starts_with(']') {
            pieces.push(&masked[from..open]);
            from = close + 1;
        }
        at = open + 1;
    }
    pieces.push(&masked[from..]);
    pieces
}
