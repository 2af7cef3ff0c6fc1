//! Words that are not names, though the model takes them for names.

use std::ops::Range;

use crate::labels::Meaning;
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, is_word_byte};
use crate::people;
use crate::word_list::WordList;

/// Faculties between the title of a doctor and the name.
pub(super) const FACULTIES: &[&[u8]] = &[
    b"med", b"hab", b"habil", b"rer", b"nat", b"phil", b"dent", b"vet", b"sc",
];

/// Whether words at the position of a name are not a name: common words in lower case, as redaction leaves them after
/// a title, and common words that open a sentence ("My husband").
pub(super) fn contradicts(page: &Page<'_>, span: &Range<usize>) -> bool {
    let words = || {
        page.slice(span.clone())
            .split(|&byte| !is_word_byte(byte))
            .filter(|word| !word.is_empty())
    };
    let is_common = |word: &[u8]| {
        let sense = LEXICON.sense(word);
        sense.has(Sense::STOP | Sense::KIN) && !sense.has(Sense::GIVEN | Sense::GIVEN_WORD)
    };
    let text = page.slice(span.clone());
    let sense = LEXICON.sense(text);
    let is_country = sense.has(Sense::COUNTRY) && !sense.has(Sense::GIVEN | Sense::GIVEN_WORD);
    let before = span.start.saturating_sub(1);
    let before = before - usize::from(page.byte_before(before) == b'.');
    let follows_title = page
        .word_before(before)
        .is_some_and(|(sense, _)| sense.has(Sense::TITLE | Sense::ROLE | Sense::KIN));
    // "Patient Agreements:" is a heading.
    let is_heading = page.byte(span.end) == b':' && words().count() == 1 && opens_line(page, span);
    let is_code = text.len() <= 4 && text.iter().any(u8::is_ascii_digit);
    // A degree does not name a person ("signed by MD").
    let is_degree =
        text.len() <= 4 && text.iter().all(u8::is_ascii_uppercase) && sense.has(Sense::DEGREE);
    // "Prof. Dr. Roe".
    let is_title = page.byte(span.end) == b'.' && sense == Sense::TITLE;
    (words().all(is_common) || is_country) && !follows_title
        || is_weekday(page, span, before)
        || JOINTS.contains(&text)
        || is_title
        || is_within_label(page, span)
        || is_heading
        || is_code
        || is_degree
        || page.byte(span.end) == b'.' && FACULTIES.contains(&text)
        || people::is_piece_of_identifier(page, span)
        || answers_where(page, span)
        || is_of_office(page, span)
        || is_rank_in_row(page, span)
        || people::is_thing(page, span)
        || (is_acronym(page, span) || names_a_disease(page, span.end)) && !follows_title
}

/// Small words that join words ("now with her grandson in Ohio"): even a title does not make them names.
const JOINTS: &[&[u8]] = &[
    b"in", b"on", b"at", b"to", b"is", b"and", b"or", b"the", b"for", b"with", b"was", b"who",
    b"of", b"as",
];

static WEEKDAYS: WordList =
    WordList::new("monday tuesday wednesday thursday friday saturday sunday");

/// Whether a text is a day of the week without a title or given name before it ("a near miss Sunday").
fn is_weekday(page: &Page<'_>, span: &Range<usize>, before: usize) -> bool {
    let text = page.slice(span.clone());
    WEEKDAYS.has(text)
        && page
            .word_start_before(before)
            .is_none_or(|start| !page.byte(start).is_ascii_uppercase())
}

/// Whether this is a label of a number or date, or the start of one: "M.R.N.", "Número de" before "seguro social".
fn is_within_label(page: &Page<'_>, span: &Range<usize>) -> bool {
    let next = page.labels_before(span.start).len();
    let end = span.end - usize::from(page.byte_before(span.end) == b'.');
    page.labels.get(next).is_some_and(|label| {
        let is_of_number = matches!(
            label.meaning,
            Meaning::Ssn
                | Meaning::SsnMaybe
                | Meaning::Dob
                | Meaning::Mrn
                | Meaning::Medicare
                | Meaning::Phone
        );
        // The word that announces a name is not a name ("Fdo. Juan Pérez").
        let is_word = matches!(
            label.meaning,
            Meaning::Name | Meaning::NameMaybe | Meaning::Address | Meaning::Zip
        ) && !LEXICON
            .sense(page.slice(span.clone()))
            .has(Sense::GIVEN | Sense::GIVEN_WORD);
        let is_inside = label.start as usize <= span.start && end <= label.end as usize;
        is_inside && (is_of_number || is_word)
    })
}

/// Whether an article makes a small word an office, unless the word is known as a name ("the pope", "a marshal").
fn is_of_office(page: &Page<'_>, span: &Range<usize>) -> bool {
    let text = page.slice(span.clone());
    let lead = page.slice(span.start.saturating_sub(4)..span.start);
    let follows_article = [b"the ".as_slice(), b" a ", b" an ", b"The "]
        .iter()
        .any(|article| lead.ends_with(article));
    follows_article
        && text.iter().all(u8::is_ascii_lowercase)
        && !LEXICON.sense(text).has(Sense::GIVEN | Sense::GIVEN_WORD)
        && page
            .text
            .get(span.clone())
            .is_some_and(|word| !crate::names::is_only_a_name(word))
}

/// Whether a rank belongs to the name of a place in a row of data ("0B1,Col. Dyke,Bethel,ME").
fn is_rank_in_row(page: &Page<'_>, span: &Range<usize>) -> bool {
    static RANKS: WordList = WordList::new("col gen capt lt maj sgt cmdr adm");
    let is_rank = |word: &[u8]| RANKS.has(word);
    let end = span.start.saturating_sub(2);
    let follows = page.slice(end..span.start) == b". "
        && page
            .word_start_before(end)
            .is_some_and(|start| is_rank(page.slice(start..end)));
    (follows || is_rank(page.slice(span.clone()))) && people::is_in_code(page, span)
}

/// Whether a question asks for a place, and this word is the whole answer ("Which city is the largest? Charlotte").
fn answers_where(page: &Page<'_>, span: &Range<usize>) -> bool {
    const ANSWER_BYTES_MAX: usize = 24;
    const QUESTION_BYTES_MAX: usize = 120;
    static PLACES: WordList = WordList::new("city cities town capital country river airport");
    let is_word = !page.slice(span.clone()).contains(&b' ');
    let ends = matches!(page.byte(span.end), 0 | b'.' | b',' | b'\n' | b'(');
    let before = page.slice(span.start.saturating_sub(ANSWER_BYTES_MAX)..span.start);
    let Some(mark) = before
        .iter()
        .rposition(|&byte| byte == b'?')
        .filter(|_| is_word && ends)
    else {
        return false;
    };
    // Only the next speaker is between.
    let between = before[mark + 1..].trim_ascii();
    let is_turn = between.ends_with(b":") && !between.contains(&b' ');
    if !between.is_empty() && !is_turn {
        return false;
    }
    let end = span.start - before.len() + mark;
    let question = page.slice(end.saturating_sub(QUESTION_BYTES_MAX)..end);
    let question = question.rsplit(|byte| matches!(byte, b'.' | b'\n' | b'?'));
    question
        .take(1)
        .flat_map(|line| line.split(|byte| !is_word_byte(*byte)))
        .any(|word| PLACES.has(word))
}

/// Whether a role and a further word precede the name's colon at the start of a line ("PATIENT Goals:").
fn opens_line(page: &Page<'_>, span: &Range<usize>) -> bool {
    let end = span.start.saturating_sub(1);
    page.word_before(end).is_some_and(|(sense, start)| {
        sense.has(Sense::ROLE) && (start == 0 || page.byte_before(start) == b'\n')
    })
}

/// Whether a disease, or another thing that bears names, ends within the next words ("Cornelia de Lange syndrome",
/// "Miyoshi myopathy", "Megan's law").
fn names_a_disease(page: &Page<'_>, name_end: usize) -> bool {
    static DISEASES: WordList = WordList::new(
        "syndrome disease myopathy dystrophy palsy lymphoma sarcoma anomaly malformation \
         thyroiditis nephropathy neuropathy contracture carcinoma tumor tumour anemia anaemia \
         encephalopathy criteria classification murmur nodule law laws waiver prize award medal",
    );
    let mut at = name_end;
    // "Megan's law".
    if page.slice(at..at + 3) == b"'s " {
        at += 2;
    }
    for _ in 0..3 {
        if !matches!(page.byte(at), b' ' | b'-') {
            return false;
        }
        let Some((sense, end)) = page.word_at(at + 1) else {
            return false;
        };
        let word = page.slice(at + 1..end);
        if DISEASES.has(word) {
            return true;
        }
        if !word[0].is_ascii_uppercase() && !sense.has(Sense::PARTICLE) {
            return false;
        }
        at = end;
    }
    false
}

/// Whether a span is a few capitals in running text ("(USMLE)", "after CPB the"). Names in capitals are in lists and
/// headers.
fn is_acronym(page: &Page<'_>, span: &Range<usize>) -> bool {
    let text = page.slice(span.clone());
    let is_short = (2..=5).contains(&text.len()) && text.iter().all(u8::is_ascii_uppercase);
    let is_bracketed = page.byte_before(span.start) == b'(' && page.byte(span.end) == b')';
    let is_lower = |at: usize| page.byte(at).is_ascii_lowercase();
    // "for 72 hours, ASRA says": the comma is that of the sentence.
    let comma = usize::from(span.start >= 3 && page.byte(span.start - 2) == b',');
    let is_in_prose = page.byte_before(span.start) == b' '
        && span.start >= 2
        && is_lower(span.start - 2 - comma)
        && page.byte(span.end) == b' '
        && is_lower(span.end + 1);
    is_short && !LEXICON.sense(text).has(Sense::GIVEN) && (is_bracketed || is_in_prose)
}
