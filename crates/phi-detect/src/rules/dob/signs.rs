//! Signs of birth other than labels: a star, "ur.", and words behind a date.

use std::ops::Range;

use crate::context::{claim_after, is_equated};
use crate::labels::Meaning;
use crate::lexicon::Sense;
use crate::page::{Page, is_word_byte};

/// Whether a sign marks a date of birth: a star after a German name ("*14.3.62"), Polish "ur." ("ur. 3 XI 1962"), or
/// "born" tied to the date in Chinese and Japanese.
pub(super) fn of_birth(page: &Page<'_>, date: &Range<usize>) -> bool {
    let before = page.slice(date.start.saturating_sub(8)..date.start);
    is_star(page, before, date)
        || follows_ur(before)
        || page
            .text
            .get(date.end..)
            .is_some_and(|rest| rest.starts_with("出生") || rest.starts_with("生まれ"))
}

/// A star right before the date and none behind it, which would be emphasis.
fn is_star(page: &Page<'_>, before: &[u8], date: &Range<usize>) -> bool {
    let bare = before.strip_suffix(b" ").unwrap_or(before);
    let is_free = |rest: &[u8]| matches!(rest.last(), Some(b' ' | b',' | b'('));
    let is_dotted = page.slice(date.clone()).contains(&b'.');
    is_dotted && bare.strip_suffix(b"*").is_some_and(is_free) && page.byte(date.end) != b'*'
}

fn follows_ur(before: &[u8]) -> bool {
    before
        .strip_suffix(b"ur. ")
        .is_some_and(|rest| rest.last().is_none_or(|&byte| !is_word_byte(byte)))
}

/// Whether words behind a day and month call it a birthday ("is the right birthday").
pub(super) fn is_birthday(page: &Page<'_>, end: usize) -> bool {
    let is_of_birth = |meaning| matches!(meaning, Meaning::Born | Meaning::Dob);
    is_equated(page, end)
        && claim_after(page, end, is_of_birth).is_some_and(|_| {
            let after = page.slice(end..page.text.len().min(end + 40));
            after
                .windows(8)
                .any(|word| word.eq_ignore_ascii_case(b"birthday"))
        })
}

/// Whether the label that ends here is a birthday, so that two numbers are its day and month ("bday 3/14",
/// "Geburtstag 14.3.").
pub(super) fn follows_birthday(page: &Page<'_>, label_end: usize) -> bool {
    let before = page.slice(label_end.saturating_sub(3)..label_end);
    before.eq_ignore_ascii_case(b"day") || before.eq_ignore_ascii_case(b"tag")
}

/// Whether an hour follows, so that two numbers are a day and its month ("born 5/8 at 16:30").
pub(super) fn is_timed(page: &Page<'_>, end: usize) -> bool {
    let rest = page.slice(end..page.text.len().min(end + 9));
    let is_hour = |rest: &[u8]| {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        digits == 4 || digits <= 2 && rest.get(digits) == Some(&b':') && digits > 0
    };
    rest.strip_prefix(b" at ").is_some_and(is_hour)
}

/// Whether a label speaks of giving birth: the month alone does not show the person who was born ("gave birth in
/// March 2008").
pub(super) fn is_childbirth(page: &Page<'_>, label_end: usize) -> bool {
    page.word_start_before(label_end)
        .is_some_and(|start| page.slice(start..label_end).eq_ignore_ascii_case(b"birth"))
}

/// Whether the year of a date in figures is that of a grown person's birth.
pub(super) fn is_long_ago(page: &Page<'_>, date: &Range<usize>) -> bool {
    let value = page.slice(date.clone());
    let groups = || value.split(|byte| !byte.is_ascii_digit());
    match groups().find(|group| group.len() == 4) {
        Some(year) => (b"1910".as_slice()..=b"2006".as_slice()).contains(&year),
        None => groups()
            .next_back()
            .is_some_and(|year| year.len() == 2 && year >= b"35".as_slice()),
    }
}

/// Whether a relative's name starts here ("daughter Grace", "Child 2: Moses").
pub(super) fn follows_kin(page: &Page<'_>, name: usize) -> bool {
    let before = page.slice(name.saturating_sub(6)..name);
    let signs = before
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b' ' | b':' | b'#') || byte.is_ascii_digit())
        .count();
    signs > 0
        && page
            .word_before(name - signs)
            .is_some_and(|(sense, _)| sense.has(Sense::KIN))
}

/// Whether no sentence goes on behind a date, as in lists of people.
pub(super) fn ends_particulars(page: &Page<'_>, end: usize) -> bool {
    let rest = page
        .slice(end..page.text.len().min(end + 3))
        .trim_ascii_start();
    rest.first().is_none_or(|byte| !byte.is_ascii_lowercase())
        || page.byte(end) == b'\n'
        || page.byte(end) == 0
}
