//! Parts behind a street line: unit, city, state, ZIP and postal codes of other countries.

use super::Line;
use super::country;
use super::token::{Token, is_one_of, next_token, next_token_across, skip, token_at, zip_end};
use crate::lexicon::Sense;
use crate::page::Page;
use crate::word_list::WordList;

/// Text behind a street line that belongs to it, and the score that it adds.
pub(crate) struct Tail {
    pub(crate) end: usize,
    pub(crate) score: f32,
}

/// Returns the unit, city, state and ZIP that follow a street line.
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

/// Returns the end of a unit (`Apt 4B`, `Suite 083`, `# 8`, `Unit 68`).
fn unit(page: &Page<'_>, from: usize) -> Option<usize> {
    let bytes = page.bytes();
    let at = skip(bytes, from, b" ,\n.-");
    if page.byte(at) == b'#' {
        let token = next_token(page, at + 1).filter(is_unit_id)?;
        return Some(token.span.end);
    }
    if let Some(end) = bare_unit(page, from) {
        return Some(end);
    }
    let (sense, end) = page.word_at(at)?;
    if !sense.has(Sense::UNIT) {
        return ordinal_floor(page, at);
    }
    let token = next_token(page, skip(bytes, end, b".# ")).filter(is_unit_id)?;
    Some(token.span.end)
}

/// Whether a token may identify a unit (`4B`, `083`, `C`).
fn is_unit_id(token: &Token) -> bool {
    token.span.len() <= 6 && (token.has_digit || token.span.len() <= 2 && token.is_capital)
}

/// `, 5D` at the end of a line or before a sign.
fn bare_unit(page: &Page<'_>, from: usize) -> Option<usize> {
    if page.slice(from..from + 2) != b", " {
        return None;
    }
    let token = token_at(page, from + 2)?;
    let text = page.slice(token.span.clone());
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_code =
        (1..=3).contains(&digits) && text.len() == digits + 1 && text[digits].is_ascii_uppercase();
    // "Marsh, 81F" is a patient and her age.
    let is_code = is_code && !(digits == 2 && matches!(text[digits], b'M' | b'F'));
    let ends = matches!(page.byte(token.span.end), b',' | b'.' | b'\n' | b';' | 0);
    (is_code && ends).then_some(token.span.end)
}

/// Returns the end of a floor with an ordinal (`40th Floor`).
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

/// Returns the city, state and ZIP behind a line (`, Spokane, WA 99205`, `\nKirkview, WY 58131`, ` denver co
/// 80209-3804`, `, Selca\n Senegal 27766`).
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
        let may_be_country = token.is_capital || is_lower && token.sense.has(Sense::COUNTRY);
        let country = may_be_country.then(|| country::end_of(page, token.span.start));
        let country = country.flatten();
        let is_region = position > 0 && (is_state(page, &token) || is_region_code(page, &token));
        if is_region || country.is_some() {
            has_region = true;
            at = country.unwrap_or(token.span.end);
            best = Some(Tail {
                end: at,
                score: 0.3,
            });
            continue;
        }
        if !token.is_capital && (best.is_some() || !is_lower) {
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

/// Whether a token is a state. In lower case it needs a ZIP code after it, because "in" and "or" are words.
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

/// A province or state outside the United States: "ON", "NSW"; or any two capitals before a ZIP code.
fn is_region_code(page: &Page<'_>, token: &Token) -> bool {
    static CODES: WordList =
        WordList::new("on qc bc ab mb sk ns nb nl pe yt nt nu nsw qld vic tas act");
    let has_zip = || {
        next_token_across(page, token.span.end).is_some_and(|next| {
            next.span.len() == 5 && page.slice(next.span.clone()).iter().all(u8::is_ascii_digit)
        })
    };
    let code = page.slice(token.span.clone());
    token.is_shouted && (CODES.has(code) || code.len() == 2 && has_zip())
}

/// Whether the address is written in lower case throughout, so that capitals say nothing.
fn is_lower_line(page: &Page<'_>, from: usize) -> bool {
    !page
        .slice(from.saturating_sub(16)..from)
        .iter()
        .any(u8::is_ascii_uppercase)
}

/// Returns the end of the British or Canadian postal code that starts here ("NW1 6XE", "K1A 0B1").
pub(crate) fn postal_code_end(page: &Page<'_>, start: usize) -> Option<usize> {
    let first = page.slice(start..page.text.len().min(start + 5));
    let outward = first
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    let inward_start = start + outward + 1;
    let inward = page.slice(inward_start..inward_start + 3);
    const BRITISH: &[&[u8]] = &[b"A9", b"A99", b"AA9", b"AA99", b"A9A", b"AA9A"];
    let outward_is = |form: &&[u8]| has_form(&first[..outward], form);
    let is_british = has_form(inward, b"9AA") && BRITISH.iter().any(outward_is);
    let is_canadian = has_form(inward, b"9A9") && outward_is(&b"A9A".as_slice());
    let is_parted = page.byte(inward_start - 1) == b' ';
    let ends = |length: usize| !page.byte(inward_start + length).is_ascii_alphanumeric();
    if (is_british || is_canadian) && is_parted && ends(3) {
        return Some(inward_start + 3);
    }
    // Irish: "H53 X0P9", "D6W XY12".
    let code = page.slice(inward_start..inward_start + 4);
    let is_irish = matches!(&first[..outward], [a, b, c] if a.is_ascii_uppercase() && b.is_ascii_digit()
            && (c.is_ascii_digit() || *c == b'W'))
        && code.len() == 4
        && code[0].is_ascii_uppercase()
        && code.iter().any(u8::is_ascii_digit)
        && code
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    (is_irish && is_parted && ends(4)).then_some(inward_start + 4)
}

/// Whether a text has capitals at each "A" and digits at each "9" of its form.
fn has_form(text: &[u8], form: &[u8]) -> bool {
    let fits = |(byte, sign): (&u8, &u8)| match sign {
        b'A' => byte.is_ascii_uppercase(),
        _ => byte.is_ascii_digit(),
    };
    text.len() == form.len() && text.iter().zip(form).all(fits)
}

/// Returns the start of a state or country directly before a ZIP code ("WA 99205", "Senegal 27766").
pub(crate) fn region_before(page: &Page<'_>, zip: usize) -> Option<usize> {
    let end = zip - usize::from(page.byte_before(zip) == b' ');
    let end = end - usize::from(page.byte_before(end) == b',');
    let (sense, start) = page.word_before(end).filter(|_| end < zip)?;
    let word = page.slice(start..end);
    let is_state = sense.has(Sense::STATE)
        && (word.len() > 2 || word.iter().all(u8::is_ascii_uppercase))
        && page.byte_before(start) == b' ';
    country::start_of(page, end).or_else(|| is_state.then_some(start))
}
