//! Dates of birth in lists without a head: a name and a date without signs on each line.

use std::ops::Range;

use super::nearest;
use crate::page::{Mark, Page};
use crate::rules::{Collector, NamedPeople};

/// Minimum number of six-digit values in a list: fewer may be dates by chance.
const SHORT_MIN: usize = 3;
/// Minimum number of such values in a list: a number with its century and a sex behind it is almost always a date.
const LONG_MIN: usize = 2;
/// Maximum distance between the name and the column.
const REACH_BYTES: usize = 24;

/// The orders in which six digits are read, as the places of day and month.
const ORDERS: [[usize; 2]; 3] = [[0, 2], [2, 0], [4, 2]];

/// Takes `020570` behind the names of a list if every number there is a date in one order, and `19420307F` in fixed
/// columns.
pub(super) fn find(page: &Page<'_>, named: &NamedPeople<'_>, out: &mut Collector<'_>) {
    let (mut short, mut long) = (page.memory().list(), page.memory().list());
    for mark in page.each_mark().map(|index| page.marks[index]) {
        if mark.is_number() && mark.len() == 6 && follows_name(page, &mark, named) {
            short.push(mark.range());
        } else if mark.is_code() && has_sex(page, &mark) && follows_name(page, &mark, named) {
            long.push(mark.start as usize..mark.start as usize + 8);
        }
    }
    let is_free = |span: &Range<usize>| nearest(page, span.start).is_none();
    let is_dated = ORDERS.iter().any(|order| {
        let mut all = short.iter();
        all.all(|span| is_date(page.slice(span.clone()), *order))
    });
    if short.len() < SHORT_MIN || !is_dated {
        short.clear();
    }
    if long.len() < LONG_MIN {
        long.clear();
    }
    for span in short.into_iter().chain(long).filter(is_free) {
        out.push(span, 0.6, "dob.listed");
    }
}

/// Whether a name precedes the number on its line, with only gaps, signs and capitals between them.
fn follows_name(page: &Page<'_>, mark: &Mark, named: &NamedPeople<'_>) -> bool {
    let start = mark.start as usize;
    named.around(start)[0].is_some_and(|name| {
        let between = page.slice(name.end.min(start)..start);
        let is_gap = |byte: &u8| {
            byte.is_ascii_uppercase() || matches!(byte, b' ' | b'/' | b'|' | b',' | b';' | b'\t')
        };
        name.end < start && between.len() <= REACH_BYTES && between.iter().all(is_gap)
    })
}

/// Whether a value is year, month and day, then a sex and a number (`19420307F000447120`).
fn has_sex(page: &Page<'_>, mark: &Mark) -> bool {
    let text = page.slice(mark.range());
    let Some((date, [b'F' | b'M' | b'U' | b'X', rest @ ..])) = text.split_at_checked(8) else {
        return false;
    };
    let is_long_ago = matches!(date[..2], [b'1', b'9'] | [b'2', b'0']);
    rest.iter().all(u8::is_ascii_digit)
        && date.iter().all(u8::is_ascii_digit)
        && is_long_ago
        && is_date(&date[2..], [4, 2])
}

fn is_date(digits: &[u8], [day, month]: [usize; 2]) -> bool {
    let two = |at: usize| (digits[at] - b'0') * 10 + (digits[at + 1] - b'0');
    (1..=31).contains(&two(day)) && (1..=12).contains(&two(month))
}
