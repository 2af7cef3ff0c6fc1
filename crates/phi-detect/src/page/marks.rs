//! The one pass over the bytes: numbers, codes, known words, "@" and placeholders.

use std::ops::Range;

use super::{AT_SIGN, CLASS, DIGIT, LETTER, Mark, placeholder_at};
use crate::labels;
use crate::lexicon::{self, LEXICON, Sense};

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
