//! Numbers in groups.

use std::ops::Range;

use crate::budget::Few;
use crate::page::{Page, is_word_byte, word_end};
use crate::words;

/// Whether a value is a span from one year to another ("1998-2004", "1998 - 2004", "1998-99").
pub(crate) fn is_span_of_years(value: &[u8]) -> bool {
    let mut groups = value
        .split(|byte| !byte.is_ascii_digit())
        .filter(|group| !group.is_empty());
    let (Some(from), Some(to), None) = (groups.next(), groups.next(), groups.next()) else {
        return false;
    };
    let has_century = from.starts_with(b"19") || from.starts_with(b"20");
    let is_later = match to.len() {
        2 => to >= &from[from.len().min(2)..],
        4 => to >= from && to < b"2100".as_slice(),
        _ => false,
    };
    from.len() == 4 && has_century && is_later
}

/// Returns the end of a telephone number that starts here, behind numbers of a list in another form ("MRN 00412345,
/// 415-555-0134").
pub(crate) fn phone_behind_list(page: &Page<'_>, start: usize) -> Option<usize> {
    const FORM: &[u8] = b"000-000-0000";
    let is_form = |text: &[u8]| {
        let fits = |(byte, form): (&u8, &u8)| match form {
            b'0' => byte.is_ascii_digit(),
            _ => matches!(byte, b'-' | b'.'),
        };
        text.len() == FORM.len() && text.iter().zip(FORM).all(fits)
    };
    let end = start + FORM.len();
    let value = page.slice(start..end);
    let is_free = !is_word_byte(page.byte(end)) && page.byte(end) != b'-';
    let before = page.slice(start.saturating_sub(FORM.len() + 2)..start);
    let before = before.strip_suffix(b" ").unwrap_or(before);
    let before = before.strip_suffix(b",").unwrap_or(before);
    let last = &before[before.len().saturating_sub(FORM.len())..];
    let is_phone = is_form(value) && matches!((value[0], value[4]), (b'2'..=b'9', b'2'..=b'9'));
    (is_phone && is_free && !is_form(last)).then_some(end)
}

/// Digit groups that belong together, such as `536-22-8741`.
pub(crate) struct Run {
    pub(crate) span: Range<usize>,
    /// Number of marks that it covers.
    pub(crate) marks: usize,
    pub(crate) digit_count: usize,
    first: usize,
}

impl Run {
    /// Reads groups of exactly these lengths from a mark on.
    pub(crate) fn read(
        page: &Page<'_>,
        first: usize,
        lengths: &[usize],
        separates: fn(&[u8]) -> bool,
    ) -> Option<Run> {
        let marks = page.marks.get(first..first + lengths.len())?;
        let fits = marks
            .iter()
            .zip(lengths)
            .all(|(mark, &length)| mark.is_number() && mark.len() == length);
        let is_joined = || {
            marks
                .windows(2)
                .all(|pair| separates(page.slice(pair[0].end as usize..pair[1].start as usize)))
        };
        (fits && is_joined()).then(|| Run::new(page, first, lengths.len()))
    }

    /// Reads groups from a mark on until they have exactly `total` digits.
    pub(crate) fn read_total(
        page: &Page<'_>,
        first: usize,
        total: usize,
        separates: fn(&[u8]) -> bool,
    ) -> Option<Run> {
        let mut digits = 0;
        let mut last_end = None;
        for (count, mark) in page.marks[first..].iter().take(total).enumerate() {
            let is_joined =
                last_end.is_none_or(|end| separates(page.slice(end as usize..mark.start as usize)));
            if !mark.is_number() || !is_joined {
                return None;
            }
            digits += mark.len();
            last_end = Some(mark.end);
            if digits >= total {
                return (digits == total).then(|| Run::new(page, first, count + 1));
            }
        }
        None
    }

    /// Reads as many groups as are joined, up to `most` of them and 15 digits.
    pub(crate) fn read_all(
        page: &Page<'_>,
        first: usize,
        most: usize,
        separates: fn(&[u8]) -> bool,
    ) -> Run {
        let mut count = 1;
        let mut digits = page.marks[first].len();
        while count < most {
            let Some(mark) = page.marks.get(first + count) else {
                break;
            };
            let end = page.marks[first + count - 1].end as usize;
            digits += mark.len();
            if !mark.is_number() || digits > 15 || !separates(page.slice(end..mark.start as usize))
            {
                break;
            }
            count += 1;
        }
        Run::new(page, first, count)
    }

    fn new(page: &Page<'_>, first: usize, marks: usize) -> Run {
        let start = page.marks[first].start as usize;
        let end = page.marks[first + marks - 1].end as usize;
        Run {
            span: start..end,
            marks,
            digit_count: page.marks[first..first + marks]
                .iter()
                .map(|mark| mark.len())
                .sum(),
            first,
        }
    }

    /// The digits alone.
    pub(crate) fn digits(&self, page: &Page<'_>) -> Few<u8> {
        let mut digits = page.slice(self.span.clone()).to_vec();
        digits.retain(u8::is_ascii_digit);
        digits
    }

    /// The lengths of the groups; 0 for those it does not have.
    pub(crate) fn lengths(&self, page: &Page<'_>) -> [usize; 6] {
        let mut lengths = [0; 6];
        let marks = &page.marks[self.first..self.first + self.marks];
        for (length, mark) in lengths.iter_mut().zip(marks) {
            *length = mark.len();
        }
        lengths
    }

    /// Whether every separator is exactly this.
    pub(crate) fn has_same_separator(&self, page: &Page<'_>, separator: &[u8]) -> bool {
        page.marks[self.first..self.first + self.marks]
            .windows(2)
            .all(|pair| page.slice(pair[0].end as usize..pair[1].start as usize) == separator)
    }
}

/// Whether this may be between two groups of one number: up to four characters, no letters, at most one comma or slash.
pub(crate) fn is_loose_separator(between: &[u8]) -> bool {
    !between.is_empty()
        && between.len() <= 5
        && between.iter().all(|byte| {
            matches!(
                byte,
                b'-' | b'.'
                    | b' '
                    | b'\t'
                    | b'\n'
                    | b'\r'
                    | b'_'
                    | b'/'
                    | b','
                    | b'('
                    | b')'
                    | b'`'
                    | b'*'
                    | b'|'
                    | b':'
                    | b'~'
                    | b'+'
            )
        })
}

/// Whether this number may be a piece of something longer, or an amount: `12-536-22-8741`, `1,536`, `$536`, `7:536`.
///
/// Reason enough to leave a number alone that nothing calls by its name. A firm label outweighs it.
pub(crate) fn is_inside_longer(page: &Page<'_>, span: &Range<usize>) -> bool {
    let is_amount = page.byte_before(span.start) == b'$' || page.byte(span.end) == b'%';
    is_amount
        || is_tied(page, span, |byte| {
            matches!(byte, b'-' | b'.' | b'/' | b'_' | b':' | b',')
        })
}

/// Whether a number in groups has one more group than it should: `12-536-22-8741`, `206.555.0142.88`.
///
/// Commas, slashes and the like only separate the entries of a list.
pub(crate) fn has_more_groups(page: &Page<'_>, span: &Range<usize>) -> bool {
    is_tied(page, span, |byte| matches!(byte, b'-' | b'.'))
}

/// Whether a sign that `joins` ties the number to a digit on either side.
fn is_tied(page: &Page<'_>, span: &Range<usize>, joins: fn(u8) -> bool) -> bool {
    let is_tied_before = joins(page.byte_before(span.start))
        && page.byte_before(span.start - 1).is_ascii_digit()
        && !page.is_field_edge(span.start);
    let is_tied_after = joins(page.byte(span.end))
        && page.byte(span.end + 1).is_ascii_digit()
        && !page.is_field_edge(span.end);
    is_tied_before || is_tied_after
}

/// Whether a unit follows, so that the number is an amount: "500-1000 mg", "25000 units".
pub(crate) fn is_measured(page: &Page<'_>, end: usize) -> bool {
    let start = end + usize::from(page.byte(end) == b' ');
    if !page.byte(start).is_ascii_alphabetic() {
        return false;
    }
    let word = page.slice(start..word_end(page.bytes(), start));
    words::MEASURES
        .iter()
        .any(|unit| word.eq_ignore_ascii_case(unit.as_bytes()))
}
