//! Reads the parts of postal addresses: street lines, boxes, units, city, state and ZIP.
//!
//! Each part adds to a score; [`crate::rules`] adds what the words before say.

use std::ops::Range;

use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, is_word_byte, word_end};

/// A line that may be an address and how much it looks like one by itself.
pub(crate) struct Line {
    pub(crate) span: Range<usize>,
    pub(crate) score: f32,
}

/// What follows a street line and belongs to it, and how much it proves.
pub(crate) struct Tail {
    pub(crate) end: usize,
    pub(crate) score: f32,
}

/// One word, number or code of an address line.
#[derive(Clone)]
struct Token {
    span: Range<usize>,
    sense: Sense,
    is_capital: bool,
    is_shouted: bool,
    has_digit: bool,
}

/// The most tokens between house number and street word.
const LINE_TOKENS: usize = 7;

/// `1428 Larchmont Avenue`, `12 N 5th St SW`, `13125 Highway 138`, `22 Holmevej 34`, starting at the house number.
pub(crate) fn street_line(page: &Page<'_>, start: usize) -> Option<Line> {
    let house = token_at(page, start).filter(|house| is_house_number(page, house))?;
    if is_tied_before(page, start) || page.byte(house.span.end) != b' ' {
        return None;
    }
    let tokens = line_tokens(page, house.span.end);
    numbered_road(page, start, &tokens)
        .or_else(|| with_street_word(page, start, &house, &tokens))
        .or_else(|| with_road_before(start, &tokens))
        .or_else(|| bare_line(start, &tokens))
}

/// Street words that are hardly anything else; the others need more evidence.
const CLEAR_STREETS: &[&[u8]] = &[
    b"street",
    b"st",
    b"avenue",
    b"ave",
    b"boulevard",
    b"blvd",
    b"road",
    b"rd",
    b"drive",
    b"dr",
    b"lane",
    b"ln",
    b"court",
    b"ct",
    b"circle",
    b"cir",
    b"terrace",
    b"parkway",
    b"pkwy",
    b"highway",
    b"hwy",
    b"place",
    b"pl",
    b"way",
    b"trail",
    b"trl",
    b"plaza",
];

/// `1428 Larchmont Avenue SW`.
fn with_street_word(
    page: &Page<'_>,
    start: usize,
    house: &Token,
    tokens: &[Token],
) -> Option<Line> {
    let mut names = 0;
    let mut found: Option<usize> = None;
    for (index, token) in tokens.iter().enumerate() {
        if names > 0 && (token.sense.has(Sense::STREET) || has_street_ending(page, token)) {
            // "Park Street": the last street word counts; "St John Street" starts with one.
            found = Some(index);
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
    let last = found.or_else(|| {
        tokens
            .iter()
            .position(|token| has_street_ending(page, token))
    })?;
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
    let is_clear = is_one_of(word, CLEAR_STREETS) || has_street_ending(page, &tokens[last]);
    let all_capital = tokens[..=last]
        .iter()
        .all(|token| token.is_capital || token.has_digit);
    let all_shouted = tokens[..=last]
        .iter()
        .all(|token| token.is_shouted || token.has_digit);
    let is_long_number = house.span.len() >= 3;
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

/// `13125 Highway 138`, `2554 NE Loop 410`, `400 County Road 12`.
fn numbered_road(page: &Page<'_>, start: usize, tokens: &[Token]) -> Option<Line> {
    const ROADS: &[&[u8]] = &[
        b"highway",
        b"hwy",
        b"route",
        b"rte",
        b"rt",
        b"interstate",
        b"cr",
        b"fm",
        b"loop",
        b"road",
        b"rd",
    ];
    let at = tokens
        .iter()
        .take(3)
        .position(|token| is_one_of(page.slice(token.span.clone()), ROADS))?;
    let number = tokens
        .get(at + 1)
        .filter(|token| token.has_digit && token.span.len() <= 5)?;
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

/// `87 Rue Joseph Vernet`, `14 Calle Mayor`.
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

/// `2231 Broadway`: nothing by itself, an address with a label before or a ZIP after it.
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

/// `Larchmont Avenue`, when words before say that someone lives there.
pub(crate) fn named_street(page: &Page<'_>, start: usize) -> Option<Line> {
    let tokens = line_tokens(page, start);
    let last = tokens
        .iter()
        .take(4)
        .rposition(|token| token.sense.has(Sense::STREET) && token.is_capital && !token.has_digit);
    // "Rua Diadema 1903": abroad the number stands last.
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

/// Where a street name after "on" or "at" starts, whose last word this is: "on Birch Hollow Rd".
pub(crate) fn street_before(page: &Page<'_>, last: Range<usize>) -> Option<usize> {
    if !page.byte(last.start).is_ascii_uppercase()
        || !is_one_of(page.slice(last.clone()), CLEAR_STREETS)
    {
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

/// `P.O. Box 175`, `RR 2 Box 14`, `PSC 5769, Box 3624`, `Unit 100 Box 12`, `USS Example`.
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
        b"pob" | b"postbox" => line(start, number_after(page, first_end)?, 0.7),
        // "P.O. Box": the pass sees "box" after two single letters.
        b"box" => line(
            post_office_before(bytes, start)?,
            number_after(page, first_end)?,
            0.85,
        ),
        b"rr" | b"hc" | b"psc" | b"cmr" | b"unit" => {
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

/// Where "P.O. " or "P O " before "Box" starts.
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

/// What follows a street line and belongs to it: unit, city, state, ZIP.
pub(crate) fn tail(page: &Page<'_>, line_end: usize) -> Option<Tail> {
    let unit = unit(page, line_end);
    let from = unit.unwrap_or(line_end);
    let place = city_state_zip(page, from).or_else(|| city_alone(page, from));
    match (unit, place) {
        (None, place) => place,
        (Some(end), None) => Some(Tail {
            end: city_after_unit(page, end),
            score: if page.byte(skip(page.bytes(), line_end, b" ,")) == b'#' {
                0.2
            } else {
                0.5
            },
        }),
        (Some(_), Some(place)) => Some(Tail {
            end: place.end,
            score: place.score + 0.3,
        }),
    }
}

/// `Winnipeg Manitoba` right after a unit: capitalised words on the same line. Returns their end.
fn city_after_unit(page: &Page<'_>, unit_end: usize) -> usize {
    let mut end = unit_end;
    let mut at = unit_end;
    for _ in 0..5 {
        let gap = usize::from(page.byte(at) == b',' && at == unit_end);
        if page.byte(at + gap) != b' ' {
            break;
        }
        let Some(token) = token_at(page, at + gap + 1) else {
            break;
        };
        let is_other = token.has_digit
            || token
                .sense
                .has(Sense::STOP | Sense::LABEL | Sense::GIVEN | Sense::TITLE);
        let is_particle = token.sense.has(Sense::PARTICLE) && end > unit_end;
        if is_other || !(token.is_capital || is_particle) {
            break;
        }
        at = token.span.end;
        if token.is_capital {
            end = at;
        }
    }
    end
}

/// `Apt 4B`, `Suite 083`, `# 8`, `Unit 68`; returns its end.
fn unit(page: &Page<'_>, from: usize) -> Option<usize> {
    let bytes = page.bytes();
    let at = skip(bytes, from, b" ,\n.-");
    if page.byte(at) == b'#' {
        let token = next_token(page, at + 1)?;
        return (token.span.len() <= 6).then_some(token.span.end);
    }
    let (sense, end) = page.word_at(at)?;
    if !sense.has(Sense::UNIT) {
        return ordinal_floor(page, at);
    }
    let token = next_token(page, skip(bytes, end, b".# "))?;
    let is_id =
        token.span.len() <= 6 && (token.has_digit || token.span.len() <= 2 && token.is_capital);
    is_id.then_some(token.span.end)
}

/// `40th Floor`.
fn ordinal_floor(page: &Page<'_>, at: usize) -> Option<usize> {
    let token = next_token(page, at).filter(|token| token.has_digit)?;
    let floor = next_token(page, token.span.end)?;
    is_one_of(page.slice(floor.span.clone()), &[b"floor", b"fl"]).then_some(floor.span.end)
}

/// `Apt. 016` or `Suite 300` without a street before it, from the word on.
pub(crate) fn lone_unit(page: &Page<'_>, start: usize) -> Option<Line> {
    let (_, end) = page.word_at(start)?;
    if !is_one_of(
        page.slice(start..end),
        &[b"apt", b"apartment", b"suite", b"ste"],
    ) {
        return None;
    }
    let token = next_token(page, skip(page.bytes(), end, b".# "))
        .filter(|token| token.has_digit && token.span.len() <= 6)?;
    let is_road_code = page.byte_before(start).is_ascii_alphanumeric();
    // Hospitals number their operating suites.
    let is_operating = token.span.len() < 2;
    (!is_road_code && !is_operating).then_some(Line {
        span: start..token.span.end,
        score: 0.55,
    })
}

/// `, Spokane, WA 99205`, `\nKirkview, WY 58131`, ` denver co 80209-3804`, `, Selca\n Senegal 27766`.
fn city_state_zip(page: &Page<'_>, from: usize) -> Option<Tail> {
    let mut at = from;
    let mut best = None;
    let mut has_region = false;
    let is_lower = is_lower_line(page, from);
    for position in 0..8 {
        let Some(token) = next_token_across(page, at) else {
            break;
        };
        let text = page.slice(token.span.clone());
        if token.has_digit {
            if position > 0
                && let Some(end) = postal_code_end(page, token.span.start)
            {
                best = Some(Tail { end, score: 0.5 });
                break;
            }
            let is_zip = (4..=6).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
            if is_zip && position > 0 && (has_region || text.len() == 5) {
                let score = if has_region { 0.6 } else { 0.3 };
                best = Some(Tail {
                    end: zip_end(page, token.span.end),
                    score,
                });
            }
            break;
        }
        let is_region = position > 0 && is_state(page, &token)
            || token.sense.has(Sense::COUNTRY) && token.is_capital;
        if is_region {
            has_region = true;
            best = Some(Tail {
                end: token.span.end,
                score: 0.3,
            });
        } else if !token.is_capital && (best.is_some() || !is_lower) {
            break;
        }
        at = token.span.end;
    }
    best
}

/// `, Evanston` at the end of a line.
fn city_alone(page: &Page<'_>, from: usize) -> Option<Tail> {
    if page.slice(from..from + 2) != b", " {
        return None;
    }
    let mut at = from + 2;
    for _ in 0..3 {
        let token = token_at(page, at)?;
        let is_other =
            token.has_digit || token.sense.has(Sense::STOP | Sense::LABEL | Sense::GIVEN);
        if !token.is_capital || is_other {
            return None;
        }
        at = token.span.end;
        let after_dot = at + usize::from(page.byte(at) == b'.');
        if matches!(page.byte(after_dot), 0 | b'\n' | b'\r') {
            return Some(Tail {
                end: at,
                score: 0.1,
            });
        }
        if page.byte(at) != b' ' {
            return None;
        }
        at += 1;
    }
    None
}

/// A state; in lower case, where "in" and "or" are words, only with a ZIP code after it.
fn is_state(page: &Page<'_>, token: &Token) -> bool {
    if !token.sense.has(Sense::STATE) {
        return false;
    }
    if token.is_shouted || token.is_capital && token.span.len() > 2 {
        return true;
    }
    let next = next_token(page, token.span.end);
    next.is_some_and(|next| {
        let text = page.slice(next.span.clone());
        text.len() >= 5 && text[..5].iter().all(u8::is_ascii_digit)
    })
}

/// Whether the address is written in lower case throughout, so that capitals say nothing.
fn is_lower_line(page: &Page<'_>, from: usize) -> bool {
    !page
        .slice(from.saturating_sub(16)..from)
        .iter()
        .any(u8::is_ascii_uppercase)
}

/// Where a ZIP code ends, with the four digits that may follow it.
pub(crate) fn zip_end(page: &Page<'_>, five_end: usize) -> usize {
    let four = page.slice(five_end + 1..five_end + 5);
    let has_four = page.byte(five_end) == b'-'
        && four.len() == 4
        && four.iter().all(u8::is_ascii_digit)
        && !page.byte(five_end + 5).is_ascii_digit();
    if has_four { five_end + 5 } else { five_end }
}

/// Where a British or Canadian postal code that starts here ends: "NW1 6XE", "K1A 0B1".
pub(crate) fn postal_code_end(page: &Page<'_>, start: usize) -> Option<usize> {
    let first = page.slice(start..page.text.len().min(start + 5));
    let outward = first
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    let inward_start = start + outward + 1;
    let inward = page.slice(inward_start..inward_start + 3);
    let shape = |text: &[u8]| -> Vec<u8> {
        text.iter()
            .map(|byte| match byte {
                b'A'..=b'Z' => b'A',
                b'0'..=b'9' => b'9',
                other => *other,
            })
            .collect()
    };
    let is_british = matches!(
        shape(&first[..outward]).as_slice(),
        b"A9" | b"A99" | b"AA9" | b"AA99" | b"A9A" | b"AA9A"
    ) && shape(inward) == b"9AA";
    let is_canadian = shape(&first[..outward]) == b"A9A" && shape(inward) == b"9A9";
    let ends =
        page.byte(inward_start - 1) == b' ' && !page.byte(inward_start + 3).is_ascii_alphanumeric();
    ((is_british || is_canadian) && ends).then_some(inward_start + 3)
}

/// Where a state or country right before a ZIP code starts: "WA 99205", "Senegal 27766".
pub(crate) fn region_before(page: &Page<'_>, zip: usize) -> Option<usize> {
    let end = zip - usize::from(page.byte_before(zip) == b' ');
    let end = end - usize::from(page.byte_before(end) == b',');
    let (sense, start) = page.word_before(end).filter(|_| end < zip)?;
    let word = page.slice(start..end);
    let is_state = sense.has(Sense::STATE)
        && (word.len() > 2 || word.iter().all(u8::is_ascii_uppercase))
        && page.byte_before(start) == b' ';
    let is_country = sense.has(Sense::COUNTRY) && word[0].is_ascii_uppercase();
    (is_state || is_country).then_some(start)
}

/// Digits and perhaps a letter; not a decimal, a dose or a range.
fn is_house_number(page: &Page<'_>, token: &Token) -> bool {
    let text = page.slice(token.span.clone());
    let digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = text
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    (1..=6).contains(&digits)
        && letters <= 1
        && text.len() <= 8
        && (text[0].is_ascii_digit() || letters == 1 && text[0].is_ascii_uppercase())
}

fn is_tied_before(page: &Page<'_>, start: usize) -> bool {
    if page.byte_before(start) == b'#' {
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
fn line_tokens(page: &Page<'_>, from: usize) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(LINE_TOKENS);
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

fn number_after(page: &Page<'_>, at: usize) -> Option<usize> {
    let token = next_token(page, skip(page.bytes(), at, b" .#:"))?;
    (token.has_digit && token.span.len() <= 8).then_some(token.span.end)
}

fn is_one_of(word: &[u8], list: &[&[u8]]) -> bool {
    list.iter().any(|one| word.eq_ignore_ascii_case(one))
}

fn word(bytes: &[u8], at: usize) -> &[u8] {
    &bytes[at.min(bytes.len())..word_end(bytes, at)]
}

fn skip(bytes: &[u8], from: usize, these: &[u8]) -> usize {
    from + bytes[from.min(bytes.len())..]
        .iter()
        .take(4)
        .take_while(|byte| these.contains(byte))
        .count()
}

/// The token after spaces and dots on the same line.
fn next_token(page: &Page<'_>, from: usize) -> Option<Token> {
    token_at(page, skip(page.bytes(), from, b" ."))
}

/// The token after spaces, commas and line breaks.
fn next_token_across(page: &Page<'_>, from: usize) -> Option<Token> {
    token_at(page, skip(page.bytes(), from, b" ,.\n\r"))
}

fn token_at(page: &Page<'_>, start: usize) -> Option<Token> {
    let bytes = page.bytes();
    let length = bytes[start.min(bytes.len())..]
        .iter()
        .take(40)
        .take_while(|&&byte| is_word_byte(byte) || byte == b'\'' || byte == b'-')
        .count();
    let span = start..start + length;
    let text = bytes.get(span.clone())?;
    let first = *text.first()?;
    Some(Token {
        sense: LEXICON.sense(text),
        is_capital: first.is_ascii_uppercase() || first >= 0x80,
        is_shouted: text.iter().all(u8::is_ascii_uppercase),
        has_digit: text.iter().any(u8::is_ascii_digit),
        span,
    })
}
