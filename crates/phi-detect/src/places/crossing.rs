//! Crossings of two streets (`at Grand & 9th`, `near 9th and Grand`).

use std::ops::Range;

use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, word_end, word_start};
use crate::word_list::WordList;

/// Returns the crossing that has a numbered street (`9th`) on one side, after a word for a location.
pub(crate) fn crossing(page: &Page<'_>, numbered: Range<usize>) -> Option<Range<usize>> {
    let text = page.slice(numbered.clone());
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_ordinal = (1..=3).contains(&digits)
        && [b"st".as_slice(), b"nd", b"rd", b"th"]
            .iter()
            .any(|tail| text[digits..].eq_ignore_ascii_case(tail));
    if !is_ordinal {
        return None;
    }
    let span =
        with_street_before(page, &numbered).or_else(|| with_street_after(page, &numbered))?;
    let span = with_direction(page, span.start)..span.end;
    says_where(page, span.start).then_some(span)
}

static JOINTS: &[&[u8]] = &[b" & ", b" and ", b" x "];

/// Returns a crossing with the named street first (`Grand & 9th`).
fn with_street_before(page: &Page<'_>, numbered: &Range<usize>) -> Option<Range<usize>> {
    let before = page.slice(numbered.start.saturating_sub(5)..numbered.start);
    let joint = JOINTS.iter().find(|joint| before.ends_with(joint))?;
    let end = numbered.start - joint.len();
    let start = word_start(page.bytes(), end);
    is_street_name(page, start..end).then(|| start..street_word_end(page, numbered.end))
}

/// Returns the start of a crossing with the direction before its first street (`NW 9th & Grand`).
fn with_direction(page: &Page<'_>, start: usize) -> usize {
    let end = start.saturating_sub(1);
    let word = page.word_before(end).filter(|_| page.byte(end) == b' ');
    match word {
        Some((sense, word))
            if sense.has(Sense::DIRECTION) && page.byte(word).is_ascii_uppercase() =>
        {
            word
        }
        _ => start,
    }
}

/// Returns a crossing with the named street last (`9th & Grand`).
fn with_street_after(page: &Page<'_>, numbered: &Range<usize>) -> Option<Range<usize>> {
    let from = street_word_end(page, numbered.end);
    let after = page.slice(from..page.text.len().min(from + 5));
    let joint = JOINTS.iter().find(|joint| after.starts_with(joint))?;
    let start = from + joint.len();
    let end = word_end(page.bytes(), start);
    is_street_name(page, start..end).then(|| numbered.start..street_word_end(page, end))
}

/// Takes "St" or "Ave" behind the name.
fn street_word_end(page: &Page<'_>, end: usize) -> usize {
    let next = page.word_at(end + 1).filter(|_| page.byte(end) == b' ');
    next.filter(|(sense, _)| sense.has(Sense::STREET))
        .map_or(end, |(_, end)| end)
}

fn is_street_name(page: &Page<'_>, word: Range<usize>) -> bool {
    let sense = LEXICON.sense(page.slice(word.clone()));
    let is_capital = page.byte(word.start).is_ascii_uppercase();
    let is_other =
        sense.has(Sense::STOP | Sense::MONTH | Sense::TITLE | Sense::LABEL | Sense::ORDINAL);
    word.len() >= 3 && is_capital && (!is_other || sense.has(Sense::STREET))
}

/// Whether a word for a location, like "at", "near" or "on", directly precedes.
fn says_where(page: &Page<'_>, start: usize) -> bool {
    static PLACES: WordList = WordList::new("at near on by off to around from");
    let Some(end) = start.checked_sub(1).filter(|&end| page.byte(end) == b' ') else {
        return false;
    };
    page.word_start_before(end).is_some_and(|word| {
        let word = page.slice(word..end);
        PLACES.has(word)
    })
}
