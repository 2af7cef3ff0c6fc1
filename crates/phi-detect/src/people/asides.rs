//! Names in brackets after the department that a person speaks for ("GI (Farhadi) to scope").

use std::ops::Range;

use crate::budget::List;
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, word_end};
use crate::word_list::WordList;

/// Departments as notes write them.
static DEPARTMENTS: WordList = WordList::new(
    "anesthesia billing cardiology cards chaplain derm dermatology dietary endo endocrine \
     endocrinology ent genetics gi gyn heme hematology hospice icu id ir lab lactation mfm \
     micro micu nephrology neuro neurology neurosurgery nicu nutrition ob onc oncology ortho \
     orthopedics ot palliative path pathology peds pharmacy physio picu plastics psych \
     psychiatry pt pulm pulmonology radiology rads registration renal rheum scheduling sicu slp \
     surgery sw transport uro urology vascular wound",
);

/// Finds names alone in brackets after a department; `is_ordinary` recognises the words that are not names.
pub(crate) fn after_departments(
    page: &Page<'_>,
    is_ordinary: impl Fn(&str) -> bool,
) -> List<Range<usize>> {
    let brackets = page.through(memchr::memchr_iter(b'(', page.bytes()));
    let named = brackets.filter_map(|bracket| {
        let end = word_end(page.bytes(), bracket + 1);
        let span = bracket + 1..end;
        let word = page.slice(span.clone());
        let is_written_as_name = word.len() >= 3
            && word[0].is_ascii_uppercase()
            && word[1..].iter().any(u8::is_ascii_lowercase);
        (page.byte(end) == b')' && is_written_as_name && follows_department(page, bracket))
            .then_some(span)
    });
    let named = named.filter(|span| {
        let sense = LEXICON.sense(page.slice(span.clone()));
        let is_given =
            sense.0 & !(Sense::GIVEN.0 | Sense::GIVEN_WORD.0) == 0 && sense != Sense::NONE;
        let word = page.text.get(span.clone()).unwrap_or_default();
        is_given || sense == Sense::NONE && !is_ordinary(word)
    });
    page.memory().collect(named)
}

fn follows_department(page: &Page<'_>, bracket: usize) -> bool {
    let end = bracket.saturating_sub(1);
    page.byte(end) == b' '
        && page.word_start_before(end).is_some_and(|start| {
            let word = page.slice(start..end);
            DEPARTMENTS.has(word)
        })
}
