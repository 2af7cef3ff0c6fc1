//! Looking at every piece of text of a request.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use phi_detect::{Detector, Findings, PhiKind};

use crate::chat::{self, ChatRequest, Place, Slot};
use crate::json::{Decoded, Document, NodeId};
use crate::text::PhiText;

use super::memory::Memory;
use super::participant;
use super::report::Report;

/// The detector of an account, with a memory of texts it has seen.
#[derive(Clone)]
pub struct Scanner {
    detector: Arc<Detector>,
    memory: Option<Arc<Memory>>,
    listed_max: usize,
    has_time: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

/// Findings that a report lists one by one, unless somebody says otherwise.
const LISTED_MAX: usize = 10_000;

impl std::fmt::Debug for Scanner {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Scanner({:?})", self.detector)
    }
}

impl Scanner {
    /// A scanner that looks at everything anew.
    pub fn new(detector: Detector) -> Self {
        Self {
            detector: Arc::new(detector),
            memory: None,
            listed_max: LISTED_MAX,
            has_time: None,
        }
    }

    /// A scanner that remembers the findings of long texts, so that a conversation costs its new text.
    pub fn with_memory(detector: Detector, memory: Memory) -> Self {
        Self {
            memory: Some(Arc::new(memory)),
            ..Self::new(detector)
        }
    }

    /// The same, with reports that list so many findings one by one.
    pub fn listing(self, listed_max: usize) -> Self {
        Self { listed_max, ..self }
    }

    /// The same for one request: it looks at no further text once `has_time` says no.
    pub fn while_there_is_time(&self, has_time: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self {
            has_time: Some(Arc::new(has_time)),
            ..self.clone()
        }
    }

    /// The detector, for scanning text that is no request.
    pub fn detector(&self) -> &Detector {
        &self.detector
    }

    /// The findings of a text; none when there was no time to look.
    fn look(&self, label: Option<&str>, text: &str) -> Option<Findings> {
        if self.has_time.as_ref().is_some_and(|has_time| !has_time()) {
            return None;
        }
        let look_anew = || match label {
            Some(label) => self.detector.scan_field(label, text),
            None => self.detector.scan(text),
        };
        Some(match &self.memory {
            Some(memory) => memory.recall_or(label, text, look_anew),
            None => look_anew(),
        })
    }
}

/// A finding in its place in a document.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) kind: PhiKind,
    pub(super) node: NodeId,
    pub(super) place: Place,
    /// In the decoded text of the node.
    pub(super) span: Range<usize>,
    pub(super) score: f32,
    pub(super) rule: &'static str,
    /// Whether this goes on from the text part before, so that it is one finding with that.
    pub(super) continues: bool,
}

/// A request with everything that was found in it.
#[derive(Debug)]
pub struct Scanned {
    pub(super) request: ChatRequest,
    pub(super) found: Vec<Found>,
    pub(super) report: Report,
}

impl Scanned {
    /// What was found, for the record.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The request.
    pub fn request(&self) -> &ChatRequest {
        &self.request
    }

    /// The values that were found, as the caller wrote them. They are PHI.
    pub fn values(&self) -> impl Iterator<Item = (PhiKind, PhiText)> + '_ {
        let values = values_of(self.request.document(), &self.found).into_iter();
        let values = self.found.iter().zip(values);
        values
            .filter(|(found, _)| !found.continues)
            .map(|(found, value)| (found.kind, PhiText::new(value)))
    }

    /// Whether PHI was found in such a place.
    pub fn has_phi_in(&self, place: Place) -> bool {
        self.found.iter().any(|finding| finding.place == place)
    }
}

/// What each of these findings stands for, in their order. What goes on from the text part before belongs to the
/// finding there, and stands for nothing of its own.
pub(super) fn values_of(document: &Document, found: &[Found]) -> Vec<String> {
    let mut values: Vec<String> = Vec::with_capacity(found.len());
    let mut whole = 0;
    for of_one_text in found.chunk_by(|one, next| one.node == next.node) {
        let node = document.value(of_one_text[0].node);
        let text = match of_one_text[0].place {
            Place::Number => Cow::Borrowed(node.raw()),
            Place::Key | Place::Structure | Place::Text => node.decoded().into_text(),
        };
        for one in of_one_text {
            let part = text.get(one.span.clone()).unwrap_or_default();
            values.push(String::new());
            if !one.continues {
                whole = values.len() - 1;
            }
            values[whole].push_str(part);
        }
    }
    values.into_iter().map(unescaped).collect()
}

/// Tool arguments are JSON inside a string, so that quotes in them are escaped once more.
fn unescaped(value: String) -> String {
    if !value.contains('\\') {
        return value;
    }
    serde_json::from_str(&format!("\"{value}\"")).unwrap_or(value)
}

/// Scans all of a request.
pub fn scan(scanner: &Scanner, request: ChatRequest) -> Scanned {
    let looked = scan_document(scanner, request.document());
    let report = Report::new(
        request.document(),
        &looked,
        scanner.detector(),
        scanner.listed_max,
    );
    Scanned {
        request,
        found: looked.found,
        report,
    }
}

/// What a look at a whole document showed.
pub(super) struct Looked {
    /// The findings, in order of place.
    pub(super) found: Vec<Found>,
    pub(super) is_complete: bool,
    /// Bytes of text that were looked at.
    pub(super) text_bytes: u64,
}

impl Looked {
    /// Whether everything was looked at and nothing was found.
    pub(super) fn is_clean(&self) -> bool {
        self.is_complete && self.found.is_empty()
    }

    /// The keys that hold PHI, in order.
    pub(super) fn keys_with_phi(&self) -> Vec<NodeId> {
        let keys = self
            .found
            .iter()
            .filter(|finding| finding.place == Place::Key);
        keys.map(|finding| finding.node).collect()
    }
}

/// Finds PHI in every string, number and key, and in texts that are read as one.
pub(super) fn scan_document(scanner: &Scanner, document: &Document) -> Looked {
    let mut looked = Looked {
        found: Vec::new(),
        is_complete: true,
        text_bytes: 0,
    };
    for slot in chat::slots(document) {
        scan_slot(scanner, document, slot, &mut looked);
    }
    for group in chat::text_groups(document) {
        looked.is_complete &= scan_group(scanner, document, &group, &mut looked.found);
    }
    let found = &mut looked.found;
    found.sort_by_key(|finding| (finding.node, finding.span.start));
    unite_overlaps(found);
    looked
}

fn scan_slot(scanner: &Scanner, document: &Document, slot: Slot, looked: &mut Looked) {
    let value = document.value(slot.node);
    let (text, label) = match slot.place {
        Place::Key => {
            let text = value.decoded().into_text();
            // A number as a key is an entry of what holds it: `{"ssn": {"536228741": true}}`.
            let holder = value.parent().filter(|_| is_number(&text));
            let label = holder.and_then(|holder| chat::label(&holder));
            (text, label)
        }
        Place::Number if value.raw().len() < SHORTEST_NUMBER => return,
        Place::Number => (plain_digits(value.raw()), chat::label(&value)),
        Place::Structure => (value.decoded().into_text(), None),
        Place::Text => (value.decoded().into_text(), chat::label(&value)),
    };
    looked.text_bytes += text.len() as u64;
    let is_word_of_a_program =
        matches!(slot.place, Place::Key | Place::Structure) && is_lower_case_word(&text);
    if is_word_of_a_program {
        return;
    }
    let skipped = match slot.place {
        Place::Text => chat::id_prefix(&value, &text),
        _ => 0,
    };
    let Some(findings) = scanner.look(label.as_deref(), &text[skipped..]) else {
        looked.is_complete = false;
        return;
    };
    for finding in &findings {
        let span = match slot.place {
            Place::Number => 0..value.raw().len(),
            _ => finding.span.start + skipped..finding.span.end + skipped,
        };
        let (node, place) = (slot.node, slot.place);
        looked.found.push(Found {
            kind: finding.kind,
            node,
            place,
            span,
            score: finding.score,
            rule: finding.rule,
            continues: false,
        });
    }
    looked.is_complete &= findings.is_complete();
    if slot.place == Place::Text
        && findings.is_empty()
        && participant::is_place_of_joined_names(&value)
        && let Some(name) = participant::find(scanner.detector(), &text)
    {
        looked.found.push(Found {
            kind: name.kind,
            node: slot.node,
            place: slot.place,
            span: name.span,
            score: name.score,
            rule: participant::RULE,
            continues: false,
        });
    }
}

/// `messages`, `tool_calls`: most keys are such, no rule finds anything in one, and asking costs more than looking.
fn is_lower_case_word(text: &str) -> bool {
    text.len() <= 32
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// No identifier that a number can hold is shorter: the last four digits of an SSN.
const SHORTEST_NUMBER: usize = 4;

fn is_number(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits >= SHORTEST_NUMBER && !text.contains(char::is_alphabetic)
}

/// Writes `5.36228741e8` as `536228741`: the same number to every reader, and the same SSN.
fn plain_digits(raw: &str) -> Cow<'_, str> {
    let is_plain = raw
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'-');
    match raw.parse::<f64>() {
        Ok(number) if !is_plain && number.fract() == 0.0 && number.abs() < 1e15 => {
            Cow::Owned(format!("{number:.0}"))
        }
        _ => Cow::Borrowed(raw),
    }
}

/// Scans texts joined, and keeps the findings that cross from one into the next.
fn scan_group(
    scanner: &Scanner,
    document: &Document,
    group: &[NodeId],
    found: &mut Vec<Found>,
) -> bool {
    let parts: Vec<Decoded<'_>> = group
        .iter()
        .map(|&node| document.value(node).decoded())
        .collect();
    let joined: String = parts.iter().map(Decoded::expose).collect();
    let Some(findings) = scanner.look(None, &joined) else {
        return false;
    };
    let mut ends = Vec::with_capacity(parts.len());
    for part in &parts {
        ends.push(ends.last().copied().unwrap_or(0) + part.expose().len());
    }
    for finding in &findings {
        let mut pieces = Vec::new();
        let first = ends.partition_point(|&end| end <= finding.span.start);
        for (index, &end_of_part) in ends.iter().enumerate().skip(first) {
            let start_of_part = end_of_part - parts[index].expose().len();
            if start_of_part >= finding.span.end {
                break;
            }
            let (start, end) = (
                finding.span.start.max(start_of_part),
                finding.span.end.min(end_of_part),
            );
            if start < end {
                pieces.push((group[index], start - start_of_part..end - start_of_part));
            }
        }
        let crosses = pieces.len() > 1;
        for (index, (node, span)) in pieces.into_iter().enumerate().filter(|_| crosses) {
            let (kind, score, rule, continues) =
                (finding.kind, finding.score, finding.rule, index > 0);
            found.push(Found {
                kind,
                node,
                place: Place::Text,
                span,
                score,
                rule,
                continues,
            });
        }
    }
    findings.is_complete()
}

/// Findings of the joined texts may overlap those of a single one: what they cover together is one finding.
fn unite_overlaps(found: &mut Vec<Found>) {
    found.dedup_by(|late, early| {
        let overlaps = late.node == early.node && late.span.start < early.span.end;
        if overlaps {
            early.span.end = early.span.end.max(late.span.end);
            if late.score > early.score {
                (early.kind, early.score, early.rule) = (late.kind, late.score, late.rule);
            }
        }
        overlaps
    });
}
