//! Names in which a scanner, or a writer who hides, put digits for letters: `J0hn Sm1th`.

use std::ops::Range;

use crate::budget::Few;
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Mark, Page};

/// Puts letters for the digits of every damaged given name, and of the word beside it. `text` is as long as the page.
pub(crate) fn mend(page: &Page<'_>, text: &mut Option<Few<u8>>) {
    let marks = page.through(&page.marks);
    for mark in marks.filter(|mark| looks_damaged(page, **mark)) {
        let word = page.slice(mark.range());
        let Some(mended) = spellings(word).into_iter().find(|word| is_given(word)) else {
            continue;
        };
        put(page, text, mark.range(), &mended);
        let next = mark.end as usize + 1;
        let surname = page
            .marks
            .binary_search_by_key(&next, |mark| mark.start as usize)
            .ok()
            .map(|index| page.marks[index])
            .filter(|mark| looks_damaged(page, *mark) && page.byte(next - 1) == b' ');
        if let Some(surname) = surname {
            let [mended, _] = spellings(page.slice(surname.range()));
            put(page, text, surname.range(), &mended);
        }
    }
    after_given_names(page, text);
}

/// Mends a damaged word after a given name (`Jane Sm1th`).
fn after_given_names(page: &Page<'_>, text: &mut Option<Few<u8>>) {
    for pair in page.through(page.marks.windows(2)) {
        let (given, surname) = (pair[0], pair[1]);
        let is_beside = given.sense.has(Sense::GIVEN)
            && surname.start == given.end + 1
            && page.byte(given.end as usize) == b' '
            && page.byte(given.start as usize).is_ascii_uppercase();
        if is_beside && looks_damaged(page, surname) {
            let [mended, _] = spellings(page.slice(surname.range()));
            put(page, text, surname.range(), &mended);
        }
    }
}

fn put(page: &Page<'_>, text: &mut Option<Few<u8>>, span: Range<usize>, mended: &[u8]) {
    let text = text.get_or_insert_with(|| page.bytes().to_vec());
    text[span].copy_from_slice(mended);
}

/// A capital, small letters, and among them a digit or two that look like letters.
fn looks_damaged(page: &Page<'_>, mark: Mark) -> bool {
    if !mark.is_code() || !(4..=20).contains(&mark.len()) {
        return false;
    }
    let word = page.slice(mark.range());
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    let small = word.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    matches!(digits, 1 | 2)
        && small >= 2
        && 1 + small + digits == word.len()
        && word[0].is_ascii_uppercase()
        && word[1..].iter().all(|&byte| letter(byte, b'l').is_some())
        && word[word.len() - 1].is_ascii_lowercase()
}

/// The letter that a digit looks like; a one is as often an "l" as an "i".
fn letter(byte: u8, one: u8) -> Option<u8> {
    Some(match byte {
        b'0' => b'o',
        b'1' => one,
        b'3' => b'e',
        b'4' => b'a',
        b'5' => b's',
        b'8' => b'b',
        _ if byte.is_ascii_lowercase() => byte,
        _ => return None,
    })
}

/// The word with a one as "i" and as "l".
fn spellings(word: &[u8]) -> [Few<u8>; 2] {
    [b'i', b'l'].map(|one| {
        let rest = word[1..]
            .iter()
            .map(|&byte| letter(byte, one).unwrap_or(byte));
        std::iter::once(word[0]).chain(rest).collect()
    })
}

fn is_given(word: &[u8]) -> bool {
    LEXICON.sense(word).has(Sense::GIVEN)
}
