//! Medical record numbers.
//!
//! There is no common format: the words around decide. Sites with a fixed format
//! can name it in the settings, and it is then found without a label.

mod among;
mod merged;
mod patient;
mod rows;
mod site;
mod value;

use std::ops::Range;

use super::labelled::{fields, spelled, spoken};
use super::{Collector, Finder};
use crate::context::{LabelMatch, Strength, claim_after, is_equated, is_stated, number_claim};
use crate::digits::phone_behind_list;
use crate::kinds::{Evidence, Meaning, Shape};
use crate::page::Page;
use crate::word_list::WordList;
use among::among;
use patient::{beside, beside_a_name};
use site::site_format;
use value::{
    is_amount_or_time, is_date_or_year, is_literal, is_sample, is_something_else, is_tie,
    spaced_groups, token_start, value_span, with_tied_rest,
};

/// The labels that decide about a record number: a compact date of birth looks like one, too.
const OWN: &[Meaning] = &[Meaning::Mrn, Meaning::MrnMaybe, Meaning::Dob, Meaning::Born];

pub(super) static FINDER: Finder = Finder {
    joins: super::stand_alone,
    find,
    beside,
    among: Some(among),
    complete: super::as_found,
    contradicts: super::never,
};

fn find(page: &Page<'_>, out: &mut Collector<'_>) {
    let mut free_from = 0;
    for index in page.each_number() {
        if (page.marks[index].start as usize) < free_from {
            continue;
        }
        if let Some((span, evidence)) = labelled(page, index) {
            free_from = span.end;
            if matches!(
                evidence,
                Evidence::Label | Evidence::Near | Evidence::VagueLabel
            ) && let Some(other) = other_of_pair(page, index, &span, evidence)
            {
                out.weigh(other, Shape::Value, Evidence::Near);
            }
            out.weigh(span, Shape::Value, evidence);
        } else if let Some(end) = phone_behind_list(page, page.marks[index].start as usize) {
            free_from = end;
        }
    }
    for span in merged::numbers(page) {
        out.weigh(span, Shape::Value, Evidence::Near);
    }
    for meaning in [Meaning::Mrn, Meaning::MrnMaybe] {
        fields(page, out, meaning, Evidence::Field, is_field_value);
    }
    spoken(page, out, OWN, |claim, _| {
        // A number said digit by digit belongs to the topic of the sentence.
        let is_called = claim.is_some_and(|claim| {
            is_patients(&claim) && (claim.is_firm() || claim.is(Meaning::Mrn))
        });
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
    let (span, claim) =
        value_and_claim(page, index).filter(|(span, _)| may_be_value(page.slice(span.clone())))?;
    let evidence = evidence(page, index, &span, claim)?;
    Some((span, evidence))
}

fn may_be_value(value: &[u8]) -> bool {
    !is_sample(value) && !is_literal(value)
}

/// Maximum distance between a record number and its other half.
const PAIR_REACH_BYTES: usize = 48;

/// Returns the next number of the same form in the sentence, if no other label claims it ("Old MRN 882019, new one
/// 882733").
fn other_of_pair(
    page: &Page<'_>,
    index: usize,
    span: &Range<usize>,
    evidence: Evidence,
) -> Option<Range<usize>> {
    let marks = page.marks.iter().enumerate().skip(index + 1).take(8);
    let mut later = marks.filter(|(_, mark)| {
        (mark.is_number() || mark.is_code()) && mark.start as usize >= span.end
    });
    let (next, mark) = later.find(|(_, mark)| mark.len() >= 4)?;
    let other = value_span(page, next);
    let between = page.slice(span.end..mark.start as usize);
    let is_one_sentence = between.len() <= PAIR_REACH_BYTES
        && !between.windows(2).any(|pair| match pair {
            [b'\n', _] | b". " | b"? " => true,
            b"; " => !sets_against(between),
            _ => false,
        });
    let is_alike = other.len() == span.len() && shape(page, &other).eq(shape(page, span));
    // If the words contrast the two numbers, the form may differ ("old MRN 882019, new one is KT-8827331").
    let is_alike = digits_in(page, &other) >= 5 && (is_alike || sets_against(between));
    let is_alike = is_alike && (evidence != Evidence::VagueLabel || sets_against(between));
    let is_said = page.field_at(span.start).is_none() && !between.contains(&b'"');
    let claim = nearest(page, other.start);
    let is_free = claim.is_none_or(|claim| is_patients(&claim));
    (is_one_sentence && is_said && is_alike && is_free && !is_something_else(page, next, &other))
        .then_some(other)
}

/// Whether the words between two values say that one replaces the other.
fn sets_against(between: &[u8]) -> bool {
    static WORDS: WordList = WordList::new(
        "new now old former formerly previous previously current currently changed was",
    );
    between
        .split(|byte| !byte.is_ascii_alphabetic())
        .any(|word| WORDS.has(word))
}

/// Returns for each character of a value whether it is a digit.
fn shape<'a>(page: &'a Page<'_>, span: &Range<usize>) -> impl Iterator<Item = bool> + 'a {
    page.slice(span.clone()).iter().map(u8::is_ascii_digit)
}

/// The whole value that starts at this mark, and the label that lays claim to it.
fn value_and_claim(page: &Page<'_>, index: usize) -> Option<(Range<usize>, Option<LabelMatch>)> {
    let mark = page.marks[index];
    let mut span = value_span(page, index);
    let mut digits = digits_in(page, &span);
    if digits < 3 && !may_go_on(page, span.end) {
        return None;
    }
    // A prefix is part of the value, unless it is the label itself: "MRN482913".
    let near = nearest(page, span.start);
    let mut claim = near
        .filter(|claim| claim.is_firm() || span.start == mark.start as usize)
        .or_else(|| {
            let is_same_place = span.start == mark.start as usize;
            (!is_same_place)
                .then(|| nearest(page, mark.start as usize))
                .flatten()
        })
        .or(near);
    let is_housed = page.byte(span.start).is_ascii_uppercase() && span.start < mark.start as usize;
    if claim.is_some_and(|claim| {
        is_patients(&claim) && (claim.tie >= Strength::Tight || is_housed && claim.is(Meaning::Mrn))
    }) {
        span = with_tied_rest(page, spaced_groups(page, span));
        digits = digits_in(page, &span);
    }
    if digits < 3 {
        return None;
    }
    let start = token_start(page, span.start);
    if start < span.start
        && !opens_label(page, start)
        && !is_something_else(page, index, &span)
        && let Some(whole) = nearest(page, start)
        && is_patients(&whole)
        && whole.tie >= Strength::Tight
    {
        claim = Some(whole);
        span.start = start;
    }
    Some((span, claim))
}

/// Whether the text behind a value may continue it, for a value that a label calls a record number.
fn may_go_on(page: &Page<'_>, end: usize) -> bool {
    is_tie(page.byte(end)) || page.byte(end) == b' ' && page.byte(end + 1).is_ascii_digit()
}

/// Returns the evidence that a value is a record number, if any.
fn evidence(
    page: &Page<'_>,
    index: usize,
    span: &Range<usize>,
    claim: Option<LabelMatch>,
) -> Option<Evidence> {
    let digits = digits_in(page, span);
    let is_named_after =
        || digits >= 5 && claim_after(page, span.end, |meaning| meaning == Meaning::Mrn).is_some();
    let Some(claim) = claim else {
        let named = is_named_after().then_some(Evidence::NamedAfter);
        return named
            .or_else(|| beside_a_name(page, span, digits))
            .filter(|_| !is_something_else(page, index, span));
    };
    // The text beside a number that is called an MRN cannot make it an amount or a time.
    let is_called = claim.is(Meaning::Mrn) && claim.is_firm() && digits >= 5;
    if is_date_or_year(page, index, span)
        || !is_called && is_amount_or_time(page, span)
        || claim.tie < Strength::Tight
            && (follows_area(page, span.start) || is_in_path(page, span.start))
    {
        return None;
    }
    let has_letters = page.slice(span.clone()).iter().any(u8::is_ascii_alphabetic);
    let many = if has_letters { 4 } else { 5 };
    let is_number_stated =
        || digits >= 6 && is_stated(page, span) && names_a_number(page, claim.from);
    match (claim.meaning, claim.tie) {
        (Meaning::Mrn, Strength::Tight | Strength::Field) => Some(Evidence::Label),
        (Meaning::Mrn, Strength::List)
            if digits >= many && phone_behind_list(page, span.start).is_none() =>
        {
            Some(Evidence::List)
        }
        (Meaning::Mrn, Strength::Near) if digits >= many => Some(Evidence::Near),
        (Meaning::MrnMaybe, _) if is_of_thing(page, span) => None,
        (Meaning::MrnMaybe, Strength::Tight | Strength::Field)
            if (many..=MAYBE_DIGITS_MAX).contains(&digits) =>
        {
            Some(Evidence::VagueLabel)
        }
        (Meaning::MrnMaybe, _) if is_number_stated() => Some(Evidence::Stated),
        (Meaning::OtherId(_), Strength::Tight | Strength::Field)
            if digits >= 6 && is_bare_id(page, claim.from) && heads_a_patient(page, span.end) =>
        {
            Some(Evidence::VagueLabel)
        }
        _ if is_equated(page, span.end) && is_named_after() => Some(Evidence::NamedAfter),
        (Meaning::OtherId(_), Strength::Near) => beside_a_name(page, span, digits),
        _ => None,
    }
}

/// Whether the words behind a number name another thing, or its digits are a day ("HN 20-44-81 is the hydrant
/// number", "MR RENAL 20250712").
fn is_of_thing(page: &Page<'_>, span: &Range<usize>) -> bool {
    const PATIENTS: &[&[u8]] = &[b"chart", b"hospital", b"patient", b"record"];
    let after = page.slice(span.end..page.text.len().min(span.end + 32));
    let mut words = after.split(|&byte| byte == b' ').skip(1);
    let is_named = words.next() == Some(b"is")
        && words.next() == Some(b"the")
        && words.next().is_some_and(|word| !PATIENTS.contains(&word))
        && words.next().is_some_and(|word| word.starts_with(b"number"));
    let value = page.slice(span.clone());
    let is_day = matches!(
        value,
        [
            b'A'..=b'Z',
            ..,
            b' ',
            b'2',
            b'0',
            _,
            _,
            b'0' | b'1',
            _,
            b'0'..=b'3',
            _
        ]
    );
    is_named || is_day
}

/// Numbers of citizens are longer than those of patients.
const MAYBE_DIGITS_MAX: usize = 12;

fn digits_in(page: &Page<'_>, span: &Range<usize>) -> usize {
    let value = page.slice(span.clone());
    value.iter().filter(|byte| byte.is_ascii_digit()).count()
}

/// Whether the letters before the number are a further label ("CIPA: NHC-482913").
fn opens_label(page: &Page<'_>, start: usize) -> bool {
    page.labels
        .binary_search_by_key(&start, |label| label.start as usize)
        .is_ok_and(|index| page.labels[index].meaning == Meaning::Mrn)
}

fn is_patients(claim: &LabelMatch) -> bool {
    matches!(claim.meaning, Meaning::Mrn | Meaning::MrnMaybe)
}

/// Whether a lone "ID" precedes a value, at the start of a line or after a gap.
fn is_bare_id(page: &Page<'_>, label_end: usize) -> bool {
    page.word_start_before(label_end).is_some_and(|start| {
        let opens = start == 0
            || matches!(page.byte_before(start), b'\n' | b'(')
            || page.slice(start.saturating_sub(2)..start) == b"  ";
        opens && page.slice(start..label_end).eq_ignore_ascii_case(b"id")
    })
}

/// Whether the head of a report continues with a name or a date of birth ("ID: 482913  Name: Jane Roe  DOB: …").
fn heads_a_patient(page: &Page<'_>, value_end: usize) -> bool {
    const REACH_BYTES: usize = 40;
    let next = page
        .labels
        .partition_point(|label| (label.start as usize) < value_end);
    page.labels[next..]
        .iter()
        .take_while(|label| label.start as usize <= value_end + REACH_BYTES)
        .any(|label| {
            matches!(
                label.meaning,
                Meaning::Name | Meaning::NameMaybe | Meaning::Dob
            )
        })
}

/// Whether a label speaks of a number rather than of a chart: "patient number in our system is 482913".
fn names_a_number(page: &Page<'_>, label_end: usize) -> bool {
    static LAST: WordList = WordList::new("number id no num nbr identifier #");
    page.word_start_before(label_end).is_some_and(|start| {
        let word = page.slice(start..label_end);
        LAST.has(word)
    })
}

/// Whether a value follows an area code in brackets, and so is the rest of a telephone number ("(206) 555-0142").
fn follows_area(page: &Page<'_>, start: usize) -> bool {
    let before = page.slice(start.saturating_sub(6)..start).trim_ascii_end();
    matches!(before, [.., b'(', a, b, c, b')'] if [a, b, c].iter().all(|byte| byte.is_ascii_digit()))
}

/// Whether a value is part of the path of a URL ("UR http://www.ietf.org/rfc/rfc1036.txt").
fn is_in_path(page: &Page<'_>, start: usize) -> bool {
    const REACH_BYTES: usize = 120;
    let before = page.slice(start.saturating_sub(REACH_BYTES)..start);
    let mut words = before.rsplit(u8::is_ascii_whitespace);
    let word = words.next().unwrap_or_default();
    word.ends_with(b"/") && memchr::memmem::find(word, b"://").is_some()
}

fn nearest(page: &Page<'_>, at: usize) -> Option<LabelMatch> {
    number_claim(page, at, OWN)
}
