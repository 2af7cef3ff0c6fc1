//! Ages over 89, in figures and in words.

use std::ops::Range;

use super::{Proposals, value};
use crate::kinds::PhiKind;
use crate::page::Page;
use crate::word_list::WordList;

/// Words that are an age over 89.
static WORDS: WordList = WordList::new(
    "nonagenarian nonagenarians centenarian centenarians supercentenarian nonagenaria centenaria",
);
static TENS: WordList = WordList::new("ninety noventa");
static ONES: WordList = WordList::new("one two three four five six seven eight nine");
static DECADES: WordList = WordList::new("nineties");
static UNITS: WordList = WordList::new("year years yr yrs yo y old aged f m");
/// Words before a number that make it a bound ("older than 90").
static BOUNDS: WordList = WordList::new("than over above under below least exceeding");

/// Proposes ages over 89.
pub(super) fn find(page: &Page<'_>, out: &mut Proposals<'_>) {
    let Some(kind) = PhiKind::from_code("age") else {
        return;
    };
    if !out.settings.looks_for(kind) {
        return;
    }
    for index in page.each_number() {
        let mark = page.marks[index];
        if let Some(span) = in_figures(page, mark.start as usize) {
            out.push(page, kind, span, 0.85, "age.figures");
        }
    }
    let bytes = page.bytes();
    for at in memchr::memchr2_iter(b'n', b'N', bytes).chain(memchr::memchr2_iter(b'c', b'C', bytes))
    {
        if at > 0 && bytes[at - 1].is_ascii_alphanumeric() {
            continue;
        }
        if let Some((span, score)) = in_words(page, at) {
            out.push(page, kind, span, score, "age.words");
        }
    }
    for at in memchr::memmem::find_iter(bytes, b"hundred") {
        if let Some(span) = hundred(page, at) {
            out.push(page, kind, span, 0.7, "age.words");
        }
    }
}

/// An age in figures with its unit behind it, or of a decade ("in her 90s").
fn in_figures(page: &Page<'_>, start: usize) -> Option<Range<usize>> {
    if page.byte_before(start).is_ascii_alphanumeric()
        || matches!(page.byte_before(start), b'.' | b'/' | b'-')
    {
        return None;
    }
    let span = value::age(page, start)?;
    let after = page.byte(span.end);
    if after == b's' && is_of_person(page, start) {
        return Some(span.start..span.end + 1);
    }
    (has_unit(page, span.end) && !is_bound(page, &span)).then_some(span)
}

/// Whether a unit of age follows: "-year-old", " y/o", "yo", "F".
fn has_unit(page: &Page<'_>, end: usize) -> bool {
    let gap = usize::from(matches!(page.byte(end), b' ' | b'-'));
    let start = end + gap;
    let word = crate::page::word_end(page.bytes(), start);
    let unit = page.slice(start..word);
    let is_letter = unit.len() == 1 && !unit.eq_ignore_ascii_case(b"y");
    UNITS.has(unit)
        && !(is_letter && gap == 1)
        && !matches!((unit, page.byte(word)), (b"m" | b"M", b'm' | b'g'))
}

/// Whether a number is a bound of a criterion, not the age of a person.
fn is_bound(page: &Page<'_>, span: &Range<usize>) -> bool {
    let before = page
        .slice(span.start.saturating_sub(16)..span.start)
        .trim_ascii_end();
    let has_sign = before.ends_with(b">")
        || before.ends_with(b"<")
        || before.ends_with(b"=")
        || before.ends_with("≥".as_bytes())
        || before.ends_with("≤".as_bytes());
    let word = before
        .rsplit(|byte| !byte.is_ascii_alphabetic())
        .next()
        .unwrap_or_default();
    let after = super::ahead(page, span.end, 28).to_ascii_lowercase();
    let is_open = [
        b"or older".as_slice(),
        b"and older",
        b"or over",
        b"and over",
        b"and above",
        b"or above",
    ]
    .iter()
    .any(|words| memchr::memmem::find(&after, words).is_some());
    has_sign || BOUNDS.has(word) || is_open
}

/// Whether "his", "her" or "their" is a few words before ("in her late 90s").
fn is_of_person(page: &Page<'_>, start: usize) -> bool {
    static OWNERS: WordList = WordList::new("his her their my your hers sus");
    let before = page.slice(start.saturating_sub(20)..start);
    before
        .split(|byte| !byte.is_ascii_alphabetic())
        .any(|word| OWNERS.has(word))
}

fn in_words(page: &Page<'_>, start: usize) -> Option<(Range<usize>, f32)> {
    let bytes = page.bytes();
    let end = crate::page::word_end(bytes, start);
    let word = page.slice(start..end);
    if WORDS.has(word) {
        return Some((start..end, 0.8));
    }
    if DECADES.has(word) {
        return is_of_person(page, start).then_some((start..end, 0.8));
    }
    if !TENS.has(word) {
        return None;
    }
    let next = crate::page::word_end(bytes, end + 1);
    let has_one = matches!(page.byte(end), b'-' | b' ') && ONES.has(page.slice(end + 1..next));
    let span = start..if has_one { next } else { end };
    (has_unit(page, span.end) && !is_bound(page, &span)).then_some((span, 0.8))
}

/// "one hundred", "a hundred and two", with a unit of age behind it or "turned" before it.
fn hundred(page: &Page<'_>, at: usize) -> Option<Range<usize>> {
    static COUNTS: WordList = WordList::new("one a");
    static TURNED: WordList = WordList::new("turned turns turning aged age");
    let bytes = page.bytes();
    let count_end = at.checked_sub(1)?;
    let start = crate::page::word_start(bytes, count_end);
    let mut end = at + b"hundred".len();
    for link in [b" and ".as_slice(), b" "] {
        if bytes[end..].starts_with(link) {
            let next = crate::page::word_end(bytes, end + link.len());
            if ONES.has(page.slice(end + link.len()..next)) {
                end = next;
                break;
            }
        }
    }
    let before = page.slice(start.saturating_sub(12)..start);
    let is_turned = before
        .split(|byte| !byte.is_ascii_alphabetic())
        .any(|word| TURNED.has(word));
    (COUNTS.has(page.slice(start..count_end)) && (is_turned || has_unit(page, end)))
        .then_some(start..end)
}
