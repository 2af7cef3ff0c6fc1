//! A text prepared for the rules: numbers, codes, known words, labels and fields, each with its place.
//!
//! One pass over the bytes makes the marks; the rules then look only at marks and
//! a bounded stretch of text around them, so a scan takes linear time.

mod date;
mod field;
mod marks;
mod phrases;
mod spoken;

pub(crate) use date::{DateForm, DateHit};
pub(crate) use field::Field;
pub(crate) use spoken::Spoken;

use std::cell::{Cell, OnceCell};
use std::ops::Range;

use crate::budget::{self, Budget, List, Memory, Way};
use crate::bytes8;
use crate::kinds;
use crate::labels::Meaning;
use crate::lexicon::{LEXICON, Sense};

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

/// A text and what one pass over it found.
pub(crate) struct Page<'a> {
    pub(crate) text: &'a str,
    pub(crate) marks: List<Mark>,
    /// Indices of the marks that are numbers or codes.
    numbers: List<u32>,
    /// Indices of the marks that are mask placeholders.
    placeholders: List<u32>,
    pub(crate) labels: List<Label>,
    /// Fields in order, never overlapping.
    pub(crate) fields: List<Field>,
    /// The field that was asked about last.
    last_field: Cell<usize>,
    /// The dates with their marks; read when a rule first asks.
    pub(crate) dates: OnceCell<List<(usize, DateHit)>>,
    /// Number of labels before the place that was asked about last.
    last_labels: Cell<usize>,
    /// Numbers said in words.
    pub(crate) spoken: List<Spoken>,
    /// Runs of letters and digits too long for a word; may be text in another coding.
    pub(crate) long_runs: List<Range<usize>>,
    pub(crate) budget: Option<&'a Budget<'a>>,
    memory: Memory,
}

impl<'a> Page<'a> {
    /// Reads a text without fields once.
    #[cfg(test)]
    pub(crate) fn new(text: &'a str) -> Self {
        let fields = Memory::unlimited().list();
        Self::within(None, text, fields)
    }

    /// Makes the page of a text with `fields` that are in order and do not overlap. Making and reading it stop when the
    /// budget is spent.
    pub(crate) fn within(
        budget: Option<&'a Budget<'a>>,
        text: &'a str,
        fields: List<Field>,
    ) -> Self {
        let memory = fields.memory().clone();
        let (marks, long_runs) = marks::mark(text.as_bytes(), budget, &memory);
        let labels = phrases::find(text.as_bytes(), &marks, budget);
        let of = |is_one: fn(Mark) -> bool| {
            let places = marks
                .iter()
                .enumerate()
                .filter(move |(_, mark)| is_one(**mark));
            memory.collect(places.map(|(index, _)| index as u32))
        };
        let numbers = of(|mark| mark.is_number() || mark.is_code());
        let placeholders = of(|mark| mark.sense.has(Sense::PLACEHOLDER));
        let mut page = Page {
            text,
            numbers,
            placeholders,
            marks,
            labels,
            fields,
            last_field: Cell::new(0),
            dates: OnceCell::new(),
            last_labels: Cell::new(0),
            spoken: memory.list(),
            long_runs,
            budget,
            memory,
        };
        page.spoken = spoken::find(&page);
        page
    }

    /// Memory that counts for the scan of the page.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Counts off the marks for as long as there is time.
    pub(crate) fn each_mark(&self) -> impl Iterator<Item = usize> {
        self.through(0..self.marks.len())
    }

    /// Counts off the marks that are numbers or codes for as long as there is time.
    pub(crate) fn each_number(&self) -> impl Iterator<Item = usize> {
        self.through(&self.numbers).map(|&index| index as usize)
    }

    /// Goes through something of the page for as long as there is time.
    pub(crate) fn through<I: IntoIterator>(&self, steps: I) -> impl Iterator<Item = I::Item> {
        budget::through(self.budget, steps)
    }

    /// A way through the page for as long as there is time.
    pub(crate) fn way(&self) -> Way<'_> {
        Way::new(self.budget)
    }

    /// Whether there is time left. Asked between two readings of the whole page.
    pub(crate) fn has_time(&self) -> bool {
        self.budget.is_none_or(Budget::has_time)
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

    /// Returns the end of the word that starts at `at`. Looking up the senses of a word can cost more than finding it.
    pub(crate) fn word_end_at(&self, at: usize) -> Option<usize> {
        let end = word_end(self.bytes(), at);
        (end > at).then_some(end)
    }

    /// Returns the start of the word that ends exactly at `end`.
    pub(crate) fn word_start_before(&self, end: usize) -> Option<usize> {
        let start = word_start(self.bytes(), end);
        (start < end).then_some(start)
    }

    /// Returns the sense of the word that starts at `at`, and its end.
    pub(crate) fn word_at(&self, at: usize) -> Option<(Sense, usize)> {
        let end = self.word_end_at(at)?;
        Some((LEXICON.sense_in(self.bytes(), at..end), end))
    }

    /// The word that ends exactly at `end`, as its start and sense.
    pub(crate) fn word_before(&self, end: usize) -> Option<(Sense, usize)> {
        let start = self.word_start_before(end)?;
        Some((LEXICON.sense_in(self.bytes(), start..end), start))
    }

    /// Whether the span contains a mask placeholder.
    pub(crate) fn has_placeholder(&self, span: &Range<usize>) -> bool {
        let mark = |index: &u32| self.marks[*index as usize];
        let next = self
            .placeholders
            .partition_point(|index| (mark(index).end as usize) <= span.start);
        self.placeholders
            .get(next)
            .is_some_and(|index| (mark(index).start as usize) < span.end)
    }

    /// The labels that end at a place or before it.
    pub(crate) fn labels_before(&self, at: usize) -> &[Label] {
        let is_before = |label: &Label| (label.end as usize) <= at;
        // Rules go through the text, and mostly ask about the same labels again or about one more.
        let last = self.last_labels.get();
        let count = match &self.labels[last..] {
            [first, second, ..] if is_before(first) && !is_before(second) => last + 1,
            [first, ..]
                if !is_before(first) && self.labels[..last].last().is_none_or(is_before) =>
            {
                last
            }
            _ => self.labels.partition_point(is_before),
        };
        self.last_labels.set(count);
        &self.labels[..count]
    }

    /// The label that ends exactly here.
    pub(crate) fn label_ending_at(&self, at: usize) -> Option<&Label> {
        self.labels
            .binary_search_by_key(&at, |label| label.end as usize)
            .ok()
            .map(|index| &self.labels[index])
    }
}

/// The ASCII letters that a text ends with.
pub(crate) fn last_letters(text: &[u8]) -> &[u8] {
    let mut words = text.rsplit(|byte| !byte.is_ascii_alphabetic());
    words.next().unwrap_or_default()
}

/// Letters, digits, and every byte of a character outside ASCII.
pub(crate) fn is_word_byte(byte: u8) -> bool {
    CLASS[usize::from(byte)] & (LETTER | DIGIT) != 0
}

/// Length of the longest word that the rules know; the cap bounds the work around a mark on any text. A multiple of
/// eight.
const WORD_BYTES_MAX: usize = 64;

/// Returns the end of the run of letters that starts at `at`.
pub(crate) fn word_end(bytes: &[u8], at: usize) -> usize {
    bytes8::run_end(bytes, at, WORD_BYTES_MAX, bytes8::any_letters)
}

/// Returns the start of the run of letters that ends at `end`.
pub(crate) fn word_start(bytes: &[u8], end: usize) -> usize {
    let mut rest = &bytes[..end.min(bytes.len())];
    let mut length = 0;
    while let Some((before, eight)) = rest.split_last_chunk() {
        let near = bytes8::run_back(bytes8::any_letters(u64::from_le_bytes(*eight)));
        length += near;
        if near < 8 || length >= WORD_BYTES_MAX {
            return end - length;
        }
        rest = before;
    }
    let letters = rest.iter().rev();
    end - length
        - letters
            .take_while(|&&byte| CLASS[usize::from(byte)] & LETTER != 0)
            .count()
}

const LETTER: u8 = 1;
const DIGIT: u8 = 2;

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
        } else {
            0
        };
        byte += 1;
    }
    table
}
/// The length of a mask placeholder at the start of `bytes`, if there is one: `[SSN]`, or with a code, `[SSN_7K3QD]`.
pub(crate) fn placeholder_at(bytes: &[u8]) -> Option<usize> {
    kinds::RULES
        .iter()
        .find_map(|rule| placeholder_of(rule.placeholder.as_bytes(), bytes))
}

/// The fewest characters of a placeholder's code.
const CODE_CHARACTERS_MIN: usize = 5;

fn placeholder_of(placeholder: &[u8], bytes: &[u8]) -> Option<usize> {
    let open = placeholder.strip_suffix(b"]")?;
    let rest = bytes.strip_prefix(open)?;
    if rest.first() == Some(&b']') {
        return Some(placeholder.len());
    }
    let code = rest
        .strip_prefix(b"_")?
        .iter()
        .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        .count();
    let is_closed = rest.get(1 + code) == Some(&b']');
    (code >= CODE_CHARACTERS_MIN && is_closed).then_some(open.len() + code + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Few;

    fn labels_of(text: &str) -> Few<(&str, Meaning)> {
        let page = Page::new(text);
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
    fn longest_label_wins_in_any_spelling() {
        let expected = |text: &'static str| vec![(text, Meaning::Dob)];
        for text in ["Date of Birth", "date_of_birth", "DATE-OF-BIRTH", "D.O.B"] {
            assert_eq!(labels_of(text), expected(text));
        }
    }

    #[test]
    fn label_glued_to_number_is_found() {
        assert_eq!(labels_of("SSN536228741"), [("SSN", Meaning::Ssn)]);
    }

    #[test]
    fn a_placeholder_is_not_a_label() {
        for text in ["[SSN]", "[SSN_53622]", "[MEDICARE_ID_7K3QDX]"] {
            assert!(labels_of(text).is_empty(), "{text}");
            assert_eq!(placeholder_at(text.as_bytes()), Some(text.len()));
        }
        for text in ["[SSN_5362]", "[SSN_53622", "[SSN_]", "[SSN", "[SNN_53622]"] {
            assert_eq!(placeholder_at(text.as_bytes()), None, "{text}");
        }
    }
}
