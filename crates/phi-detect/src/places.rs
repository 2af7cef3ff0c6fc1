//! Reads the parts of postal addresses: street lines, boxes, units, city, state and ZIP.

use std::ops::Range;

use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, is_word_byte, word_end};

/// A first line of an address and how much it looks like one by itself (0 to 0.9).
pub(crate) struct Line {
    pub(crate) span: Range<usize>,
    pub(crate) score: f32,
}

/// One word, number or code of an address line.
struct Token {
    span: Range<usize>,
    sense: Sense,
    is_capital: bool,
    has_digit: bool,
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

/// `1428 Larchmont Avenue`, `12 N 5th St SW`, `13125 Highway 138`, starting at the house number.
pub(crate) fn street_line(page: &Page<'_>, start: usize) -> Option<Line> {
    let house = token_at(page, start)?;
    if house.span.len() > 7 || is_tied_before(page, start) {
        return None;
    }
    let mut at = house.span.end;
    let mut names = 0;
    let mut all_capital = true;
    let mut best: Option<(usize, f32)> = None;
    for position in 0..7 {
        let Some(token) = next_token(page, at) else {
            break;
        };
        let word = &page.bytes()[token.span.clone()];
        let is_street = token.sense.has(Sense::STREET) && names > 0;
        let is_route = position <= 1 && is_numbered_road(word);
        if is_route
            && let Some(number) = next_token(page, token.span.end).filter(|next| next.has_digit)
        {
            return Some(Line {
                span: start..number.span.end,
                score: 0.75,
            });
        }
        if is_street {
            let score = street_score(word, all_capital, token.is_capital);
            best = Some((token.span.end, score));
        } else if best.is_some() && !token.sense.has(Sense::DIRECTION) {
            break;
        }
        let may_be_name = token.is_capital
            || token.has_digit
            || token.sense == Sense::NONE
            || token.sense.has(Sense::DIRECTION)
            || token.sense.has(Sense::GIVEN);
        if !is_street && !may_be_name {
            break;
        }
        if best.is_some() && token.sense.has(Sense::DIRECTION) {
            best = best.map(|(_, score)| (token.span.end, score));
            break;
        }
        if !token.sense.has(Sense::DIRECTION) {
            names += 1;
            all_capital &= token.is_capital || token.has_digit;
        }
        at = token.span.end;
        if ends_line(page, at) {
            break;
        }
    }
    let (end, score) = best?;
    Some(Line {
        span: start..end,
        score,
    })
}

fn street_score(word: &[u8], all_capital: bool, is_capital: bool) -> f32 {
    let is_clear = CLEAR_STREETS
        .iter()
        .any(|one| word.eq_ignore_ascii_case(one));
    match (is_clear, all_capital && is_capital) {
        (true, true) => 0.85,
        (true, false) => 0.25,
        (false, true) => 0.35,
        (false, false) => 0.0,
    }
}

fn is_numbered_road(word: &[u8]) -> bool {
    [
        b"highway".as_slice(),
        b"hwy",
        b"route",
        b"rte",
        b"rt",
        b"interstate",
        b"cr",
        b"sr",
        b"fm",
        b"loop",
    ]
    .iter()
    .any(|one| word.eq_ignore_ascii_case(one))
}

/// `P.O. Box 175`, `RR 2 Box 14`, `PSC 5769, Box 3624`, `Unit 100 Box 12`, `USS Example`.
pub(crate) fn box_line(page: &Page<'_>, start: usize) -> Option<Line> {
    let bytes = page.bytes();
    let first_end = word_end(bytes, start);
    let first = bytes[start..first_end].to_ascii_lowercase();
    let mut at = first_end;
    let end = match first.as_slice() {
        b"po" | b"pob" => {
            at = skip(bytes, at, b" .");
            if word(bytes, at).eq_ignore_ascii_case(b"box") {
                at = word_end(bytes, at);
            } else if first != b"pob" {
                return None;
            }
            number_after(page, at)?
        }
        // "P.O. Box": the pass sees "box" after two single letters.
        b"box" => {
            let post_office = post_office_before(bytes, start)?;
            let end = number_after(page, at)?;
            return Some(Line {
                span: post_office..end,
                score: 0.85,
            });
        }
        b"rr" | b"hc" | b"psc" | b"cmr" | b"unit" => {
            at = number_after(page, at)?;
            let next = skip(bytes, at, b" ,");
            if !word(bytes, next).eq_ignore_ascii_case(b"box") {
                return None;
            }
            number_after(page, word_end(bytes, next))?
        }
        b"uss" | b"usns" if bytes[start..first_end].iter().all(u8::is_ascii_uppercase) => {
            let name = next_token(page, at)?;
            let end = name.span.end;
            let next = skip(bytes, end, b" ,\n");
            let is_fleet = word(bytes, next).eq_ignore_ascii_case(b"fpo");
            return (name.is_capital && is_fleet).then_some(Line {
                span: start..end,
                score: 0.5,
            });
        }
        _ => return None,
    };
    Some(Line {
        span: start..end,
        score: 0.85,
    })
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
        b"Post Office ",
    ]
    .iter()
    .find(|form| head.ends_with(form))
    .map(|form| box_start - form.len())
}

/// What follows a street line and belongs to it: unit, city, state, ZIP. Returns its end.
pub(crate) fn tail(page: &Page<'_>, line_end: usize) -> Option<usize> {
    let after_unit = unit(page, line_end);
    let from = after_unit.unwrap_or(line_end);
    city_state_zip(page, from).or(after_unit)
}

/// `Apt 4B`, `Suite 083`, `# 8`, `Unit 68`.
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
    let after_dot = skip(bytes, end, b".# ");
    let token = next_token(page, after_dot)?;
    let is_id =
        token.span.len() <= 6 && (token.has_digit || token.span.len() <= 2 && token.is_capital);
    is_id.then_some(token.span.end)
}

/// `40th Floor`.
fn ordinal_floor(page: &Page<'_>, at: usize) -> Option<usize> {
    let token = next_token(page, at).filter(|token| token.has_digit)?;
    let floor = next_token(page, token.span.end)?;
    page.bytes()[floor.span.clone()]
        .eq_ignore_ascii_case(b"floor")
        .then_some(floor.span.end)
}

/// `, Spokane, WA 99205`, `\nKirkview, WY 58131`, ` denver co 80209-3804`, `, Evanston, 60202`.
fn city_state_zip(page: &Page<'_>, from: usize) -> Option<usize> {
    let mut at = from;
    let mut best = None;
    for position in 0..7 {
        let Some(token) = next_token_across(page, at) else {
            break;
        };
        let text = &page.bytes()[token.span.clone()];
        if token.has_digit {
            let is_zip = text.len() == 5 && text.iter().all(u8::is_ascii_digit);
            if is_zip && position > 0 {
                best = Some(zip_end(page, token.span.end));
            }
            break;
        }
        if position > 0 && is_state(text, token.sense) {
            best = Some(token.span.end);
        } else if best.is_some() || !(token.is_capital || is_lower_line(page, from)) {
            break;
        }
        at = token.span.end;
    }
    best
}

fn is_state(word: &[u8], sense: Sense) -> bool {
    sense.has(Sense::STATE)
        && (word.len() > 2
            || word.iter().all(u8::is_ascii_uppercase)
            || word.iter().all(u8::is_ascii_lowercase))
}

/// Whether the address is written in lower case throughout, so that capitals say nothing.
fn is_lower_line(page: &Page<'_>, from: usize) -> bool {
    let start = from.saturating_sub(16);
    !page.bytes()[start..from].iter().any(u8::is_ascii_uppercase)
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

/// Whether a state stands right before a ZIP code: "WA 99205".
pub(crate) fn follows_state(page: &Page<'_>, zip: usize) -> bool {
    let end = zip - usize::from(page.byte_before(zip) == b' ');
    let end = end - usize::from(page.byte_before(end) == b',');
    page.word_before(end).is_some_and(|(sense, start)| {
        let word = page.slice(start..end);
        sense.has(Sense::STATE)
            && (word.len() > 2 || word.iter().all(u8::is_ascii_uppercase))
            && page.byte_before(start) == b' '
    })
}

fn is_tied_before(page: &Page<'_>, start: usize) -> bool {
    matches!(
        page.byte_before(start),
        b'/' | b'.' | b'-' | b':' | b'$' | b'#' | b'_'
    ) && !page
        .byte_before(start.saturating_sub(1))
        .is_ascii_whitespace()
        && start > 1
}

fn ends_line(page: &Page<'_>, at: usize) -> bool {
    matches!(page.byte(at), b',' | b'\n' | b';' | b'"' | b'|' | b'<')
}

fn number_after(page: &Page<'_>, at: usize) -> Option<usize> {
    let from = skip(page.bytes(), at, b" .#:");
    let token = next_token(page, from)?;
    (token.has_digit && token.span.len() <= 8).then_some(token.span.end)
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
    let text = &bytes[span.clone()];
    let first = *text.first()?;
    Some(Token {
        sense: LEXICON.sense(text),
        is_capital: first.is_ascii_uppercase(),
        has_digit: text.iter().any(u8::is_ascii_digit),
        span,
    })
}
