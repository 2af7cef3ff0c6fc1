//! Candidates of the reader: runs of pieces that are likely part of a value of one kind.

use std::ops::Range;

use crate::beyond;
use crate::candidate::Candidate;
use crate::kinds::PhiKind;
use crate::labels::Meaning;
use crate::page::Page;
use crate::reader::Opinion;
use crate::spelling::Spelling;

/// The rule of the reader's candidates.
const RULE: &str = "reader";

/// Pieces less likely than this are not part of a value.
const SHARE_MIN: f32 = 0.08;
/// Pieces at the edge of a run are cut off below this part of its likeliest piece.
const EDGE_MIN: f32 = 0.3;
/// A value begins at a piece for which that is at least as likely as this part of going on.
const BEGIN_MIN: f32 = 0.5;

/// Bytes of the shortest part of a number, a date or an address.
const NUMBER_MIN: usize = 2;

/// The reader's runs, in order.
pub(super) fn runs(page: &Page<'_>, opinions: &[Opinion]) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut rest = opinions;
    while let Some(first) = rest.iter().position(|one| one.share >= SHARE_MIN) {
        rest = &rest[first..];
        let count = 1 + rest
            .windows(2)
            .take_while(|two| goes_on(page, &two[0], &two[1]))
            .count();
        found.extend(run(page, &rest[..count]));
        rest = &rest[count..];
    }
    found
}

/// Whether a piece goes on with the value of the piece before it: next to it, or behind one blank or sign of a number.
fn goes_on(page: &Page<'_>, last: &Opinion, one: &Opinion) -> bool {
    let between = page.slice(last.end as usize..one.start as usize);
    let is_near = match between {
        [] => true,
        [byte] => byte.is_ascii_whitespace() || matches!(byte, b'-' | b'.' | b'/'),
        _ => false,
    };
    let begins = one.begin_share >= BEGIN_MIN * one.kind_share && one.begin_share > 0.25;
    let is_same = one.kind == last.kind && one.share >= SHARE_MIN;
    is_same && is_near && (!begins || between.is_empty())
}

/// The candidate of a run, without unlikely pieces and signs at its edges.
fn run(page: &Page<'_>, pieces: &[Opinion]) -> Option<Candidate> {
    let most = pieces
        .iter()
        .fold(0.0, |most: f32, one| most.max(one.share));
    let is_likely = |one: &Opinion| one.share >= EDGE_MIN * most;
    let first = pieces.iter().find(|one| is_likely(one))?;
    let last = pieces.iter().rfind(|one| is_likely(one))?;
    let span = first.start as usize..last.end as usize;
    let one = Candidate {
        kind: first.kind,
        span: fitted(page, first.kind, span),
        score: most,
        rule: RULE,
    };
    let field = page.field_at(one.span.start);
    let is_settled = one.kind.is_core()
        && field.is_some_and(|field| field.is_settled || is_of_other(field.meaning));
    let is_state = is_left_state(page, one.kind, &one.span);
    let is_open = !is_settled && !is_state && !page.has_placeholder(&one.span);
    (is_open && has_letters(page, &one.span) && has_form(page, &one)).then_some(one)
}

/// Whether a place is a state, which is left as it is.
fn is_left_state(page: &Page<'_>, kind: PhiKind, span: &Range<usize>) -> bool {
    let text = page.text.get(span.clone()).unwrap_or_default();
    kind.code() == "place" && beyond::is_state(text)
}

/// The parts of a run that findings of its kind leave over.
pub(super) fn left_over<'a>(
    page: &Page<'_>,
    run: &Candidate,
    found: impl Iterator<Item = &'a Range<usize>>,
) -> Vec<Candidate> {
    let mut spans = Vec::new();
    let mut start = run.span.start;
    for one in found {
        spans.push(start..one.start.min(run.span.end));
        start = start.max(one.end);
    }
    spans.push(start..run.span.end);
    let parts = spans.into_iter().filter(|span| span.start < span.end);
    let parts = parts.map(|span| without_signs(page, run.kind, span));
    let is_long = |span: &Range<usize>| run.kind == PhiKind::NAME || span.len() >= NUMBER_MIN;
    let is_other = |span: &Range<usize>| is_left_state(page, run.kind, span);
    let parts = parts.filter(|span| has_letters(page, span) && is_long(span) && !is_other(span));
    parts
        .map(|span| Candidate {
            span,
            ..run.clone()
        })
        .collect()
}

/// The span with the words and numbers that it cuts, without signs at its edges.
fn fitted(page: &Page<'_>, kind: PhiKind, span: Range<usize>) -> Range<usize> {
    let bytes = page.bytes();
    let Range { mut start, mut end } = span;
    while start > 0 && are_of_one_word(bytes[start - 1], bytes[start]) {
        start -= 1;
    }
    while end < bytes.len() && are_of_one_word(bytes[end - 1], bytes[end]) {
        end += 1;
    }
    without_signs(page, kind, start..end)
}

fn are_of_one_word(one: u8, next: u8) -> bool {
    one.is_ascii_alphabetic() && next.is_ascii_alphabetic()
        || one.is_ascii_digit() && next.is_ascii_digit()
}

fn without_signs(page: &Page<'_>, kind: PhiKind, span: Range<usize>) -> Range<usize> {
    let bytes = page.bytes();
    let Range { mut start, mut end } = span;
    let is_edge = |byte: u8| byte.is_ascii() && !byte.is_ascii_alphanumeric();
    let opens = |byte: u8| matches!(byte, b'(' | b'+' | b'#') && kind != PhiKind::NAME;
    while start < end && is_edge(bytes[start]) && !opens(bytes[start]) {
        start += 1;
    }
    while end > start && is_edge(bytes[end - 1]) {
        end -= 1;
    }
    page.text.floor_char_boundary(start)..page.text.ceil_char_boundary(end)
}

fn has_letters(page: &Page<'_>, span: &Range<usize>) -> bool {
    page.text
        .get(span.clone())
        .is_some_and(|text| text.chars().any(char::is_alphanumeric))
}

/// Whether a field is said to hold something else: another number, or a thing.
fn is_of_other(meaning: Option<Meaning>) -> bool {
    matches!(meaning, Some(Meaning::OtherId(_) | Meaning::Thing))
}

/// Whether a number has a figure, or is several words long, as when it is spelled out.
fn has_form(page: &Page<'_>, one: &Candidate) -> bool {
    let text = page.text.get(one.span.clone()).unwrap_or_default();
    let is_number = matches!(
        one.kind.rule().spelling,
        Spelling::Code | Spelling::Telephone
    );
    !is_number || text.chars().any(char::is_numeric) || text.contains(char::is_whitespace)
}
