//! Particulars around a name in a list of patients: a title before it, age, sex and date of birth behind it.

use crate::dates::{Form, date_at};
use crate::lexicon::Sense;
use crate::page::{Page, is_word_byte};
use crate::word_list::WordList;

/// A list shows no more about a person before the number.
const PARTICULARS_MAX: usize = 5;

/// Returns the start of the next value after the particulars behind a name ("ROE, JANE  F  63Y  03/14/1962  482913").
pub(crate) fn after(page: &Page<'_>, name_end: usize) -> Option<usize> {
    let mut end = name_end;
    // A number alone may be an age, or that of a house.
    let mut is_sure = false;
    for _ in 0..=PARTICULARS_MAX {
        let start = after_gap(page, end)?;
        let Some(next) = particular_end(page, start) else {
            return is_sure.then_some(start);
        };
        is_sure |= next - start > 3 || !page.slice(start..next).iter().all(u8::is_ascii_digit);
        end = next;
    }
    None
}

/// Steps over what parts the columns of a list, within its line.
fn after_gap(page: &Page<'_>, from: usize) -> Option<usize> {
    const GAP_BYTES_MAX: usize = 16;
    let rest = page.slice(from..page.text.len().min(from + GAP_BYTES_MAX));
    let gap = rest
        .iter()
        .take_while(|byte| {
            matches!(
                byte,
                b' ' | b',' | b'|' | b';' | b'/' | b'(' | b')' | b'-' | b'\t' | b'#'
            )
        })
        .count();
    (gap > 0 && gap < rest.len()).then_some(from + gap)
}

/// Returns the end of the age, sex or date at `start`.
fn particular_end(page: &Page<'_>, start: usize) -> Option<usize> {
    if page.byte(start).is_ascii_digit()
        && let Ok(index) = page
            .marks
            .binary_search_by_key(&start, |mark| mark.start as usize)
        && let Some(date) = date_at(page, index)
        && date.form == Form::Full
        && date.span.start == start
    {
        return Some(date.span.end);
    }
    const UNITS: &[&[u8]] = &[
        b"m", b"f", b"male", b"female", b"y", b"yo", b"yr", b"yrs", b"year", b"years",
    ];
    let rest = page.slice(start..page.text.len().min(start + 12));
    let length = rest.iter().take_while(|byte| is_word_byte(**byte)).count();
    let word = &rest[..length];
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_unit = UNITS
        .iter()
        .any(|unit| word[digits..].eq_ignore_ascii_case(unit));
    let is_age = (1..=3).contains(&digits) && (digits == length || is_unit);
    (is_age || digits == 0 && is_unit).then_some(start + length)
}

/// Whether the title of a profession precedes a name: "Dr. Roe (482913)" is not a patient, "Mr. Roe (482913)" may be.
pub(crate) fn follows_rank(page: &Page<'_>, name: usize) -> bool {
    static PATIENTS: WordList = WordList::new("mr mrs ms miss mx");
    let end = name.saturating_sub(1);
    let end = end - usize::from(page.byte_before(end) == b'.');
    let is_patient = page.word_start_before(end).is_some_and(|start| {
        let title = page.slice(start..end);
        PATIENTS.has(title)
    });
    follows_title(page, name) && !is_patient
}

/// Whether a title precedes a name.
pub(crate) fn follows_title(page: &Page<'_>, name: usize) -> bool {
    let end = name.saturating_sub(1);
    let end = end - usize::from(page.byte_before(end) == b'.');
    page.word_before(end)
        .is_some_and(|(sense, _)| sense.has(Sense::TITLE))
}
