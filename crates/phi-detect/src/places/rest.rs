//! Parts that belong to an address by their position alone: districts, towns and counties behind a street, with a
//! postal code before or behind them (`, Mt Albert, Auckland 1025`, `, 2032 HA Haarlem`, `\n93290 Tremblay`, `, Dist.
//! Raipur 493661`).

use super::clause::described;
use super::codes::{closes, code_before_town, code_behind, ends_in_code, tied_code};
use super::tail::postal_code_end;
use super::token::{Token, last_length, skip, token_at};
use crate::lexicon::Sense;
use crate::page::Page;
use crate::word_list::WordList;

/// A district, a town, a county and a region are the most that follow each other.
const PIECES_MAX: usize = 4;
/// Maximum number of words of a place's name.
const NAME_WORDS_MAX: usize = 4;

/// Senses of words that open something else.
const OTHERS: Sense = Sense(
    Sense::STOP.0
        | Sense::LABEL.0
        | Sense::TITLE.0
        | Sense::MONTH.0
        | Sense::ROLE.0
        | Sense::KIN.0
        | Sense::UNIT.0,
);

/// Small words inside the name of a place.
static LINKS: WordList = WordList::new(
    "am an bei da das de del der di do dos du en im la le les nad of op sous sur under upon",
);

/// Abbreviations before the name of a place.
static SHORT: WordList = WordList::new(
    "cd co col dist distt dt edo fracc ft mt mun po prov ps pto st sta sto taluk teh tk vill",
);

/// Words between a place and the name of a landmark near it.
static LOCATORS: WordList = WordList::new("behind beside by near nr opp opposite");

/// Parts of a town that have a number or a letter.
static PARTS: WordList = WordList::new(
    "blk ext extension house phase purok road section sector site stage street ward zone",
);

/// Returns the end of the pieces that follow an address.
pub(crate) fn pieces(page: &Page<'_>, from: usize) -> Option<usize> {
    let mut end = code_in_parts(page, from)
        .or_else(|| name_in_parts(page, from))
        .unwrap_or(from);
    for _ in 0..PIECES_MAX {
        let next = piece_after(page, end).filter(|_| !ends_in_code(page, end));
        let Some(next) = next else {
            break;
        };
        end = next;
    }
    (end > from).then_some(end)
}

/// Returns the end of the next piece behind a comma or a line break. On a separate line it must have its postal code.
fn piece_after(page: &Page<'_>, end: usize) -> Option<usize> {
    let at = skip(page.bytes(), end, b" ,\n");
    let gap = page.slice(end..at);
    let is_comma = gap == b", " || gap == b",\n";
    if !is_comma && gap != b"\n" {
        return None;
    }
    if let Some(code) = code_before_town(page, at) {
        return town_after(page, code);
    }
    if is_comma && let Some(end) = part(page, at).or_else(|| described(page, at)) {
        return Some(end);
    }
    let piece = named(page, at)?;
    let ends = closes(page, piece.end) || is_in_sentence(page, at, piece.end);
    (piece.has_code || is_comma && piece.is_safe && ends).then_some(piece.end)
}

/// Returns the end of a part of a town (`Section F`, `Zone 12`, `Road 7`).
fn part(page: &Page<'_>, at: usize) -> Option<usize> {
    let word = token_at(page, at)?;
    let end = word.span.end;
    let is_part = word.sense.has(Sense::UNIT) || PARTS.has(page.slice(word.span));
    if !is_part || page.byte(end) != b' ' {
        return None;
    }
    let number = token_at(page, end + 1)?;
    let is_number =
        number.span.len() <= 4 && (number.has_digit || number.span.len() == 1 && number.is_shouted);
    (is_number && closes(page, number.span.end)).then_some(number.span.end)
}

/// A place by its name.
struct Named {
    end: usize,
    has_code: bool,
    /// Whether it is very unlikely to be a person.
    is_safe: bool,
}

/// Returns the place with a name that starts here (`Auckland 1025`, `Dist. Raipur`, `Nagpur-440022`, `Imperatriz -
/// MA`, `near Water Tank`).
fn named(page: &Page<'_>, start: usize) -> Option<Named> {
    let mut at = after_locator(page, start)?;
    let mut words = 0;
    let mut is_safe = true;
    let piece = |end: usize, has_code: bool, is_safe: bool| {
        Some(Named {
            end,
            has_code,
            is_safe,
        })
    };
    for _ in 0..NAME_WORDS_MAX + 2 {
        let token = token_at(page, at)?;
        let text = page.slice(token.span.clone());
        if let Some(end) = tied_code(page, &token) {
            return piece(end, true, is_safe);
        }
        let is_short = page.byte(token.span.end) == b'.' && SHORT.has(text);
        let is_link = words > 0 && LINKS.has(text) && !token.is_capital;
        if !is_link {
            is_safe &= is_place_word(page, &token) || is_short;
            words += 1;
        }
        let is_name = token.is_capital && !token.has_digit && text.len() > 1;
        if !(is_name || is_link) || words > NAME_WORDS_MAX {
            return None;
        }
        let end = token.span.end + usize::from(is_short);
        if let Some(end) = code_behind(page, end) {
            return piece(end, true, is_safe);
        }
        let goes_on = page.byte(end) == b' '
            && !is_region_sign(page, end)
            && !is_in_sentence(page, start, end);
        if !goes_on && !is_link {
            return piece(with_region(page, end), false, is_safe);
        }
        at = end + 1;
    }
    None
}

/// Returns the start of the name behind a word for a location (", near Water Tank", ", opp. the Town Hall").
fn after_locator(page: &Page<'_>, start: usize) -> Option<usize> {
    let word = token_at(page, start)?.span;
    if !LOCATORS.has(page.slice(word.clone())) {
        return Some(start);
    }
    let end = word.end + usize::from(page.byte(word.end) == b'.');
    let article = if page.slice(end..end + 5) == b" the " {
        4
    } else {
        0
    };
    (page.byte(end) == b' ').then_some(end + 1 + article)
}

/// Whether a word may name a place and is not a given name, label or abbreviation.
fn is_place_word(page: &Page<'_>, token: &Token) -> bool {
    let is_plain = !token.is_shouted || token.span.len() > 5;
    let is_saint = SHORT.has(page.slice(token.span.clone()));
    is_saint || is_plain && !token.sense.has(Sense(OTHERS.0 | Sense::GIVEN.0))
}

/// Whether the sign of a region follows (` - MA`, ` PA`, ` (SA)`).
fn is_region_sign(page: &Page<'_>, end: usize) -> bool {
    with_region(page, end) > end
}

/// Returns the end of the region behind a town.
fn with_region(page: &Page<'_>, end: usize) -> usize {
    const LETTERS_MAX: usize = 12;
    let rest = page.slice(end..page.text.len().min(end + LETTERS_MAX + 4));
    let letters = |from: usize| {
        let rest = rest.get(from..).unwrap_or_default();
        rest.iter()
            .take_while(|byte| byte.is_ascii_alphabetic() || **byte >= 0x80)
            .count()
    };
    if rest.starts_with(b" (") {
        let length = letters(2);
        let is_closed = rest.get(2 + length) == Some(&b')');
        let is_name = rest.get(2).is_some_and(u8::is_ascii_uppercase);
        return if is_closed && is_name {
            end + length + 3
        } else {
            end
        };
    }
    let sign = if rest.starts_with(b" - ") { 3 } else { 1 };
    let is_code = rest.starts_with(b" ")
        && letters(sign) == 2
        && rest[sign..sign + 2].iter().all(u8::is_ascii_uppercase)
        && closes(page, end + sign + 2);
    if is_code { end + sign + 2 } else { end }
}

/// Whether an unknown capitalised word precedes a lower-case stop word ("Thornaby where she", "Boca Sur and").
fn is_in_sentence(page: &Page<'_>, start: usize, end: usize) -> bool {
    let is_small = page.byte(end) == b' '
        && page.byte(end + 1).is_ascii_lowercase()
        && page.word_at(end + 1).is_some_and(|(sense, word)| {
            sense.has(Sense::STOP) && !LINKS.has(page.slice(end + 1..word))
        });
    let is_unknown = token_at(page, start)
        .is_some_and(|token| token.sense == Sense::NONE && token.span.len() > 3);
    is_small && is_unknown
}

/// Returns the end of the town that follows its postal code.
pub(super) fn town_after(page: &Page<'_>, start: usize) -> Option<usize> {
    let mut at = start;
    let mut end = None;
    for _ in 0..NAME_WORDS_MAX {
        let Some(token) = token_at(page, at) else {
            break;
        };
        let text = page.slice(token.span.clone());
        let is_link = end.is_some() && !token.is_capital && LINKS.has(text);
        let is_other = token.has_digit
            || token.sense.has(OTHERS) && !is_link
            || page.byte(token.span.end) == b':';
        if is_other || !(token.is_capital || is_link) {
            break;
        }
        if token.is_capital {
            end = Some(token.span.end);
        }
        if page.byte(token.span.end) != b' ' {
            break;
        }
        at = token.span.end + 1;
    }
    end.map(|end| with_region(page, end))
}

/// Returns the end of a postal code of which only the first part was found (`NG34| 7RT`, `1017| GM Amsterdam`, `962|
/// 31 Jokkmokk`), or of its town (`84014 Nocera| Inferiore`).
fn code_in_parts(page: &Page<'_>, end: usize) -> Option<usize> {
    let before = page.slice(end.saturating_sub(8)..end);
    let length = last_length(before);
    let mut start = end - length;
    // "3701 KD| Zeist", "983 21| Malmberget".
    let second = before[..before.len() - length].strip_suffix(b" ");
    let first = second.map_or(0, |first| {
        let digits = first.iter().rev().take_while(|byte| byte.is_ascii_digit());
        digits.count()
    });
    if length == 2 && (3..=4).contains(&first) {
        start -= first + 1;
    }
    if length < 2 || !page.slice(start..end).iter().any(u8::is_ascii_digit) {
        return None;
    }
    postal_code_end(page, start).or_else(|| {
        let follows_comma =
            page.slice(start.saturating_sub(2)..start) == b", " || page.byte_before(start) == b'\n';
        let town = code_before_town(page, start)
            .filter(|&town| town > end && (town > end + 1 || length == 5 || follows_comma))?;
        town_after(page, town)
    })
}

/// Returns the end of a place name of which a part was found (`Goa| 403508`, `Co.| Longford`, `Port| of Spain`).
fn name_in_parts(page: &Page<'_>, end: usize) -> Option<usize> {
    let dot = usize::from(page.byte_before(end) == b'.');
    let (sense, start) = page.word_before(end - dot)?;
    let word = page.slice(start..end - dot);
    let is_capital = page.byte(start).is_ascii_uppercase() || page.byte(start) >= 0x80;
    if !is_capital || sense.has(Sense::STREET | Sense::ROAD | Sense::UNIT | Sense::DIRECTION) {
        return None;
    }
    if dot == 0
        && let Some(end) = code_behind(page, end)
    {
        return Some(end);
    }
    let at = end + usize::from(dot == 0 && page.byte(end) == b'.') + 1;
    let is_short = SHORT.has(word) && page.byte(at - 1) == b' ';
    let next = token_at(page, at).filter(|_| is_short)?;
    (next.is_capital && !next.has_digit && is_place_word(page, &next)).then_some(next.span.end)
}
