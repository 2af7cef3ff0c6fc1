//! Calendar dates, whatever they are of; whose they are is for the decision.

use super::{Proposals, line_of};
use crate::dates::{Form, each_date};
use crate::kinds::PhiKind;
use crate::page::Page;

/// Proposes the dates of a page.
pub(super) fn find(page: &Page<'_>, out: &mut Proposals<'_>) {
    let Some(kind) = PhiKind::from_code("date") else {
        return;
    };
    if !out.settings.looks_for(kind) {
        return;
    }
    for (_, date) in each_date(page) {
        let Some(date) = date else {
            continue;
        };
        let score = match date.form {
            Form::Full => 0.7,
            Form::DayMonth => 0.6,
            Form::MonthYear => 0.5,
            Form::Fraction => 0.15,
            Form::Compact => continue,
        };
        let is_stamp = is_log_stamp(page, date.span.start);
        let score = if is_stamp { 0.1 } else { score };
        out.push(page, kind, date.span.clone(), score, "date.written");
    }
}

/// Whether a date opens its line as the time stamp of a log.
fn is_log_stamp(page: &Page<'_>, start: usize) -> bool {
    let line = line_of(page, &(start..start));
    let before = page.slice(line.start..start);
    let is_first = before.iter().all(|byte| !byte.is_ascii_alphanumeric());
    let after = page.slice(start..line.end.min(start + 24));
    let has_time = after.iter().filter(|byte| **byte == b':').count() >= 2;
    is_first && has_time
}
