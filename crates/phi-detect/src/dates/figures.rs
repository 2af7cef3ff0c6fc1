//! Dates in figures alone.

use std::ops::Range;

use super::{DateHit, Form, is_either_order, is_month_day, is_year, leading_digits, number};
use crate::page::{Mark, Page, word_end};

/// Returns a date in figures (`03/14/1962`, `1962-03-14`, `14.3.62`, `03 14 1962`, and `3/14`).
pub(super) fn numeric(page: &Page<'_>, index: usize) -> Option<DateHit> {
    let first = page.marks[index];
    let second = *page.marks.get(index + 1)?;
    let separator = page.byte(first.end as usize);
    let is_separated = matches!(separator, b'/' | b'-' | b'.' | b' ' | b'_' | b'~')
        && second.start == first.end + 1
        && second.is_number();
    if !is_separated {
        return None;
    }
    if let Some(date) = month_and_year(page, first, second) {
        return Some(date);
    }
    if first.len() > 4 || second.len() > 2 || is_tied_before(page, first.start as usize) {
        return None;
    }
    let third = page.marks.get(index + 2).filter(|third| {
        third.start == second.end + 1 && page.byte(second.end as usize) == separator
    });
    let one = number(page, first.range());
    let two = number(page, second.range());
    if let Some(third) = third {
        let digits = leading_digits(page, third.range());
        let three = number(page, digits.clone());
        let is_whole = digits.end == third.end as usize;
        let has_time = page.byte(digits.end) == b'T';
        let is_date = match (first.len(), digits.len()) {
            (4, 1 | 2) => is_year(one) && is_month_day(two, three) && (is_whole || has_time),
            (1 | 2, 4) => is_year(three) && is_either_order(one, two) && is_whole,
            (1 | 2, 2) => is_either_order(one, two) && is_whole,
            _ => false,
        };
        let goes_on = matches!(page.byte(digits.end), b'-' | b'.' | b'/')
            && page.byte(digits.end + 1).is_ascii_digit();
        return (is_date && !goes_on).then_some(DateHit {
            span: first.start as usize..digits.end,
            form: if separator == b' ' && digits.len() == 2 {
                Form::Compact
            } else {
                Form::Full
            },
        });
    }
    // "29.2." is a day and its month as they are counted on the Continent.
    let end = second.end as usize;
    let is_counted = separator == b'.' && page.byte(end) == b'.' && is_month_day(two, one);
    let is_day_month = first.len() <= 2
        && (separator == b'/' && is_either_order(one, two)
            || is_counted && !page.byte(end + 1).is_ascii_alphanumeric());
    is_day_month.then_some(DateHit {
        span: first.start as usize..end + usize::from(is_counted),
        form: Form::Fraction,
    })
}

/// Returns a month and year with nothing tied to them (`11/1990`).
fn month_and_year(page: &Page<'_>, first: Mark, second: Mark) -> Option<DateHit> {
    let span = first.start as usize..second.end as usize;
    let is_tied = matches!(page.byte(span.end), b'/' | b'-' | b'.')
        && page.byte(span.end + 1).is_ascii_digit();
    let fits = first.len() <= 2
        && second.len() == 4
        && page.byte(first.end as usize) == b'/'
        && is_month_day(number(page, first.range()), 1)
        && is_year(number(page, second.range()));
    (fits && !is_tied && !is_tied_before(page, span.start)).then_some(DateHit {
        span,
        form: Form::MonthYear,
    })
}

/// Returns a date with the month in Roman numerals, as in Central Europe (`14.III.1962`), or in letters that are a
/// word elsewhere (`14/set/1962`).
pub(super) fn lettered(page: &Page<'_>, day: Range<usize>) -> Option<DateHit> {
    const ROMAN: &[&[u8]] = &[
        b"I", b"II", b"III", b"IV", b"V", b"VI", b"VII", b"VIII", b"IX", b"X", b"XI", b"XII",
    ];
    const SHORT: &[&[u8]] = &[
        b"ago", b"fev", b"gen", b"giu", b"lug", b"mag", b"ott", b"out", b"set",
    ];
    let separator = page.byte(day.end);
    let month = day.end + 1;
    let opens =
        matches!(separator, b'.' | b'-' | b'/' | b' ') && page.byte(month).is_ascii_alphabetic();
    if !opens {
        return None;
    }
    let month_end = word_end(page.bytes(), month);
    if page.byte(month_end) != separator || !page.byte(month_end + 1).is_ascii_digit() {
        return None;
    }
    let year = leading_digits(page, month_end + 1..page.text.len().min(month_end + 6));
    let letters = page.slice(month..month_end);
    // Between spaces small letters are words: "2 x 2000", "1 set 2020".
    let is_month = ROMAN.contains(&letters)
        || separator != b' '
            && ROMAN
                .iter()
                .chain(SHORT)
                .any(|one| letters.eq_ignore_ascii_case(one));
    let is_dated = day.len() <= 2 && super::is_day(number(page, day.clone())) && is_month;
    let has_year = match year.len() {
        4 => is_year(number(page, year.clone())),
        2 => separator != b' ',
        _ => false,
    };
    (is_dated && has_year && !is_tied_before(page, day.start)).then_some(DateHit {
        span: day.start..year.end,
        form: Form::Full,
    })
}

/// Returns a date typed into the boxes of a form (`07 / 23 / 1957`, `0 7 / 3 0 / 1 9 8 9`).
pub(super) fn spread(page: &Page<'_>, start: usize) -> Option<DateHit> {
    if is_tied_before(page, start) {
        return None;
    }
    let (first, after) = boxes(page, start, 2)?;
    let separator = page.byte(after);
    let (second, next) = boxes(page, box_after(page, after, separator)?, 2)?;
    let (third, end) = boxes(page, box_after(page, next, separator)?, 4)?;
    let end = end - usize::from(page.byte_before(end) == b' ');
    let is_date = is_year(third) && is_either_order(first, second);
    // Bars separate the boxes of a form, but also the cells of a table.
    let form = if separator == b'|' {
        Form::Compact
    } else {
        Form::Full
    };
    (matches!(separator, b'/' | b'-' | b'.' | b'|') && is_date).then_some(DateHit {
        span: start..end,
        form,
    })
}

/// Returns up to `most` digits with at most one space after each, as a number, and their end.
fn boxes(page: &Page<'_>, start: usize, most: usize) -> Option<(u32, usize)> {
    let mut at = start;
    let mut value = 0;
    for _ in 0..most {
        if !page.byte(at).is_ascii_digit() {
            break;
        }
        value = value * 10 + u32::from(page.byte(at) - b'0');
        at += 1;
        at += usize::from(page.byte(at) == b' ');
    }
    (at > start && !page.byte(at).is_ascii_digit()).then_some((value, at))
}

/// Returns the start of the next box after a separator.
fn box_after(page: &Page<'_>, at: usize, separator: u8) -> Option<usize> {
    let next = at + 1 + usize::from(page.byte(at + 1) == b' ');
    (page.byte(at) == separator).then_some(next)
}

/// Returns a date without separators (`19620314`, `03141962`, `031462`, `19620314083000`).
pub(super) fn compact(page: &Page<'_>, span: Range<usize>) -> Option<DateHit> {
    let digits = page.slice(span.clone());
    let part = |from: usize, to: usize| number(page, span.start + from..span.start + to);
    let is_year_first = |len: usize| {
        digits.len() >= len && is_year(part(0, 4)) && is_month_day(part(4, 6), part(6, 8))
    };
    let is_date = match digits.len() {
        8 => is_year_first(8) || is_year(part(4, 8)) && is_either_order(part(0, 2), part(2, 4)),
        12 | 14 => is_year_first(8),
        6 => is_either_order(part(0, 2), part(2, 4)),
        _ => false,
    };
    is_date.then_some(DateHit {
        span,
        form: Form::Compact,
    })
}

/// Returns a date with day and month as ordinals, then the year (`14th of the 3rd, 1962`).
pub(super) fn ordinals(page: &Page<'_>, day: Range<usize>) -> Option<DateHit> {
    let is_ordinal = |span: &Range<usize>, digits: usize| {
        let tail = page.slice(span.start + digits..span.start + digits + 2);
        (1..=2).contains(&digits)
            && [b"st", b"nd", b"rd", b"th"]
                .iter()
                .any(|one| tail.eq_ignore_ascii_case(*one))
    };
    let first = leading_digits(page, day.clone());
    let rest = page.slice(day.end..page.text.len().min(day.end + 8));
    if !is_ordinal(&day, first.len()) || !rest.eq_ignore_ascii_case(b" of the ") {
        return None;
    }
    let start = day.end + rest.len();
    let second = leading_digits(page, start..start + 2);
    if !is_ordinal(&(start..start + 4), second.len()) {
        return None;
    }
    let end = second.end + 2;
    let at = end + usize::from(page.byte(end) == b',') + 1;
    let has_blank = page.byte(at - 1) == b' ';
    let at = at + usize::from(page.byte(at) == b'\'');
    let year = leading_digits(page, at..page.text.len().clamp(at, at + 4));
    let fits = has_blank
        && (year.len() == 2 || year.len() == 4 && is_year(number(page, year.clone())))
        && !page.byte(year.end).is_ascii_alphanumeric()
        && is_month_day(number(page, second), number(page, first));
    fits.then_some(DateHit {
        span: day.start..year.end,
        form: Form::Full,
    })
}

fn is_tied_before(page: &Page<'_>, start: usize) -> bool {
    matches!(page.byte_before(start), b'/' | b'-' | b'.' | b',')
        && page.byte_before(start - 1).is_ascii_digit()
        && !page.is_field_edge(start)
}
