//! The words and numbers of an address line.

use std::ops::Range;

use crate::bytes8;
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, word_end};

/// One word, number or code of an address line.
#[derive(Clone)]
pub(super) struct Token {
    pub(super) span: Range<usize>,
    pub(super) sense: Sense,
    pub(super) is_capital: bool,
    pub(super) is_shouted: bool,
    pub(super) has_digit: bool,
}

pub(super) fn number_after(page: &Page<'_>, at: usize) -> Option<usize> {
    let token = next_token(page, skip(page.bytes(), at, b" .#:"))?;
    (token.has_digit && token.span.len() <= 8).then_some(token.span.end)
}

pub(super) fn is_one_of(word: &[u8], list: &[&[u8]]) -> bool {
    let Some(first) = word.first().map(u8::to_ascii_lowercase) else {
        return false;
    };
    // The lists are long, and length and first letter exclude nearly every other word.
    let is_alike = |one: &&&[u8]| one.len() == word.len() && one[0].to_ascii_lowercase() == first;
    let mut alike = list.iter().filter(is_alike);
    alike.any(|one| word.eq_ignore_ascii_case(one))
}

pub(super) fn word(bytes: &[u8], at: usize) -> &[u8] {
    &bytes[at.min(bytes.len())..word_end(bytes, at)]
}

/// Counts the ASCII letters and digits at the end of a text.
pub(super) fn last_length(text: &[u8]) -> usize {
    let last = text.iter().rev();
    last.take_while(|byte| byte.is_ascii_alphanumeric()).count()
}

pub(super) fn skip(bytes: &[u8], from: usize, these: &[u8]) -> usize {
    from + bytes[from.min(bytes.len())..]
        .iter()
        .take(4)
        .take_while(|byte| these.contains(byte))
        .count()
}

/// The token after spaces and dots on the same line.
pub(super) fn next_token(page: &Page<'_>, from: usize) -> Option<Token> {
    token_at(page, skip(page.bytes(), from, b" ."))
}

/// The token after spaces, commas and a line break; an empty line or a gap between columns ends the address.
pub(super) fn next_token_across(page: &Page<'_>, from: usize) -> Option<Token> {
    let length = page
        .slice(from..page.text.len().min(from + GAP_BYTES_MAX))
        .iter()
        .take_while(|byte| b" ,.\n\r>".contains(byte))
        .count();
    let gap = page.slice(from..from + length);
    let breaks = gap.iter().filter(|&&byte| byte == b'\n').count();
    let is_column = breaks == 0 && gap.windows(2).any(|pair| pair == b"  ");
    let is_quoted = breaks == 1 || !gap.contains(&b'>');
    (breaks <= 1 && !is_column && is_quoted)
        .then(|| token_at(page, from + length))
        .flatten()
}

/// The widest gap between the parts of an address: a comma, a line break, an indent.
pub(super) const GAP_BYTES_MAX: usize = 28;

/// Returns the end of the token that starts here, if there is one.
pub(super) fn token_end(page: &Page<'_>, start: usize) -> Option<usize> {
    let end = bytes8::run_end(page.bytes(), start, 40, |eight| {
        let words = bytes8::any_letters(eight) | bytes8::digits(eight);
        words | bytes8::equal(eight, b'\'') | bytes8::equal(eight, b'-')
    });
    (end > start).then_some(end)
}

pub(super) fn token_at(page: &Page<'_>, start: usize) -> Option<Token> {
    let span = start..token_end(page, start)?;
    let text = page.slice(span.clone());
    let first = *text.first()?;
    Some(Token {
        sense: LEXICON.sense_in(page.bytes(), span.clone()),
        is_capital: first.is_ascii_uppercase() || first >= 0x80,
        is_shouted: text.iter().all(u8::is_ascii_uppercase),
        has_digit: text.iter().any(u8::is_ascii_digit),
        span,
    })
}

/// Returns the end of a ZIP code with the four digits that may follow it.
pub(crate) fn zip_end(page: &Page<'_>, five_end: usize) -> usize {
    let four = page.slice(five_end + 1..five_end + 5);
    let has_four = page.byte(five_end) == b'-'
        && four.len() == 4
        && four.iter().all(u8::is_ascii_digit)
        && !page.byte(five_end + 5).is_ascii_digit();
    if has_four { five_end + 5 } else { five_end }
}
