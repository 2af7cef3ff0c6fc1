//! Two numbers of one patient that are to become one: "318412 should be merged into 290917".

use std::ops::Range;

use super::value::value_span;
use crate::budget::List;
use crate::kinds::Meaning;
use crate::page::Page;

/// Maximum distance between the verb and the numbers on either side.
const REACH_BYTES: usize = 40;
const DIGITS: std::ops::RangeInclusive<usize> = 5..=10;

/// Finds the numbers on both sides of "merge", "merged", "merging" in a text about record numbers.
pub(super) fn numbers(page: &Page<'_>) -> List<Range<usize>> {
    let mut found = page.memory().list();
    let mut meanings = page.labels.iter().map(|label| label.meaning);
    if !meanings.any(|meaning| meaning == Meaning::Mrn) {
        return found;
    }
    for verb in memchr::memmem::find_iter(page.bytes(), b"merge") {
        let next = page
            .marks
            .partition_point(|mark| (mark.start as usize) < verb);
        let is_number =
            |index: &usize| page.marks[*index].is_number() || page.marks[*index].is_code();
        let before = (next.saturating_sub(4)..next).rev().find(is_number);
        let after = (next..page.marks.len().min(next + 4)).find(is_number);
        let Some((before, after)) = before.zip(after) else {
            continue;
        };
        let (before, after) = (value_span(page, before), value_span(page, after));
        let is_near =
            verb.saturating_sub(before.end) <= REACH_BYTES && after.start - verb <= REACH_BYTES;
        let digits = |span: &Range<usize>| {
            let value = page.slice(span.clone());
            value.iter().filter(|byte| byte.is_ascii_digit()).count()
        };
        let is_alike = before.len() == after.len()
            && DIGITS.contains(&digits(&before))
            && DIGITS.contains(&digits(&after));
        let is_one_sentence = !page
            .slice(before.end.min(after.start)..after.start)
            .contains(&b'\n');
        if is_near && is_alike && is_one_sentence {
            found.extend([before, after]);
        }
    }
    found
}
