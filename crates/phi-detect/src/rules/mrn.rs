//! Medical record numbers.
//!
//! There is no common format: the words around decide. Sites with a fixed format
//! can name it in the settings, and it is then found without a label.

use std::ops::Range;

use super::{Out, PhiRule};
use crate::context::{Claim, Tie, claim_after, claim_before};
use crate::labels::Meaning;
use crate::lexicon::Sense;
use crate::page::{Mark, Page};
use crate::people;

pub(super) static RULE: PhiRule = PhiRule {
    code: "mrn",
    label: "MRN",
    placeholder: "[MRN]",
    summary: "Medical record, chart, hospital and patient numbers by the words that introduce them, in prose, forms, \
        HL7 PID-3 and FHIR identifiers of type MR; site formats from the settings without a label.",
    not_found: "Member, policy, claim, account, order and accession numbers; UUIDs and numbers without a label.",
    authority: "HL7 v2 table 0203 (identifier type MR); FHIR Identifier; HIPAA Safe Harbor 45 CFR 164.514(b)(2)(i)(H)",
    threshold: 0.5,
    hits: &[
        "MRN: «00482913» admitted for chest pain.",
        "medical record number is «E1234567»",
        "chart #«45-01-63»",
        "«MRN482913» is hers",
        "Picking up patient #«65878146», from bed 16",
        "ref: Roe/«51550497»/February 17, 2023",
        "Jane Roe, «5819919», is a 6 day old girl",
        "pt. MRN# «MR-00482913», stable",
        "patient ID «7563388»",
        "hospital no. «H 482913»",
        "Hospital # «7741203»",
        "medical record: «X-12345-Z» is hers",
        "MRNs «482913», «482914» and «482915»",
    ],
    misses: &[
        "MRN  admitted for chest pain",
        "order number 482913",
        "member ID 482913445",
        "the chart from 2019 shows",
        "record 10-2-1 this season",
        "Account number 4471203 is past due",
        "error in pid=48213",
        "chart review 3/14/2024",
        "Pacemaker serial number PJN702913S implanted",
    ],
    precedence: 0.28,
    joins: super::stand_alone,
    find,
    complete: super::as_found,
    contradicts: super::never,
};

fn find(page: &Page<'_>, out: &mut Out<'_>) {
    let mut free_from = 0;
    for index in 0..page.marks.len() {
        let mark = page.marks[index];
        if !(mark.is_number() || mark.is_code()) || (mark.start as usize) < free_from {
            continue;
        }
        if let Some((span, score, rule)) = labelled(page, index) {
            free_from = span.end;
            out.push(span, score, rule);
        }
    }
    for meaning in [Meaning::Mrn, Meaning::MrnMaybe] {
        for (span, value) in page.fields_of(meaning) {
            if is_field_value(value) {
                out.push(span, 0.95, "mrn.field");
            }
        }
    }
    for spoken in &page.spoken {
        let is_mrn = nearest(page, spoken.span.start).is_some_and(|claim| {
            matches!(claim.meaning, Meaning::Mrn | Meaning::MrnMaybe) && claim.is_firm()
        });
        if is_mrn {
            out.push(spoken.span.clone(), 0.9, "mrn.spoken");
        }
    }
    for format in &out.settings.mrn_formats {
        let hits = site_format(page, format.as_bytes());
        for span in hits {
            out.push(span, 0.9, "mrn.site_format");
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
fn labelled(page: &Page<'_>, index: usize) -> Option<(Range<usize>, f32, &'static str)> {
    let mark = page.marks[index];
    let goes_on = matches!(page.byte(mark.end as usize), b'-' | b'.');
    if mark.len() < 3 && !goes_on {
        return None;
    }
    let span = value_span(page, index);
    let value = page.slice(span.clone());
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    if digits < 3 {
        return None;
    }
    let claim = nearest(page, page.marks[index].start as usize);
    let Some(claim) = claim else {
        let is_named_after =
            claim_after(page, span.end, |meaning| meaning == Meaning::Mrn).is_some();
        if is_named_after && digits >= 5 {
            return Some((span, 0.85, "mrn.named_after"));
        }
        return beside_a_name(page, &span, digits);
    };
    if is_something_else(page, &span, value) {
        return None;
    }
    match claim.meaning {
        Meaning::Mrn if claim.tie >= Tie::Tight && digits >= 3 => {
            Some((span, 0.97, "mrn.labelled"))
        }
        Meaning::Mrn if claim.tie == Tie::List && digits >= 5 => Some((span, 0.9, "mrn.labelled")),
        Meaning::Mrn if claim.tie == Tie::Near && digits >= 5 => Some((span, 0.75, "mrn.near")),
        Meaning::MrnMaybe if claim.tie >= Tie::Tight && digits >= 5 => {
            Some((span, 0.8, "mrn.patient_number"))
        }
        Meaning::OtherId if claim.tie == Tie::Near => beside_a_name(page, &span, digits),
        _ => None,
    }
}

/// A number that no label explains but that stands with a patient: "patient #65878146",
/// "Roe/51550497/February 17", "Jane Roe, 5819919, is a".
fn beside_a_name(
    page: &Page<'_>,
    span: &Range<usize>,
    digits: usize,
) -> Option<(Range<usize>, f32, &'static str)> {
    if !(5..=10).contains(&digits) || page.field_at(span.start).is_some() {
        return None;
    }
    let before = page.byte_before(span.start);
    let after = page.byte(span.end);
    let is_patient_number = before == b'#' && follows_patient(page, span.start - 1);
    let is_reference = before == b'/'
        && after == b'/'
        && follows_word(page, span.start - 1)
        && opens_date(page, span.end + 1);
    let is_apposition = page.slice(span.start.saturating_sub(2)..span.start) == b", "
        && after == b','
        && digits >= 6
        && people::ends_full_name(page, span.start - 2);
    if is_patient_number {
        Some((span.clone(), 0.85, "mrn.patient_number"))
    } else if is_reference {
        Some((span.clone(), 0.7, "mrn.reference"))
    } else if is_apposition {
        Some((span.clone(), 0.65, "mrn.beside_name"))
    } else {
        None
    }
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

/// The whole value at a mark: groups tied by "-", and a short prefix tied or set before it.
fn value_span(page: &Page<'_>, index: usize) -> Range<usize> {
    let mut end = page.marks[index].end as usize;
    for mark in page.marks[index + 1..].iter().take(4) {
        let is_tied = mark.start as usize == end + 1
            && matches!(page.byte(end), b'-' | b'.')
            && (mark.is_number() || mark.is_code());
        if !is_tied {
            break;
        }
        end = mark.end as usize;
    }
    // "X-12345-Z": a letter at the end.
    if page.byte(end) == b'-'
        && page.byte(end + 1).is_ascii_uppercase()
        && !page.byte(end + 2).is_ascii_alphanumeric()
    {
        end += 2;
    }
    let mut start = page.marks[index].start as usize;
    if page.byte_before(start).is_ascii_alphabetic() {
        // "MRN482913" is one token; taking half of it would leave a stump.
        return page.word_before(start).map_or(start, |(_, word)| word)..end;
    }
    let tie = page.byte_before(start);
    if matches!(tie, b'-' | b' ')
        && let Some((_, word)) = page.word_before(start - 1)
    {
        let letters = page.slice(word..start - 1);
        let is_prefix = letters.len() <= if tie == b'-' { 4 } else { 1 }
            && letters.iter().all(u8::is_ascii_uppercase)
            && !page.byte_before(word).is_ascii_alphanumeric();
        // In "MRN-123" and "MR-123" the letters are the label, unless another label stands before them.
        let is_the_label = is_prefix
            && page.label_ends_at(start - 1)
            && nearest(page, word)
                .is_none_or(|claim| !claim.is(Meaning::Mrn) || claim.tie < Tie::Tight);
        if is_prefix && !is_the_label {
            start = word;
        }
    }
    start..end
}

/// Dates, times, amounts and ages are no record numbers even after "chart" or "MRN".
fn is_something_else(page: &Page<'_>, span: &Range<usize>, value: &[u8]) -> bool {
    let before = page.byte_before(span.start);
    let after = page.byte(span.end);
    let is_amount = before == b'$'
        || after == b'%'
        || before == b'.' && page.byte_before(span.start - 1).is_ascii_digit();
    let is_date = after == b'/' && page.byte(span.end + 1).is_ascii_digit() && value.len() <= 2;
    let is_time = after == b':' && page.byte(span.end + 1).is_ascii_digit();
    let is_year = value.len() == 4 && (value.starts_with(b"19") || value.starts_with(b"20"));
    is_date || is_amount || is_time || is_year
}

/// Values in a format the site named: `9` a digit, `A` a letter, `X` either, anything else itself.
fn site_format(page: &Page<'_>, format: &[u8]) -> Vec<Range<usize>> {
    let starts = page.marks.iter().filter(|mark| could_start(**mark));
    starts
        .map(|mark| mark.start as usize)
        .flat_map(|start| [start, start.saturating_sub(prefix_length(format))])
        .filter(|&start| fits_format(page, start, format))
        .map(|start| start..start + format.len())
        .collect()
}

fn could_start(mark: Mark) -> bool {
    mark.is_number() || mark.is_code()
}

/// How many characters of a format come before its first digit; a mark starts no earlier than that.
fn prefix_length(format: &[u8]) -> usize {
    format
        .iter()
        .take_while(|&&byte| byte != b'9' && byte != b'X')
        .count()
}

fn fits_format(page: &Page<'_>, start: usize, format: &[u8]) -> bool {
    let value = page.slice(start..start + format.len());
    value.len() == format.len()
        && !page.byte_before(start).is_ascii_alphanumeric()
        && !page.byte(start + format.len()).is_ascii_alphanumeric()
        && value
            .iter()
            .zip(format)
            .all(|(&byte, &pattern)| match pattern {
                b'9' => byte.is_ascii_digit(),
                b'A' => byte.is_ascii_alphabetic(),
                b'X' => byte.is_ascii_alphanumeric(),
                other => byte == other,
            })
}

fn nearest(page: &Page<'_>, at: usize) -> Option<Claim> {
    claim_before(page, at, |meaning| {
        matches!(
            meaning,
            Meaning::Mrn
                | Meaning::MrnMaybe
                | Meaning::Ssn
                | Meaning::Medicare
                | Meaning::OtherId
                | Meaning::Thing
                | Meaning::Phone
                | Meaning::Dob
                | Meaning::Born
                | Meaning::Zip
        )
    })
}
