//! Finds a person again: once a text has named someone, the same word elsewhere in it is that person too.

use std::collections::HashSet;
use std::ops::Range;

use super::Cue;
use super::is_before_eponym_tail;
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, is_word_byte};

/// Further mentions of the words of `names`, as spans; those inside a known name are among them.
pub(crate) fn again(page: &Page<'_>, names: &[Range<usize>]) -> Vec<Range<usize>> {
    let words: HashSet<&[u8]> = names
        .iter()
        .flat_map(|name| page.slice(name.clone()).split(|&byte| !is_part_byte(byte)))
        .filter(|word| is_telling(word))
        .collect();
    if words.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let bytes = page.bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !is_part_byte(bytes[at]) {
            at += 1;
            continue;
        }
        let length = bytes[at..]
            .iter()
            .take_while(|&&byte| is_part_byte(byte))
            .count();
        let span = at..at + length;
        at = span.end;
        if words.contains(&bytes[span.clone()]) && stands_free(page, &span) {
            found.push(span);
        }
    }
    found
}

/// Letters and the hyphen inside a name; an apostrophe ends the word, so that "Roe's" is Roe.
fn is_part_byte(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80 || byte == b'-'
}

/// Whether a word of a name says by itself who is meant: long enough, and nothing else.
fn is_telling(word: &[u8]) -> bool {
    let is_capital = word.first().is_some_and(u8::is_ascii_uppercase);
    let is_shouted = word.iter().all(u8::is_ascii_uppercase);
    let length_min = if is_shouted { 4 } else { 3 };
    let sense = LEXICON.sense(word);
    let is_known = is_capital || sense.has(Sense::GIVEN);
    word.len() >= length_min && is_known && sense.0 & !Sense::GIVEN.0 == 0
}

/// Not in an address of the web or of mail, not an eponym.
fn stands_free(page: &Page<'_>, span: &Range<usize>) -> bool {
    let before = page.byte_before(span.start);
    let after = page.byte(span.end);
    let is_tied = matches!(before, b'@' | b'_' | b'/' | b'.' | b'#' | b'\\')
        || matches!(after, b'@' | b'_' | b'(' | b'=')
        || after == b'.' && is_word_byte(page.byte(span.end + 1))
        || before.is_ascii_digit()
        || after.is_ascii_digit();
    !is_tied && !is_before_eponym_tail(page, span.end, Cue::Given) && !is_in_code(page, span)
}

/// How much of a line on both sides is looked at.
const LINE_REACH_BYTES: usize = 100;
/// Prose has fewer signs of code on a line, and rows of data more separators.
const CODE_SIGNS_MIN: usize = 4;
const SEPARATORS_MIN: usize = 5;

/// Whether the line round a word is code or a row of data, where a word means whatever it was made to mean.
pub(crate) fn is_in_code(page: &Page<'_>, span: &Range<usize>) -> bool {
    let before = page.slice(span.start.saturating_sub(LINE_REACH_BYTES)..span.start);
    let before = before
        .rsplit(|&byte| byte == b'\n')
        .next()
        .unwrap_or(before);
    let after = page.slice(span.end..page.text.len().min(span.end + LINE_REACH_BYTES));
    let after = after.split(|&byte| byte == b'\n').next().unwrap_or(after);
    let count = |is_one: fn(&u8) -> bool| {
        let in_line = before.iter().chain(after);
        in_line.filter(|byte| is_one(byte)).count()
    };
    let is_sign = |byte: &u8| b"{}();=<>[]_$\\&|`".contains(byte);
    let is_separator = |byte: &u8| matches!(byte, b',' | b';' | b'\t' | b'|');
    let is_code = |byte: u8| matches!(byte, b'`' | b'"' | b':');
    let is_quoted_code = is_code(page.byte_before(span.start)) && is_code(page.byte(span.end));
    count(is_sign) >= CODE_SIGNS_MIN || count(is_separator) >= SEPARATORS_MIN || is_quoted_code
}
