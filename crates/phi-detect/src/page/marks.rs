//! The one pass over the bytes: numbers, codes, known words, "@" and placeholders.

use std::ops::Range;

use super::{AT_SIGN, CLASS, DIGIT, LETTER, Mark, placeholder_at};
use crate::bytes8;
use crate::labels;
use crate::lexicon::{self, LEXICON, Lexicon, Sense};

/// The one pass over the bytes.
pub(super) fn mark(bytes: &[u8]) -> (Vec<Mark>, Vec<Range<usize>>) {
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
            let run = Run::read(bytes, start);
            at = run.end;
            if at - start >= LONG_RUN_BYTES {
                long_runs.push(start..at);
            }
            match (run.has_letters, run.has_digits) {
                (true, false) => push_word(bytes, start..at, run.hash, lexicon, &mut marks),
                (false, _) => push(&mut marks, start..at, Sense::NUMBER),
                (true, true) => push_code(bytes, start..at, &mut marks),
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

/// A run of letters and digits.
struct Run {
    end: usize,
    has_letters: bool,
    has_digits: bool,
    hash: u64,
}

impl Run {
    #[inline(always)]
    fn read(bytes: &[u8], start: usize) -> Run {
        let (mut all_letters, mut all_digits) = (0, 0);
        let mut end = start;
        let mut state = lexicon::HASH_START;
        loop {
            let eight = bytes8::load(bytes, end);
            let letters = bytes8::letters(eight) | bytes8::outside_ascii(eight);
            let digits = bytes8::digits(eight);
            let count = bytes8::run(letters | digits);
            let kept = bytes8::first(u64::MAX, count);
            all_letters |= letters & kept;
            all_digits |= digits & kept;
            state = lexicon::step(state, bytes8::lower(eight) & kept);
            end += count;
            if count < 8 {
                return Run {
                    end,
                    has_letters: all_letters != 0,
                    has_digits: all_digits != 0,
                    hash: lexicon::finish(state, end - start),
                };
            }
        }
    }
}

/// Few words are longer than this.
const LONG_RUN_BYTES: usize = 12;

/// Marks a word that is loud, or a key of data in camel case: "homePhone:", "patientDob=", "findByMrn(".
#[inline(always)]
fn push_word(
    bytes: &[u8],
    word: Range<usize>,
    hash: u64,
    lexicon: &Lexicon,
    marks: &mut Vec<Mark>,
) {
    let may_be_key = matches!(bytes.get(word.end), Some(b':' | b'=' | b'('));
    if !may_be_key && !lexicon.may_be_loud(hash) {
        return;
    }
    let sense = lexicon.sense_of(hash);
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

/// `=ge1962-03-14`: how FHIR compares a date in a search.
fn is_comparison(bytes: &[u8], start: usize) -> bool {
    const PREFIXES: &[&[u8; 2]] = &[
        b"eq", b"ne", b"gt", b"lt", b"ge", b"le", b"sa", b"eb", b"ap",
    ];
    let is_prefix = PREFIXES
        .iter()
        .any(|prefix| bytes[start..].starts_with(*prefix));
    is_prefix && start > 0 && bytes[start - 1] == b'=' && bytes.get(start + 6) == Some(&b'-')
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
