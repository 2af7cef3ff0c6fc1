//! Dates that nobody was born on: of versions, and of rows of data.

use std::ops::Range;

use crate::labels::Meaning;
use crate::page::Page;

/// `1.0.3 (2018-08-24)`, `## 2.1.0 / 2011-03-24`: the date of a version.
pub(super) fn is_of_release(page: &Page<'_>, start: usize) -> bool {
    let before = page.slice(start.saturating_sub(24)..start);
    let before = before.trim_ascii_end();
    let before = before
        .strip_suffix(b"(")
        .or(before.strip_suffix(b"/"))
        .or(before.strip_suffix(b"-"))
        .or(before.strip_suffix(b":"))
        .unwrap_or(before)
        .trim_ascii_end();
    let before = before.strip_suffix(b"]").unwrap_or(before);
    let word = before
        .rsplit(|byte| byte.is_ascii_whitespace() || matches!(byte, b'[' | b'v'))
        .next()
        .unwrap_or_default();
    let parts = word.split(|&byte| byte == b'.');
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let numbers = parts.clone().take_while(|part| is_number(part)).count();
    numbers >= 2 && parts.count() <= 4
}

/// How far back a label of birth may stand for the rows of a table below it.
const ROW_LABELS_MAX: usize = 64;

/// Whether a date stands alone in its cell of a row of data, where nothing speaks of birth.
pub(super) fn is_of_row(page: &Page<'_>, span: &Range<usize>) -> bool {
    let before = page.byte_before(span.start);
    let after = page.byte(span.end);
    let opens = matches!(before, b',' | b'\t' | b';' | b'\n' | 0);
    let ends = matches!(after, b',' | b'\t' | b';');
    let next = page
        .labels
        .partition_point(|label| (label.start as usize) < span.start);
    let speaks_of_birth = page.labels[next.saturating_sub(ROW_LABELS_MAX)..next]
        .iter()
        .any(|label| matches!(label.meaning, Meaning::Dob | Meaning::Born));
    let is_machine_written = page.slice(span.start + 4..span.start + 5) == b"-";
    opens && ends && is_machine_written && !speaks_of_birth
}
