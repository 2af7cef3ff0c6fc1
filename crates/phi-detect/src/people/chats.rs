//! Speakers in a chat, and authors who sign with initials: if some speakers are known people, the remaining speakers
//! are too.

use std::collections::HashMap;
use std::ops::Range;

use super::data::is_ward;
use crate::budget::{Few, List};
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, is_word_byte};
use crate::word_list::WordList;

/// Number of spoken lines that make a chat, and range of the number of speakers in it.
const LINES_MIN: usize = 3;
const SPEAKERS: std::ops::RangeInclusive<usize> = 2..=8;
/// Maximum length of a speaker's name in a chat.
const SPEAKER_BYTES_MAX: usize = 20;
/// Minimum length of a time with its signs.
const TIME_BYTES_MIN: usize = 6;

/// Finds the people who speak more than once in a chat with a speaker who is known by name.
pub(crate) fn speakers(
    page: &Page<'_>,
    names: &[Range<usize>],
    is_ordinary: impl Fn(&str) -> bool,
) -> List<Range<usize>> {
    let memory = page.memory();
    let mut lines = 0;
    let mut said: List<Speaker> = memory.list();
    let mut start = 0;
    while start < page.text.len() {
        let rest = page.slice(start..page.text.len());
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        if let Some(speaker) = speaker_of(page, start..start + length) {
            said.push(speaker);
        }
        // What comes before the first line of a chat says nothing about it.
        lines += usize::from(length > 0 && !said.is_empty());
        start += length + 1;
    }
    if said.len() < LINES_MIN || said.len() * 2 < lines {
        return memory.list();
    }
    let mut times: HashMap<&[u8], usize> = HashMap::new();
    for speaker in &said {
        *times.entry(page.slice(speaker.span.clone())).or_default() += 1;
        // More people than talk in a chat.
        if times.len() > *SPEAKERS.end() {
            return memory.list();
        }
    }
    let mut sorted = memory.collect(names.iter().cloned());
    sorted.sort_by_key(|name| name.start);
    let is_known = |word: &Range<usize>| {
        let next = sorted.partition_point(|name| name.end <= word.start);
        sorted.get(next).is_some_and(|name| name.start < word.end)
    };
    let is_person = |word: &Range<usize>| is_known(word) || is_somebody(page, word);
    if !SPEAKERS.contains(&times.len()) || !said.iter().any(|one| is_person(&one.span)) {
        return memory.list();
    }
    let others = said
        .into_iter()
        .filter(|one| times[page.slice(one.span.clone())] > 1 && !is_known(&one.span))
        .filter(|one| may_be_name(page, one, &is_ordinary))
        .map(|one| one.span);
    memory.collect(others)
}

/// Name of the speaker of a line.
struct Speaker {
    span: Range<usize>,
    /// Whether the time follows the name.
    has_time: bool,
}

/// Whether a speaker's name is that of a person: a given name, an account that begins with one, or "me".
fn is_somebody(page: &Page<'_>, word: &Range<usize>) -> bool {
    let text = page.slice(word.clone());
    let first = text
        .split(|byte| !is_word_byte(*byte))
        .next()
        .unwrap_or_default();
    let is_account = first.len() < text.len();
    let is_given = LEXICON.sense(first).has(Sense::GIVEN);
    is_given && (is_account || text[0].is_ascii_uppercase()) || text.eq_ignore_ascii_case(b"me")
}

/// Returns the speaker before the colon of a spoken line ("Bex 06:51: full house", "[07:10] marisol_rn: who").
fn speaker_of(page: &Page<'_>, line: Range<usize>) -> Option<Speaker> {
    let text = page.slice(line.clone());
    let is_of_time = |byte: &u8| {
        byte.is_ascii_digit()
            || matches!(
                byte,
                b':' | b'[' | b']' | b'(' | b')' | b' ' | b'-' | b'>' | b'*'
            )
    };
    let lead = text
        .iter()
        .take(16)
        .take_while(|byte| is_of_time(byte))
        .count();
    let name = text[lead..]
        .iter()
        .take(SPEAKER_BYTES_MAX + 1)
        .take_while(|&&byte| is_word_byte(byte) || matches!(byte, b'_' | b'.' | b'-' | b'\''))
        .count();
    let rest = &text[lead + name..];
    let time = rest
        .iter()
        .take(10)
        .take_while(|byte| is_of_time(byte))
        .count();
    let ends = rest[..time].ends_with(b": ");
    let is_name = (2..=SPEAKER_BYTES_MAX).contains(&name)
        && text[lead].is_ascii_alphabetic()
        && !text[lead..lead + name].ends_with(b".");
    let from = line.start + lead;
    (is_name && ends).then_some(Speaker {
        span: from..from + name,
        has_time: time >= TIME_BYTES_MIN,
    })
}

/// Whether a speaker in a chat has the name of a person or of an account, and not that of an office or a program.
fn may_be_name(page: &Page<'_>, one: &Speaker, is_ordinary: &impl Fn(&str) -> bool) -> bool {
    static OTHERS: WordList = WordList::new(
        "agent ai ans assistant bot doc error human info me note system user warn you",
    );
    let text = page.slice(one.span.clone());
    let first = text
        .split(|byte| !is_word_byte(*byte))
        .next()
        .unwrap_or_default();
    let sense = LEXICON.sense(first);
    let is_other = sense.has(
        Sense::STOP
            | Sense::ROLE
            | Sense::TITLE
            | Sense::KIN
            | Sense::LABEL
            | Sense::CREDENTIAL
            | Sense::INTRODUCES
            | Sense::MONTH,
    ) || OTHERS.has(first)
        || is_ward(first)
        || text.iter().any(u8::is_ascii_digit)
        || text.ends_with(b"bot");
    let is_account = text.iter().any(|byte| matches!(byte, b'_' | b'.'));
    let is_shouted = text.iter().all(u8::is_ascii_uppercase);
    let is_written_as_name = text[0].is_ascii_uppercase() && (!is_shouted || text.len() <= 3);
    let is_word = || std::str::from_utf8(first).is_ok_and(is_ordinary) && !sense.has(Sense::GIVEN);
    !is_other
        && (is_account || is_written_as_name || sense.has(Sense::GIVEN))
        && (one.has_time || !is_word())
}

/// Finds the initials that sign the whole text ("seen Mon. -- RJK", "CTA. BT/mkw").
pub(crate) fn initials_below(page: &Page<'_>) -> Few<Range<usize>> {
    let text = page.bytes();
    let end = text.len() - text.iter().rev().take_while(|byte| is_sign(byte)).count();
    let capitals = |end: usize| {
        let letters = text[..end].iter().rev().take(4);
        letters.take_while(|byte| byte.is_ascii_uppercase()).count()
    };
    let small = text[..end].iter().rev().take(4);
    let small = small.take_while(|byte| byte.is_ascii_lowercase()).count();
    let has_typist = (2..=3).contains(&small)
        && end.checked_sub(small + 1).is_some_and(|slash| {
            text[slash] == b'/'
                && (2..=3).contains(&capitals(slash))
                && opens(text, slash - capitals(slash))
        });
    if has_typist {
        let slash = end - small - 1;
        return vec![slash - capitals(slash)..slash, slash + 1..end];
    }
    let length = capitals(end);
    let start = end - length;
    let before = text[..start].strip_suffix(b" ").unwrap_or(&text[..start]);
    let dashes = before
        .iter()
        .rev()
        .take_while(|&&byte| byte == b'-')
        .count();
    let is_signed = (1..=2).contains(&dashes) && opens(text, before.len() - dashes);
    let word = &text[start..end];
    let is_other = is_ward(word)
        || LEXICON
            .sense(word)
            .has(Sense::CREDENTIAL | Sense::STOP | Sense::STATE);
    if (2..=3).contains(&length) && is_signed && !is_other {
        std::iter::once(start..end).collect()
    } else {
        Few::new()
    }
}

/// Whether a byte may follow the last word of a text.
fn is_sign(byte: &u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'.' | b'"' | b'\'' | b')')
}

/// Whether a sentence or a line ended right before.
fn opens(text: &[u8], start: usize) -> bool {
    match text[..start].split_last() {
        Some((b'\n', _)) => true,
        Some((b' ', before)) => matches!(
            before.last(),
            Some(b'.' | b'!' | b'?' | b',' | b')' | b'\n')
        ),
        Some((b'.', _)) => true,
        _ => false,
    }
}
