//! Addresses that only the words before them show: the text behind "Address:" or "lives at", piece by piece, up to
//! the end of its line or clause (`Mz. K Lt. 12, AA.HH. Los Olivos, Comas`, `House 7, behind the cold store,
//! Kumasi`).

use std::ops::Range;

use super::Line;
use super::codes::ends_in_code;
use super::token::{Token, token_at};
use crate::labels::Meaning;
use crate::lexicon::Sense;
use crate::page::Page;
use crate::word_list::WordList;

/// Maximum number of pieces of an address.
const PIECES_MAX: usize = 8;
/// Maximum number of words of a piece.
const WORDS_MAX: usize = 9;

/// Words that open a piece in lower case: locations, and things at a location.
static OPENINGS: WordList = WordList::new(
    "above achter altura antes ao atras behind beside by cerca derriere detras dietro en entre \
     esq esquina face frente gegenuber hinter junto naast near neben next nr off opp opposite \
     pres tegenover via ap app appt apto bairro baixos barrio bat batiment bd bloc boite bus camp \
     carrefour casa civico colonia concession depto dpto edif edificio esc escalera house \
     immeuble int interior kamer lote parroquia piso porton portal pta puerta quartier residence \
     sala scala stand ward",
);

/// Abbreviations in an address, whose dot does not end a sentence.
static SHORT: WordList = WordList::new(
    "ap app apt apto av avda bat bd bldg blk brgy bv bvd ch co col cra ctra d dist distt dpto dr \
     e edif esc esq est ext fracc h hh hno hs int jl jln jr km lt mt mz n no nr o opp p pol priv \
     prov ps pta rd res rm s sr st sta ste sto str taluk teh tel tk ul urb vill w whg",
);

/// Small words inside a name.
static LINKS: WordList = WordList::new(
    "a al am an and ao bei bis da das de dei del della der des di do dos du e el en esq im in la \
     las le les los na nad of op sous sur the ter un und upon van w x y z",
);

/// Senses of words that open no place.
const PERSONS: Sense =
    Sense(Sense::TITLE.0 | Sense::KIN.0 | Sense::MONTH.0 | Sense::ROLE.0 | Sense::GIVEN.0);

/// Returns the address that starts here, behind a label or words that say that a person lives there.
pub(crate) fn clause(page: &Page<'_>, start: usize) -> Option<Line> {
    let start = start + usize::from(is_opened(page, start));
    if page.byte_before(start).is_ascii_alphanumeric() {
        return None;
    }
    let mut end = start;
    let mut at = start;
    let mut proofs = 0;
    for index in 0..PIECES_MAX {
        let Some(piece) = piece(page, at, index == 0) else {
            break;
        };
        end = piece.end;
        proofs += usize::from(piece.is_proof);
        if ends_in_code(page, end)
            || !piece.goes_on
            || page.byte(end) != b','
            || page.byte(end + 1) != b' '
        {
            break;
        }
        at = end + 2;
    }
    let is_several = page.slice(start..end).contains(&b',');
    (proofs > 0 && is_several).then_some(Line {
        span: start..end,
        score: 0.75,
    })
}

/// Whether a sign opens the whole address, and not just a name in it (`(12 Oak St, Leeds)`, `'12 Oak St, Leeds'`).
fn is_opened(page: &Page<'_>, start: usize) -> bool {
    let close = match page.byte(start) {
        b'(' => b')',
        quote @ (b'"' | b'\'') => quote,
        _ => return false,
    };
    let rest = page.slice(start + 1..page.text.len().min(start + 48));
    memchr::memchr2(close, b',', rest).is_some_and(|at| rest[at] == b',')
}

/// Returns the end of a piece in lower case behind an address (", behind the cold store", ", casa azul ao lado da
/// escola").
pub(super) fn described(page: &Page<'_>, at: usize) -> Option<usize> {
    let token = token_at(page, at)?;
    let opens = !token.is_capital && OPENINGS.has(page.slice(token.span));
    let piece = piece(page, at, false).filter(|piece| opens && piece.goes_on)?;
    Some(piece.end)
}

/// Text between two commas.
struct Piece {
    end: usize,
    /// Whether it says that this is an address: a number, a street, a word for a place.
    is_proof: bool,
    /// Whether it ends at a sign rather than inside a sentence.
    goes_on: bool,
}

fn piece(page: &Page<'_>, start: usize, is_first: bool) -> Option<Piece> {
    let first = word(page, start)?;
    let text = page.slice(first.span.clone());
    // "2e etage", "3rd floor".
    let is_ordinal =
        text[0].is_ascii_digit() && text.len() <= 4 && text.iter().any(u8::is_ascii_lowercase);
    let is_opening = OPENINGS.has(text) || is_ordinal;
    let is_person = first.sense.has(PERSONS);
    let is_other = is_person || first.sense.has(Sense::STOP) || is_label(page, start);
    let is_the = is_first && text == b"The";
    let is_number = first.has_digit && !text[0].is_ascii_lowercase();
    let opens = is_number || is_opening || first.is_capital && (is_the || !is_other);
    if !opens || is_measure(page, &first) {
        return None;
    }
    let mut end = first.span.end;
    let mut is_proof = is_opening && !is_first || is_street(page, &first);
    let mut at = start;
    let mut next = Some(first);
    for _ in 0..WORDS_MAX {
        let Some(token) = next else {
            break;
        };
        let text = page.slice(token.span.clone());
        let is_small = !token.is_capital && !token.has_digit;
        let is_named = !is_small || OPENINGS.has(text) || is_street(page, &token);
        if is_small && !is_named && !is_opening && !LINKS.has(text)
            || at > start && is_label(page, at)
        {
            return (end > at.saturating_sub(2) || !is_opening).then_some(Piece {
                end,
                is_proof,
                goes_on: false,
            });
        }
        let is_plain = is_small && !token.sense.has(Sense::ROAD);
        is_proof |= is_named && at > start && !is_plain && is_street(page, &token);
        if is_named || is_opening {
            end = token.span.end;
        }
        let is_letter = text.len() == 1 && page.byte(token.span.end) == b'/';
        let dot = usize::from(
            is_letter || page.byte(token.span.end) == b'.' && is_short(page, &token.span),
        );
        if page.byte(token.span.end + dot) != b' ' || page.byte(token.span.end + dot + 1) == b' ' {
            let is_inside = end == token.span.end && page.byte(end + dot) == b',';
            end += if is_inside { dot } else { 0 };
            return Some(Piece {
                end,
                is_proof,
                goes_on: closes(page, end),
            });
        }
        at = token.span.end + dot + 1;
        next = word(page, at);
    }
    None
}

/// A word of an address with the signs tied to it: `#08-955`, `7/412-B`, `s/n`, `AA.HH`, `J&K`.
fn word(page: &Page<'_>, at: usize) -> Option<Token> {
    let sign = usize::from(matches!(page.byte(at), b'#' | b'"' | b'('));
    let mut token = token_at(page, at + sign)?;
    while matches!(page.byte(token.span.end), b'/' | b'&' | b'.')
        && let Some(next) = token_at(page, token.span.end + 1)
    {
        token.span.end = next.span.end;
        token.has_digit |= next.has_digit;
    }
    let close = usize::from(sign == 1 && matches!(page.byte(token.span.end), b'"' | b')'));
    token.span = at..token.span.end + close;
    Some(token)
}

/// Whether a label of something else starts here, with its value.
fn is_label(page: &Page<'_>, at: usize) -> bool {
    let label = page
        .labels
        .binary_search_by_key(&at, |label| label.start as usize);
    label.is_ok_and(|index| {
        let end = page.labels[index].end as usize;
        let rest = page.slice(end..page.text.len().min(end + 4));
        let has_value = rest
            .iter()
            .any(|byte| byte.is_ascii_digit() || *byte == b':');
        has_value
            && matches!(
                page.labels[index].meaning,
                Meaning::Phone
                    | Meaning::PhoneMaybe
                    | Meaning::Email
                    | Meaning::Dob
                    | Meaning::Born
                    | Meaning::Mrn
                    | Meaning::Ssn
                    | Meaning::Name
                    | Meaning::OtherId(_)
            )
    })
}

/// Whether a number counts or is something else ("67 yo", "3 children", "2019", "555-0142").
fn is_measure(page: &Page<'_>, first: &Token) -> bool {
    let text = page.slice(first.span.clone());
    let digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
    let next = page.byte(first.span.end + 1);
    let is_road = || {
        let next = token_at(page, first.span.end + 1);
        next.is_some_and(|next| is_street(page, &next) || SHORT.has(page.slice(next.span)))
    };
    let counts = page.byte(first.span.end) == b' '
        && next.is_ascii_lowercase()
        && text.iter().all(u8::is_ascii_digit)
        && !is_road();
    let is_date = text.iter().filter(|&&byte| byte == b'/').count() == 2;
    first.has_digit && (digits > 6 || is_date || counts)
}

fn is_street(page: &Page<'_>, token: &Token) -> bool {
    token.has_digit
        || token.sense.has(Sense::STREET | Sense::ROAD | Sense::UNIT)
        || super::has_street_ending(page, token)
}

fn is_short(page: &Page<'_>, word: &Range<usize>) -> bool {
    let text = page.slice(word.clone());
    let last = text.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    SHORT.has(last)
        || page.byte(word.end + 1) == b' '
            && page.byte(word.end + 2).is_ascii_digit()
            && last.len() <= 5
}

fn closes(page: &Page<'_>, end: usize) -> bool {
    match page.byte(end) {
        0 | b'\n' | b',' | b';' | b')' | b'"' | b'|' => true,
        b'.' => !page.byte(end + 1).is_ascii_alphanumeric(),
        b' ' => matches!(page.byte(end + 1), b' ' | b'(' | b'/' | b'|' | b'-'),
        _ => false,
    }
}
