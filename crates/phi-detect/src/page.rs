//! A text prepared for the rules: numbers, codes, known words, labels and fields, each with its place.
//!
//! One pass over the bytes makes the marks; the rules then look only at marks and
//! a bounded stretch of text around them, so a scan takes linear time.

use std::ops::Range;

use crate::digits::{self, Spoken};
use crate::labels::{self, Meaning};
use crate::lexicon::{self, LEXICON, Sense};
use crate::rules;

/// Something in the text worth looking at.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) sense: Sense,
}

impl Mark {
    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(crate) fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    pub(crate) fn is_number(self) -> bool {
        self.sense.has(Sense::NUMBER)
    }

    pub(crate) fn is_code(self) -> bool {
        self.sense.has(Sense::CODE)
    }
}

/// A label and what it says about the value that belongs to it.
#[derive(Clone, Copy)]
pub(crate) struct Label {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) meaning: Meaning,
}

/// A value that stands in a named place: a JSON member, a CSV cell, an HL7 field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) span: Range<usize>,
    pub(crate) meaning: Option<Meaning>,
}

/// A text and what one pass over it found.
pub(crate) struct Page<'a> {
    pub(crate) text: &'a str,
    pub(crate) marks: Vec<Mark>,
    pub(crate) labels: Vec<Label>,
    /// In order, never overlapping.
    pub(crate) fields: Vec<Field>,
    /// Numbers said in words.
    pub(crate) spoken: Vec<Spoken>,
    /// Runs of letters and digits too long for a word; may be text in another coding.
    pub(crate) long_runs: Vec<Range<usize>>,
}

impl<'a> Page<'a> {
    /// Reads the text once. `fields` are in order and do not overlap.
    pub(crate) fn new(text: &'a str, fields: Vec<Field>) -> Self {
        let (marks, long_runs) = mark(text.as_bytes());
        let labels = find_labels(text.as_bytes(), &marks);
        let mut page = Page {
            text,
            marks,
            labels,
            fields,
            spoken: Vec::new(),
            long_runs,
        };
        page.spoken = digits::spoken(&page);
        page
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// The byte at a position, 0 beyond the end.
    pub(crate) fn byte(&self, at: usize) -> u8 {
        self.bytes().get(at).copied().unwrap_or(0)
    }

    /// The byte before a position, 0 at the start.
    pub(crate) fn byte_before(&self, at: usize) -> u8 {
        at.checked_sub(1).map_or(0, |before| self.byte(before))
    }

    pub(crate) fn slice(&self, span: Range<usize>) -> &'a [u8] {
        self.bytes().get(span).unwrap_or_default()
    }

    /// The sense of the word that starts at `at`, and where it ends.
    pub(crate) fn word_at(&self, at: usize) -> Option<(Sense, usize)> {
        let end = word_end(self.bytes(), at);
        (end > at).then(|| (LEXICON.sense(&self.bytes()[at..end]), end))
    }

    /// The word that ends exactly at `end`, as its start and sense.
    pub(crate) fn word_before(&self, end: usize) -> Option<(Sense, usize)> {
        let start = word_start(self.bytes(), end);
        (start < end).then(|| (LEXICON.sense(&self.bytes()[start..end]), start))
    }

    /// The fields of one meaning, with their values.
    pub(crate) fn fields_of(
        &self,
        meaning: Meaning,
    ) -> impl Iterator<Item = (Range<usize>, &'a [u8])> {
        self.fields
            .iter()
            .filter(move |field| field.meaning == Some(meaning))
            .map(|field| (field.span.clone(), self.slice(field.span.clone())))
    }

    /// Whether a mask placeholder stands in the span.
    pub(crate) fn has_placeholder(&self, span: &Range<usize>) -> bool {
        let first = self
            .marks
            .partition_point(|mark| (mark.end as usize) <= span.start);
        self.marks[first..]
            .iter()
            .take_while(|mark| (mark.start as usize) < span.end)
            .any(|mark| mark.sense.has(Sense::PLACEHOLDER))
    }

    /// Whether a label ends exactly here.
    pub(crate) fn label_ends_at(&self, at: usize) -> bool {
        self.labels
            .binary_search_by_key(&at, |label| label.end as usize)
            .is_ok()
    }

    /// Whether a field starts or ends exactly here, so that what stands on both sides does not belong together.
    pub(crate) fn is_field_edge(&self, at: usize) -> bool {
        let next = self.fields.partition_point(|field| field.span.start < at);
        let starts = self
            .fields
            .get(next)
            .is_some_and(|field| field.span.start == at);
        let ends = next > 0 && self.fields[next - 1].span.end == at;
        starts || ends
    }

    /// The field that holds the position.
    pub(crate) fn field_at(&self, at: usize) -> Option<&Field> {
        let next = self.fields.partition_point(|field| field.span.start <= at);
        let field = &self.fields[next.checked_sub(1)?];
        (at < field.span.end).then_some(field)
    }
}

/// Letters, digits, and every byte of a character outside ASCII.
pub(crate) fn is_word_byte(byte: u8) -> bool {
    CLASS[usize::from(byte)] & (LETTER | DIGIT) != 0
}

/// No word the rules care for is longer; the cap keeps looking around a mark cheap on any text.
const WORD_BYTES_MAX: usize = 64;

/// Where the run of letters that starts at `at` ends.
pub(crate) fn word_end(bytes: &[u8], at: usize) -> usize {
    at + bytes[at.min(bytes.len())..]
        .iter()
        .take(WORD_BYTES_MAX)
        .take_while(|&&byte| CLASS[usize::from(byte)] & LETTER != 0)
        .count()
}

/// Where the run of letters that ends at `end` starts.
pub(crate) fn word_start(bytes: &[u8], end: usize) -> usize {
    end - bytes[..end.min(bytes.len())]
        .iter()
        .rev()
        .take(WORD_BYTES_MAX)
        .take_while(|&&byte| CLASS[usize::from(byte)] & LETTER != 0)
        .count()
}

const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const AT_SIGN: u8 = 4;
const BRACKET: u8 = 8;

static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let one = byte as u8;
        table[byte] = if one.is_ascii_alphabetic() || one >= 0x80 {
            LETTER
        } else if one.is_ascii_digit() {
            DIGIT
        } else if one == b'@' {
            AT_SIGN
        } else if one == b'[' {
            BRACKET
        } else {
            0
        };
        byte += 1;
    }
    table
}

/// The one pass over the bytes.
fn mark(bytes: &[u8]) -> (Vec<Mark>, Vec<Range<usize>>) {
    let mut long_runs = Vec::new();
    let mut marks = Vec::with_capacity(bytes.len() / 24 + 8);
    let lexicon = &*LEXICON;
    let mut at = 0;
    while at < bytes.len() {
        let class = CLASS[usize::from(bytes[at])];
        if class == 0 {
            at += 1;
        } else if class & (LETTER | DIGIT) != 0 {
            let start = at;
            let mut seen = 0;
            let mut state = lexicon::HASH_START;
            while at < bytes.len() {
                let class = CLASS[usize::from(bytes[at])];
                if class & (LETTER | DIGIT) == 0 {
                    break;
                }
                seen |= class;
                state = lexicon::step(state, bytes[at]);
                at += 1;
            }
            if at - start >= LONG_RUN_BYTES {
                long_runs.push(start..at);
            }
            let sense = match seen {
                LETTER => lexicon.sense_of(lexicon::finish(state)),
                DIGIT => Sense::NUMBER,
                _ => {
                    push_code(bytes, start..at, &mut marks);
                    continue;
                }
            };
            if sense.is_loud() {
                push(&mut marks, start..at, sense);
            } else if sense == Sense::NONE && is_key(bytes, start..at) {
                push(&mut marks, start..at, Sense::KEY);
            }
        } else if class == AT_SIGN {
            push(&mut marks, at..at + 1, Sense::AT);
            at += 1;
        } else {
            let length = placeholder_at(&bytes[at..]).unwrap_or(0);
            if length > 0 {
                push(&mut marks, at..at + length, Sense::PLACEHOLDER);
            }
            at += length.max(1);
        }
    }
    (marks, long_runs)
}

/// Few words are longer than this.
const LONG_RUN_BYTES: usize = 12;

/// Whether a word is a key of data in camel case: "homePhone:", "patientDob=".
fn is_key(bytes: &[u8], word: Range<usize>) -> bool {
    let next = bytes.get(word.end).copied().unwrap_or(0);
    matches!(next, b':' | b'=')
        && bytes[word.start].is_ascii_lowercase()
        && bytes[word].iter().any(u8::is_ascii_uppercase)
}

fn push(marks: &mut Vec<Mark>, span: Range<usize>, sense: Sense) {
    marks.push(Mark {
        start: span.start as u32,
        end: span.end as u32,
        sense,
    });
}

/// Marks letters and digits run together. A label stuck to its number ("SSN536", "MRN004")
/// is marked as the two things it is.
fn push_code(bytes: &[u8], span: Range<usize>, marks: &mut Vec<Mark>) {
    let letters = bytes[span.clone()]
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let split = span.start + letters;
    let rest = &bytes[split..span.end];
    let rest_is_number = rest.iter().all(u8::is_ascii_digit);
    if letters >= 3 && rest_is_number {
        let head = &bytes[span.start..split];
        let key = labels::extend(0, lexicon::hash(head));
        let sense = LEXICON.sense(head);
        if labels::meaning(key).is_some() || sense.has(Sense::MONTH) {
            push(marks, span.start..split, sense);
            push(marks, split..span.end, Sense::NUMBER);
            return;
        }
    }
    let digits = bytes[span.clone()]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let word = span.start + digits..span.end;
    // "8741DOB", "0142Patient": a number that ran into the next word.
    if matches!(digits, 4 | 7 | 9 | 10) && word.len() >= 3 {
        let sense = LEXICON.sense(&bytes[word.clone()]);
        if sense != Sense::NONE && bytes[word.clone()].iter().all(u8::is_ascii_alphabetic) {
            push(marks, span.start..word.start, Sense::NUMBER);
            if sense.is_loud() {
                push(marks, word, sense);
            }
            return;
        }
    }
    if let Some((number, extension)) = number_and_extension(bytes, span.clone()) {
        push(marks, number, Sense::NUMBER);
        push(marks, extension, Sense::NUMBER);
        return;
    }
    push(marks, span, Sense::CODE);
}

/// `0142x695`: the end of a telephone number and its extension.
fn number_and_extension(bytes: &[u8], span: Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
    let x = bytes[span.clone()]
        .iter()
        .position(|byte| matches!(byte, b'x' | b'X'))?;
    let (number, extension) = (span.start..span.start + x, span.start + x + 1..span.end);
    let is_number = |span: &Range<usize>| bytes[span.clone()].iter().all(u8::is_ascii_digit);
    let fits = matches!(number.len(), 4 | 7 | 10 | 11) && (1..=6).contains(&extension.len());
    (fits && is_number(&number) && is_number(&extension)).then_some((number, extension))
}

/// The length of a mask placeholder at the start of `bytes`, if one stands there.
pub(crate) fn placeholder_at(bytes: &[u8]) -> Option<usize> {
    rules::RULES
        .iter()
        .map(|rule| rule.placeholder.as_bytes())
        .find(|placeholder| bytes.starts_with(placeholder))
        .map(<[u8]>::len)
}

/// Matches phrases of the label table at the marks that can start one; the longest wins.
fn find_labels(bytes: &[u8], marks: &[Mark]) -> Vec<Label> {
    let mut found: Vec<Label> = Vec::new();
    let mut free_from = 0;
    for mark in marks
        .iter()
        .filter(|mark| mark.sense.has(Sense::LABEL | Sense::KEY))
    {
        if (mark.start as usize) < free_from {
            continue;
        }
        if mark.sense.has(Sense::KEY) {
            let key = std::str::from_utf8(&bytes[mark.range()]).unwrap_or_default();
            found.extend(labels::of_key(key).map(|meaning| Label {
                start: mark.start,
                end: mark.end,
                meaning,
            }));
            continue;
        }
        if let Some((end, meaning)) = longest_phrase(bytes, mark.range())
            && (mark.len() > 1 || end > mark.end as usize || is_abbreviation(bytes, mark.range()))
        {
            free_from = end;
            if let Some(last) = found.last_mut()
                && goes_on_as_number(bytes, last, mark.range())
            {
                last.end = end as u32;
                continue;
            }
            found.push(Label {
                start: mark.start,
                end: end as u32,
                meaning,
            });
        }
    }
    found
}

/// "credit card number": the word belongs to the label before it.
fn goes_on_as_number(bytes: &[u8], last: &Label, word: Range<usize>) -> bool {
    let is_next = last.end as usize + 1 == word.start && bytes[word.start - 1] == b' ';
    is_next && last.meaning != Meaning::Name && bytes[word].eq_ignore_ascii_case(b"number")
}

/// A single letter is a label only with its sign: "b. 1962", "T: 206…".
fn is_abbreviation(bytes: &[u8], letter: Range<usize>) -> bool {
    let before = letter
        .start
        .checked_sub(1)
        .map_or(b' ', |before| bytes[before]);
    let after = bytes.get(letter.end).copied().unwrap_or(0);
    matches!(after, b':' | b'.')
        && matches!(before, b' ' | b'\n' | b'\t' | b'(' | b',' | b'|' | b';')
}

fn longest_phrase(bytes: &[u8], head: Range<usize>) -> Option<(usize, Meaning)> {
    let mut key = 0;
    let mut at = head.start;
    let mut longest = None;
    for position in 0..labels::LONGEST {
        let end = if position == 0 {
            head.end
        } else {
            chunk_end(bytes, at)
        };
        if end == at {
            break;
        }
        key = labels::extend(key, lexicon::hash(&bytes[at..end]));
        if let Some(meaning) = labels::meaning(key) {
            longest = Some((end, meaning));
        }
        if let Some(sign) = number_sign(bytes, end) {
            // "Hospital #" is "hospital number".
            if let Some(meaning) = labels::meaning(labels::extend(key, lexicon::hash(b"number"))) {
                longest = Some((sign, meaning));
            }
            break;
        }
        at = next_label_word(bytes, end);
        if at == end {
            break;
        }
    }
    longest
}

/// Where a number sign right after a label word ends.
fn number_sign(bytes: &[u8], end: usize) -> Option<usize> {
    let at = end + usize::from(bytes.get(end) == Some(&b' '));
    (bytes.get(at) == Some(&b'#')).then_some(at + 1)
}

/// Where the run of letters and digits at `at` ends; labels are at most 24 bytes a word.
fn chunk_end(bytes: &[u8], at: usize) -> usize {
    let limit = bytes.len().min(at + 24);
    at + bytes[at..limit]
        .iter()
        .take_while(|&&byte| is_word_byte(byte))
        .count()
}

/// Steps over what may stand between the words of a label: a space, "'s", "_", "-", ".".
fn next_label_word(bytes: &[u8], end: usize) -> usize {
    let mut at = end;
    if bytes[at..].starts_with(b"'s ") || bytes[at..].starts_with(b"'S ") {
        at += 2;
    }
    let limit = bytes.len().min(at + 2);
    at + bytes[at..limit]
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'_' | b'-' | b'.' | b'/'))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels_of(text: &str) -> Vec<(&str, Meaning)> {
        let page = Page::new(text, Vec::new());
        page.labels
            .iter()
            .map(|label| {
                (
                    &text[label.start as usize..label.end as usize],
                    label.meaning,
                )
            })
            .collect()
    }

    #[test]
    fn the_longest_label_wins_and_its_spelling_does_not_matter() {
        let expected = |text: &'static str| vec![(text, Meaning::Dob)];
        for text in ["Date of Birth", "date_of_birth", "DATE-OF-BIRTH", "D.O.B"] {
            assert_eq!(labels_of(text), expected(text));
        }
    }

    #[test]
    fn a_label_stuck_to_its_number_is_seen() {
        assert_eq!(labels_of("SSN536228741"), [("SSN", Meaning::Ssn)]);
    }

    #[test]
    fn a_placeholder_is_not_a_label() {
        assert!(labels_of("[SSN]").is_empty());
    }
}
