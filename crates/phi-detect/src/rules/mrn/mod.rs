//! Medical record numbers.
//!
//! There is no common format: the words around decide. Sites with a fixed format
//! can name it in the settings, and it is then found without a label.

mod site;
mod value;

use std::ops::Range;

use super::labelled::{fields, spelled, spoken};
use super::{Finder, Out};
use crate::context::{Claim, Tie, claim_after, is_equated, is_stated, number_claim};
use crate::dates::date_at;
use crate::kinds::{Evidence, Meaning, Shape};
use crate::lexicon::Sense;
use crate::page::Page;
use crate::people;
use site::site_format;
use value::{
    is_amount_or_time, is_date_or_year, is_something_else, is_tie, spaced_groups, token_start,
    value_span,
};

/// The labels that decide about a record number: a compact date of birth looks like one, too.
const OWN: &[Meaning] = &[Meaning::Mrn, Meaning::MrnMaybe, Meaning::Dob, Meaning::Born];

pub(super) static FINDER: Finder = Finder {
    joins: super::stand_alone,
    find,
    beside,
    complete: super::as_found,
    contradicts: super::never,
};

fn find(page: &Page<'_>, out: &mut Out<'_>) {
    let mut free_from = 0;
    for index in page.each_mark() {
        let mark = page.marks[index];
        if !(mark.is_number() || mark.is_code()) || (mark.start as usize) < free_from {
            continue;
        }
        if let Some((span, evidence)) = labelled(page, index) {
            free_from = span.end;
            out.weigh(span, Shape::Value, evidence);
        }
    }
    for meaning in [Meaning::Mrn, Meaning::MrnMaybe] {
        fields(page, out, meaning, Evidence::Field, is_field_value);
    }
    spoken(page, out, OWN, |claim, _| {
        let is_called = claim.is_some_and(|claim| is_patients(&claim) && claim.is_firm());
        is_called.then_some(Evidence::Label)
    });
    spelled(
        page,
        out,
        |one| one == Meaning::Mrn,
        |spelled, _| {
            let digits = spelled.value.iter().filter(|byte| byte.is_ascii_digit());
            digits.count() >= 4 && page.slice(spelled.span.clone()).contains(&b' ')
        },
    );
    for format in &out.settings.mrn_formats {
        let hits = site_format(page, format.as_bytes());
        for span in hits {
            out.weigh(span, Shape::SiteFormat, Evidence::Form);
        }
    }
}

/// Whether the whole value of a record number field is one.
fn is_field_value(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_plain = value.iter().all(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b' ' | b'/')
    });
    is_plain && digits >= 3 && value.len() <= 64
}

/// The value that starts at this mark, if a label makes it a record number.
fn labelled(page: &Page<'_>, index: usize) -> Option<(Range<usize>, Evidence)> {
    let mark = page.marks[index];
    let goes_on = matches!(page.byte(mark.end as usize), b'-' | b'.' | b'/' | b' ');
    if mark.len() < 3 && !goes_on {
        return None;
    }
    let mut span = value_span(page, index);
    // A prefix is part of the value, unless it is the label itself: "MRN482913".
    let mut claim = nearest(page, span.start)
        .filter(|claim| claim.is_firm() || span.start == mark.start as usize)
        .or_else(|| {
            let is_same_place = span.start == mark.start as usize;
            (!is_same_place)
                .then(|| nearest(page, mark.start as usize))
                .flatten()
        });
    if claim.is_some_and(|claim| is_patients(&claim) && claim.tie >= Tie::Tight) {
        span = spaced_groups(page, span);
    }
    let count = |span: &Range<usize>| {
        let value = page.slice(span.clone());
        value.iter().filter(|byte| byte.is_ascii_digit()).count()
    };
    if count(&span) < 3 {
        return None;
    }
    let start = token_start(page, span.start);
    if start < span.start
        && !opens_label(page, start)
        && !is_something_else(page, index, &span)
        && let Some(whole) = nearest(page, start)
        && is_patients(&whole)
        && whole.tie >= Tie::Tight
    {
        claim = Some(whole);
        span.start = start;
    }
    let value = page.slice(span.clone());
    let digits = count(&span);
    let is_named_after =
        digits >= 5 && claim_after(page, span.end, |meaning| meaning == Meaning::Mrn).is_some();
    let Some(claim) = claim else {
        let found = if is_named_after {
            Some((span, Evidence::NamedAfter))
        } else {
            beside_a_name(page, &span, digits)
        };
        return found.filter(|(span, ..)| !is_something_else(page, index, span));
    };
    // What stands beside it cannot make an amount or a time of a number that is called an MRN.
    let is_called = claim.is(Meaning::Mrn) && claim.is_firm() && digits >= 5;
    if is_date_or_year(page, index, &span) || !is_called && is_amount_or_time(page, &span) {
        return None;
    }
    let has_letters = value.iter().any(u8::is_ascii_alphabetic);
    let many = if has_letters { 4 } else { 5 };
    match claim.meaning {
        Meaning::Mrn if claim.tie >= Tie::Tight => Some((span, Evidence::Label)),
        Meaning::Mrn if claim.tie == Tie::List && digits >= many => Some((span, Evidence::List)),
        Meaning::Mrn if claim.tie == Tie::Near && digits >= many => Some((span, Evidence::Near)),
        Meaning::MrnMaybe if claim.tie >= Tie::Tight && digits >= many => {
            Some((span, Evidence::VagueLabel))
        }
        Meaning::MrnMaybe
            if digits >= 6 && is_stated(page, &span) && names_a_number(page, claim.from) =>
        {
            Some((span, Evidence::Stated))
        }
        _ if is_named_after && is_equated(page, span.end) => Some((span, Evidence::NamedAfter)),
        Meaning::OtherId(_) if claim.tie == Tie::Near => beside_a_name(page, &span, digits),
        _ => None,
    }
}

/// "CIPA: NHC-482913": the letters before the number are one more label.
fn opens_label(page: &Page<'_>, start: usize) -> bool {
    page.labels
        .binary_search_by_key(&start, |label| label.start as usize)
        .is_ok_and(|index| page.labels[index].meaning == Meaning::Mrn)
}

fn is_patients(claim: &Claim) -> bool {
    matches!(claim.meaning, Meaning::Mrn | Meaning::MrnMaybe)
}

/// Whether a label speaks of a number rather than of a chart: "patient number in our system is 482913".
fn names_a_number(page: &Page<'_>, label_end: usize) -> bool {
    const LAST: &[&[u8]] = &[b"number", b"id", b"no", b"num", b"nbr", b"identifier", b"#"];
    page.word_before(label_end).is_some_and(|(_, start)| {
        let word = page.slice(start..label_end);
        LAST.iter().any(|one| word.eq_ignore_ascii_case(one))
    })
}

/// A number that no label explains but that stands with a patient: "patient #65878146", "Roe/51550497/February 17".
fn beside_a_name(
    page: &Page<'_>,
    span: &Range<usize>,
    digits: usize,
) -> Option<(Range<usize>, Evidence)> {
    if !(5..=10).contains(&digits) || page.field_at(span.start).is_some() {
        return None;
    }
    let before = page.byte_before(span.start);
    let is_patient_number = before == b'#' && follows_patient(page, span.start - 1)
        || before == b' ' && digits >= 6 && follows_patient_alone(page, span.start - 1);
    let is_reference = before == b'/'
        && page.byte(span.end) == b'/'
        && follows_word(page, span.start - 1)
        && opens_date(page, span.end + 1);
    if is_patient_number {
        Some((span.clone(), Evidence::Patient))
    } else if is_reference {
        Some((span.clone(), Evidence::Reference))
    } else {
        None
    }
}

/// The number right after a name, by which records and lists tell people apart: "Jane Roe, 5819919, is a",
/// "ROE, JANE (T00-4419)", "ROE,JANE M0033190", "Roe, J. | 6610-08-3 |".
fn beside(page: &Page<'_>, name: &Range<usize>, out: &mut Out<'_>) {
    let Some(start) = people::particulars(page, name.end).or_else(|| after_link(page, name.end))
    else {
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
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let has_letters = value.iter().any(u8::is_ascii_alphabetic);
    let has_groups = value.iter().any(|&byte| is_tie(byte));
    let is_long = match (has_letters, has_groups) {
        (true, _) => (4..=10).contains(&digits) && value[0].is_ascii_uppercase(),
        (false, true) => (6..=10).contains(&digits),
        (false, false) => (6..=9).contains(&digits),
    };
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
    let is_alone = is_bracketed && !has_groups && !people::follows_title(page, name.start);
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

/// Where a number right after a name starts.
fn after_link(page: &Page<'_>, name_end: usize) -> Option<usize> {
    const LINKS: &[&[u8]] = &[b" (", b", ", b" / ", b" | ", b" #", b"\t", b" "];
    let gap = page.slice(name_end..page.text.len().min(name_end + 12));
    let spaces = gap.iter().take_while(|&&byte| byte == b' ').count();
    if spaces >= 2 {
        return Some(name_end + spaces + usize::from(gap.get(spaces) == Some(&b'#')));
    }
    let link = LINKS.iter().find(|link| gap.starts_with(link))?;
    Some(name_end + link.len())
}

/// Whether "patient", "pt" or the like stands right before.
fn follows_patient(page: &Page<'_>, at: usize) -> bool {
    let end = at - usize::from(page.byte_before(at) == b' ');
    page.word_before(end).is_some_and(|(_, start)| {
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

/// "patient 482913", "Patient: 482913".
fn follows_patient_alone(page: &Page<'_>, at: usize) -> bool {
    let end = at - usize::from(page.byte_before(at) == b':');
    page.word_before(end).is_some_and(|(_, start)| {
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

fn nearest(page: &Page<'_>, at: usize) -> Option<Claim> {
    number_claim(page, at, OWN)
}
