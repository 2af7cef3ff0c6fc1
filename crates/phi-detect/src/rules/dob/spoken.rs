//! Birth dates directly after their label without the form of a date: said in numbers alone, by the name of a feast,
//! or with an unreadable part.

use std::ops::Range;

use crate::budget::Few;
use crate::context::value_after;
use crate::dates::spoken_numbers;
use crate::labels::Meaning;
use crate::page::{Label, Page};
use crate::rules::Collector;

/// Takes such dates.
pub(super) fn find(page: &Page<'_>, out: &mut Collector<'_>) {
    for label in page.labels.iter().filter(|label| is_of_birth(page, label)) {
        let start = value_after(page, label.end as usize);
        if let Some(span) = spoken_numbers(page, start) {
            out.push(span, 0.85, "dob.spoken");
        }
        if let Some(span) = feast(page, start) {
            out.push(span, 0.85, "dob.feast");
        }
        if let Some(span) = unreadable(page, label.end as usize) {
            out.push(span, 0.85, "dob.unreadable");
        }
    }
}

/// Whether a label is one of birth ("date of birth", "birthday", "born") and not of age ("turned").
fn is_of_birth(page: &Page<'_>, label: &Label) -> bool {
    let is_born = || matches!(page.byte(label.start as usize), b'b' | b'B');
    label.meaning == Meaning::Dob || label.meaning == Meaning::Born && is_born()
}

/// Returns a feast, with its year if one follows ("Christmas Day 1942").
fn feast(page: &Page<'_>, start: usize) -> Option<Range<usize>> {
    const FEASTS: &[&[u8]] = &[
        b"boxing day",
        b"christmas day",
        b"christmas eve",
        b"christmas",
        b"cinco de mayo",
        b"halloween",
        b"new year's day",
        b"new year's eve",
        b"new years day",
        b"new years eve",
        b"st patrick's day",
        b"st. patrick's day",
        b"valentine's day",
    ];
    let name = FEASTS.iter().find(|feast| {
        page.slice(start..start + feast.len())
            .eq_ignore_ascii_case(feast)
    })?;
    let end = start + name.len();
    let gap = page
        .slice(end..page.text.len().min(end + 3))
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b',' | b'\''))
        .count();
    let rest = page.slice(end + gap..page.text.len().min(end + gap + 5));
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let has_year = gap > 0 && matches!(digits, 2 | 4);
    // "his birthday is Christmas by the old calendar".
    let is_whole = !page.byte(end).is_ascii_alphanumeric() && page.byte(end) != b' ';
    (is_whole || has_year).then_some(start..if has_year { end + gap + digits } else { end })
}

/// Returns a date with an unreadable part directly after its label (`??/09/1961`, `09/1_/1961`, `XX-09-1961`).
fn unreadable(page: &Page<'_>, label_end: usize) -> Option<Range<usize>> {
    let gap = page.slice(label_end..page.text.len().min(label_end + 3));
    let blanks = gap.iter().take_while(|byte| matches!(byte, b':' | b' '));
    let start = label_end + blanks.count();
    let rest = page.slice(start..page.text.len().min(start + 12));
    let is_gap = |byte: &u8| matches!(byte, b'?' | b'_' | b'x' | b'X' | b'*' | b'#');
    let length = rest
        .iter()
        .take_while(|byte| {
            byte.is_ascii_digit() || is_gap(byte) || matches!(byte, b'/' | b'-' | b'.')
        })
        .count();
    let text = rest[..length].strip_suffix(b".").unwrap_or(&rest[..length]);
    let parts: Few<_> = text
        .split(|byte| matches!(byte, b'/' | b'-' | b'.'))
        .collect();
    let lengths: Few<_> = parts.iter().map(|part| part.len()).collect();
    let is_date = matches!(
        lengths.as_slice(),
        [1 | 2, 1 | 2, 2 | 4] | [4, 1 | 2, 1 | 2]
    );
    let read = |part: &&&[u8]| part.iter().any(u8::is_ascii_digit);
    let has_gap = text.iter().any(is_gap);
    (is_date && has_gap && parts.iter().filter(read).count() >= 2)
        .then_some(start..start + text.len())
}
