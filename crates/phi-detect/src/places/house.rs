//! Parts of an address that belong to its house: the name, number or flat before the street, and a second number
//! behind it.

use super::codes::closes;
use super::token::{last_length, skip, token_at};
use crate::context::claim_before;
use crate::labels::Meaning;
use crate::lexicon::Sense;
use crate::page::Page;
use crate::word_list::WordList;

/// Maximum number of words of a house's name.
const NAME_WORDS_MAX: usize = 4;

/// Returns the start of the name or number of a house before its street (`The Oast, Selling Road`, `36, Bode Thomas
/// Street`, `3F2, 18 Marchmont Crescent`, `No. 9 Ikot Road`).
pub(super) fn before(page: &Page<'_>, street: usize) -> usize {
    let start = with_house(page, street);
    let start = numbered(page, start).unwrap_or(start);
    let start = named(page, start).unwrap_or(start);
    let start = unit(page, start).unwrap_or(start);
    care_of(page, start).unwrap_or(start)
}

/// Returns the start of a room or flat before the name or number of its house (`Room 406, `, `Flat 2, `, `Unit 1907 -
/// `).
fn unit(page: &Page<'_>, start: usize) -> Option<usize> {
    let before = page.slice(start.saturating_sub(3)..start);
    let gap = [b", ".as_slice(), b" - "]
        .into_iter()
        .find(|gap| before.ends_with(gap))?;
    let end = start - gap.len();
    let length = last_length(page.slice(end.saturating_sub(6)..end));
    let number = end - length;
    let is_number =
        (1..=5).contains(&length) && page.slice(number..end).iter().any(u8::is_ascii_digit);
    let (sense, word) = page.word_before(number.checked_sub(1)?)?;
    let is_unit = sense.has(Sense::UNIT) && page.byte(word).is_ascii_uppercase();
    (is_number && is_unit && page.byte(number - 1) == b' ' && opens(page, word)).then_some(word)
}

/// Returns the start of the recipient of the post (`c/o St Vincent shelter, `).
fn care_of(page: &Page<'_>, start: usize) -> Option<usize> {
    const REACH_BYTES: usize = 44;
    const SIGNS: &[&[u8]] = &[b"c/o ", b"C/o ", b"C/O "];
    let before = page
        .slice(start.saturating_sub(REACH_BYTES)..start)
        .strip_suffix(b", ")?;
    let at = SIGNS
        .iter()
        .filter_map(|sign| memchr::memmem::rfind(before, sign))
        .max()?;
    let is_one_piece = !before[at..]
        .iter()
        .any(|byte| matches!(byte, b',' | b';' | b':' | b'\n' | b'"'));
    let sign = start - 2 - (before.len() - at);
    (is_one_piece && opens(page, sign)).then_some(sign)
}

/// Returns the start of a number before the street (`No. 9`, `Plot 9`, `36, `, `3F2, `).
fn numbered(page: &Page<'_>, start: usize) -> Option<usize> {
    const SIGNS: &[&[u8]] = &[b"No. ", b"No ", b"no. ", b"Nr. ", b"RMB ", b"RSD ", b"Blk "];
    if page.byte(start).is_ascii_digit() {
        let before = page.slice(start.saturating_sub(4)..start);
        let sign = SIGNS.iter().find(|sign| before.ends_with(sign));
        if let Some(sign) = sign.filter(|sign| opens(page, start - sign.len())) {
            return Some(start - sign.len());
        }
    }
    let end = start
        .checked_sub(2)
        .filter(|&end| page.slice(end..start) == b", ")?;
    let text = page.slice(end.saturating_sub(6)..end);
    let length = text
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'/')
        .count();
    let token = &text[text.len() - length..];
    let digits = token.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_house = digits == length && length <= 3 && page.byte(start).is_ascii_uppercase();
    // "3F2", "0/2": floor and door in Scotland.
    let is_flat = matches!(token, [a, b'F' | b'/', b] if a.is_ascii_digit() && b.is_ascii_digit())
        && page.byte(start).is_ascii_digit();
    // "BRO 551 882, Tan-y-Graig": the last group of a number.
    let start = end - length;
    let is_group = page.byte_before(start.saturating_sub(1)).is_ascii_digit();
    ((is_house || is_flat) && opens(page, start) && !is_group).then_some(start)
}

/// Whether nothing is tied to what starts here.
fn opens(page: &Page<'_>, start: usize) -> bool {
    matches!(page.byte_before(start), 0 | b' ' | b'\n' | b'(' | b'"')
}

/// Returns the start of the name of a house, with the pieces between it and the street or town, if there is evidence
/// that an address begins there (`The Oast, `, `Chy an Mor, `, `The Old Dairy, Llanon, `).
fn named(page: &Page<'_>, start: usize) -> Option<usize> {
    const PIECES_MAX: usize = 3;
    let mut found = None;
    let mut at = start;
    for _ in 0..PIECES_MAX {
        let Some(piece) = piece_before(page, at) else {
            break;
        };
        if is_house(page, &piece, at) {
            found = Some(piece.name);
        }
        if piece.is_led {
            break;
        }
        at = piece.name;
    }
    found
}

/// A name between two signs, or between words that lead to a place and a sign.
struct Piece {
    name: usize,
    is_led: bool,
}

/// The name before a comma.
fn piece_before(page: &Page<'_>, start: usize) -> Option<Piece> {
    const REACH_BYTES: usize = 32;
    const LEADS: &[&[u8]] = &[b" at ", b"lives in ", b"moved to ", b"now ", b"Lives "];
    let end = start
        .checked_sub(2)
        .filter(|&end| page.slice(end..start) == b", ")?;
    let before = page.slice(end.saturating_sub(REACH_BYTES)..end);
    // The name reaches back to a sign, or to a word that leads to a place.
    let sign = before
        .iter()
        .rposition(|byte| matches!(byte, b',' | b'.' | b':' | b'\n' | b'(' | b';'))
        .map_or(0, |at| at + 1);
    let piece = &before[sign..];
    let lead = LEADS
        .iter()
        .filter_map(|lead| memchr::memmem::rfind(piece, lead).map(|at| at + lead.len()))
        .max();
    let name = skip(page.bytes(), end - piece.len() + lead.unwrap_or(0), b" \n");
    let text = page.slice(name..end);
    let mut words = text.split(|&byte| byte == b' ');
    let is_capital = |word: &[u8]| {
        word.first()
            .is_some_and(|&byte| byte.is_ascii_uppercase() || byte >= 0x80)
    };
    let opens = words
        .clone()
        .next()
        .is_some_and(|word| is_capital(word) && word.len() > 1 || word == b"by");
    let is_name = opens
        && text.len() > 3
        && words.clone().count() <= NAME_WORDS_MAX
        && words.all(|word| is_capital(word) || word.len() <= 3 && word.is_ascii());
    // What is longer than the reach may begin in the middle of a letter.
    let is_whole = page.text.is_char_boundary(name);
    (is_name && is_whole).then_some(Piece {
        name,
        is_led: lead.is_some(),
    })
}

/// Whether an address begins with this name: "The …", or words say so.
fn is_house(page: &Page<'_>, piece: &Piece, next: usize) -> bool {
    static FIRMS: WordList = WordList::new(
        "centre center church clinic hospital hotel inn pharmacy practice school surgery",
    );
    let text = page.slice(piece.name..next - 2);
    let is_firm = text
        .rsplit(|&byte| byte == b' ')
        .next()
        .is_some_and(|last| FIRMS.has(last));
    let is_the = text.starts_with(b"The ") && text.len() > 6 && !is_firm;
    // "at Roe & Sons, 12 Elm Street" is a firm: a house with a name has no number.
    let has_number = page.byte(next).is_ascii_digit();
    let is_called = || {
        piece.is_led && !has_number
            || claim_before(page, piece.name, |meaning| {
                matches!(meaning, Meaning::Address | Meaning::Dwelling)
            })
            .is_some_and(|claim| claim.is_firm())
    };
    let is_person = || {
        token_at(page, piece.name).is_none_or(|token| {
            token
                .sense
                .has(Sense(Sense::GIVEN.0 | Sense::TITLE.0 | Sense::LABEL.0))
        })
    };
    is_the || !is_person() && is_called()
}

/// Returns the start of an address with a house that has a name instead of a number (`Rose Cottage, Church Lane`).
fn with_house(page: &Page<'_>, start: usize) -> usize {
    static HOUSES: WordList = WordList::new(
        "cottage house lodge farm barn farmhouse villa cottages flats flat hall manse grange \
         rectory vicarage bungalow court hostel mansions shelter tower towers",
    );
    let end = start.saturating_sub(2);
    let Some(last) = page
        .word_start_before(end)
        .filter(|_| page.slice(end..start) == b", ")
    else {
        return start;
    };
    if !HOUSES.has(page.slice(last..end)) || !page.byte(last).is_ascii_uppercase() {
        return start;
    }
    let mut house = start;
    let mut at = last;
    for _ in 0..3 {
        let before = at.checked_sub(1).filter(|&space| page.byte(space) == b' ');
        let Some((_, word)) = before.and_then(|space| page.word_before(space)) else {
            break;
        };
        if !page.byte(word).is_ascii_uppercase() {
            break;
        }
        (house, at) = (word, word);
    }
    house
}

/// Returns the end of a second, possibly right house number (`Strandvejen 9| or 11`).
pub(super) fn second(page: &Page<'_>, end: usize) -> Option<usize> {
    const OR: &[u8] = b" or ";
    let digits = last_length(page.slice(end.saturating_sub(4)..end));
    let is_house = (1..=3).contains(&digits) && page.byte_before(end - digits) == b' ';
    let next = token_at(page, end + OR.len()).filter(|_| page.slice(end..end + OR.len()) == OR)?;
    let is_number =
        next.span.len() <= 3 && page.slice(next.span.clone()).iter().all(u8::is_ascii_digit);
    (is_house && is_number && closes(page, next.span.end)).then_some(next.span.end)
}
