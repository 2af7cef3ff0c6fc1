//! Reads the parts of postal addresses: street lines, boxes, units, city, state and ZIP.
//!
//! Each part adds to a score; [`crate::rules`] adds what the words before say.

mod anchored;
mod clause;
mod codes;
mod complete;
mod continental;
mod country;
mod crossing;
mod house;
mod rest;
mod tail;
mod token;

pub(crate) use anchored::anchored;
pub(crate) use clause::clause;
pub(crate) use complete::{complete, corner};
pub(crate) use continental::continental;
pub(crate) use crossing::crossing;
pub(crate) use rest::pieces as rest_of;
pub(crate) use tail::{lone_unit, postal_code_end, region_before, tail};
pub(crate) use token::zip_end;

use std::ops::Range;

use crate::budget::Few;
use crate::context::claim_before;
use crate::labels::Meaning;
use crate::lexicon::Sense;
use crate::page::{Page, word_end};
use crate::word_list::WordList;
use token::{Token, is_one_of, next_token, number_after, skip, token_at, token_end, word};

/// A line that may be an address, with its score as one.
pub(crate) struct Line {
    pub(crate) span: Range<usize>,
    pub(crate) score: f32,
}

/// The most tokens between house number and street word.
const LINE_TOKENS: usize = 7;

/// Returns the street line that starts at this house number (`1428 Larchmont Avenue`, `12 N 5th St SW`, `13125
/// Highway 138`, `22 Holmevej 34`).
pub(crate) fn street_line(page: &Page<'_>, start: usize) -> Option<Line> {
    let house = start..token_end(page, start)?;
    if page.byte(house.end) != b' ' || !is_house_number(page.slice(house.clone())) {
        return None;
    }
    let unit = unit_before_slash(page, start);
    let is_tied = is_tied_before(page, start) && unit.is_none() && !is_called(page, start);
    if is_tied {
        return None;
    }
    let line = line_from_house(page, start, &house)?;
    // "3/18 Wattle Rd" is flat 3; without a clear street it may be a day and month.
    Some(match unit.filter(|_| line.score >= 0.85) {
        Some(unit) => Line {
            span: unit..line.span.end,
            ..line
        },
        None if unit.is_some() => return None,
        None => line,
    })
}

/// Returns the start of a flat's number before that of the house (`3/18 Wattle Rd`).
fn unit_before_slash(page: &Page<'_>, house: usize) -> Option<usize> {
    const DIGITS_MAX: usize = 3;
    let slash = house.checked_sub(1).filter(|&at| page.byte(at) == b'/')?;
    let before = page.slice(slash.saturating_sub(DIGITS_MAX + 1)..slash);
    let digits = before
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let start = slash - digits;
    let is_free = matches!(page.byte_before(start), 0 | b' ' | b'\n' | b'(' | b'"');
    ((1..=DIGITS_MAX).contains(&digits) && is_free).then_some(start)
}

fn line_from_house(page: &Page<'_>, start: usize, house: &Range<usize>) -> Option<Line> {
    let tokens = line_tokens(page, house.end);
    // Rows of numbers are common, and no road has a name without a letter.
    let is_number = |token: &Token| {
        page.slice(token.span.clone())
            .iter()
            .all(u8::is_ascii_digit)
    };
    if tokens.iter().all(is_number) {
        return None;
    }
    numbered_road(page, start, &tokens)
        .or_else(|| number_last(page, start, &tokens))
        .or_else(|| with_street_word(page, start, house, &tokens))
        .or_else(|| with_road_before(start, &tokens))
        .or_else(|| bare_line(start, &tokens))
}

/// Street words with almost no other meaning; the remaining ones need more evidence.
static CLEAR_STREETS: WordList = WordList::new(
    "street st avenue ave boulevard blvd road rd drive dr lane ln court ct circle cir terrace \
     parkway pkwy highway hwy place pl way trail trl plaza",
);

/// Returns a street line with a second number at its end, as the house number follows the street in some countries
/// (`22 Holmevej 34`).
fn number_last(page: &Page<'_>, start: usize, tokens: &[Token]) -> Option<Line> {
    let street = tokens
        .iter()
        .take(4)
        .position(|token| has_street_ending(page, token))?;
    let number = tokens.get(street + 1).filter(|token| token.has_digit)?;
    tokens[street].is_capital.then_some(Line {
        span: start..number.span.end,
        score: 0.85,
    })
}

/// Returns a street line that ends with its street word (`1428 Larchmont Avenue SW`).
fn with_street_word(
    page: &Page<'_>,
    start: usize,
    house: &Range<usize>,
    tokens: &[Token],
) -> Option<Line> {
    let last = last_street_word(page, tokens)?;
    let mut end = tokens[last].span.end;
    if let Some(next) = tokens.get(last + 1) {
        let is_direction =
            next.sense.has(Sense::DIRECTION) && (next.is_capital || next.span.len() > 2);
        let is_number_abroad = has_street_ending(page, &tokens[last]) && next.has_digit;
        if is_direction || is_number_abroad {
            end = next.span.end;
        }
    }
    let word = page.slice(tokens[last].span.clone());
    let is_clear = CLEAR_STREETS.has(word) || has_street_ending(page, &tokens[last]);
    let all_capital = tokens[..=last]
        .iter()
        .all(|token| token.is_capital || token.has_digit);
    let all_shouted = tokens[..=last]
        .iter()
        .all(|token| token.is_shouted || token.has_digit);
    // "2a Mill Yard, Whitby": with its letter a short number is a house's too.
    let is_lettered = page.byte(end) == b',' && page.byte_before(house.end).is_ascii_lowercase();
    let is_long_number = house.len() >= 3 || is_lettered;
    let score = match (is_clear, all_capital, all_shouted) {
        (true, true, false) => 0.85,
        (true, true, true) => 0.6,
        (true, false, _) => 0.3,
        (false, true, false) if is_long_number => 0.6,
        (false, true, _) => 0.35,
        (false, false, _) => 0.05,
    };
    Some(Line {
        span: start..end,
        score,
    })
}

/// Returns the index of the token that ends a street's name: the last street word, or the first that is a street by
/// its ending.
fn last_street_word(page: &Page<'_>, tokens: &[Token]) -> Option<usize> {
    let mut names = 0;
    let mut found: Option<usize> = None;
    for (index, token) in tokens.iter().enumerate() {
        if names > 0 && (token.sense.has(Sense::STREET) || has_street_ending(page, token)) {
            // "Park Street": the last street word counts; "St John Street" starts with one.
            found = Some(index);
            if CLEAR_STREETS.has(page.slice(token.span.clone())) {
                break;
            }
        } else if found.is_some() {
            break;
        }
        let is_number = page
            .slice(token.span.clone())
            .iter()
            .all(u8::is_ascii_digit);
        let is_letter = token.sense.has(Sense::DIRECTION) && token.span.len() <= 2;
        names += usize::from(!is_number && !is_letter);
    }
    found.or_else(|| {
        tokens
            .iter()
            .position(|token| has_street_ending(page, token))
    })
}

/// Returns a street line of a numbered road (`13125 Highway 138`, `2554 NE Loop 410`, `400 County Road 12`).
fn numbered_road(page: &Page<'_>, start: usize, tokens: &[Token]) -> Option<Line> {
    static ROADS: WordList =
        WordList::new("highway hwy route rte rt interstate cr fm loop road rd");
    let at = tokens.iter().take(3).position(|token| {
        let word = page.slice(token.span.clone());
        // "Cr" is creatinine.
        ROADS.has(word) && word != b"Cr"
    })?;
    // "BUN 12 Cr 0.9": a measurement, and other measurements before it.
    let is_measured = |token: &&Token| {
        page.byte(token.span.end) == b'.' && page.byte(token.span.end + 1).is_ascii_digit()
    };
    let number = tokens
        .get(at + 1)
        .filter(|token| token.has_digit && token.span.len() <= 5 && !is_measured(token))
        .filter(|_| !tokens[..at].iter().any(|token| token.has_digit))?;
    let is_plain_road = is_one_of(page.slice(tokens[at].span.clone()), &[b"road", b"rd"]);
    let is_county = at > 0
        && is_one_of(
            page.slice(tokens[at - 1].span.clone()),
            &[b"county", b"state", b"township", b"farm"],
        );
    (!is_plain_road || is_county).then_some(Line {
        span: start..number.span.end,
        score: 0.75,
    })
}

/// Returns a street line with the road word before the name (`87 Rue Joseph Vernet`, `14 Calle Mayor`).
fn with_road_before(start: usize, tokens: &[Token]) -> Option<Line> {
    let at = tokens
        .iter()
        .take(2)
        .position(|token| token.sense.has(Sense::ROAD))?;
    let rest = &tokens[at + 1..];
    let count = rest
        .iter()
        .take(5)
        .take_while(|token| token.is_capital || token.has_digit || token.sense.has(Sense::PARTICLE))
        .count();
    let last = rest.get(count.checked_sub(1)?)?;
    let is_capital = tokens[at].is_capital && rest[0].is_capital;
    Some(Line {
        span: start..last.span.end,
        score: if is_capital { 0.6 } else { 0.3 },
    })
}

/// Returns a number and a name (`2231 Broadway`), which are an address only with a label before or a ZIP after them.
fn bare_line(start: usize, tokens: &[Token]) -> Option<Line> {
    let count = tokens
        .iter()
        .take(5)
        .take_while(|token| {
            (token.is_capital || token.has_digit || token.sense == Sense::NONE)
                && !token.sense.has(Sense::UNIT)
        })
        .count();
    let last = tokens.get(count.checked_sub(1)?)?;
    let has_word = tokens[..count]
        .iter()
        .any(|token| !token.has_digit && token.span.len() > 2);
    has_word.then_some(Line {
        span: start..last.span.end,
        score: 0.0,
    })
}

/// Returns a street without a number, for words before that say that a person lives there (`Larchmont Avenue`).
pub(crate) fn named_street(page: &Page<'_>, start: usize) -> Option<Line> {
    let tokens = line_tokens(page, start);
    let last = tokens
        .iter()
        .take(4)
        .rposition(|token| token.sense.has(Sense::STREET) && token.is_capital && !token.has_digit);
    // The number is last in some countries ("Rua Diadema 1903").
    let last = last.or_else(|| tokens.iter().take(5).position(|token| token.has_digit))?;
    let all_capital = tokens[..last].iter().all(|token| {
        token.is_capital
            && !token.has_digit
            && (!token.sense.has(Sense::STOP) || token.sense.has(Sense::ROAD))
    });
    (last > 0 && all_capital).then(|| Line {
        span: tokens[0].span.start..tokens[last].span.end,
        score: 0.2,
    })
}

/// Returns the start of a street name after "on" or "at" that ends with this word ("on Birch Hollow Rd").
pub(crate) fn street_before(page: &Page<'_>, last: Range<usize>) -> Option<usize> {
    if !page.byte(last.start).is_ascii_uppercase() || !CLEAR_STREETS.has(page.slice(last.clone())) {
        return None;
    }
    let mut start = last.start;
    for names in 0..4 {
        let word_end = start
            .checked_sub(1)
            .filter(|&before| page.byte(before) == b' ')?;
        let (_, word) = page.word_before(word_end)?;
        if names > 0
            && is_one_of(
                page.slice(word..word_end),
                &[b"on", b"at", b"off", b"to", b"near"],
            )
        {
            return Some(start);
        }
        if !page.byte(word).is_ascii_uppercase() {
            return None;
        }
        start = word;
    }
    None
}

/// Street names in one word: `Amsinckstrasse`, `Holmevej`, `Kromwaterlaan`.
fn has_street_ending(page: &Page<'_>, token: &Token) -> bool {
    const ENDINGS: &[&[u8]] = &[
        b"strasse",
        b"straat",
        b"gasse",
        b"steenweg",
        b"weg",
        b"laan",
        b"vej",
        b"gade",
        b"gatan",
        b"gata",
        b"vagen",
        b"veien",
        b"katu",
        b"platz",
        b"allee",
        b"utca",
    ];
    let word = page.slice(token.span.clone());
    ENDINGS.iter().any(|ending| {
        word.len() >= ending.len() + 3
            && word[word.len() - ending.len()..].eq_ignore_ascii_case(ending)
    })
}

/// Returns the line of a box, a route or a military unit (`P.O. Box 175`, `RR 2 Box 14`, `PSC 5769, Box 3624`, `Unit
/// 100 Box 12`, `USS Example`).
pub(crate) fn box_line(page: &Page<'_>, start: usize) -> Option<Line> {
    let bytes = page.bytes();
    let first_end = word_end(bytes, start);
    let first = bytes[start..first_end].to_ascii_lowercase();
    let line = |start: usize, end: usize, score: f32| {
        Some(Line {
            span: start..end,
            score,
        })
    };
    match first.as_slice() {
        b"po" => {
            let next = skip(bytes, first_end, b" .");
            let is_box = word(bytes, next).eq_ignore_ascii_case(b"box");
            let end = number_after(page, word_end(bytes, next)).filter(|_| is_box)?;
            line(start, end, 0.85)
        }
        b"pob" | b"postbox" | b"postfach" | b"postbus" => {
            line(start, number_after(page, first_end)?, 0.7)
        }
        b"casella" | b"caixa" | b"private" => line(start, named_box(page, first_end)?, 0.7),
        // "P.O. Box": the pass sees "box" after two single letters.
        b"box" => line(
            post_office_before(bytes, start)?,
            number_after(page, first_end)?,
            0.85,
        ),
        b"general" => {
            let next = skip(bytes, first_end, b" ");
            let is_mail = word(bytes, next).eq_ignore_ascii_case(b"delivery");
            line(start, word_end(bytes, next), 0.1).filter(|_| is_mail)
        }
        b"rr" | b"rt" | b"route" | b"hc" | b"psc" | b"cmr" | b"unit" => {
            let next = skip(bytes, number_after(page, first_end)?, b" ,");
            let is_box = word(bytes, next).eq_ignore_ascii_case(b"box");
            let end = number_after(page, word_end(bytes, next)).filter(|_| is_box)?;
            line(start, end, 0.85)
        }
        _ => {
            // A ship, with its fleet post office on the next line.
            let name = next_token(page, first_end)?;
            let next = skip(bytes, name.span.end, b" ,\n");
            let is_fleet = word(bytes, next).eq_ignore_ascii_case(b"fpo");
            line(start, name.span.end, if is_fleet { 0.5 } else { 0.2 })
        }
    }
}

/// Returns the end of a named box, from the end of its first word on (`Casella postale 2214`, `Private Bag X14`,
/// `Private Mail Bag 14`).
fn named_box(page: &Page<'_>, first_end: usize) -> Option<usize> {
    static WORDS: WordList = WordList::new("postale postal bag mail");
    let mut end = first_end;
    while let Some(next) = token_at(page, end + 1)
        .filter(|next| page.byte(end) == b' ' && WORDS.has(page.slice(next.span.clone())))
    {
        end = next.span.end;
    }
    (end > first_end).then(|| number_after(page, end)).flatten()
}

/// Returns the start of "P.O. " or "P O " before "Box".
fn post_office_before(bytes: &[u8], box_start: usize) -> Option<usize> {
    let head = &bytes[box_start.saturating_sub(6)..box_start];
    [
        b"P.O. ".as_slice(),
        b"P. O. ",
        b"P O ",
        b"p.o. ",
        b"P.O.",
        b"p.o.",
    ]
    .iter()
    .find(|form| head.ends_with(form))
    .map(|form| box_start - form.len())
}
/// Digits and perhaps a letter; not a decimal, a dose or a range.
fn is_house_number(text: &[u8]) -> bool {
    if text.len() > 8 {
        return false;
    }
    let digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = text
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    // No house has the number 0.
    let is_nought = text.iter().all(|&byte| byte == b'0');
    (1..=6).contains(&digits)
        && !is_nought
        && letters <= 1
        && (text[0].is_ascii_digit() || letters == 1 && text[0].is_ascii_uppercase())
}

/// Whether a label or "lives at" right before says that an address follows.
fn is_called(page: &Page<'_>, start: usize) -> bool {
    let is_of_place = |meaning| matches!(meaning, Meaning::Address | Meaning::Dwelling);
    !page.byte_before(start).is_ascii_alphabetic()
        && claim_before(page, start, is_of_place).is_some_and(|claim| claim.is_firm())
}

fn is_tied_before(page: &Page<'_>, start: usize) -> bool {
    // "addr2 TEXT": the digit is the end of a word.
    if page.byte_before(start) == b'#' || page.byte_before(start).is_ascii_lowercase() {
        return true;
    }
    matches!(
        page.byte_before(start),
        b'/' | b'.' | b'-' | b':' | b'$' | b'_'
    ) && !page
        .byte_before(start.saturating_sub(1))
        .is_ascii_whitespace()
        && start > 1
        && !page.is_field_edge(start)
}

/// The tokens of a line from a place on, up to a sign that ends it.
fn line_tokens(page: &Page<'_>, from: usize) -> Few<Token> {
    let mut tokens = Few::with_capacity(LINE_TOKENS);
    let mut at = from;
    while tokens.len() < LINE_TOKENS {
        let Some(token) = next_token(page, at) else {
            break;
        };
        let is_written_as_name = token.is_capital && !token.is_shouted;
        if token.sense.has(Sense::NO_STREET) && !is_written_as_name {
            break;
        }
        at = token.span.end;
        let ends = matches!(
            page.byte(at),
            b',' | b'\n' | b';' | b'"' | b'|' | b'<' | b':' | b'('
        ) || page.byte(at) == b'.' && !matches!(page.byte(at + 1), b' ')
            || page.byte(at) == b'.' && at - token.span.start > 4;
        tokens.push(token);
        if ends {
            break;
        }
    }
    tokens
}
