//! Medical record numbers.
//!
//! There is no common format: the words around decide. Sites with a fixed format
//! can name it in the settings, and it is then found without a label.

use std::ops::Range;

use super::{Out, PhiRule};
use crate::context::{Claim, Tie, claim_after, claim_before, value_after};
use crate::dates::{Form, date_at};
use crate::labels::Meaning;
use crate::lexicon::Sense;
use crate::page::{Mark, Page};
use crate::spelled;

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
        "Chart no.: «W-3391»",
        "UHID: «APH.0012.88765», UR «1408 2217»",
        "hospital number «QX 551 203».",
        "chart numbers «P-20881» and «P-20882»",
        "1. Roe, Jane («T00-4419») listed",
        "Re: Roe, Jane / «30155698»",
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
    beside,
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
    for label in page
        .labels
        .iter()
        .filter(|label| label.meaning == Meaning::Mrn)
    {
        let start = value_after(page, label.end as usize);
        if let Some(spelled) = spelled::read(page, start)
            && spelled
                .value
                .iter()
                .filter(|byte| byte.is_ascii_digit())
                .count()
                >= 4
            && page.slice(spelled.span.clone()).contains(&b' ')
        {
            out.push(spelled.span, 0.85, "mrn.spoken");
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
    let goes_on = matches!(page.byte(mark.end as usize), b'-' | b'.' | b'/' | b' ');
    if mark.len() < 3 && !goes_on {
        return None;
    }
    let mut span = value_span(page, index);
    // A prefix is part of the value, unless it is the label itself: "MRN482913".
    let claim = nearest(page, span.start)
        .filter(|claim| claim.is_firm() || span.start == mark.start as usize)
        .or_else(|| {
            let is_same_place = span.start == mark.start as usize;
            (!is_same_place)
                .then(|| nearest(page, mark.start as usize))
                .flatten()
        });
    if let Some(claim) = claim
        && claim.is(Meaning::Mrn)
        && claim.tie >= Tie::Tight
    {
        span = spaced_groups(page, span);
    }
    let value = page.slice(span.clone());
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    if digits < 3 {
        return None;
    }
    let Some(claim) = claim else {
        let is_named_after =
            claim_after(page, span.end, |meaning| meaning == Meaning::Mrn).is_some();
        let found = if is_named_after && digits >= 5 {
            Some((span, 0.85, "mrn.named_after"))
        } else {
            beside_a_name(page, &span, digits)
        };
        return found.filter(|(span, ..)| !is_something_else(page, index, span));
    };
    if is_something_else(page, index, &span) {
        return None;
    }
    let has_letters = value.iter().any(u8::is_ascii_alphabetic);
    let many = if has_letters { 4 } else { 5 };
    match claim.meaning {
        Meaning::Mrn if claim.tie >= Tie::Tight => Some((span, 0.97, "mrn.labelled")),
        Meaning::Mrn if claim.tie == Tie::List && digits >= many => {
            Some((span, 0.9, "mrn.labelled"))
        }
        Meaning::Mrn if claim.tie == Tie::Near && digits >= many => Some((span, 0.75, "mrn.near")),
        Meaning::MrnMaybe if claim.tie >= Tie::Tight && digits >= many => {
            Some((span, 0.8, "mrn.patient_number"))
        }
        Meaning::OtherId if claim.tie == Tie::Near => beside_a_name(page, &span, digits),
        _ => None,
    }
}

/// A number that no label explains but that stands with a patient: "patient #65878146", "Roe/51550497/February 17".
fn beside_a_name(
    page: &Page<'_>,
    span: &Range<usize>,
    digits: usize,
) -> Option<(Range<usize>, f32, &'static str)> {
    if !(5..=10).contains(&digits) || page.field_at(span.start).is_some() {
        return None;
    }
    let before = page.byte_before(span.start);
    let is_patient_number = before == b'#' && follows_patient(page, span.start - 1);
    let is_reference = before == b'/'
        && page.byte(span.end) == b'/'
        && follows_word(page, span.start - 1)
        && opens_date(page, span.end + 1);
    if is_patient_number {
        Some((span.clone(), 0.85, "mrn.patient_number"))
    } else if is_reference {
        Some((span.clone(), 0.7, "mrn.reference"))
    } else {
        None
    }
}

/// The number right after a name, by which records and lists tell people apart: "Jane Roe, 5819919, is a",
/// "ROE, JANE (T00-4419)", "ROE,JANE M0033190", "Roe, J. | 6610-08-3 |".
fn beside(page: &Page<'_>, name: &Range<usize>, out: &mut Out<'_>) {
    const LINKS: &[&[u8]] = &[b" (", b", ", b" / ", b" | ", b" #", b"\t", b" "];
    let gap = page.slice(name.end..page.text.len().min(name.end + 12));
    let spaces = gap.iter().take_while(|&&byte| byte == b' ').count();
    let link = if spaces >= 2 {
        spaces + usize::from(gap.get(spaces) == Some(&b'#'))
    } else {
        let Some(link) = LINKS.iter().find(|link| gap.starts_with(link)) else {
            return;
        };
        link.len()
    };
    let start = name.end + link;
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
    let span = value_span(page, next + mark);
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
    let link = page.slice(name.end..start);
    let is_bracketed = link == b" (" && matches!(page.byte(span.end), b')' | b',');
    let ends = matches!(
        page.byte(span.end),
        b',' | b'\n' | b'|' | b'\t' | b' ' | b')' | b';' | 0
    );
    let is_full_name = page
        .slice(name.clone())
        .iter()
        .any(|byte| matches!(byte, b',' | b' '));
    let is_tied = is_bracketed || link != b" (" && ends;
    if is_long
        && is_tied
        && is_full_name
        && !is_something_else(page, next + mark, &span)
        && date_at(page, next + mark).is_none()
        && nearest(page, start).is_none_or(|claim| !claim.is_firm())
    {
        out.push(span, 0.65, "mrn.beside_name");
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

/// The whole value at a mark: groups tied by a sign, letters tied before or after them, a prefix set before them.
fn value_span(page: &Page<'_>, index: usize) -> Range<usize> {
    let mut end = page.marks[index].end as usize;
    let has_slashes = follows_letters_and_slash(page, page.marks[index].start as usize);
    for mark in page.marks[index + 1..].iter().take(4) {
        let is_tied = mark.start as usize == end + 1
            && is_tie(page.byte(end))
            && (page.byte(end) != b'/' || has_slashes)
            && (mark.is_number() || mark.is_code());
        if !is_tied {
            break;
        }
        end = mark.end as usize;
    }
    end = with_letters_after(page, end);
    let mut start = page.marks[index].start as usize;
    if page.byte_before(start).is_ascii_alphabetic() {
        // "MRN482913" is one token; taking half of it would leave a stump.
        return page.word_before(start).map_or(start, |(_, word)| word)..end;
    }
    let tie = page.byte_before(start);
    if (is_tie(tie) || tie == b' ')
        && let Some((_, word)) = page.word_before(start - 1)
    {
        let letters = page.slice(word..start - 1);
        let before = |word| nearest(page, word).is_some_and(|claim| is_called(&claim));
        let is_code = letters.len() <= 5
            && letters.iter().all(u8::is_ascii_uppercase)
            && !page.byte_before(word).is_ascii_alphanumeric();
        let is_prefix =
            is_code && (is_tie(tie) || letters.len() <= 1 || letters.len() <= 3 && before(word));
        // In "MRN-123" and "MR-123" the letters are the label, unless another label stands before them.
        let is_the_label =
            is_prefix && page.label_ends_at(start - 1) && (tie == b' ' || !before(word));
        if is_prefix && !is_the_label {
            start = word;
        }
    }
    start..end
}

/// `KEM/22/104477`: capitals and a slash before the number.
fn follows_letters_and_slash(page: &Page<'_>, start: usize) -> bool {
    page.byte_before(start) == b'/'
        && page.word_before(start - 1).is_some_and(|(_, word)| {
            let letters = page.slice(word..start - 1);
            letters.len() <= 5 && letters.iter().all(u8::is_ascii_uppercase)
        })
}

/// What may tie the groups of a record number.
fn is_tie(byte: u8) -> bool {
    matches!(byte, b'-' | b'.' | b'/' | b'_')
}

fn is_called(claim: &Claim) -> bool {
    claim.is(Meaning::Mrn) && claim.tie >= Tie::Tight
}

/// `X-12345-Z`, `0018-4437-LF`: where letters tied to the end stop.
fn with_letters_after(page: &Page<'_>, end: usize) -> usize {
    let letters = page
        .slice(end + 1..page.text.len().min(end + 5))
        .iter()
        .take_while(|byte| byte.is_ascii_uppercase())
        .count();
    let is_tied = matches!(page.byte(end), b'-' | b'_')
        && (1..=3).contains(&letters)
        && !page.byte(end + 1 + letters).is_ascii_alphanumeric();
    if is_tied { end + 1 + letters } else { end }
}

/// `1408 2217`, `551 203`: groups of three or four digits with a space between, as long as the number is short.
fn spaced_groups(page: &Page<'_>, span: Range<usize>) -> Range<usize> {
    let count = |span: Range<usize>| {
        page.slice(span)
            .iter()
            .filter(|byte| byte.is_ascii_digit())
            .count()
    };
    let mut end = span.end;
    while count(span.start..end) <= 4 && page.byte(end) == b' ' {
        let group = page
            .slice(end + 1..page.text.len().min(end + 6))
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let ends = !page.byte(end + 1 + group).is_ascii_alphanumeric();
        if !(3..=4).contains(&group) || !ends || date_starts_at(page, end + 1) {
            break;
        }
        end += 1 + group;
    }
    span.start..end
}

fn date_starts_at(page: &Page<'_>, at: usize) -> bool {
    page.marks
        .binary_search_by_key(&at, |mark| mark.start as usize)
        .is_ok_and(|index| date_at(page, index).is_some_and(|date| date.form == Form::Full))
}

/// Dates, times, amounts and ages are no record numbers even after "chart" or "MRN".
fn is_something_else(page: &Page<'_>, index: usize, span: &Range<usize>) -> bool {
    let value = page.slice(span.clone());
    let before = page.byte_before(span.start);
    let after = page.byte(span.end);
    let is_amount = before == b'$'
        || after == b'%'
        || before == b'.' && page.byte_before(span.start - 1).is_ascii_digit();
    let is_date = date_at(page, index).is_some_and(|date| {
        let is_iso = date.span.len() == 10 && page.byte(date.span.start + 4) == b'-';
        date.span == *span && (is_iso || value.contains(&b'/'))
    });
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
