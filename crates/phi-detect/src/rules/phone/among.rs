//! Telephone numbers that nothing names, in texts about people.

use std::ops::Range;

use super::around::{is_dialled, nearest};
use super::shape::{goes_on, is_grouped, is_local, is_tied_before};
use crate::digits::{Run, is_measured};
use crate::kinds::{Evidence, Shape};
use crate::page::Page;
use crate::people;
use crate::rules::{Collector, NamedPeople};

/// Maximum distance between a name and groups of digits behind it.
const REACH_BYTES: usize = 100;
/// Minimum number of digits of a number that is dialled without its area code.
const DIGITS_MIN: usize = 7;

/// Finds unlabelled numbers with the length and groups of telephone numbers.
pub(super) fn among(page: &Page<'_>, named: &NamedPeople<'_>, out: &mut Collector<'_>) {
    let mut free_from = 0;
    for index in page.each_number() {
        let mark = page.marks[index];
        if !mark.is_number() || (mark.start as usize) < free_from {
            continue;
        }
        let run = Run::read_all(page, index, 5, |between| matches!(between, b" " | b"-"));
        free_from = run.span.end;
        if run.digit_count < DIGITS_MIN {
            continue;
        }
        let is_behind = || {
            let [last, _] = named.around(run.span.start);
            last.is_some_and(|name| run.span.start.saturating_sub(name.end) <= REACH_BYTES)
        };
        let is_built_so =
            is_one(page, &run) || (is_grouped(page, &run) || is_local(page, &run)) && is_behind();
        if is_built_so && !named.is_taken(&run.span) && is_free(page, &run.span) {
            out.weigh(run.span, Shape::Abroad, Evidence::AmongPeople);
        }
    }
}

/// Whether a run is ten digits of the North American plan, or eleven with a zero or the country's code.
fn is_one(page: &Page<'_>, run: &Run) -> bool {
    let value = page.slice(run.span.clone());
    let is_unbroken = run.marks == 1;
    is_unbroken
        && (is_dialled(page, &run.span) || value.len() == 11 && matches!(value[0], b'0' | b'1'))
}

/// Whether the digits have no sign of another number, and are not a piece of one.
fn is_free(page: &Page<'_>, span: &Range<usize>) -> bool {
    let before = page.byte_before(span.start);
    nearest(page, span.start).is_none_or(|claim| super::is_of_calling(claim.meaning))
        && page.field_at(span.start).is_none()
        && !before.is_ascii_alphanumeric()
        && !matches!(before, b'=' | b'$' | b'^' | b'|' | b'*' | b':')
        && !page.byte(span.end).is_ascii_alphanumeric()
        && !is_tied_before(page, span.start)
        && !goes_on(page, span.end)
        && !matches!(page.byte(span.end), b'^' | b'|' | b'*' | b'@')
        && !is_measured(page, span.end)
        && !people::is_in_statement(page, span)
}
