//! Finds a person again: once a text has named someone, the same word elsewhere in it is that person too.

use std::ops::Range;

use super::Cue;
use super::is_before_eponym_tail;
use crate::bytes8;
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, is_word_byte};

/// Further mentions of the words of `names`, as spans; those inside a known name are among them.
pub(crate) fn again<'a>(
    page: &Page<'a>,
    names: &[Range<usize>],
    is_ordinary: impl Fn(&str) -> bool,
) -> Vec<Range<usize>> {
    // Most people are named more than once.
    let mut names: Vec<&[u8]> = names.iter().map(|name| page.slice(name.clone())).collect();
    names.sort_unstable();
    names.dedup();
    let parts = |name: &&'a [u8]| name.split(|&byte| !is_part_byte(byte));
    let mut telling: Vec<&[u8]> = names.iter().flat_map(parts).collect();
    telling.sort_unstable();
    telling.dedup();
    telling.retain(|word| is_telling(word));
    let in_capitals: Vec<Vec<u8>> = telling
        .iter()
        .filter_map(|word| in_other_case(word))
        .collect();
    let initials: Vec<Vec<u8>> = names.iter().filter_map(|name| initials(name)).collect();
    let in_small: Vec<Vec<u8>> = telling
        .iter()
        .filter_map(|word| in_small(word, &is_ordinary))
        .collect();
    let others = in_capitals.iter().chain(&initials).chain(&in_small);
    let others = others.map(Vec::as_slice);
    let words = Words::new(telling.iter().copied().chain(others));
    let common = names.iter().filter_map(|name| parts(name).next_back());
    let common = Words::new(common.filter(|word| is_half_telling(word)));
    if words.sorted.is_empty() && common.sorted.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let bytes = page.bytes();
    for start in bytes8::starts(bytes, |_, _| u64::MAX) {
        let first = bytes[start];
        if !words.has_first(first) && !common.has_first(first) || is_inside(bytes, start) {
            continue;
        }
        let span = start..bytes8::end(bytes, start, |eight| bytes8::equal(eight, b'-'));
        let word = &bytes[span.clone()];
        let is_meant = words.contains(word) || common.contains(word) && stands_out(page, &span);
        if is_meant && stands_free(page, &span) {
            found.push(span);
        }
    }
    found
}

/// Whether letters go on a word after a hyphen. A hyphen inside a word is part of it, one before it is not: "-TWR".
fn is_inside(bytes: &[u8], start: usize) -> bool {
    let before = bytes[..start].iter().rev().find(|byte| **byte != b'-');
    before.is_some_and(|byte| is_part_byte(*byte))
}

/// The initials of a full name, of three letters or four: "JQR" is Jane Q. Roe.
fn initials(text: &[u8]) -> Option<Vec<u8>> {
    let words = text.split(|&byte| !is_part_byte(byte));
    let initials = words.filter_map(|word| word.first().copied());
    let is_full = (3..=4).contains(&initials.clone().count())
        && initials.clone().all(|initial| initial.is_ascii_uppercase())
        && text.iter().any(u8::is_ascii_lowercase)
        && !text.contains(&b',');
    let initials: Option<Vec<u8>> = is_full.then(|| initials.collect());
    initials.filter(|initials| LEXICON.sense(initials) == Sense::NONE)
}

/// A few words, to be looked for at every word of a text.
struct Words<'a> {
    sorted: Vec<&'a [u8]>,
    /// How long the words are that begin with a byte, a bit each: nearly every other word is told by that.
    lengths: [u64; 256],
}

impl<'a> Words<'a> {
    fn new(words: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut sorted: Vec<&[u8]> = words.collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut lengths = [0; 256];
        for word in &sorted {
            let first = word.first().copied().unwrap_or(0);
            lengths[usize::from(first)] |= length_bit(word);
        }
        Words { sorted, lengths }
    }

    fn has_first(&self, first: u8) -> bool {
        self.lengths[usize::from(first)] != 0
    }

    fn contains(&self, word: &[u8]) -> bool {
        let first = word.first().copied().unwrap_or(0);
        self.lengths[usize::from(first)] & length_bit(word) != 0
            && self.sorted.binary_search(&word).is_ok()
    }
}

/// The bit for the length of a word; all long ones share theirs.
fn length_bit(word: &[u8]) -> u64 {
    1 << word.len().min(63)
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

/// The word as a header would write it, or as a sentence would: "Barnes" is BARNES in the list above.
fn in_other_case(word: &[u8]) -> Option<Vec<u8>> {
    const LENGTH_MIN: usize = 4;
    let is_shouted = word.iter().all(u8::is_ascii_uppercase);
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || !is_shouted && *byte == b'-';
    let is_plain = word.iter().all(is_letter) && word[0].is_ascii_uppercase();
    if !is_plain || word.len() < LENGTH_MIN {
        return None;
    }
    let mut other = if is_shouted {
        word.to_ascii_lowercase()
    } else {
        word.to_ascii_uppercase()
    };
    other[0].make_ascii_uppercase();
    Some(other)
}

/// The word as a hurried writer would write it, where it is no other word: "carmen told me".
fn in_small(word: &[u8], is_ordinary: impl Fn(&str) -> bool) -> Option<Vec<u8>> {
    const LENGTH_MIN: usize = 4;
    if word.len() < LENGTH_MIN || word.contains(&b'-') {
        return None;
    }
    let small = word.to_ascii_lowercase();
    let is_free = std::str::from_utf8(&small).is_ok_and(|small| !is_ordinary(small));
    is_free.then_some(small)
}

/// Whether a name is an ordinary word too ("Price", "Rivers"), or somebody's initials ("TWR"): it says who is meant where
/// such a word would not stand.
fn is_half_telling(word: &[u8]) -> bool {
    let is_title_case = word.first().is_some_and(u8::is_ascii_uppercase)
        && word.len() >= 3
        && word[1..].iter().all(|byte| !byte.is_ascii_uppercase());
    let is_initials = word.len() == 3 && word.iter().all(u8::is_ascii_uppercase);
    let sense = LEXICON.sense(word);
    let is_other = sense.has(
        Sense::TITLE | Sense::ROLE | Sense::KIN | Sense::CREDENTIAL | Sense::LABEL | Sense::MONTH,
    );
    is_title_case && !is_other || is_initials && sense == Sense::NONE
}

/// A capital that no sentence begins with: "if Love spikes", "Outstanding: Marsh, Price.", "read back. -TWR".
fn stands_out(page: &Page<'_>, span: &Range<usize>) -> bool {
    let before = page.slice(span.start.saturating_sub(2)..span.start);
    let is_inside = before.len() == 2 && before[1] == b' ' && before[0].is_ascii_lowercase();
    let is_listed = matches!(
        before,
        [b',' | b':' | b'/' | b'&' | b';', b' '] | [_, b'(' | b'-' | b'/']
    );
    let ends = matches!(
        page.byte(span.end),
        0 | b',' | b'.' | b';' | b':' | b')' | b'\n' | b'\'' | b'/' | b'?' | b'!'
    );
    is_inside || is_listed && ends
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
    // "Okonkwo_1.png": a file of that person.
    let is_tied = is_tied && !(after == b'_' && page.byte(span.end + 1).is_ascii_digit());
    !is_tied
        && !is_before_eponym_tail(page, span.end, Cue::Given)
        && (!is_in_code(page, span) || is_cell(page, span))
}

/// "| Okonkwo |": whether a word fills a cell between bars or tabs.
fn is_cell(page: &Page<'_>, span: &Range<usize>) -> bool {
    const BLANKS_MAX: usize = 24;
    let before = page.slice(span.start.saturating_sub(BLANKS_MAX)..span.start);
    let after = page.slice(span.end..page.text.len().min(span.end + BLANKS_MAX));
    let is_blank = |byte: &&u8| **byte == b' ';
    let opens = before.iter().rev().find(|byte| !is_blank(byte));
    let ends = after.iter().find(|byte| !is_blank(byte));
    matches!(opens, Some(b'|' | b'\t')) && matches!(ends, None | Some(b'|' | b'\t' | b'\n'))
}

/// A row of a table has so many bars.
const BARS_MIN: usize = 3;

/// Whether a name stands in code, rather than in prose or in a row between bars.
pub(crate) fn is_in_program(page: &Page<'_>, span: &Range<usize>) -> bool {
    is_in_code(page, span) && !is_row(line_around(page, span))
}

/// Whether a line is a row between bars.
fn is_row(line: &[u8]) -> bool {
    let bars = memchr::memchr_iter(b'|', line).take(BARS_MIN).count();
    let is_sign = |byte: &&u8| {
        matches!(
            byte,
            b'{' | b'}' | b';' | b'=' | b'<' | b'>' | b'$' | b'&' | b'^' | b'\\'
        )
    };
    bars >= BARS_MIN && !line.iter().any(|byte| is_sign(&byte))
}

/// Whether a number stands in code: in a sentence a space follows each sign between its parts, and brackets hold words.
pub(crate) fn is_in_statement(page: &Page<'_>, span: &Range<usize>) -> bool {
    let line = line_around(page, span);
    let pairs = line.windows(2).filter(|pair| match pair {
        [b',' | b';', next] => *next != b' ',
        [before, b'('] => is_word_byte(*before),
        [b')' | b'(', _] => false,
        [byte, _] => LINE_CLASS[usize::from(*byte)] != 0,
        _ => false,
    });
    is_in_program(page, span)
        && pairs.take(CODE_SIGNS_MIN as usize).count() >= CODE_SIGNS_MIN as usize
}

/// The line that a word stands in, as far as it is looked at.
fn line_around<'a>(page: &Page<'a>, span: &Range<usize>) -> &'a [u8] {
    let from = span.start.saturating_sub(LINE_REACH_BYTES);
    let around = page.slice(from..page.text.len().min(span.end + LINE_REACH_BYTES));
    let at = span.start - from;
    let start = memchr::memrchr(b'\n', &around[..at]).map_or(0, |line| line + 1);
    let end = memchr::memchr(b'\n', &around[at..]).map_or(around.len(), |line| at + line);
    &around[start..end]
}

/// How much of a line on both sides is looked at.
const LINE_REACH_BYTES: usize = 100;
/// Prose has fewer signs of code on a line, and rows of data more separators.
const CODE_SIGNS_MIN: u32 = 4;
const SEPARATORS_MIN: u32 = 5;

/// What a sign of code counts, and what separates values, in one sum.
const SIGN: u32 = 1;
const SEPARATOR: u32 = 1 << 16;
static LINE_CLASS: [u32; 256] = line_classes();

const fn line_classes() -> [u32; 256] {
    let mut table = [0; 256];
    let (signs, separators) = (b"{}();=<>[]_$\\&|`", b",;\t|");
    let mut at = 0;
    while at < signs.len() {
        table[signs[at] as usize] |= SIGN;
        at += 1;
    }
    at = 0;
    while at < separators.len() {
        table[separators[at] as usize] |= SEPARATOR;
        at += 1;
    }
    table
}

/// Whether the line round a word is code or a row of data, where a word means whatever it was made to mean.
pub(crate) fn is_in_code(page: &Page<'_>, span: &Range<usize>) -> bool {
    let is_code = |byte: u8| matches!(byte, b'`' | b'"' | b':');
    if is_code(page.byte_before(span.start)) && is_code(page.byte(span.end)) {
        return true;
    }
    let before = page.slice(span.start.saturating_sub(LINE_REACH_BYTES)..span.start);
    let line = memchr::memrchr(b'\n', before).map_or(0, |line| line + 1);
    let after = page.slice(span.end..page.text.len().min(span.end + LINE_REACH_BYTES));
    let end = memchr::memchr(b'\n', after).unwrap_or(after.len());
    let count = |part: &[u8]| -> u32 {
        let classes = part.iter().map(|byte| LINE_CLASS[usize::from(*byte)]);
        classes.sum()
    };
    let counted = count(&before[line..]) + count(&after[..end]);
    counted % SEPARATOR >= CODE_SIGNS_MIN || counted / SEPARATOR >= SEPARATORS_MIN
}
