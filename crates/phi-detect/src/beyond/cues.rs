//! Labels of the kinds beyond the eight, in prose, forms and keys of data, and the value behind each.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use super::Proposals;
use super::value;
use crate::kinds::PhiKind;
use crate::page::Page;
use crate::words::{AsIs, hash, hash_in};

/// The most words of a cue.
const LONGEST: usize = 5;

/// Words that may follow a cue before its value.
const FILLERS: &str = "number|numbers|no|num|nr|nos|id|ids|is|was|are|were|of|value|the|as";

/// A cue, or the beginning of one.
#[derive(Clone, Copy, Default)]
struct Entry {
    kind: Option<PhiKind>,
    goes_on: bool,
}

/// Every cue and every beginning of one, by the hash of its words.
static TABLE: LazyLock<HashMap<u64, Entry, AsIs>> = LazyLock::new(|| {
    let mut table: HashMap<u64, Entry, AsIs> = HashMap::default();
    for kind in PhiKind::all() {
        let cues = kind.rule().cues.split('|').filter(|cue| !cue.is_empty());
        for cue in cues {
            let mut key = 0;
            let mut words = cue.split(' ').peekable();
            while let Some(word) = words.next() {
                key = extend(key, hash(word.as_bytes()));
                let entry = table.entry(key).or_default();
                match words.peek() {
                    Some(_) => entry.goes_on = true,
                    None => entry.kind = Some(kind),
                }
            }
        }
    }
    table
});

fn extend(key: u64, word: u64) -> u64 {
    key.rotate_left(17).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word
}

/// A label of a kind in the text.
pub(super) struct Cue {
    pub(super) kind: PhiKind,
    pub(super) end: usize,
}

/// Proposes the values behind the cues of a page.
pub(super) fn find(page: &Page<'_>, out: &mut Proposals<'_>) {
    let bytes = page.bytes();
    let mut way = page.way();
    let mut at = 0;
    while let Some(word) = word_from(bytes, at) {
        if !way.goes_on(word.start) {
            return;
        }
        at = word.end;
        let is_inside = word.start > 0 && bytes[word.start - 1].is_ascii_digit();
        if is_inside {
            continue;
        }
        let Some(cue) = cue_at(bytes, word) else {
            continue;
        };
        at = cue.end;
        let Some((start, is_signed)) = behind(bytes, cue.end) else {
            continue;
        };
        if let Some((span, score)) = value::of_kind(page, cue.kind, start, is_signed) {
            out.push(page, cue.kind, span, score, "cue.label");
        }
    }
}

/// The longest cue that begins with a word.
fn cue_at(bytes: &[u8], first: Range<usize>) -> Option<Cue> {
    let mut key = 0;
    let mut word = first;
    let mut longest = None;
    for _ in 0..LONGEST {
        key = extend(key, hash_in(bytes, word.clone()));
        let entry = TABLE.get(&key)?;
        if let Some(kind) = entry.kind {
            longest = Some(Cue {
                kind,
                end: word.end,
            });
        }
        if !entry.goes_on {
            break;
        }
        let Some(next) = next_word(bytes, word.end) else {
            break;
        };
        if !TABLE.contains_key(&extend(key, hash_in(bytes, next.clone()))) {
            break;
        }
        word = next;
    }
    longest
}

/// The kind of a cue that makes up a whole text, such as the head of a column.
pub(super) fn of_whole(text: &[u8]) -> Option<PhiKind> {
    let first = word_from(text, 0)?;
    let mut words = 0;
    let mut at = first.start;
    // Words before the cue say whose number it is ("referring_facility", "meter_serial").
    while let Some(word) = word_from(text, at) {
        if let Some(cue) = cue_at(text, word.clone())
            && !text[cue.end..].iter().any(u8::is_ascii_alphanumeric)
        {
            return Some(cue.kind);
        }
        at = word.end;
        words += 1;
        if words > 3 {
            return None;
        }
    }
    None
}

/// The place of the value behind a cue, and whether a sign ties the two.
fn behind(bytes: &[u8], end: usize) -> Option<(usize, bool)> {
    const REACH: usize = 28;
    let mut at = end;
    let mut is_signed = false;
    let mut has_break = false;
    let limit = bytes.len().min(end + REACH);
    while at < limit {
        match bytes[at] {
            b':' | b'=' | b'#' | b'"' | b'\'' | b'>' | b'|' | b'(' | b'\t' => is_signed = true,
            b'\n' if has_break => return None,
            b'\n' => has_break = true,
            b' ' | b'.' | b'-' | b'*' | b'_' | b'\r' => {}
            byte if byte.is_ascii_alphabetic() => {
                let word = word_from(bytes, at)?;
                if !is_filler(&bytes[word.clone()])
                    || bytes.get(word.end).is_some_and(u8::is_ascii_digit)
                {
                    return Some((at, is_signed));
                }
                is_signed |= !matches!(&bytes[word.clone()], b"of" | b"the" | b"as");
                at = word.end;
                continue;
            }
            byte if byte.is_ascii_digit() || byte == b'@' || byte >= 0x80 => {
                return Some((at, is_signed));
            }
            _ => return None,
        }
        at += 1;
    }
    None
}

fn is_filler(word: &[u8]) -> bool {
    FILLERS
        .split('|')
        .any(|filler| filler.as_bytes().eq_ignore_ascii_case(word))
}

/// The next word of letters from a place on: cut at capitals, as keys of data are.
fn word_from(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let start = at + bytes.get(at..)?.iter().position(u8::is_ascii_alphabetic)?;
    Some(start..word_end(bytes, start))
}

fn word_end(bytes: &[u8], start: usize) -> usize {
    const LONGEST_WORD: usize = 24;
    let rest = &bytes[start..bytes.len().min(start + LONGEST_WORD)];
    let mut end = 1;
    while let Some(byte) = rest.get(end) {
        let before = rest[end - 1];
        let is_hump = before.is_ascii_lowercase() && byte.is_ascii_uppercase();
        let is_last_capital = before.is_ascii_uppercase()
            && byte.is_ascii_uppercase()
            && rest.get(end + 1).is_some_and(u8::is_ascii_lowercase);
        if !byte.is_ascii_alphabetic() || is_hump || is_last_capital {
            break;
        }
        end += 1;
    }
    start + end
}

/// The word that follows directly, or behind one sign or two.
fn next_word(bytes: &[u8], end: usize) -> Option<Range<usize>> {
    let gap = bytes[end..bytes.len().min(end + 3)]
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'_' | b'-' | b'.' | b'/' | b'\''))
        .count();
    let start = end + gap;
    let is_letter = bytes.get(start).is_some_and(u8::is_ascii_alphabetic);
    (gap < 3 && is_letter).then(|| start..word_end(bytes, start))
}
