//! Medical record numbers.
//!
//! There is no common format: the words around decide. Sites with a fixed format
//! can name it in the settings, and it is then found without a label.

mod site;
mod value;

use std::ops::Range;

use super::{Out, PhiRule};
use crate::context::{Claim, Tie, claim_after, claim_before, is_equated, is_stated, value_after};
use crate::dates::date_at;
use crate::labels::Meaning;
use crate::lexicon::Sense;
use crate::page::Page;
use crate::people;
use crate::spelled;
use crate::spelling::Spelling;
use site::site_format;
use value::{
    is_amount_or_time, is_date_or_year, is_something_else, is_tie, spaced_groups, token_start,
    value_span,
};

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
        "M.R. # «771204», M.R.N. «771204»",
        "MRN/Acct: «771204» / 99120334",
        "Acct/MRN: 99120334 / «771204»",
        "Pt acct/MRN «771204»",
        "MRN changed from «771204» to «771240»",
        "merge MRN «771204» into «771240»",
        "WHERE mrn IN ('«771204»','«771240»')",
        "can you pull up «771204»? thats the mrn",
        "MRN «771204»-DOB 3/14/1962",
        "su número de paciente es «771204»",
        "MRN: «44-TR-1029», MRN «2024/11873», MRN «zz-99812», MRN «AB 12 34 56»",
        "patient ID: «1234 5678»",
        "patient's number in our system is «4410928»",
        "looking at patient «4410928» right now",
        "ROE JANE 67F 10/22/1958 «4410928»",
        "ROE,JANE J   02/09/1934   91 YRS  M   #«00551210»",
        "MRN#s «4410928» & «4410931»",
        "ref «4410928» is her MRN",
        "getPatientByMrn(\"«4410928»\")",
        "«4410928» <- her MRN, and «4410931» = MRN",
        "Need the MRN for Jane Roe.\nIt's «4410928».",
        "Jane Roe in bed 4; Roe («4410928») is stable",
        "What would you do here?\nMRN: «4410928»",
        "Any concerns? Patient ID: «4410928»",
        "MRN: [MRN]«48291378», MRN «48291379»%",
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
        "penicillin for Jane Roe, 2400000 units, today",
        "mr 10000 units, chart 25000 units",
    ],
    spelling: Spelling::Code,
    precedence: 0.28,
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
            Some((span, 0.85, "mrn.named_after"))
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
        Meaning::Mrn if claim.tie >= Tie::Tight => Some((span, 0.97, "mrn.labelled")),
        Meaning::Mrn if claim.tie == Tie::List && digits >= many => {
            Some((span, 0.9, "mrn.labelled"))
        }
        Meaning::Mrn if claim.tie == Tie::Near && digits >= many => Some((span, 0.75, "mrn.near")),
        Meaning::MrnMaybe if claim.tie >= Tie::Tight && digits >= many => {
            Some((span, 0.8, "mrn.patient_number"))
        }
        Meaning::MrnMaybe
            if digits >= 6 && is_stated(page, &span) && names_a_number(page, claim.from) =>
        {
            Some((span, 0.7, "mrn.patient_number"))
        }
        _ if is_named_after && is_equated(page, span.end) => Some((span, 0.85, "mrn.named_after")),
        Meaning::OtherId if claim.tie == Tie::Near => beside_a_name(page, &span, digits),
        _ => None,
    }
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
) -> Option<(Range<usize>, f32, &'static str)> {
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
        out.push(span, 0.65, "mrn.beside_name");
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
