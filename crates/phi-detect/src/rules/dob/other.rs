//! Dates that are not birth dates: of versions, of rows of data, of a war.

use std::ops::Range;

use super::nearest;
use crate::labels::Meaning;
use crate::page::{Page, last_letters};
use crate::word_list::WordList;

/// Whether a date is that of a version (`1.0.3 (2018-08-24)`, `## 2.1.0 / 2011-03-24`).
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

/// Whether a date is that of a message, with its weekday and hour ("Sun,  7 Aug 2005 23:23:08").
pub(super) fn is_of_message(page: &Page<'_>, span: &Range<usize>) -> bool {
    static DAYS: WordList = WordList::new("mon tue wed thu fri sat sun");
    let before = page.slice(span.start.saturating_sub(6)..span.start);
    let day = before.trim_ascii_end();
    let day = day.strip_suffix(b",").unwrap_or(day);
    let day = last_letters(day);
    let follows_day = DAYS.has(day);
    let rest = page.slice(span.end..page.text.len().min(span.end + 9));
    let has_seconds = matches!(rest, [b' ' | b'T', h, _, b':', m, _, b':', s, _]
        if [h, m, s].iter().all(|byte| byte.is_ascii_digit()));
    // A birth date of a database may have an hour, too: midnight.
    follows_day || has_seconds && !rest.ends_with(b"00:00:00")
}

/// Whether numbers are weeks and days before a birth ("27 6/7 weeks").
pub(super) fn is_of_weeks(page: &Page<'_>, span: &Range<usize>) -> bool {
    static WEEKS: WordList = WordList::new("week weeks wk wks w");
    let rest = page.slice(span.end..page.text.len().min(span.end + 10));
    let signs = rest
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'/' | b'0'..=b'7'));
    let start = span.end + signs.count().min(4);
    let word = page.slice(start..crate::page::word_end(page.bytes(), start));
    WEEKS.has(word)
}

/// Whether the words around a date mention a war ("8 May 1945"): such dates are history.
pub(super) fn is_of_war(page: &Page<'_>, span: &Range<usize>) -> bool {
    const REACH_BYTES: usize = 48;
    static WORDS: WordList =
        WordList::new("war ww2 wwii ve vj surrender armistice liberation kriegsende");
    let is_history = [b"1914".as_slice(), b"1918", b"1939", b"1944", b"1945"]
        .iter()
        .any(|year| page.slice(span.clone()).ends_with(year));
    let around = page
        .slice(span.start.saturating_sub(REACH_BYTES)..page.text.len().min(span.end + REACH_BYTES));
    let speaks_of_birth =
        nearest(page, span.start).is_some_and(|claim| !claim.is(Meaning::OtherDate));
    is_history
        && !speaks_of_birth
        && around
            .split(|byte| !byte.is_ascii_alphanumeric())
            .any(|word| WORDS.has(word))
}

/// Maximum number of labels between a label of birth and the rows of a table below it.
const ROW_LABELS_MAX: usize = 64;

/// Whether a date is alone in its cell of a row of data without a label of birth.
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
