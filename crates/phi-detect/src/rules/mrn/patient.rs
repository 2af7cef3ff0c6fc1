//! Record numbers beside a patient, without a label.

use std::ops::Range;

use super::nearest;
use super::value::{is_diagnosis, is_local_number, is_something_else, is_tie, value_span};
use crate::budget::Few;
use crate::dates::date_at;
use crate::kinds::{Evidence, Meaning, Shape};
use crate::lexicon::Sense;
use crate::page::Page;
use crate::people;
use crate::rules::Collector;

/// Returns the evidence for a number without a label beside a patient ("patient #65878146", "Roe/51550497/February
/// 17").
pub(super) fn beside_a_name(
    page: &Page<'_>,
    span: &Range<usize>,
    digits: usize,
) -> Option<Evidence> {
    if !(5..=10).contains(&digits) || page.field_at(span.start).is_some() {
        return None;
    }
    let before = page.byte_before(span.start);
    let is_patient_number = before == b'#' && follows_patient(page, span.start - 1)
        || matches!(before, b' ' | b'=')
            && digits >= 6
            && follows_patient_alone(page, span.start - 1);
    let is_patient_number = is_patient_number && !is_written_as_date(page.slice(span.clone()));
    let is_reference = before == b'/'
        && page.byte(span.end) == b'/'
        && follows_word(page, span.start - 1)
        && opens_date(page, span.end + 1);
    if is_patient_number {
        Some(Evidence::Patient)
    } else if is_reference {
        Some(Evidence::Reference)
    } else {
        None
    }
}

/// Whether a value has the three groups of a date ("Pt 4-4-2012").
fn is_written_as_date(value: &[u8]) -> bool {
    let lengths: Few<usize> = value
        .split(|byte| !byte.is_ascii_alphanumeric())
        .map(<[u8]>::len)
        .collect();
    matches!(
        lengths.as_slice(),
        [1 | 2, 1 | 2, 2 | 4] | [4, 1 | 2, 1 | 2]
    )
}

/// Finds the number directly after a name by which records and lists distinguish people ("Jane Roe, 5819919, is a",
/// "ROE, JANE (T00-4419)", "ROE,JANE M0033190", "Roe, J. | 6610-08-3 |").
pub(super) fn beside(page: &Page<'_>, name: &Range<usize>, out: &mut Collector<'_>) {
    if let Some(span) = opening_line(page, name) {
        out.weigh(span, Shape::Value, Evidence::BesideName);
    }
    if let Some(span) = code_behind(page, name) {
        out.weigh(span, Shape::Value, Evidence::BesideName);
    }
    let particulars = people::particulars(page, name.end);
    let Some(start) = particulars.or_else(|| after_link(page, name.end)) else {
        return;
    };
    if !(page.byte(start).is_ascii_digit() || page.byte(start).is_ascii_uppercase()) {
        return;
    }
    let next = page
        .marks
        .partition_point(|mark| (mark.start as usize) < start);
    let Some(mark) = page.marks[next..]
        .iter()
        .take(2)
        .position(|mark| mark.is_number() || mark.is_code())
    else {
        return;
    };
    let mut span = value_span(page, next + mark);
    // "Roe J 482913": the letter is the name's.
    if name.contains(&span.start) {
        span.start = start;
    }
    if span.start != start || page.field_at(start).is_some() {
        return;
    }
    let value = page.slice(span.clone());
    let has_groups = value.iter().any(|&byte| is_tie(byte));
    let is_long = has_enough_digits(value, has_groups, page.byte_before(start) == b'(');
    let is_open = page.slice(start.saturating_sub(2)..start) == b" (";
    let is_bracketed = is_open && matches!(page.byte(span.end), b')' | b',');
    let ends = matches!(
        page.byte(span.end),
        b',' | b'\n' | b'|' | b'\t' | b' ' | b')' | b';' | 0
    );
    let is_full_name = page
        .slice(name.clone())
        .iter()
        .any(|byte| matches!(byte, b',' | b' '));
    let is_tied = is_bracketed || !is_open && ends;
    let is_alone =
        (is_bracketed && !has_groups || particulars.is_some() || points_at(page, name, &span))
            && !people::follows_rank(page, name.start);
    if is_long
        && is_tied
        && (is_full_name || is_alone)
        && !is_something_else(page, next + mark, &span)
        && date_at(page, next + mark).is_none()
        && nearest(page, start).is_none_or(|claim| !claim.is_firm())
    {
        out.weigh(span, Shape::Value, Evidence::BesideName);
    }
}

/// Returns a letter or two and six to eight digits without a label on the line of a name ("Jane Roe was filed as
/// B204471").
fn code_behind(page: &Page<'_>, name: &Range<usize>) -> Option<Range<usize>> {
    const REACH_BYTES: usize = 60;
    let first = page
        .marks
        .partition_point(|mark| (mark.start as usize) < name.end);
    let mut marks = page.marks[first..]
        .iter()
        .take_while(|mark| mark.start as usize <= name.end + REACH_BYTES);
    let code = marks.find(|mark| mark.is_code())?.range();
    let value = page.slice(code.clone());
    let letters = value
        .iter()
        .take_while(|byte| byte.is_ascii_uppercase())
        .count();
    let digits = &value[letters..];
    let is_built_so = (1..=2).contains(&letters)
        && (6..=8).contains(&digits.len())
        && digits.iter().all(u8::is_ascii_digit);
    let is_free = |byte: u8| !matches!(byte, b'-' | b'/' | b'_' | b'.' | b'#' | b'=' | b'"' | b':');
    let is_one_line = !page.slice(name.end..code.start).contains(&b'\n');
    (is_built_so
        && is_one_line
        && is_free(page.byte_before(code.start))
        && page.field_at(code.start).is_none()
        && nearest(page, code.start).is_none())
    .then_some(code)
}

/// Whether a value beside a name has enough digits to be a record number. With letters, fewer digits are enough.
fn has_enough_digits(value: &[u8], has_groups: bool, is_open: bool) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let has_letters = value.iter().any(u8::is_ascii_alphabetic);
    match (has_letters, has_groups) {
        _ if is_local_number(value) || is_diagnosis(value) => false,
        (true, _) => (4..=10).contains(&digits) && (value[0].is_ascii_uppercase() || is_open),
        (false, true) => (6..=10).contains(&digits),
        (false, false) => (6..=9).contains(&digits),
    }
}

/// The number that opens the line of a list, before a name with its particulars: "4471902 ROE JANE 03/14/1962 F".
fn opening_line(page: &Page<'_>, name: &Range<usize>) -> Option<Range<usize>> {
    const DIGITS: std::ops::RangeInclusive<usize> = 6..=9;
    const LINE_BYTES_MAX: usize = 14;
    let from = name.start.saturating_sub(LINE_BYTES_MAX);
    let before = page.slice(from..name.start);
    let line = match memchr::memrchr(b'\n', before) {
        Some(at) => from + at + 1,
        None if from == 0 => 0,
        None => return None,
    };
    let head = page.slice(line..name.start);
    let digits = head.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let gap = &head[digits..];
    let is_gap = (1..=4).contains(&gap.len())
        && gap
            .iter()
            .all(|byte| matches!(byte, b' ' | b'\t' | b'|' | b'-'));
    let is_full_name = page
        .slice(name.clone())
        .iter()
        .any(|byte| matches!(byte, b',' | b' '));
    // "4471902 - Roe, Jane" needs no more: a list names people so.
    let has_comma = page.slice(name.clone()).contains(&b',');
    let has_particulars = || has_comma || people::particulars(page, name.end).is_some();
    (DIGITS.contains(&digits) && is_gap && has_particulars() && (is_full_name || !has_comma))
        .then_some(line..line + digits)
}

/// Returns the start of a number directly after a name.
pub(super) fn after_link(page: &Page<'_>, name_end: usize) -> Option<usize> {
    let gap = page.slice(name_end..page.text.len().min(name_end + 12));
    let spaces = gap.iter().take_while(|&&byte| byte == b' ').count();
    if spaces >= 2 {
        return Some(name_end + spaces + usize::from(gap.get(spaces) == Some(&b'#')));
    }
    let link = match gap {
        [b' ', b'(', b'#', ..] | [b',', b' ', b'#', ..] | [b' ', b'/' | b'|' | b'-', b' ', ..] => 3,
        [b' ', b'(' | b'[' | b'#', ..] | [b',' | b';' | b':', b' ', ..] => 2,
        [b' ' | b'\t', ..] => 1,
        _ => return None,
    };
    Some(name_end + link)
}

/// Whether a single surname is enough, because a sign, a separate cell or a label says that the number is a person's
/// ("Roe #4471902", "| Roe | 4471902 |", "Re: Roe, 4471902").
fn points_at(page: &Page<'_>, name: &Range<usize>, number: &Range<usize>) -> bool {
    let is_cell = page.slice(name.end..number.start) == b" | "
        && page.slice(number.end..page.text.len().min(number.end + 2)) == b" |";
    page.byte_before(number.start) == b'#' || is_cell || follows_label(page, name.start)
}

/// Whether the label before a name says that it is a patient's ("Pt: Roe", "RE: Roe").
fn follows_label(page: &Page<'_>, name: usize) -> bool {
    let before = page.slice(name.saturating_sub(5)..name);
    let Some(colon) = before.strip_suffix(b": ").map(|_| name - 2) else {
        return false;
    };
    let is_reference = page
        .word_start_before(colon)
        .is_some_and(|start| page.slice(start..colon).eq_ignore_ascii_case(b"re"));
    is_reference
        || page
            .label_ending_at(colon)
            .is_some_and(|label| label.meaning == Meaning::Name)
}

/// Whether "patient", "pt" or a similar word directly precedes.
fn follows_patient(page: &Page<'_>, at: usize) -> bool {
    let end = at - usize::from(page.byte_before(at) == b' ');
    page.word_start_before(end).is_some_and(|start| {
        let word = page.slice(start..end);
        [
            b"patient".as_slice(),
            b"pt",
            b"resident",
            b"client",
            b"chart",
            b"record",
        ]
        .iter()
        .any(|one| word.eq_ignore_ascii_case(one))
    })
}

/// Whether "patient" or "pt" directly precedes, with or without a colon ("patient 482913", "Patient: 482913").
fn follows_patient_alone(page: &Page<'_>, at: usize) -> bool {
    let end = at - usize::from(page.byte_before(at) == b':');
    page.word_start_before(end).is_some_and(|start| {
        let word = page.slice(start..end);
        word.eq_ignore_ascii_case(b"patient") || word.eq_ignore_ascii_case(b"pt")
    })
}

fn follows_word(page: &Page<'_>, at: usize) -> bool {
    page.word_before(at)
        .is_some_and(|(sense, start)| at - start >= 2 && !sense.has(Sense::STOP))
}

fn opens_date(page: &Page<'_>, at: usize) -> bool {
    let is_month = page
        .word_at(at)
        .is_some_and(|(sense, _)| sense.has(Sense::MONTH));
    let digits = page
        .slice(at..page.text.len().min(at + 5))
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    is_month
        || matches!(digits, 1 | 2 | 4)
            && matches!(page.byte(at + digits), b'/' | b'-' | b'.' | b' ')
}
