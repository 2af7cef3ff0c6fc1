//! Replaces findings as the policy requires, until the scanner finds nothing more to replace.

use std::borrow::Cow;
use std::ops::Range;

use phi_detect::{Detector, PhiKind, PhiKinds};
use phigate_types::{Effect, Mode, Policy, Replaced};

use crate::json::{Document, Json, Value};
use crate::request::{self, Form, Place};

use super::generalized::Generalizing;
use super::kept::Kept;
use super::located::{LocatedFinding, ScanResult, ruling};
use super::scan_document::scan_document;
use super::scanner::Scanner;
use super::values::values_of;

/// Limit on rewriting rounds. Removing one finding can join two harmless halves, so a rewritten text is scanned again.
const ROUNDS_MAX: usize = 4;

/// A mode's replacement for a finding.
type Replacement = fn(Replaced<'_>) -> Cow<'_, str>;

/// Makes a token for a value of a kind, to replace its placeholder.
pub type Tokens<'t> = dyn FnMut(PhiKind, &str) -> String + 't;

/// The replacements of findings.
pub(super) struct StandIns<'s, 't> {
    policy: &'s Policy,
    tokens: Option<&'s mut Tokens<'t>>,
    generalizing: Option<Generalizing>,
}

impl<'s, 't> StandIns<'s, 't> {
    /// The policy's replacements. Instead of a placeholder, a coarser value is written if the scanner generalizes the
    /// kind, otherwise a token.
    pub(super) fn new(
        policy: &'s Policy,
        scanner: &Scanner,
        tokens: Option<&'s mut Tokens<'t>>,
    ) -> Self {
        Self {
            policy,
            tokens,
            generalizing: scanner.generalizing().cloned(),
        }
    }

    fn of<'v>(&mut self, cut: &'v Cut) -> Cow<'v, str> {
        let (placeholder, text) = (cut.kind.placeholder(), cut.value.as_str());
        let plain = (cut.replacement)(Replaced { placeholder, text });
        if plain != placeholder {
            return plain;
        }
        let generalizing = self.generalizing.as_ref();
        let coarse = generalizing.and_then(|kinds| kinds.value(cut.kind, &cut.hidden, text));
        match (coarse, &mut self.tokens) {
            (Some(coarse), _) => Cow::Owned(coarse),
            (None, Some(token_of)) => Cow::Owned(token_of(cut.kind, text)),
            (None, None) => plain,
        }
    }
}

/// The reason why a request could not be made safe.
pub(super) enum Unsafe {
    /// The value at this path cannot be rewritten.
    NotRewritable(String),
    /// The scan ran out of time.
    Unfinished,
}

impl Unsafe {
    /// Names another place.
    pub(super) fn at(self, path: impl FnOnce() -> String) -> Self {
        match self {
            Self::NotRewritable(_) => Self::NotRewritable(path()),
            Self::Unfinished => Self::Unfinished,
        }
    }
}

/// Rules for rewriting a document.
#[derive(Clone, Copy)]
pub(super) struct Rewriting<'r> {
    pub(super) scanner: &'r Scanner,
    pub(super) form: &'r dyn Form,
    /// The findings that stay as they are.
    pub(super) kept: &'r Kept,
    /// Whether a string holds a document whose text is scanned instead.
    pub(super) is_read: &'r dyn Fn(&Value<'_>) -> bool,
}

impl Rewriting<'_> {
    pub(super) fn scan(&self, document: &Document) -> ScanResult {
        scan_document(self.scanner, self.form, document, self.is_read)
    }
}

/// The document with its findings replaced, including those that appear only after a replacement.
///
/// Tokens are scanned as the placeholders that they replace: a token is made from a secret key, holds no PHI, has no
/// meaning for its neighbours, and costs several times as much to scan.
pub(super) fn rewrite_document(
    rewriting: &Rewriting<'_>,
    document: &Document,
    findings: &[LocatedFinding],
    stand_ins: &mut StandIns<'_, '_>,
) -> Result<Document, Unsafe> {
    let kept = rewriting.kept;
    let findings = kept.changed(findings);
    let places = cuts(document, &findings, stand_ins.policy)?;
    if stand_ins.tokens.is_some() {
        let mut placeholders = StandIns::new(stand_ins.policy, rewriting.scanner, None);
        let shown = splice(document, &findings, &places, &mut placeholders)?;
        let result = rewriting.scan(&shown);
        if result.is_complete && kept.others(&shown, &result.findings).is_empty() {
            return splice(document, &findings, &places, stand_ins);
        }
    }
    let mut current = splice(document, &findings, &places, stand_ins)?;
    // A generalized value that is found again would be found for ever.
    stand_ins.generalizing = None;
    for _ in 1..ROUNDS_MAX {
        let result = rewriting.scan(&current);
        if !result.is_complete {
            return Err(Unsafe::Unfinished);
        }
        let left = kept.others(&current, &result.findings);
        if left.is_empty() {
            return Ok(current);
        }
        let places = cuts(&current, &left, stand_ins.policy)?;
        current = splice(&current, &left, &places, stand_ins)?;
    }
    let result = rewriting.scan(&current);
    match kept.others(&current, &result.findings).first() {
        _ if !result.is_complete => Err(Unsafe::Unfinished),
        None => Ok(current),
        Some(left) => Err(Unsafe::NotRewritable(request::path(
            &current.value(left.node),
        ))),
    }
}

/// The text rewritten until the scanner finds nothing in it. `None` if the mode rewrites nothing, or if findings remain
/// after the last round.
pub fn rewrite_text(mode: Mode, detector: &Detector, text: &str) -> Option<String> {
    let Effect::Replace(replacement) = mode.effect else {
        return None;
    };
    let rewritten = detector.replace(text, |kind, text| {
        let placeholder = kind.placeholder();
        replacement(Replaced { placeholder, text })
    });
    rewritten.ok()
}

/// A finding to be replaced.
struct Cut {
    kind: PhiKind,
    hidden: PhiKinds,
    replacement: Replacement,
    stands: Stands,
    value: String,
    place: Range<usize>,
}

/// Place of a finding, as far as its replacement depends on that.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// In a text.
    InText,
    /// Continues the text part before, or a finding in the same number; the replacement is written there.
    Before,
    /// In a number of the JSON that a text is. The number becomes a string as a whole.
    InNumber,
}

/// Returns the findings with their places in the document, in its order. Only texts can be rewritten, and only findings
/// that do not block: one that blocks can show after a replacement.
fn cuts(
    document: &Document,
    found: &[LocatedFinding],
    policy: &Policy,
) -> Result<Vec<Cut>, Unsafe> {
    let replacement =
        |located: &LocatedFinding| match ruling(policy, &located.finding).mode().effect {
            Effect::Replace(replacement) if located.place == Place::Text => Some(replacement),
            _ => None,
        };
    if let Some(fixed) = found.iter().find(|one| replacement(one).is_none()) {
        let path = request::path(&document.value(fixed.node));
        return Err(Unsafe::NotRewritable(path));
    }
    let mut cuts = Vec::with_capacity(found.len());
    let mut values = values_of(document, found).into_iter();
    for of_one_text in found.chunk_by(|one, next| one.node == next.node) {
        let text = document.value(of_one_text[0].node).decoded();
        let numbers = match is_json(text.expose()) {
            true => numbers(text.expose()),
            false => Vec::new(),
        };
        let mut cut_to = 0;
        for located in of_one_text {
            let span = &located.finding.span;
            let number = number_around(&numbers, span).filter(|_| !located.continues);
            let stands = match &number {
                _ if located.continues || span.end <= cut_to => Stands::Before,
                Some(_) => Stands::InNumber,
                None => Stands::InText,
            };
            let whole = number.unwrap_or_else(|| span.clone());
            let start = whole.start.max(cut_to).min(whole.end);
            cut_to = cut_to.max(whole.end);
            let Some(replacement) = replacement(located) else {
                continue;
            };
            cuts.push(Cut {
                kind: located.finding.kind,
                hidden: located.finding.hides.clone(),
                replacement,
                stands,
                value: values.next().unwrap_or_default(),
                place: text.span_in_document(start..whole.end),
            });
        }
    }
    Ok(cuts)
}

/// The number that holds all of a span.
fn number_around(numbers: &[Range<usize>], span: &Range<usize>) -> Option<Range<usize>> {
    let after = numbers.partition_point(|number| number.end < span.end);
    let number = numbers.get(after)?;
    (number.start <= span.start).then(|| number.clone())
}

/// The numbers of a JSON text, in order.
fn numbers(json: &str) -> Vec<Range<usize>> {
    let bytes = json.as_bytes();
    let mut numbers = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'"' => at = string_end(bytes, at),
            b'-' | b'0'..=b'9' => {
                let is_number = |byte: &&u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                at += bytes[at..].iter().take_while(is_number).count();
                numbers.push(start..at);
            }
            _ => {}
        }
    }
    numbers
}

/// The place after the closing quote of a JSON string.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(distance) = memchr::memchr2(b'"', b'\\', &bytes[at..]) {
        at += distance + 1;
        match bytes[at - 1] {
            b'"' => return at,
            _ => at = bytes.len().min(at + 1),
        }
    }
    bytes.len()
}

/// The document with its findings replaced. What was JSON inside a text is JSON still.
fn splice(
    document: &Document,
    found: &[LocatedFinding],
    cuts: &[Cut],
    stand_ins: &mut StandIns<'_, '_>,
) -> Result<Document, Unsafe> {
    let mut edits = Vec::with_capacity(cuts.len());
    for cut in cuts {
        let stand_in = match cut.stands {
            Stands::Before => Cow::Borrowed(""),
            Stands::InText => json_escaped(stand_ins.of(cut)),
            Stands::InNumber => json_escaped(as_json(&stand_ins.of(cut))),
        };
        edits.push((cut.place.clone(), stand_in));
    }
    let spliced = document.splice(&edits);
    for of_one_text in found.chunk_by(|one, next| one.node == next.node) {
        let node = of_one_text[0].node;
        let is_json = |document: &Document| is_json(document.value(node).decoded().expose());
        if is_json(document) && !is_json(&spliced) {
            return Err(Unsafe::NotRewritable(request::path(&document.value(node))));
        }
    }
    Ok(spliced)
}

/// A replacement in place of a number of JSON: a string, or nothing.
fn as_json(text: &str) -> Cow<'static, str> {
    match text {
        "" => Cow::Borrowed("null"),
        text => Cow::Owned(Json::text(text).to_json_text()),
    }
}

/// Escapes a replacement for a JSON string, because a mode may keep a part of the found text.
fn json_escaped(text: Cow<'_, str>) -> Cow<'_, str> {
    let needs_escape = |byte: u8| byte < 0x20 || matches!(byte, b'"' | b'\\');
    if !text.bytes().any(needs_escape) {
        return text;
    }
    let quoted = Json::text(&*text).to_json_text();
    Cow::Owned(quoted[1..quoted.len() - 1].to_owned())
}

/// Whether a text is JSON: tool arguments are JSON inside a string and must remain so. `serde_json` can check a
/// document of any depth without recursion; our reader keeps nodes and cannot.
fn is_json(text: &str) -> bool {
    let trimmed = text.trim_start();
    trimmed.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
