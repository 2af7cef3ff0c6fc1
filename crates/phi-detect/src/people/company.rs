//! Names in company: in a text that surely names several people, a word that is nothing but a name is one more of them.

use std::ops::Range;

use super::Cue;
use super::is_before_eponym_tail;
use super::repeat::is_in_code;
use crate::bytes8;
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, is_word_byte};

/// So many different people make a company.
const PEOPLE_MIN: usize = 3;
/// One of them stands no farther away.
const REACH_BYTES: usize = 120;
/// Shorter words are too often something else.
const LETTERS_MIN: usize = 3;
const SHOUTED_MIN: usize = 5;
/// Of so many words, a quarter must be common English ones: the lists know too little of the places elsewhere.
const WORDS_LOOKED_AT: usize = 400;
const COMMON_SHARE: usize = 4;

/// Further people in the company of `names`; `is_only_a_name` tells the words that are nothing else.
pub(crate) fn in_company(
    page: &Page<'_>,
    names: &[Range<usize>],
    is_only_a_name: impl Fn(&str) -> bool,
) -> Vec<Range<usize>> {
    if !are_several(page, names) || !is_english(page) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut known = names.iter().peekable();
    let mut last_end = 0;
    for start in bytes8::starts(page.bytes(), bytes8::capitals) {
        let span = start..bytes8::end(page.bytes(), start, |_| 0);
        while let Some(name) = known.next_if(|name| name.end <= span.start) {
            last_end = name.end;
        }
        let next = known.peek().map_or(usize::MAX, |name| name.start);
        let is_taken = next < span.end;
        let is_near = span.start - last_end <= REACH_BYTES && last_end > 0
            || next.saturating_sub(span.end) <= REACH_BYTES;
        if !is_taken
            && is_near
            && is_written_as_name(page, &span)
            && stands_as_name(page, &span)
            && page.text.get(span.clone()).is_some_and(&is_only_a_name)
        {
            found.push(span);
        }
    }
    found
}

/// Whether so many different people are named.
fn are_several(page: &Page<'_>, names: &[Range<usize>]) -> bool {
    let mut people: Vec<&[u8]> = Vec::with_capacity(PEOPLE_MIN);
    for name in names.iter().map(|name| page.slice(name.clone())) {
        if !people.iter().any(|one| one.eq_ignore_ascii_case(name)) {
            people.push(name);
        }
        if people.len() == PEOPLE_MIN {
            return true;
        }
    }
    false
}

/// Whether common English words make up the text, which is the language the lists were made for.
fn is_english(page: &Page<'_>) -> bool {
    let bytes = page.bytes();
    let (mut words, mut common) = (0, 0);
    for start in bytes8::starts(bytes, bytes8::smalls).take(WORDS_LOOKED_AT) {
        let word = start..bytes8::end(bytes, start, |_| 0);
        words += 1;
        common += usize::from(LEXICON.sense_in(bytes, word).has(Sense::STOP));
        // However the rest of them read.
        if common * COMMON_SHARE >= WORDS_LOOKED_AT {
            return true;
        }
    }
    common * COMMON_SHARE >= words
}

fn is_written_as_name(page: &Page<'_>, span: &Range<usize>) -> bool {
    let word = page.slice(span.clone());
    let is_shouted = word.iter().all(u8::is_ascii_uppercase);
    let length_min = if is_shouted { SHOUTED_MIN } else { LETTERS_MIN };
    word.len() >= length_min
        && word[0].is_ascii_uppercase()
        && LEXICON.sense(word).0 & !Sense::GIVEN.0 == 0
}

/// Not part of an identifier, of a firm, of a saint's place, of an instrument or a disease that bears a name.
fn stands_as_name(page: &Page<'_>, span: &Range<usize>) -> bool {
    let (before, after) = (page.byte_before(span.start), page.byte(span.end));
    let is_tied = |byte: u8| {
        is_word_byte(byte) || matches!(byte, b'-' | b'_' | b'@' | b'/' | b'.' | b'\\' | b'&')
    };
    let goes_on = matches!(after, b'-' | b'_' | b'@' | b'/' | b'&' | b'=')
        || after == b'.' && is_word_byte(page.byte(span.end + 1));
    // "a Heaney clamp", "Kelman tip": what a small word names that is not of the commonest.
    let is_of_small = after == b' '
        && page.byte(span.end + 1).is_ascii_lowercase()
        && page
            .word_at(span.end + 1)
            .is_some_and(|(sense, _)| !sense.has(Sense::STOP | Sense::FILLER));
    !is_tied(before)
        && !goes_on
        && !is_of_small
        && !is_of_thing(page, span)
        && !is_in_code(page, span)
}

/// Whether what stands beside a name makes a thing of it: an article or a place's preposition, a saint, a firm, a disease, a
/// class in a program.
pub(crate) fn is_of_thing(page: &Page<'_>, span: &Range<usize>) -> bool {
    const LEADS: &[&[u8]] = &[
        b"a", b"an", b"the", b"of", b"st", b"saint", b"santa", b"san", b"in", b"near", b"at",
        b"this", b"another",
    ];
    let lead_end = span.start.saturating_sub(1);
    let lead_end = lead_end - usize::from(page.byte_before(lead_end) == b'.');
    let is_led = page.word_before(lead_end).is_some_and(|(_, start)| {
        LEADS
            .iter()
            .any(|lead| page.slice(start..lead_end).eq_ignore_ascii_case(lead))
    });
    let is_of_firm = page.slice(span.end..span.end + 3) == b" & "
        || page.slice(span.start.saturating_sub(3)..span.start) == b" & ";
    let is_class = page.slice(span.end..span.end + 2) == b"::"
        || page.slice(span.start.saturating_sub(2)..span.start) == b"::";
    is_led || is_of_firm || is_class || is_before_eponym_tail(page, span.end, Cue::Given)
}
