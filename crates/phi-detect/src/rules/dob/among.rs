//! Dates of birth that nothing names, in texts about people: a day long ago beside one of them.

use std::ops::Range;

use super::{listed, nearest, other, signs};
use crate::dates::{Form, each_date};
use crate::page::Page;
use crate::people;
use crate::rules::{Collector, NamedPeople};

/// Maximum distance between a name and such a date.
const REACH_BYTES: usize = 60;

/// Finds full dates a generation ago without another label, near the name of a possible patient.
pub(super) fn among(page: &Page<'_>, named: &NamedPeople<'_>, out: &mut Collector<'_>) {
    listed::find(page, named, out);
    let mut free_from = 0;
    for (mark, date) in each_date(page) {
        let Some(date) = date.filter(|date| date.form == Form::Full) else {
            continue;
        };
        if (page.marks[mark].start as usize) < free_from {
            continue;
        }
        free_from = date.span.end;
        let is_free = || {
            let field = page.field_at(date.span.start);
            !named.is_taken(&date.span)
                && field.is_none_or(|field| field.meaning.is_none() && !field.is_settled)
                && nearest(page, date.span.start).is_none()
                && !other::is_of_release(page, date.span.start)
                && !other::is_of_war(page, &date.span)
                && !other::is_of_message(page, &date.span)
        };
        if signs::is_long_ago(page, &date.span)
            && is_near(page, &date.span, named)
            && is_free()
            && !people::is_in_statement(page, &date.span)
        {
            out.push(date.span.clone(), 0.55, "dob.among_people");
        }
    }
}

/// Whether a name precedes the date on its line or the line above, or directly follows it.
fn is_near(page: &Page<'_>, span: &Range<usize>, named: &NamedPeople<'_>) -> bool {
    let [last, next] = named.around(span.start);
    let is_patient = |name: &&Range<usize>| !people::follows_rank(page, name.start);
    let behind = last.filter(is_patient).is_some_and(|name| {
        let between = page.slice(name.end.min(span.start)..span.start);
        // The author of a message and its date ("Jane Roe <jane@clinic.example>").
        if between.len() > REACH_BYTES || between.trim_ascii_start().starts_with(b"<") {
            return false;
        }
        between.iter().filter(|&&byte| byte == b'\n').count() <= 2
    });
    let before = next.filter(is_patient).is_some_and(|name| {
        let between = page.slice(span.end..name.start);
        let rest = page.slice(name.end..page.text.len().min(name.end + 4));
        let has_mailbox = rest.trim_ascii_start().starts_with(b"<");
        between.len() <= 4 && !between.contains(&b'\n') && !has_mailbox
    });
    behind || before
}
