//! Marks of looks in plain text: `**bold**`, `*italic*`, `~~struck~~`, and ticks glued to a value.
//!
//! A pair is removed only if it can be nothing else: stars also multiply and point, underscores also join the words of
//! an identifier, ticks also quote code.

use super::edit::Edit;
use crate::budget::List;

/// Emphasis is a few words.
const INSIDE_BYTES_MAX: usize = 160;
/// A value in ticks or underscores is one word or number.
const VALUE_BYTES_MAX: usize = 40;

/// Takes out the marks of every pair.
pub(super) fn edits(bytes: &[u8], edits: &mut List<Edit>) {
    for mark in [b'*', b'_', b'~', b'`'] {
        pairs(bytes, mark, edits);
    }
}

/// A run of marks that may open a pair.
#[derive(Clone, Copy)]
struct Opener {
    start: usize,
    end: usize,
}

fn pairs(bytes: &[u8], mark: u8, edits: &mut List<Edit>) {
    // The last opener of one, two and three marks.
    let mut open: [Option<Opener>; 3] = [None; 3];
    let mut next_from = 0;
    for start in memchr::memchr_iter(mark, bytes) {
        if start < next_from {
            continue;
        }
        let length = bytes[start..]
            .iter()
            .take(4)
            .take_while(|&&byte| byte == mark)
            .count();
        let end = start + length;
        next_from = end;
        let Some(slot) = open.get_mut(length - 1) else {
            continue;
        };
        let closed = slot.filter(|opener| is_pair(bytes, mark, *opener, start, end));
        if let Some(opener) = closed {
            edits.push(Edit::drop(opener.start..opener.end));
            edits.push(Edit::drop(start..end));
            *slot = None;
        } else {
            *slot = opens(bytes, end).then_some(Opener { start, end });
        }
    }
}

fn opens(bytes: &[u8], end: usize) -> bool {
    bytes
        .get(end)
        .is_some_and(|&byte| is_part(byte) || matches!(byte, b'(' | b'[' | b'"' | b'+' | b'#'))
}

/// Whether this is a letter or digit.
fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// Whether the marks before `inside` and from `start` to `end` belong together and only change looks.
fn is_pair(bytes: &[u8], mark: u8, opener: Opener, start: usize, end: usize) -> bool {
    let inside = &bytes[opener.end..start];
    let before = opener.start.checked_sub(1).map_or(b' ', |at| bytes[at]);
    let after = bytes.get(end).copied().unwrap_or(b' ');
    let closes = inside
        .last()
        .is_some_and(|&byte| is_part(byte) || matches!(byte, b')' | b']' | b'"' | b':' | b'.'));
    if !closes || inside.len() > INSIDE_BYTES_MAX || inside.contains(&b'\n') {
        return false;
    }
    let is_one = opener.end - opener.start == 1;
    let is_slash = |byte: u8| matches!(byte, b'/' | b'\\');
    let is_number = || inside.len() <= VALUE_BYTES_MAX && holds_only_a_number(inside);
    match mark {
        b'*' if is_one => !is_part(before) && !is_slash(before) && !is_slash(after),
        b'*' => !(is_part(before) && is_part(after)),
        b'~' => !is_one,
        b'_' => is_number() || !is_one && !is_part(before) && splits_word(inside, after),
        _ => is_one && is_glued(bytes, before, end) && inside.len() <= VALUE_BYTES_MAX,
    }
}

fn holds_only_a_number(inside: &[u8]) -> bool {
    inside.iter().all(|byte| {
        byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'/' | b' ' | b'(' | b')')
    })
}

/// Whether the mark ends in the middle of a word (`__Ma__ria`).
fn splits_word(inside: &[u8], after: u8) -> bool {
    after.is_ascii_lowercase()
        && inside.iter().all(u8::is_ascii_alphabetic)
        && inside[0].is_ascii_uppercase()
}

/// Whether a value goes on beyond the marks: `` `206`-555 ``, `` 536`-`22 ``.
fn is_glued(bytes: &[u8], before: u8, end: usize) -> bool {
    let after = bytes.get(end).copied().unwrap_or(b' ');
    let goes_on = matches!(after, b'-' | b'.' | b'@')
        && bytes.get(end + 1).is_some_and(|&byte| is_part(byte));
    is_part(after) || goes_on || is_part(before)
}
