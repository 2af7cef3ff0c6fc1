//! Scanning every piece of text of a JSON document.

use std::borrow::Cow;

use crate::json::{Document, Value};
use crate::request::{self, Form, Place, Slot};

use super::id_words::{find_in_model, find_in_words, path_steps};
use super::joined::scan_context;
use super::located::{LocatedFinding, ScanResult};
use super::scanner::Scanner;

/// Finds PHI in every string, number and key, and in texts that are read together. Allowed values are set aside at the
/// end, once every finding has its full extent. Strings that hold a document whose text is scanned (`is_read`) are left
/// out.
pub(crate) fn scan_document(
    scanner: &Scanner,
    form: &dyn Form,
    document: &Document,
    is_read: &dyn Fn(&Value<'_>) -> bool,
) -> ScanResult {
    let mut result = ScanResult::empty();
    for slot in request::slots(form, document) {
        if slot.place == Place::Text && is_read(&document.value(slot.node)) {
            continue;
        }
        scan_slot(scanner, form, document, slot, &mut result);
    }
    result.settle();
    scan_context(scanner, form, document, &mut result);
    result.settle();
    if let Some(list) = scanner.allowed() {
        list.set_aside(document, &mut result);
    }
    result
}

fn scan_slot(
    scanner: &Scanner,
    form: &dyn Form,
    document: &Document,
    slot: Slot,
    result: &mut ScanResult,
) {
    let value = document.value(slot.node);
    let piece = match slot.place {
        Place::Key => Some(key(form, &value)),
        Place::Number => number(scanner, form, &value),
        Place::Structure => {
            scan_structure(scanner, slot, &value.text(), result);
            return;
        }
        Place::Opaque | Place::Signed | Place::Text => Some(Piece {
            label: request::label(form, &value),
            ..Piece::plain(value.text())
        }),
    };
    let Some(Piece { text, label }) = piece else {
        return;
    };
    result.text_bytes += text.len() as u64;
    // Known words of the API are not text of the caller.
    if slot.place == Place::Key && request::is_known_word(&text) {
        return;
    }
    let has_extras = phi_detect::own_kinds(scanner.detector()).is_some();
    if !is_lower_case_word(&text) || slot.place == Place::Text || has_extras {
        let skipped = match slot.place {
            Place::Text => request::id_prefix(&value, &text),
            _ => 0,
        };
        let Some(findings) = scanner.find(label.as_deref(), &text[skipped..]) else {
            result.is_complete = false;
            return;
        };
        result.is_complete &= findings.is_complete();
        let located = findings.iter().map(|finding| {
            let span = match slot.place {
                Place::Number => 0..value.raw().len(),
                _ => finding.span.start + skipped..finding.span.end + skipped,
            };
            LocatedFinding::new(finding, slot.node, slot.place, span)
        });
        result.findings.extend(located);
    }
    scan_coded(scanner, slot, &text, result);
    if request::is_id(form, &value) {
        let skipped = request::id_prefix(&value, &text);
        scan_words(scanner, slot, (&text, skipped), result);
    }
    scan_identifier(scanner, slot, &text, result);
}

/// Scans the id of a model, or the role of a speaker.
fn scan_structure(scanner: &Scanner, slot: Slot, text: &str, result: &mut ScanResult) {
    result.text_bytes += text.len() as u64;
    let Some((findings, is_complete)) = find_in_model(scanner, text) else {
        result.is_complete = false;
        return;
    };
    result.is_complete &= is_complete;
    let located = findings.iter().map(|finding| {
        let span = finding.span.clone();
        LocatedFinding::new(finding, slot.node, slot.place, span)
    });
    result.findings.extend(located);
}

/// Scans text in a coding that the detector does not read. A finding covers the whole coded run, since the rest of a
/// run would decode to nonsense or to PHI.
fn scan_coded(scanner: &Scanner, slot: Slot, text: &str, result: &mut ScanResult) {
    if slot.place == Place::Number {
        return;
    }
    for (span, decoded) in request::coded_texts(text) {
        let Some(findings) = scanner.find(None, &decoded) else {
            result.is_complete = false;
            return;
        };
        result.is_complete &= findings.is_complete();
        let located = findings.iter().map(|finding| {
            let span = span.clone();
            LocatedFinding::new(finding, slot.node, slot.place, span)
        });
        result.findings.extend(located);
    }
}

/// Scans the words of an identifier, apart from the prefix of the ids of calls.
fn scan_words(
    scanner: &Scanner,
    slot: Slot,
    (text, skipped): (&str, usize),
    result: &mut ScanResult,
) {
    let Some(findings) = find_in_words(scanner, &text[skipped..]) else {
        result.is_complete = false;
        return;
    };
    let located = findings.iter().map(|finding| {
        let span = finding.span.start + skipped..finding.span.end + skipped;
        LocatedFinding::new(finding, slot.node, slot.place, span)
    });
    result.findings.extend(located);
}

/// A text to scan, and the word that gives it its meaning.
struct Piece<'d> {
    text: Cow<'d, str>,
    label: Option<Cow<'d, str>>,
}

impl<'d> Piece<'d> {
    fn plain(text: Cow<'d, str>) -> Self {
        Self { text, label: None }
    }
}

/// A key to scan. A number as a key takes the label of the object that holds it: `{"ssn": {"536228741": true}}`.
fn key<'d>(form: &dyn Form, value: &Value<'d>) -> Piece<'d> {
    let text = value.text();
    let holder = value.parent().filter(|_| is_number(&text));
    let label = holder.and_then(|holder| request::label(form, &holder));
    Piece { text, label }
}

/// A number to scan. The shortest PHI is the last four digits of an SSN, so shorter numbers are skipped, unless the
/// account defines kinds.
fn number<'d>(scanner: &Scanner, form: &dyn Form, value: &Value<'d>) -> Option<Piece<'d>> {
    let is_wanted =
        value.raw().len() >= SHORTEST_NUMBER || phi_detect::own_kinds(scanner.detector()).is_some();
    is_wanted.then(|| Piece {
        text: plain_digits(value.raw()),
        label: request::label(form, value),
    })
}

/// Whether this is a word such as `messages` or `tool_calls`, as most keys are. Text rules find nothing in it, and
/// [`Scanner::find_in_identifier`] finds names in it.
fn is_lower_case_word(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

const SHORTEST_NUMBER: usize = 4;

/// Limit for expanding a number. Larger ones stay as written: `1e300` would become long, and more digits would be
/// rounded.
const WRITTEN_MAX: f64 = 1e15;

fn is_number(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits >= SHORTEST_NUMBER && !text.contains(char::is_alphabetic)
}

/// Writes `5.36228741e8` as `536228741`, which every reader takes for the same number and the same SSN.
fn plain_digits(raw: &str) -> Cow<'_, str> {
    match raw.parse::<f64>() {
        Ok(number) if number.fract() == 0.0 && number.abs() < WRITTEN_MAX => {
            Cow::Owned(format!("{number:.0}"))
        }
        _ => Cow::Borrowed(raw),
    }
}

/// Finds a name in an identifier, or in a step of a path.
fn scan_identifier(scanner: &Scanner, slot: Slot, text: &str, result: &mut ScanResult) {
    for name in &scanner.find_in_identifier(text) {
        let span = name.span.clone();
        let located = LocatedFinding::new(name, slot.node, slot.place, span);
        result.findings.push(located);
    }
    for step in path_steps(text) {
        for name in &scanner.find_in_identifier(&text[step.clone()]) {
            let span = step.start + name.span.start..step.start + name.span.end;
            let located = LocatedFinding::new(name, slot.node, slot.place, span);
            result.findings.push(located);
        }
    }
}
