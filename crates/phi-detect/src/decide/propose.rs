//! Candidates of the reader: runs of pieces that are likely part of a value of one kind.

use std::ops::Range;

use crate::candidate::Candidate;
use crate::kinds::PhiKind;
use crate::page::Page;
use crate::reader::Opinion;

/// The rule of the reader's candidates.
pub(super) const RULE: &str = "reader";

/// Pieces less likely than this are not part of a value.
const SHARE_MIN: f32 = 0.15;
/// A value begins at a piece for which that is at least as likely, and likelier than going on.
const BEGIN_MIN: f32 = 0.5;

/// The reader's candidates, in order.
pub(super) fn candidates(page: &Page<'_>, opinions: &[Opinion]) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for one in opinions.iter().filter(|one| one.share >= SHARE_MIN) {
        let span = one.start as usize..one.end as usize;
        match found.last_mut() {
            Some(last) if last.kind == one.kind && goes_on(page, last, one) => {
                last.span.end = span.end;
                last.score = last.score.max(one.share);
            }
            _ => found.push(Candidate {
                kind: one.kind,
                span,
                score: one.share,
                rule: RULE,
            }),
        }
    }
    for one in &mut found {
        one.span = fitted(page, one.kind, one.span.clone());
    }
    found.retain(|one| has_letters(page, &one.span));
    found
}

/// Whether a piece goes on with the value before it: next to it, or behind one blank.
fn goes_on(page: &Page<'_>, last: &Candidate, one: &Opinion) -> bool {
    let between = page.slice(last.span.end..one.start as usize);
    let is_near = match between {
        [] => true,
        [byte] => byte.is_ascii_whitespace() || matches!(byte, b'-' | b'.' | b'/'),
        _ => false,
    };
    let begins = one.begin_share >= BEGIN_MIN * one.kind_share && one.begin_share > 0.25;
    is_near && (!begins || between.is_empty())
}

/// The span with the words that it cuts, without signs at its edges.
fn fitted(page: &Page<'_>, kind: PhiKind, span: Range<usize>) -> Range<usize> {
    let bytes = page.bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
    let (mut start, mut end) = (span.start, span.end);
    if kind == PhiKind::NAME {
        while start > 0 && is_word(bytes[start]) && is_word(bytes[start - 1]) {
            start -= 1;
        }
        while end < bytes.len() && end > 0 && is_word(bytes[end - 1]) && is_word(bytes[end]) {
            end += 1;
        }
    }
    let is_edge = |byte: u8| byte.is_ascii() && !byte.is_ascii_alphanumeric();
    let opens = |byte: u8| matches!(byte, b'(' | b'+' | b'#') && kind != PhiKind::NAME;
    while start < end && is_edge(bytes[start]) && !opens(bytes[start]) {
        start += 1;
    }
    while end > start && is_edge(bytes[end - 1]) {
        end -= 1;
    }
    let start = page.text.floor_char_boundary(start);
    start..page.text.ceil_char_boundary(end)
}

fn has_letters(page: &Page<'_>, span: &Range<usize>) -> bool {
    page.text
        .get(span.clone())
        .is_some_and(|text| text.chars().any(char::is_alphanumeric))
}
