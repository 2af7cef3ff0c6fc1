//! Numbers of one form beside several names ("Ana (4410-1), Bea (4409-8), Cleo (4398-3)"), or a list with a surname
//! and a number on each line. A single such number may be anything; three are the numbers of the people.

use std::ops::Range;

use super::patient::after_link;
use super::value::{is_local_number, is_something_else, is_tie, value_span};
use super::{digits_in, nearest};
use crate::budget::Few;
use crate::dates::date_at;
use crate::kinds::{Evidence, Shape};
use crate::page::Page;
use crate::people;
use crate::rules::{Collector, NamedPeople};
use crate::word_list::WordList;

/// Minimum number of names with such a number.
const ROWS_MIN: usize = 3;

/// Number of rows before and behind a row that are compared with it, so that the cost per row is constant.
const REACH_ROWS: usize = 16;

/// Words that show that the people are patients.
static PATIENTS: WordList = WordList::new(
    "beds chart charts clinic consultant hospital patient patients pt pts theatre ward",
);

/// Words for other numbers that people have.
static OTHERS: WordList = WordList::new(
    "badge bleep employee employees ext extension invoice invoices licence license lock locker \
     lockers pager payroll phone room rooms rota salary score seat serial staff student \
     students ticket votes",
);

/// A number beside a name, and how the two are written.
struct Row {
    span: Range<usize>,
    /// Text between the name and the number, empty if the name has particulars.
    link: Range<usize>,
    /// Signs or letters in it, or dates of birth before it, say more than digits alone.
    is_plain: bool,
    /// Whether the number can be read as a date; if all of them can, they are dates.
    is_date: bool,
}

pub(super) fn rows(page: &Page<'_>, named: &NamedPeople<'_>, out: &mut Collector<'_>) {
    let names = page.through(named.names());
    let rows = page
        .memory()
        .collect(names.filter_map(|name| row(page, named, name)));
    if rows.len() < ROWS_MIN || says(page, &OTHERS) {
        return;
    }
    let is_about_patients = says(page, &PATIENTS);
    for (index, row) in rows.iter().enumerate() {
        let near = &rows[index.saturating_sub(REACH_ROWS)..rows.len().min(index + REACH_ROWS)];
        let alike = near.iter().filter(|other| is_alike(page, row, other));
        let is_number = alike.clone().any(|other| !other.is_date);
        let mut values: Few<_> = alike.map(|other| page.slice(other.span.clone())).collect();
        values.sort_unstable();
        values.dedup();
        if values.len() >= ROWS_MIN && is_number && (is_about_patients || !row.is_plain) {
            out.weigh(row.span.clone(), Shape::Value, Evidence::BesideName);
        }
    }
}

/// Returns the number directly after a name, if it has no other label.
fn row(page: &Page<'_>, named: &NamedPeople<'_>, name: &Range<usize>) -> Option<Row> {
    let particulars = people::particulars(page, name.end);
    let start = particulars.or_else(|| after_link(page, name.end))?;
    let index = page
        .marks
        .binary_search_by_key(&start, |mark| mark.start as usize)
        .ok()?;
    let mark = page.marks[index];
    if !(mark.is_number() || mark.is_code()) {
        return None;
    }
    let span = value_span(page, index);
    let value = page.slice(span.clone());
    let is_signed = value
        .iter()
        .any(|&byte| is_tie(byte) || byte.is_ascii_alphabetic());
    let is_plain = !is_signed && particulars.is_none();
    let digits = digits_in(page, &span);
    let is_long = (if is_signed { 4 } else { 5 }..=9).contains(&digits);
    let is_open = page.byte_before(start) == b'(';
    let ends = match page.byte(span.end) {
        b')' => is_open,
        0 | b'\n' | b' ' | b',' | b';' | b'|' | b'\t' => !is_open,
        _ => false,
    };
    let is_free = span.start == start
        && page.field_at(start).is_none()
        && !named.is_taken(&span)
        && !people::follows_rank(page, name.start)
        && nearest(page, start).is_none_or(|claim| !claim.is_firm());
    let is_other =
        || is_local_number(value) || value.contains(&b'.') || is_something_else(page, index, &span);
    (is_long && ends && is_free && !is_other()).then(|| Row {
        link: if particulars.is_some() {
            0..0
        } else {
            name.end..start
        },
        span,
        is_plain,
        is_date: date_at(page, index).is_some(),
    })
}

/// Whether two numbers have digits, letters and signs at the same positions, and follow their names in the same way.
fn is_alike(page: &Page<'_>, one: &Row, two: &Row) -> bool {
    let (value, other) = (page.slice(one.span.clone()), page.slice(two.span.clone()));
    let gap = |row: &Row| page.slice(row.link.clone()).trim_ascii();
    value.len() == other.len()
        && one.link.is_empty() == two.link.is_empty()
        && gap(one) == gap(two)
        && value.iter().zip(other).all(|(a, b)| {
            a == b
                || a.is_ascii_digit() && b.is_ascii_digit()
                || a.is_ascii_uppercase() && b.is_ascii_uppercase()
        })
}

/// Whether the text has any of these words.
fn says(page: &Page<'_>, words: &WordList) -> bool {
    page.bytes()
        .split(|byte| !byte.is_ascii_alphanumeric())
        .any(|word| words.has(word))
}
