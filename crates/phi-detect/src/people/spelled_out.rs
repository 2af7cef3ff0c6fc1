//! Names spelled letter by letter: "D as in dog, E, L", "last name R-O-E-S".

use std::ops::Range;

use crate::labels::Meaning;
use crate::page::{Page, is_word_byte};
use crate::spelled;

/// Words after which somebody spells, how far behind them the letters may begin, and how far before.
static CUES: &[(&[u8], usize, usize)] = &[
    (b"spell", 48, 0),
    (b" as in ", 0, 16),
    (b"that's ", 8, 0),
    (b"thats ", 7, 0),
];
/// Fewer letters are an abbreviation.
const LETTERS_MIN: usize = 4;
const DIFFERENT_MIN: usize = 3;

/// Every name that is spelled out where words around say so.
pub(crate) fn spelled_out(page: &Page<'_>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut look = |from: usize, to: usize| {
        let is_known =
            |at: usize, found: &[Range<usize>]| found.iter().any(|one| one.contains(&at));
        let mut starts = (from..to.min(page.text.len())).filter(|&at| opens_letters(page, at));
        let first = starts.find_map(|at| spelled::read(page, at).filter(is_name));
        if let Some(spelled) = first.filter(|one| !is_known(one.span.start, &found)) {
            found.push(spelled.span);
        }
    };
    for (cue, after, before) in CUES {
        for at in memchr::memmem::find_iter(page.bytes(), cue) {
            look(at.saturating_sub(*before), at + (*after).max(1));
        }
    }
    let names = page.labels.iter().filter(|label| {
        let is_of_name = matches!(label.meaning, Meaning::Name | Meaning::NameMaybe);
        is_of_name
            && page
                .slice(label.start as usize..label.end as usize)
                .to_ascii_lowercase()
                .ends_with(b"name")
    });
    for label in names {
        look(label.end as usize, label.end as usize + 8);
    }
    found
}

/// Letters alone, and not the same one said again and again.
fn is_name(spelled: &spelled::Spelled) -> bool {
    let different = |letter: u8| spelled.value.contains(&letter);
    spelled.value.len() >= LETTERS_MIN
        && spelled.value.iter().all(u8::is_ascii_alphabetic)
        && (b'A'..=b'Z').filter(|letter| different(*letter)).count() >= DIFFERENT_MIN
}

/// A letter that stands alone.
fn opens_letters(page: &Page<'_>, at: usize) -> bool {
    page.byte(at).is_ascii_alphabetic()
        && !is_word_byte(page.byte(at + 1))
        && page.byte(at + 1) != b'\''
        && !is_word_byte(page.byte_before(at))
        && !matches!(page.byte_before(at), b'\'' | b'-')
}
