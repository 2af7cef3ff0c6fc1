//! Names of people, by the words around them.
//!
//! Titles, labels and family words announce a name; a known given name followed by
//! another capitalised word is one by itself. The name model adds what no rule sees.

use std::ops::Range;

use super::{Out, PhiRule};
use crate::labels::Meaning;
use crate::lexicon::Sense;
use crate::page::Page;
use crate::people::{self, Cue};

pub(super) static RULE: PhiRule = PhiRule {
    code: "name",
    label: "Name",
    placeholder: "[NAME]",
    summary: "Names of patients, relatives, clinicians and staff: after titles and labels, in \"Last, First M\" form, in \
        signatures, in HL7 and FHIR name fields, and in running text.",
    not_found: "Eponyms (Parkinson disease, Foley catheter), drugs and brands, organisations; titles and credentials stay outside the finding.",
    authority: "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(A)",
    threshold: 0.5,
    hits: &[
        "Patient «John Smith», SSN 536-22-8741, has a cough",
        "The patient's name is «Maria Delgado», please summarise.",
        "Patient «Maria Delgado» presents with dyspnea.",
        "Dr. «Newman» (fellow) will see her",
        "Mrs. «O'Brien-Lee»'s daughter",
        "name: «potter, mark»; address",
        "«Galloway, Leah» was billed",
        "Pt «Barberini» has had increasing pain",
        "my husband «Kimberly» was born",
        "seen by «Jane Q. Roe», MD",
    ],
    misses: &[
        "Parkinson disease, Crohn disease, Hodgkin lymphoma, Foley catheter, Apgar score, Glasgow coma scale.",
        "Patient , SSN , has a cough",
        "Patient denies chest pain",
        "Patient: 45-year-old woman",
        "Dr.  will call",
        "PATIENT HISTORY",
        "The patient Reports pain",
        "Summarise the Mayo Clinic guideline on statins.",
    ],
    precedence: 0.0,
    joiners: &[" "],
    find,
};

fn find(page: &Page<'_>, out: &mut Out<'_>) {
    for mark in &page.marks {
        let (start, end) = (mark.start as usize, mark.end as usize);
        if mark.sense.has(Sense::TITLE)
            && let Some(span) = after_title(page, start, end)
        {
            out.push(span, 0.93, "name.title");
        }
        if mark.sense.has(Sense::KIN)
            && let Some(span) = people::name_at(page, end + 1, Cue::Weak)
            && page.byte(end) == b' '
        {
            out.push(span, 0.75, "name.family");
        }
        if mark.sense.has(Sense::GIVEN)
            && let Some((span, score, rule)) = round_given_name(page, start)
        {
            out.push(span, score, rule);
        }
    }
    for label in &page.labels {
        if let Some((span, score)) = after_label(page, label.meaning, label.end as usize) {
            out.push(span, score, "name.labelled");
        }
    }
    for (span, value) in page.fields_of(Meaning::Name) {
        if people::is_name_value(value) {
            out.push(span, 0.95, "name.field");
        }
    }
    for (span, _) in page.fields_of(Meaning::NameMaybe) {
        if people::name_at(page, span.start, Cue::Label) == Some(span.clone())
            && people::has_surname(page, &span)
        {
            out.push(span, 0.75, "name.field");
        }
    }
}

/// `Dr. Newman`. The title itself must not be part of a longer word or an acronym in a table head.
fn after_title(page: &Page<'_>, start: usize, end: usize) -> Option<Range<usize>> {
    let title = page.slice(start..end);
    let is_written_as_title = title[0].is_ascii_uppercase() || title.len() <= 3;
    if !is_written_as_title || page.byte_before(start) == b'-' {
        return None;
    }
    let after = end + usize::from(page.byte(end) == b'.');
    // One space: redaction leaves two where a name was.
    if page.byte(after) != b' ' {
        return None;
    }
    people::name_at(page, after + 1, Cue::Title)
}

/// `Patient: Jane Roe`, `Patient Jane Roe`, `name is jane roe`.
fn after_label(page: &Page<'_>, meaning: Meaning, end: usize) -> Option<(Range<usize>, f32)> {
    if !matches!(meaning, Meaning::Name | Meaning::NameMaybe) {
        return None;
    }
    let (start, is_explicit) = people::value_start(page, end)?;
    let cue = match (is_explicit, meaning) {
        (true, _) => Cue::Label,
        (false, _) => Cue::Weak,
    };
    let span = people::name_at(page, start, cue)?;
    Some((span, if is_explicit { 0.9 } else { 0.75 }))
}

/// `Maria Delgado`, `Delgado, Maria`.
fn round_given_name(page: &Page<'_>, start: usize) -> Option<(Range<usize>, f32, &'static str)> {
    if let Some(before) = people::surname_before(page, start) {
        let span = people::name_at(page, start, Cue::Given)?;
        return Some((before..span.end, 0.8, "name.last_first"));
    }
    let span = people::name_at(page, start, Cue::Given)?;
    people::has_surname(page, &span).then_some((span, 0.8, "name.given"))
}
