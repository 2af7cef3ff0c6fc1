//! The one pass over the bytes: numbers, codes, known words, "@" and placeholders.

use std::ops::Range;

use super::{Mark, placeholder_at};
use crate::budget::{self, Budget, List, Memory};
use crate::bytes64::{self, Block, take_first};
use crate::labels;
use crate::lexicon::{self, LEXICON, Lexicon, Sense};

/// Marks the text in one pass over its bytes.
pub(super) fn mark(
    bytes: &[u8],
    budget: Option<&Budget<'_>>,
    memory: &Memory,
) -> (List<Mark>, List<Range<usize>>) {
    let mut marks = memory.list();
    marks.reserve(bytes.len() / 24 + 8);
    let mut pass = Pass {
        bytes,
        marks,
        long_runs: memory.list(),
        free_from: 0,
    };
    let mut runs = Runs::new(bytes);
    let mut signs = memchr::memchr2_iter(b'@', b'[', bytes).peekable();
    for (from, block) in budget::through(budget, bytes64::blocks(bytes)) {
        let mut worth_it = runs.ending_in(from, &block).iter();
        while let Some(sign) = signs.next_if(|sign| *sign < from + bytes64::SIZE) {
            let before = worth_it
                .as_slice()
                .partition_point(|run| run.end as usize <= sign);
            worth_it
                .by_ref()
                .take(before)
                .for_each(|run| pass.push_run(run));
            pass.push_sign(sign);
        }
        worth_it.for_each(|run| pass.push_run(run));
    }
    (pass.marks, pass.long_runs)
}

/// A run of letters and digits.
#[derive(Clone, Copy, Default)]
struct Run {
    start: u32,
    end: u32,
    has_digits: bool,
}

/// Picks the runs that are worth a look, block by block. Most are not; deciding that takes no branch, since on running text
/// the processor would guess every other one wrong.
struct Runs<'a> {
    bytes: &'a [u8],
    lexicon: &'static Lexicon,
    /// Start of the last run.
    start: usize,
    /// Whether the block before ended inside it: 1 or 0.
    is_open: u64,
    /// Whether it has digits in that block.
    has_digits: bool,
    /// Kept for its memory. At least one byte lies between two runs.
    picked: [Run; bytes64::SIZE / 2],
}

impl<'a> Runs<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Runs {
            bytes,
            lexicon: &LEXICON,
            start: 0,
            is_open: 0,
            has_digits: false,
            picked: [Run::default(); bytes64::SIZE / 2],
        }
    }

    /// Returns the runs that end in this block and have digits, are long, or may be loud words or keys.
    #[inline(always)]
    fn ending_in(&mut self, from: usize, block: &Block) -> &[Run] {
        let words = block.set(|byte| byte.is_ascii_alphanumeric() | (byte >= 0x80));
        let before = words << 1 | self.is_open;
        let (mut starts, mut ends) = (words & !before, before & !words);
        let keys = block.set(is_behind_key);
        let digits = self.behind_digits(words, block);
        if self.is_open == 0 {
            self.start = from + take_first(&mut starts);
        }
        let mut count = 0;
        while ends != 0 {
            let here = ends & ends.wrapping_neg();
            let (has_digits, may_be_key) = (digits & here != 0, keys & here != 0);
            let end = from + take_first(&mut ends);
            let is_long = end - self.start >= LONG_RUN_BYTES;
            let may_be_loud = self.lexicon.may_be_loud(self.bytes, self.start..end);
            self.picked[count] = Run {
                start: self.start as u32,
                end: end as u32,
                has_digits,
            };
            count += usize::from(has_digits | may_be_key | is_long | may_be_loud);
            self.start = from + take_first(&mut starts);
        }
        self.is_open = words >> (bytes64::SIZE - 1);
        &self.picked[..count]
    }

    /// The ends of runs with digits, among other places.
    #[inline(always)]
    fn behind_digits(&mut self, words: u64, block: &Block) -> u64 {
        let digits = block.set(|byte| byte.is_ascii_digit());
        // A sum carries a digit's bit through all that follows it in its run, to the first place behind, or into the next
        // block.
        let (sum, goes_on) = words.overflowing_add(digits);
        let (sum, goes_on_from_before) = sum.overflowing_add(u64::from(self.has_digits));
        self.has_digits = goes_on | goes_on_from_before;
        sum & !words
    }
}

/// Whether this is a sign that follows keys of data.
fn is_behind_key(byte: u8) -> bool {
    (byte == b':') | (byte == b'=') | (byte == b'(')
}

/// Few words are longer than this.
const LONG_RUN_BYTES: usize = 12;

/// Results of the pass so far.
struct Pass<'a> {
    bytes: &'a [u8],
    marks: List<Mark>,
    long_runs: List<Range<usize>>,
    /// End of the last placeholder.
    free_from: usize,
}

impl Pass<'_> {
    fn push_run(&mut self, run: &Run) {
        let span = run.start as usize..run.end as usize;
        if span.start < self.free_from {
            return;
        }
        if span.len() >= LONG_RUN_BYTES {
            self.long_runs.push(span.clone());
        }
        if !run.has_digits {
            push_word(self.bytes, span, &mut self.marks);
        } else if self.bytes[span.clone()].iter().all(u8::is_ascii_digit) {
            push(&mut self.marks, span, Sense::NUMBER);
        } else {
            push_code(self.bytes, span, &mut self.marks);
        }
    }

    /// Marks an "@", or the placeholder that a bracket opens.
    fn push_sign(&mut self, at: usize) {
        if self.bytes[at] == b'@' {
            push(&mut self.marks, at..at + 1, Sense::AT);
        } else if let Some(length) = placeholder_at(&self.bytes[at..]) {
            self.free_from = at + length;
            push(&mut self.marks, at..self.free_from, Sense::PLACEHOLDER);
        }
    }
}

/// Marks a word that is loud, or a key of data in camel case: "homePhone:", "patientDob=", "findByMrn(".
fn push_word(bytes: &[u8], word: Range<usize>, marks: &mut List<Mark>) {
    let sense = LEXICON.sense_in(bytes, word.clone());
    let may_be_key = bytes.get(word.end).copied().is_some_and(is_behind_key);
    let is_camel_case = || {
        bytes[word.start].is_ascii_lowercase()
            && bytes[word.clone()].iter().any(u8::is_ascii_uppercase)
    };
    if sense.is_loud() {
        push(marks, word, sense);
    } else if sense == Sense::NONE && may_be_key && is_camel_case() {
        push(marks, word, Sense::KEY);
    }
}

fn push(marks: &mut List<Mark>, span: Range<usize>, sense: Sense) {
    marks.push(Mark {
        start: span.start as u32,
        end: span.end as u32,
        sense,
    });
}

/// Marks letters and digits run together. A label stuck to its number ("SSN536", "MRN004")
/// is marked as the two things it is.
fn push_code(bytes: &[u8], span: Range<usize>, marks: &mut List<Mark>) {
    let letters = bytes[span.clone()]
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic() || **byte >= 0x80)
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
    if letters == 2 && rest_is_number && rest.len() == 4 && is_comparison(bytes, span.start) {
        push(marks, split..span.end, Sense::NUMBER);
        return;
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

/// Whether this is a FHIR comparison of a date in a search (`=ge1962-03-14`).
fn is_comparison(bytes: &[u8], start: usize) -> bool {
    const PREFIXES: &[&[u8; 2]] = &[
        b"eq", b"ne", b"gt", b"lt", b"ge", b"le", b"sa", b"eb", b"ap",
    ];
    let is_prefix = PREFIXES
        .iter()
        .any(|prefix| bytes[start..].starts_with(*prefix));
    is_prefix && start > 0 && bytes[start - 1] == b'=' && bytes.get(start + 6) == Some(&b'-')
}

/// Splits the end of a telephone number from its extension (`0142x695`).
fn number_and_extension(bytes: &[u8], span: Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
    let x = bytes[span.clone()]
        .iter()
        .position(|byte| matches!(byte, b'x' | b'X'))?;
    let (number, extension) = (span.start..span.start + x, span.start + x + 1..span.end);
    let is_number = |span: &Range<usize>| bytes[span.clone()].iter().all(u8::is_ascii_digit);
    let fits = matches!(number.len(), 4 | 7 | 10 | 11) && (1..=6).contains(&extension.len());
    (fits && is_number(&number) && is_number(&extension)).then_some((number, extension))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Few;

    #[test]
    fn marks_ignore_block_boundaries() {
        let text = "Dr. Roe, MRN4711 x9 homePhone:5 [SSN] [SSN_7K3QD]SSN536 q@z née Überweisungsschein 12, electroencephalography-3 DOB";
        let told = |text: &str, from: usize| {
            let (marks, long_runs) = mark(text.as_bytes(), None, &Memory::unlimited());
            let marks = marks.into_iter().map(|mark| {
                let start = mark.start as usize - from;
                (start..mark.end as usize - from, mark.sense.0)
            });
            let long_runs = long_runs.into_iter();
            let long_runs = long_runs.map(|run| run.start - from..run.end - from);
            (marks.collect::<Few<_>>(), long_runs.collect::<Few<_>>())
        };
        let (marks, long_runs) = told(text, 0);
        let of_sense = |sense: Sense| {
            let marks = marks.iter();
            let marks = marks.filter(move |(_, one)| Sense(*one).has(sense));
            marks.map(|(span, _)| &text[span.clone()])
        };
        let numbers: Few<_> = of_sense(Sense::NUMBER).collect();
        assert_eq!(numbers, ["4711", "5", "536", "12", "3"]);
        let labels: Few<_> = of_sense(Sense::LABEL).collect();
        assert_eq!(labels, ["MRN", "SSN", "DOB"]);
        assert!(of_sense(Sense::CODE).eq(["x9"]));
        assert!(of_sense(Sense::PLACEHOLDER).eq(["[SSN]", "[SSN_7K3QD]"]));
        assert!(of_sense(Sense::AT).eq(["@"]));
        assert!(of_sense(Sense::KEY).eq(["homePhone"]));
        assert_eq!(long_runs.len(), 2);
        for before in 0..=2 * bytes64::SIZE {
            let moved = ".".repeat(before) + text;
            assert!(told(&moved, before) == (marks.clone(), long_runs.clone()));
        }
    }
}
