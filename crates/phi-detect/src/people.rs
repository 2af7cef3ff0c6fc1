//! Reads names of people: capitalised words, initials, particles, suffixes.

use std::ops::Range;

use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, is_word_byte};

/// What makes us expect a name; the weaker the cue, the more the words must look like one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cue {
    /// "Dr. …": one capitalised word will do.
    Title,
    /// "Name: …": also in lower case.
    Label,
    /// "patient …", "my husband …".
    Weak,
    /// The first word is a known given name.
    Given,
}

/// One word of a name.
struct Part {
    span: Range<usize>,
    sense: Sense,
    is_capital: bool,
    is_initial: bool,
}

/// The name that starts exactly at `start`, if the words there look like one.
pub(crate) fn name_at(page: &Page<'_>, start: usize, cue: Cue) -> Option<Range<usize>> {
    let mut at = start;
    let mut end = start;
    let mut parts = 0;
    let mut known = 0;
    while parts < 5 {
        let Some(part) = part_at(page, at) else {
            break;
        };
        let text = page.slice(part.span.clone());
        if !fits(&part, text, cue, parts) {
            break;
        }
        parts += 1;
        known += usize::from(part.sense.has(Sense::GIVEN));
        // A particle is part of a name only when a name goes on after it.
        if !part.sense.has(Sense::PARTICLE) || part.is_capital {
            end = part.span.end;
        }
        let Some(next) = next_start(page, part.span.end, cue, parts) else {
            break;
        };
        at = next;
    }
    let end = with_suffix(page, end);
    let is_eponym = parts > 0 && is_before_eponym_tail(page, end, cue);
    let is_enough = match cue {
        Cue::Title | Cue::Given => parts >= 1,
        Cue::Label => {
            let is_last_first = parts >= 2 && page.slice(start..end).contains(&b',');
            parts >= 1 && (known > 0 || page.byte(start).is_ascii_uppercase() || is_last_first)
        }
        Cue::Weak => parts >= 1,
    };
    (end > start && is_enough && !is_eponym).then_some(start..end)
}

/// Whether this word can be the next part of a name.
fn fits(part: &Part, text: &[u8], cue: Cue, position: usize) -> bool {
    let is_stop = part.sense.has(Sense::STOP) && !part.sense.has(Sense::GIVEN);
    let is_other_word = part.sense.has(Sense::CREDENTIAL)
        || part.sense.has(Sense::TITLE)
        || part.sense.has(Sense::EPONYM_TAIL)
        || (part.sense.has(Sense::MONTH) && !part.sense.has(Sense::GIVEN));
    if part.is_initial {
        return position > 0 || matches!(cue, Cue::Title | Cue::Label);
    }
    if part.sense.has(Sense::PARTICLE) && (position > 0 || part.is_capital) {
        return true;
    }
    if is_stop
        || (is_other_word && position > 0 && !part.sense.has(Sense::GIVEN))
        || part.sense.has(Sense::LABEL) && !part.sense.has(Sense::GIVEN)
    {
        return false;
    }
    let is_acronym =
        text.len() <= 4 && text.iter().all(u8::is_ascii_uppercase) && !part.sense.has(Sense::GIVEN);
    if is_acronym && cue != Cue::Title {
        return false;
    }
    part.is_capital || (cue == Cue::Label && part.sense.0 & !Sense::GIVEN.0 == 0)
}

/// Where the next part would start: after one space, a hyphen or, in "Last, First", a comma.
fn next_start(page: &Page<'_>, end: usize, cue: Cue, parts: usize) -> Option<usize> {
    let at = end + usize::from(page.byte(end) == b'.');
    match page.byte(at) {
        b' ' if page.byte(at + 1) != b' ' => Some(at + 1),
        b',' if parts == 1 && cue == Cue::Label && page.byte(at + 1) == b' ' => Some(at + 2),
        _ => None,
    }
}

fn with_suffix(page: &Page<'_>, end: usize) -> usize {
    let at = end
        + page
            .slice(end..end + 2)
            .iter()
            .take_while(|byte| matches!(byte, b',' | b' '))
            .count();
    let word_end = at
        + page
            .slice(at..page.text.len().min(at + 4))
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
    let is_suffix = matches!(
        page.slice(at..word_end),
        b"Jr" | b"Sr" | b"II" | b"III" | b"IV" | b"JR" | b"SR" | b"jr" | b"sr"
    );
    if at > end && is_suffix {
        word_end
            + usize::from(
                page.byte(word_end) == b'.' && !page.byte(word_end + 1).is_ascii_alphanumeric(),
            )
    } else {
        end
    }
}

/// "Parkinson disease", "Foley catheter": the words are a name, but nobody's.
fn is_before_eponym_tail(page: &Page<'_>, end: usize, cue: Cue) -> bool {
    if cue == Cue::Title {
        return false;
    }
    let mut at = end;
    if page.slice(at..at + 2) == b"'s" {
        at += 2;
    }
    page.byte(at) == b' '
        && page
            .word_at(at + 1)
            .is_some_and(|(sense, _)| sense.has(Sense::EPONYM_TAIL))
}

/// The word at `start`, with hyphens and apostrophes inside it.
fn part_at(page: &Page<'_>, start: usize) -> Option<Part> {
    let bytes = page.bytes();
    let mut end = start;
    while end < bytes.len() && end < start + 40 {
        let byte = bytes[end];
        let joins = matches!(byte, b'-' | b'\'')
            && end > start
            && bytes.get(end + 1).is_some_and(u8::is_ascii_alphabetic)
            && !is_possessive(bytes, end);
        if !(byte.is_ascii_alphabetic() || byte >= 0x80 || joins) {
            break;
        }
        end += 1;
    }
    if end == start
        || bytes
            .get(end)
            .is_some_and(|&byte| is_word_byte(byte) || byte == b'@' || byte == b'_')
    {
        return None;
    }
    let text = &bytes[start..end];
    let simple = text.split(|&byte| byte == b'-').next().unwrap_or(text);
    let first = page.text[start..].chars().next()?;
    Some(Part {
        span: start..end,
        sense: LEXICON.sense(simple),
        is_capital: first.is_uppercase(),
        is_initial: text.len() == 1 && first.is_uppercase(),
    })
}

fn is_possessive(bytes: &[u8], apostrophe: usize) -> bool {
    bytes[apostrophe] == b'\''
        && matches!(bytes.get(apostrophe + 1), Some(b's' | b'S'))
        && bytes
            .get(apostrophe + 2)
            .is_none_or(|&byte| !is_word_byte(byte))
}

/// Where the value of a label starts, and whether a sign or verb announces it.
pub(crate) fn value_start(page: &Page<'_>, label_end: usize) -> Option<(usize, bool)> {
    let bytes = page.bytes();
    let limit = bytes.len().min(label_end + 12);
    let mut at = label_end;
    let mut is_explicit = false;
    let mut spaces = 0;
    while at < limit {
        match bytes[at] {
            b':' | b'=' | b'>' => is_explicit = true,
            b' ' | b'\t' => spaces += 1,
            b'"' | b'\'' | b'*' if is_explicit => {}
            b'.' if at == label_end => {}
            _ => break,
        }
        at += 1;
    }
    for verb in [b"is ".as_slice(), b"was ", b"named ", b"called "] {
        if page.slice(at..at + verb.len()).eq_ignore_ascii_case(verb) && at > label_end {
            return Some((at + verb.len(), true));
        }
    }
    // Two spaces are what redaction leaves.
    let is_redacted = !is_explicit && spaces != 1;
    (at > label_end && !is_redacted).then_some((at, is_explicit))
}

/// Where a surname and comma right before a given name start: "Galloway, Leah".
pub(crate) fn surname_before(page: &Page<'_>, given: usize) -> Option<usize> {
    let comma = given.checked_sub(2)?;
    if page.slice(comma..given) != b", " {
        return None;
    }
    let (_, mut start) = page.word_before(comma)?;
    while start > 1
        && matches!(page.byte(start - 1), b'-' | b'\'')
        && page.byte(start - 2).is_ascii_alphabetic()
    {
        start = page.word_before(start - 1)?.1;
    }
    let part = part_at(page, start)?;
    let is_free = !is_word_byte(page.byte_before(start));
    let is_listed =
        part.sense.has(Sense::STOP) || part.sense.has(Sense::LABEL) || part.sense.has(Sense::STATE);
    (part.is_capital
        && part.span.len() > 1
        && is_free
        && !is_listed
        && page.byte(given).is_ascii_uppercase())
    .then_some(start)
}

/// Whether a name has more than its given name: another capitalised word of two letters or more.
pub(crate) fn has_surname(page: &Page<'_>, span: &Range<usize>) -> bool {
    page.slice(span.clone())
        .split(|&byte| byte == b' ')
        .filter(|word| word.len() > 1 && word[0].is_ascii_uppercase())
        .count()
        >= 2
}

/// Whether the whole value of a name field can be a name.
pub(crate) fn is_name_value(value: &[u8]) -> bool {
    let letters = value
        .iter()
        .filter(|&&byte| byte.is_ascii_alphabetic() || byte >= 0x80)
        .count();
    letters >= 1
        && value.len() <= 80
        && !value.iter().any(|byte| {
            byte.is_ascii_digit()
                || matches!(
                    byte,
                    b'@' | b'_' | b'{' | b'}' | b'<' | b'>' | b'[' | b']' | b'/'
                )
        })
}
