//! Addresses without a street word, held by their postal code: `7 Cnip, Uig, HS2 9XX`, `Oberdorf 14, 9650 Nesslau`.

use std::ops::Range;

use super::Line;
use super::codes::code_before_town;
use super::rest::town_after;
use super::tail::postal_code_end;
use super::token::token_at;
use crate::lexicon::Sense;
use crate::page::Page;
use crate::word_list::WordList;

/// Maximum number of pieces before a code: a house, a street, a district and a town.
const PIECES_MAX: usize = 4;
const WORDS_MAX: usize = 4;
const PIECE_BYTES_MAX: usize = 40;

/// Small words inside a name.
static LINKS: WordList = WordList::new("am an by de der di in na of op the van y");

/// Houses with a name: the text before it does not belong to the address.
static HOUSES: WordList =
    WordList::new("barn bungalow cottage cottages farm farmhouse hall house lodge villa");

/// Senses of words that open no place.
const OTHERS: Sense = Sense(
    Sense::STOP.0
        | Sense::LABEL.0
        | Sense::TITLE.0
        | Sense::KIN.0
        | Sense::ROLE.0
        | Sense::MONTH.0
        | Sense::GIVEN.0,
);

/// The address whose postal code this is, or begins here.
pub(crate) fn anchored(page: &Page<'_>, code: Range<usize>) -> Option<Line> {
    let is_digits = page.byte(code.start).is_ascii_digit();
    let before = page.slice(code.start.saturating_sub(2)..code.start);
    match code.len() {
        2..=4 if !is_digits && before.ends_with(b" ") => by_british_code(page, code.start),
        3..=6 if is_digits && before == b", " => by_town_behind(page, code.start),
        _ => None,
    }
}

/// Returns the address that ends with this British postal code (`Blaen-y-cwm, Llanwddyn, SY10 0XX`): its letters and
/// digits rarely mean anything else.
fn by_british_code(page: &Page<'_>, code: usize) -> Option<Line> {
    let end = postal_code_end(page, code)?;
    // "B12 5MG" is a dose: no code ends in these letters.
    let last = page.slice(end - 2..end);
    let is_dose = last.iter().any(|byte| b"CIKMOV".contains(byte));
    if is_dose || end - code < 6 {
        return None;
    }
    let mut start = code;
    for _ in 0..PIECES_MAX {
        let Some(piece) = piece_before(page, start) else {
            break;
        };
        start = piece.start;
        if piece.is_last {
            break;
        }
    }
    (start < code).then_some(Line {
        span: start..end,
        score: 0.7,
    })
}

/// Returns the address of a name with its number before a postal code and a town (`Oberdorf 14, 9650 Nesslau`).
fn by_town_behind(page: &Page<'_>, code: usize) -> Option<Line> {
    let town = code_before_town(page, code)?;
    token_at(page, town).filter(|token| {
        token.is_capital && !token.is_shouted && token.sense == Sense::NONE && token.span.len() > 2
    })?;
    let piece = piece_before(page, code)?;
    let text = page.slice(piece.start..code - 2);
    let number = text.rsplit(|&byte| byte == b' ').next()?;
    let digits = number
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let is_house = (1..=3).contains(&digits) && number.len() <= digits + 1;
    let is_named = text[0].is_ascii_uppercase() && text.len() > number.len() + 3;
    (is_house && is_named).then_some(Line {
        span: piece.start..town_after(page, town)?,
        score: 0.7,
    })
}

/// Words with capitals before a sign.
struct Piece {
    start: usize,
    /// Whether the text before the piece cannot belong to the address.
    is_last: bool,
}

/// The words with capitals that end before a place, over a comma or a space.
fn piece_before(page: &Page<'_>, at: usize) -> Option<Piece> {
    let end = match page.slice(at.saturating_sub(2)..at) {
        b", " => at - 2,
        [_, b' '] => at - 1,
        _ => return None,
    };
    let floor = end.saturating_sub(PIECE_BYTES_MAX);
    let (mut start, mut word_end) = (end, end);
    let (mut is_last, mut numbers) = (false, 0);
    for _ in 0..WORDS_MAX {
        let before = page.slice(floor..word_end);
        let length = before
            .iter()
            .rev()
            .take_while(|byte| {
                !matches!(byte, b' ' | b',' | b'\n' | b'(' | b'"' | b':' | b';' | b'.')
            })
            .count();
        let word = &before[before.len() - length..];
        let at = word_end - length;
        let Some(&first) = word.first() else {
            break;
        };
        let is_small = LINKS.has(word);
        let is_link = is_small && first.is_ascii_lowercase();
        let is_name = first.is_ascii_uppercase() || first >= 0x80 || first.is_ascii_digit();
        let is_other = token_at(page, at).is_some_and(|token| token.sense.has(OTHERS));
        let is_the = word == b"The";
        if !(is_name || is_link) || is_other && !is_small {
            is_last = true;
            break;
        }
        if !is_link {
            start = at;
        }
        numbers += usize::from(first.is_ascii_digit());
        is_last |= is_the || numbers > 0 || HOUSES.has(word);
        if page.byte_before(at) != b' ' || is_the {
            is_last |= page.byte_before(at) != b',';
            break;
        }
        word_end = at - 1;
        if matches!(page.byte_before(at - 1), b',' | b'.' | b':' | b';') {
            is_last |= page.byte_before(at - 1) != b',';
            break;
        }
    }
    if page.slice(start.saturating_sub(5)..start) == b", by " {
        start -= 3;
    }
    // "KMC 551 882" is another number.
    let is_whole = page.text.is_char_boundary(start) && numbers <= 1;
    (start < end && is_whole).then_some(Piece { start, is_last })
}
