//! Letters set apart by blanks, as headings are and as scanners read them: `D O B :  0 7 / 0 2 / 1 9 7 1`;
//! and blanks inside the brackets of a number: `( 206 ) 555-0142`.

use super::edit::Edit;
use crate::budget::{List, Memory};
use crate::bytes64;

/// Fewer characters in a row are initials, grades or choices.
const CHARACTERS_MIN: usize = 6;
const LETTERS_MIN: usize = 3;
/// A wider gap parts columns.
const GAP_MAX: usize = 4;

/// Closes the gaps inside words and brackets; wider ones part words.
pub(super) fn edits(bytes: &[u8], edits: &mut List<Edit>) {
    for open in memchr::memchr_iter(b'(', bytes) {
        brackets(bytes, open + 1, edits);
    }
    let mut free_from = 0;
    for at in starts(bytes) {
        if at < free_from {
            continue;
        }
        let run = Run::read(bytes, at, edits.memory());
        if run.characters >= CHARACTERS_MIN && run.letters >= LETTERS_MIN {
            edits.extend(run.gaps.into_iter().map(|(gap, length)| {
                if length == 1 {
                    Edit::drop(gap..gap + 1)
                } else {
                    Edit::show(gap..gap + length, ' ')
                }
            }));
        }
        free_from = run.end;
    }
}

/// Returns the offsets of a character between blanks that is followed by another one and by more text.
fn starts(bytes: &[u8]) -> impl Iterator<Item = usize> {
    // The text begins as if after blanks.
    let mut before = u64::MAX;
    let behind = bytes64::blocks(bytes).flat_map(move |(from, block)| {
        let blanks = block.set(|byte| byte <= b' ');
        let back = |count: usize| blanks << count | before >> (bytes64::SIZE - count);
        let behind = blanks & !back(1) & back(2) & !back(3) & back(4);
        before = blanks;
        bytes64::members(behind).map(move |place| from + place)
    });
    let starts = behind.map(|behind| behind - 3);
    starts.filter(|&at| at + 4 < bytes.len() && is_spaced(bytes, at))
}

/// Longer numbers are not set in brackets.
const BRACKETED_DIGITS_MAX: usize = 4;

/// Takes the blanks on both sides of a short number in brackets out.
fn brackets(bytes: &[u8], inner: usize, edits: &mut List<Edit>) {
    let count = |from: usize, most: usize, is_one: fn(&u8) -> bool| {
        let rest = bytes[from..].iter().take(most);
        rest.take_while(|byte| is_one(byte)).count()
    };
    let before = count(inner, 2, |byte| *byte == b' ');
    let digits = inner + before;
    let digits_end = digits + count(digits, BRACKETED_DIGITS_MAX, u8::is_ascii_digit);
    let after = count(digits_end, 2, |byte| *byte == b' ');
    let is_closed = bytes.get(digits_end + after) == Some(&b')');
    if digits_end > digits && is_closed {
        let blanks = [inner..digits, digits_end..digits_end + after];
        edits.extend(
            blanks
                .into_iter()
                .filter(|span| !span.is_empty())
                .map(Edit::drop),
        );
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t')
}

/// Whether a character here follows a blank, and another one follows after a single blank.
fn is_spaced(bytes: &[u8], at: usize) -> bool {
    (at == 0 || is_blank(bytes[at - 1]))
        && bytes[at + 1] == b' '
        && bytes[at].is_ascii_graphic()
        && bytes[at + 2].is_ascii_graphic()
        && is_blank(bytes[at + 3])
}

/// Single characters with gaps between them.
struct Run {
    end: usize,
    characters: usize,
    letters: usize,
    /// Start and width of each gap.
    gaps: List<(usize, usize)>,
}

impl Run {
    fn read(bytes: &[u8], start: usize, memory: &Memory) -> Run {
        let mut run = Run {
            end: start,
            characters: 0,
            letters: 0,
            gaps: memory.list(),
        };
        let mut at = start;
        loop {
            run.characters += 1;
            run.letters += usize::from(bytes[at].is_ascii_alphabetic());
            run.end = at + 1;
            let gap = bytes[run.end..]
                .iter()
                .take(GAP_MAX + 1)
                .take_while(|&&byte| byte == b' ')
                .count();
            let next = run.end + gap;
            let stands_alone = bytes.get(next).is_some_and(u8::is_ascii_graphic)
                && bytes.get(next + 1).is_none_or(|&byte| is_blank(byte));
            if !(1..=GAP_MAX).contains(&gap) || !stands_alone {
                return run;
            }
            run.gaps.push((run.end, gap));
            at = next;
        }
    }
}
