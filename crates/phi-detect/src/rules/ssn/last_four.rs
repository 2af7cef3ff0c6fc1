//! The last four digits of an SSN, and numbers of which only they can be read.

use std::ops::Range;

use super::{OWN, contains_word, is_ssn, nearest};
use crate::context::claim_after;
use crate::digits;
use crate::kinds::{Evidence, Meaning, Shape};
use crate::page::Page;
use crate::rules::Collector;

/// Finds four digits that end a masked number or are said to be the last four (`8741`). `is_named` says whether the
/// page has a label or a field of such numbers.
pub(super) fn last_four(
    page: &Page<'_>,
    span: Range<usize>,
    is_named: bool,
    out: &mut Collector<'_>,
) {
    if let Some(start) = masked_start(page, span.start) {
        out.weigh(start..span.end, Shape::Masked, Evidence::Form);
        return;
    }
    if !is_named || digits::has_more_groups(page, &span) {
        return;
    }
    let is_named_after = claim_after(page, span.end, |meaning| OWN.contains(&meaning)).is_some();
    if is_named_after && says_last(page.slice(span.start.saturating_sub(24)..span.start)) {
        out.weigh(span, Shape::LastFour, Evidence::NamedAfter);
        return;
    }
    let claim = nearest(page, span.start).filter(|claim| OWN.contains(&claim.meaning));
    let Some(claim) = claim else {
        return;
    };
    if !claim.is_firm() {
        if is_told_apart(page, claim.from, &span) {
            out.weigh(span, Shape::LastFour, Evidence::SaidLast);
        }
        return;
    }
    if says_last(page.slice(claim.from.saturating_sub(LAST_BYTES)..span.start)) {
        out.weigh(span, Shape::LastFour, Evidence::SaidLast);
    } else if claim.is(Meaning::Ssn) && follows_signs(page, claim.from, &span) {
        out.weigh(span, Shape::LastFour, Evidence::Label);
    }
}

/// Maximum distance of "last" before the end of the label ("last four digits of my social security number").
const LAST_BYTES: usize = 56;

/// Whether the words say that these are the last digits of a number.
fn says_last(words: &[u8]) -> bool {
    const LAST: &[&[u8]] = &[
        b"last", b"last4", b"ends", b"ending", b"end", b"l4", b"tail", b"termina", b"ultimos",
    ];
    LAST.iter().any(|word| contains_word(words, word))
}

/// Whether words say that four digits are the last of a number, and not a year ("his social: mine ends in 8741", "the
/// last 4 of my social and I typed 8741").
fn is_told_apart(page: &Page<'_>, label_end: usize, span: &Range<usize>) -> bool {
    const PHRASES: &[&[u8]] = &[
        b"last four of",
        b"last 4 of",
        b"last4 of",
        b"ends in",
        b"ends with",
        b"ending in",
        b"ending",
        b" tail",
    ];
    let words = page
        .slice(label_end.saturating_sub(LAST_BYTES / 2)..span.start)
        .to_ascii_lowercase();
    let is_year = matches!(page.slice(span.start..span.start + 2), b"19" | b"20");
    !is_year
        && PHRASES
            .iter()
            .any(|phrase| memchr::memmem::find(&words, phrase).is_some())
}

/// Whether only signs are between a label and its digits, and these are not a year (`SSN: 8741`).
fn follows_signs(page: &Page<'_>, label_end: usize, span: &Range<usize>) -> bool {
    let between = page.slice(label_end..span.start);
    let is_year = matches!(page.slice(span.start..span.start + 2), b"19" | b"20");
    let ends = matches!(
        page.byte(span.end),
        b')' | b',' | b';' | b'\n' | b'.' | b'"' | b'\'' | 0
    );
    between.len() <= 5
        && between
            .iter()
            .all(|byte| matches!(byte, b' ' | b':' | b'#' | b'=' | b'"' | b'\'' | b'4'))
        && !is_year
        && ends
}

/// Finds a masked token that is called an SSN (`XXXXX8741`).
pub(super) fn masked_token(page: &Page<'_>, span: Range<usize>, out: &mut Collector<'_>) {
    let value = page.slice(span.clone());
    let is_masked = value[..5].iter().all(|byte| matches!(byte, b'x' | b'X'))
        && value[5..].iter().all(u8::is_ascii_digit);
    if is_masked && nearest(page, span.start).is_some_and(|claim| is_ssn(&claim) && claim.is_firm())
    {
        out.weigh(span, Shape::Masked, Evidence::Label);
    }
}

/// Returns the start of `XXX-XX-` before the last four digits.
fn masked_start(page: &Page<'_>, four: usize) -> Option<usize> {
    // Bullets, which the view shows as dots.
    const DOTS: &[u8] = b"...-..-";
    if page.slice(four.saturating_sub(DOTS.len())..four) == DOTS {
        return Some(four - DOTS.len());
    }
    let bytes = page.bytes();
    let mut at = four;
    let mut masks = 0;
    while at > 0 && masks < 5 {
        match bytes[at - 1] {
            b'x' | b'X' | b'*' | b'#' => masks += 1,
            b'-' | b' ' | b'.' if four - at < 10 => {}
            _ => break,
        }
        at -= 1;
    }
    let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
    // "4532************7890" is a card.
    let stands_alone = !before.is_ascii_alphanumeric() && !matches!(before, b'*' | b'#');
    (masks == 5 && stands_alone).then_some(at)
}
