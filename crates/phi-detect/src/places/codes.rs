//! Postal codes before and behind a town, as other countries write them: `Auckland 1025`, `2032 HA Haarlem`,
//! `Nagpur-440022`.

use super::tail::postal_code_end;
use super::token::{Token, last_length, token_at};
use crate::page::Page;

/// Maximum length of a town with its postal code.
const TOWN_BYTES_MAX: usize = 40;

/// Whether an address ends in a postal code at its end (`Lithgow 2790`, `SY23 4LA`): the text behind such a code does
/// not belong to the address.
pub(super) fn ends_in_code(page: &Page<'_>, end: usize) -> bool {
    let before = page.slice(end.saturating_sub(8)..end);
    let length = last_length(before);
    let (before, last) = before.split_at(before.len() - length);
    let is_town = before.len() > 1
        && matches!(before.last(), Some(b' ' | b'-'))
        && before[before.len() - 2].is_ascii_alphabetic();
    let is_number = length >= 4 && last.iter().all(u8::is_ascii_digit);
    let is_british = matches!(last, [digit, a, b] if digit.is_ascii_digit()
        && a.is_ascii_uppercase() && b.is_ascii_uppercase());
    // "Stand 4410" has its own number.
    let has_comma = page
        .slice(end.saturating_sub(TOWN_BYTES_MAX)..end)
        .contains(&b',');
    is_number && is_town && has_comma || is_british && before.ends_with(b" ")
}

/// Returns the end of the postal code behind a town (` 1025`, ` - 676304`, ` NG34 7RT`).
pub(super) fn code_behind(page: &Page<'_>, end: usize) -> Option<usize> {
    let at = match page.slice(end..page.text.len().min(end + 3)) {
        b" - " => end + 3,
        [b' ', ..] => end + 1,
        _ => return None,
    };
    if let Some(end) = postal_code_end(page, at) {
        return Some(end);
    }
    // "Chennai 600 020".
    let six = page.slice(at..page.text.len().min(at + 7));
    if matches!(six, [a, b, c, b' ', d, e, f] if [a, b, c, d, e, f].iter().all(|byte| byte.is_ascii_digit()))
        && closes(page, at + 7)
    {
        return Some(at + 7);
    }
    let token = token_at(page, at)?;
    let text = page.slice(token.span.clone());
    let digits = text.strip_prefix(b"S").unwrap_or(text);
    let is_code = (4..=6).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    (is_code && closes(page, token.span.end)).then_some(token.span.end)
}

/// Returns the end of a code that is tied to its town (`Nagpur-440022`, `S460118`).
pub(super) fn tied_code(page: &Page<'_>, token: &Token) -> Option<usize> {
    let text = page.slice(token.span.clone());
    let letters = text
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let rest = &text[letters..];
    let is_singapore = text.starts_with(b"S") && letters == 1 && rest.len() == 6;
    let digits = rest.strip_prefix(b"-").filter(|_| letters >= 3);
    let digits = digits.or(is_singapore.then_some(rest))?;
    let is_code = (4..=6).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    (is_code && token.is_capital).then_some(token.span.end)
}

/// Returns the start of the town behind a postal code (`94300 `, `M5500 `, `2032 HA `, `1250-109 `, `962 31 `).
pub(super) fn code_before_town(page: &Page<'_>, start: usize) -> Option<usize> {
    let token = token_at(page, start).filter(|token| token.has_digit)?;
    let text = page.slice(token.span.clone());
    let is_digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let end = token.span.end;
    let town = match text.len() {
        5 | 6 if is_digits(text) => end + 1,
        8 if text[4] == b'-' && is_digits(&text[..4]) && is_digits(&text[5..]) => end + 1,
        4 if is_digits(text) => match letters_of_code(page, end) {
            Some(letters) => letters + 1,
            // "2019 Roe" would be a year.
            None if !matches!(text, [b'1', b'9', ..] | [b'2', b'0', ..]) => end + 1,
            None => return None,
        },
        // "M5500 Mendoza".
        5 if text[0].is_ascii_uppercase() && is_digits(&text[1..]) => end + 1,
        3 if is_digits(text) => second_group(page, end)? + 1,
        _ => return None,
    };
    (page.byte(town - 1) == b' ').then_some(town)
}

/// Returns the end of the two letters of a Dutch postal code (` HA`).
fn letters_of_code(page: &Page<'_>, end: usize) -> Option<usize> {
    let rest = page.slice(end..page.text.len().min(end + 4));
    matches!(rest, [b' ', a, b, b' '] if a.is_ascii_uppercase() && b.is_ascii_uppercase())
        .then_some(end + 3)
}

/// Returns the end of the second group of a Swedish postal code (` 31`).
fn second_group(page: &Page<'_>, end: usize) -> Option<usize> {
    let rest = page.slice(end..page.text.len().min(end + 4));
    matches!(rest, [b' ', a, b, b' '] if a.is_ascii_digit() && b.is_ascii_digit())
        .then_some(end + 3)
}

/// Whether a piece ends here as one does: a sign follows, or the end of the line.
pub(super) fn closes(page: &Page<'_>, end: usize) -> bool {
    match page.byte(end) {
        0 | b'\n' | b',' | b';' | b')' | b'"' => true,
        b'.' => !page.byte(end + 1).is_ascii_alphanumeric(),
        _ => false,
    }
}
