//! Text as pieces: runs of letters, figures, signs or blanks, each joined from bytes as the vocabulary has them.
//!
//! `model/reader/pieces.py` is the same tokenizer; a test compares the two.

use super::weights::{Merge, Weights};

/// Most letters, figures, signs and blanks of a run.
const LETTERS_MAX: usize = 32;
const FIGURES_MAX: usize = 3;
const SIGNS_MAX: usize = 8;
const BLANKS_MAX: usize = 16;

/// A piece and its span in the text, without a blank before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) id: u16,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// Classes of characters that runs are made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Figure,
    Sign,
    Blank,
}

fn class_of(letter: char) -> Class {
    if letter.is_whitespace() {
        Class::Blank
    } else if letter.is_numeric() {
        Class::Figure
    } else if letter.is_alphabetic() {
        Class::Letter
    } else {
        Class::Sign
    }
}

/// The end of the run that begins at `start`.
fn run_end(text: &str, start: usize) -> usize {
    let mut letters = text[start..].char_indices().peekable();
    let Some((_, first)) = letters.next() else {
        return start;
    };
    let mut class = class_of(first);
    let mut count = 1;
    if first == ' '
        && let Some(&(_, second)) = letters.peek()
        && class_of(second) != Class::Blank
    {
        // The blank belongs to the run behind it.
        class = class_of(second);
        count = 0;
    }
    let most = match class {
        Class::Letter => LETTERS_MAX,
        Class::Figure => FIGURES_MAX,
        Class::Sign => SIGNS_MAX,
        Class::Blank => BLANKS_MAX,
    };
    let mut last = start;
    for (at, letter) in letters {
        if class_of(letter) != class || count == most {
            let is_before_word = class == Class::Blank && class_of(letter) != Class::Blank;
            // The last blank before a word is not of this run.
            return if is_before_word && count > 1 {
                last
            } else {
                start + at
            };
        }
        last = start + at;
        count += 1;
    }
    text.len()
}

/// Adds the pieces of a stretch of text to `out`; `start` and `end` are on character boundaries.
pub(super) fn split(weights: &Weights, text: &str, start: usize, end: usize, out: &mut Vec<Piece>) {
    let text = &text[..end];
    let mut at = start;
    while at < end {
        let next = run_end(text, at);
        join(weights, text.as_bytes(), at, next, out);
        at = next;
    }
}

/// Joins the bytes of a run, those of the lowest rank first.
fn join(weights: &Weights, text: &[u8], start: usize, end: usize, out: &mut Vec<Piece>) {
    let first = out.len();
    for (at, byte) in text.iter().enumerate().take(end).skip(start) {
        out.push(Piece {
            id: weights.bytes[usize::from(*byte)],
            start: at as u32,
            end: at as u32 + 1,
        });
    }
    loop {
        let run = &out[first..];
        let pairs = run.windows(2).enumerate();
        let ranked = pairs.filter_map(|(at, two)| {
            merge_of(&weights.merges, two[0].id, two[1].id).map(|merge| (merge[3], at, merge[2]))
        });
        let Some((_, at, id)) = ranked.min() else {
            break;
        };
        let end = out[first + at + 1].end;
        let piece = &mut out[first + at];
        (piece.id, piece.end) = (id, end);
        out.remove(first + at + 1);
    }
    for piece in &mut out[first..] {
        while piece.start < piece.end && text[piece.start as usize].is_ascii_whitespace() {
            piece.start += 1;
        }
    }
}

fn merge_of(merges: &[Merge], left: u16, right: u16) -> Option<&Merge> {
    let at = merges.binary_search_by_key(&(left, right), |merge| (merge[0], merge[1]));
    at.ok().map(|at| &merges[at])
}
