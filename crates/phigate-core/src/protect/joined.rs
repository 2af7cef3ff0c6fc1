//! Context beyond one text: the parts of a message, the message before, and the called function.
//!
//! Every model reads a label in one text together with its value in the next, so they are scanned together. Only
//! findings that the single texts did not show are added.

use std::ops::Range;

use phi_detect::{Finding, Findings};

use crate::json::{Document, NodeId, Value};
use crate::request::{self, Form, Place};

use super::located::{LocatedFinding, ScanResult};
use super::scanner::Scanner;

/// Bytes of the messages before that are read with a message, and the limit for each.
const TAIL_BYTES: usize = 200;

/// Bytes of a message that are read with the one before. The rest has its own context.
const HEAD_BYTES: usize = 256;

/// The furthest start of an answer in its message: "Sure, one moment, it is 48291378".
const ANSWER_BYTES: usize = 96;

/// Bytes of a function's result that are read with the function's name.
const RESULT_BYTES: usize = 4096;

/// The most words of a result that is a bare value and not a sentence.
const BARE_WORDS: usize = 4;

/// Adds findings that show only in context. The findings must be settled, and are not settled afterwards.
pub(super) fn scan_context(
    scanner: &Scanner,
    form: &dyn Form,
    document: &Document,
    result: &mut ScanResult,
) {
    let mut added = Vec::new();
    let mut is_complete = true;
    for group in request::text_groups(document) {
        is_complete &= scan_group(scanner, document, &group, result, &mut added);
    }
    if let Some((before, after)) = form.gap(document) {
        is_complete &= scan_gap(scanner, document, (before, after), result, &mut added);
    }
    for turns in form.conversations(document) {
        for (index, turn) in turns.iter().enumerate().skip(1) {
            let joined = answer(scanner, document, &turns[..index], turn);
            is_complete &= scan_answer(scanner, joined, result, &mut added);
        }
    }
    for (text, label) in form.results(document) {
        let text = document.value(text);
        is_complete &= scan_returned(scanner, &label, &text, result, &mut added);
    }
    // What only a neighbour shows is as hard to replace as what shows by itself.
    for found in &mut added {
        let place = request::text_place(form, &document.value(found.node));
        found.place = place.unwrap_or(Place::Signed);
    }
    result.findings.append(&mut added);
    result.is_complete &= is_complete;
}

/// Joined texts, and the source of each piece.
#[derive(Default)]
struct Joined {
    text: String,
    pieces: Vec<Piece>,
}

struct Piece {
    node: NodeId,
    /// Place in the joined text.
    span: Range<usize>,
    /// Start in its node's text.
    from: usize,
}

impl Joined {
    /// Adds the beginning of a node's text.
    fn push(&mut self, node: NodeId, text: &str) {
        self.push_from(node, text, 0);
    }

    /// Adds a part of a node's text, which begins at `from` there.
    fn push_from(&mut self, node: NodeId, text: &str, from: usize) {
        let start = self.text.len();
        self.text.push_str(text);
        let span = start..self.text.len();
        self.pieces.push(Piece { node, span, from });
    }

    /// The part of a finding in each piece, in order.
    fn locate(&self, finding: &Finding) -> Vec<LocatedFinding> {
        let span = &finding.span;
        let first = self
            .pieces
            .partition_point(|piece| piece.span.end <= span.start);
        let touched = self.pieces[first..]
            .iter()
            .take_while(|piece| piece.span.start < span.end);
        let located = touched.enumerate().map(|(index, piece)| {
            let start = span.start.max(piece.span.start) - piece.span.start + piece.from;
            let end = span.end.min(piece.span.end) - piece.span.start + piece.from;
            LocatedFinding {
                continues: index > 0,
                ..LocatedFinding::new(finding, piece.node, Place::Text, start..end)
            }
        });
        located.filter(|one| !one.finding.span.is_empty()).collect()
    }
}

/// Scans the parts of a message joined: directly, and with a space if two words would run together.
fn scan_group(
    scanner: &Scanner,
    document: &Document,
    group: &[NodeId],
    result: &ScanResult,
    added: &mut Vec<LocatedFinding>,
) -> bool {
    let mut plain = Joined::default();
    let mut spaced = Joined::default();
    for &node in group {
        let text = document.value(node).string().unwrap_or_default();
        if needs_space(&spaced.text, &text) {
            spaced.text.push(' ');
        }
        plain.push(node, &text);
        spaced.push(node, &text);
    }
    scan_ways(scanner, plain, spaced, result, added)
}

/// Scans the end of a text and the beginning of another, between which a model is to write.
fn scan_gap(
    scanner: &Scanner,
    document: &Document,
    (before, after): (NodeId, NodeId),
    result: &ScanResult,
    added: &mut Vec<LocatedFinding>,
) -> bool {
    let (text, next) = (document.value(before).text(), document.value(after).text());
    let start = text.ceil_char_boundary(text.len().saturating_sub(TAIL_BYTES));
    let next = head(&next, HEAD_BYTES);
    let mut plain = Joined::default();
    let mut spaced = Joined::default();
    for joined in [&mut plain, &mut spaced] {
        joined.push_from(before, &text[start..], start);
    }
    if needs_space(&spaced.text, next) {
        spaced.text.push(' ');
    }
    for joined in [&mut plain, &mut spaced] {
        joined.push(after, next);
    }
    scan_ways(scanner, plain, spaced, result, added)
}

/// Scans joined texts: as they are, and with spaces between them.
fn scan_ways(
    scanner: &Scanner,
    plain: Joined,
    spaced: Joined,
    result: &ScanResult,
    added: &mut Vec<LocatedFinding>,
) -> bool {
    let is_same = plain.text.len() == spaced.text.len();
    let ways = if is_same {
        vec![plain]
    } else {
        vec![plain, spaced]
    };
    for joined in ways {
        let Some(findings) = scanner.find(None, &joined.text) else {
            return false;
        };
        for finding in &findings {
            let pieces = joined.locate(finding);
            let is_missing =
                |piece: &LocatedFinding| !result.overlaps(piece.node, &piece.finding.span);
            if pieces.len() > 1 || pieces.iter().any(is_missing) {
                added.extend(pieces);
            }
        }
        if !findings.is_complete() {
            return false;
        }
    }
    true
}

/// Whether two texts would run together. A hyphen or dot at the seam belongs to one identifier.
fn needs_space(before: &str, after: &str) -> bool {
    let is_open = |character: char| {
        !character.is_whitespace() && !matches!(character, '-' | '.' | '/' | '_' | '@')
    };
    before.chars().next_back().is_some_and(is_open) && after.chars().next().is_some_and(is_open)
}

/// The start of a message after the end of the messages before; `None` if those give it no context.
fn answer(
    scanner: &Scanner,
    document: &Document,
    before: &[Vec<NodeId>],
    turn: &[NodeId],
) -> Option<Joined> {
    if turn.is_empty() {
        return None;
    }
    let mut joined = Joined {
        text: tail(document, before),
        pieces: Vec::new(),
    };
    if !scanner.detector().has_label(&joined.text) {
        return None;
    }
    let mut room = HEAD_BYTES;
    for &node in turn {
        joined.text.push('\n');
        let text = document.value(node).string().unwrap_or_default();
        let head = head(&text, room);
        joined.push(node, head);
        if head.len() < text.len() {
            break;
        }
        room -= head.len();
    }
    Some(joined)
}

/// The end of the latest messages.
fn tail(document: &Document, before: &[Vec<NodeId>]) -> String {
    let mut tail = String::new();
    for &node in before.iter().flatten().rev() {
        let text = document.value(node).string().unwrap_or_default();
        let mut start = text.ceil_char_boundary(text.len().saturating_sub(TAIL_BYTES));
        if start > 0 {
            let space = text[start..].find(char::is_whitespace);
            start += space.unwrap_or(0);
        }
        if !tail.is_empty() {
            tail.insert(0, '\n');
        }
        tail.insert_str(0, text[start..].trim());
        if tail.len() >= TAIL_BYTES {
            break;
        }
    }
    tail
}

/// The start of a text, up to the end of a word.
fn head(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let head = &text[..text.floor_char_boundary(bytes_max)];
    head.rfind(char::is_whitespace)
        .map_or(head, |space| &head[..space])
}

/// Adds findings at the start of a message that the message before gives context for.
fn scan_answer(
    scanner: &Scanner,
    joined: Option<Joined>,
    result: &ScanResult,
    added: &mut Vec<LocatedFinding>,
) -> bool {
    let Some(joined) = joined else { return true };
    let Some(findings) = scanner.find(None, &joined.text) else {
        return false;
    };
    let begins = joined.pieces.first().map_or(0, |piece| piece.span.start);
    let is_short = joined.text.len() - begins <= ANSWER_BYTES;
    let reached = findings.iter().filter(|finding| {
        let is_near = (begins..begins + ANSWER_BYTES).contains(&finding.span.start);
        is_near && (is_short || !is_from_model(finding))
    });
    add_missing(&joined, reached, result, added);
    findings.is_complete()
}

/// Adds findings in a function's result that the function's name gives context for.
fn scan_returned(
    scanner: &Scanner,
    label: &str,
    text: &Value<'_>,
    result: &ScanResult,
    added: &mut Vec<LocatedFinding>,
) -> bool {
    let content = text.string().unwrap_or_default();
    let is_json = content.trim_start().starts_with(['{', '[', '"']);
    let is_bare = content.split_whitespace().nth(BARE_WORDS).is_none();
    let mut joined = Joined::default();
    let findings: Option<Findings> = if is_json {
        joined.text = format!("{{\"{label}\":");
        joined.push(text.id(), head(&content, RESULT_BYTES));
        joined.text.push('}');
        scanner.find(None, &joined.text)
    } else if is_bare {
        joined.push(text.id(), &content);
        scanner.find(Some(label), &joined.text)
    } else {
        joined.text = format!("{}: ", label.replace('_', " "));
        joined.push(text.id(), head(&content, HEAD_BYTES));
        scanner.find(None, &joined.text)
    };
    let Some(findings) = findings else {
        return false;
    };
    add_missing(&joined, findings.iter(), result, added);
    findings.is_complete()
}

/// Whether the trained model found this. The model weighs all words around, so a neighbouring text may change its
/// result; rules depend on their label.
fn is_from_model(finding: &Finding) -> bool {
    finding.rule.ends_with(".model")
}

fn add_missing<'f>(
    joined: &Joined,
    findings: impl Iterator<Item = &'f Finding>,
    result: &ScanResult,
    added: &mut Vec<LocatedFinding>,
) {
    for finding in findings {
        let pieces = joined.locate(finding);
        let is_missing = |piece: &LocatedFinding| !result.overlaps(piece.node, &piece.finding.span);
        if pieces.iter().all(is_missing) {
            added.extend(pieces);
        }
    }
}
