//! Finds the labels of a page by matching phrases of the label table, word by word.

use std::ops::Range;

use super::{Label, Mark, is_word_byte};
use crate::budget::{self, Budget, List};
use crate::bytes8;
use crate::labels::{self, Meaning};
use crate::lexicon::{self, Sense};

/// Matches phrases of the label table at the marks that can start one; the longest wins.
pub(super) fn find(bytes: &[u8], marks: &List<Mark>, budget: Option<&Budget<'_>>) -> List<Label> {
    let mut found: List<Label> = marks.memory().list();
    found.reserve(marks.len() / 4);
    let mut free_from = 0;
    let marks = budget::through(budget, marks);
    for mark in marks.filter(|mark| mark.sense.has(Sense::LABEL | Sense::KEY)) {
        if (mark.start as usize) < free_from {
            continue;
        }
        if mark.sense.has(Sense::KEY) {
            let key = std::str::from_utf8(&bytes[mark.range()]).unwrap_or_default();
            found.extend(labels::of_key(key).map(|meaning| Label {
                start: mark.start,
                end: mark.end,
                meaning,
            }));
            continue;
        }
        if let Some((end, meaning)) = longest_phrase(bytes, mark.range())
            && (mark.len() > 1 || end > mark.end as usize || is_abbreviation(bytes, mark.range()))
        {
            free_from = end;
            if let Some(last) = found.last_mut()
                && goes_on(bytes, last, mark.range())
            {
                last.end = end as u32;
                continue;
            }
            found.push(Label {
                start: mark.start,
                end: end as u32,
                meaning,
            });
        }
    }
    found
}

/// Whether the word belongs to the label before it ("credit card number", "dob = DATE '1962…'").
fn goes_on(bytes: &[u8], last: &Label, word: Range<usize>) -> bool {
    let gap = &bytes[last.end as usize..word.start];
    let gap = gap
        .strip_suffix(b"TO_")
        .or(gap.strip_suffix(b"to_"))
        .or(gap.strip_suffix(b"new "))
        .or(gap.strip_suffix(b"as."))
        .unwrap_or(gap);
    let is_next =
        (1..=3).contains(&gap.len()) && gap.iter().all(|byte| matches!(byte, b' ' | b'=' | b':'));
    let word = &bytes[word];
    let is_number = word.eq_ignore_ascii_case(b"number") && last.meaning != Meaning::Name;
    let is_date = word.eq_ignore_ascii_case(b"date") && last.meaning == Meaning::Dob;
    is_next && (is_number || is_date)
}

/// Whether a single letter is a label, which it is only with its sign ("b. 1962", "T: 206…").
fn is_abbreviation(bytes: &[u8], letter: Range<usize>) -> bool {
    let before = letter
        .start
        .checked_sub(1)
        .map_or(b' ', |before| bytes[before]);
    let after = bytes.get(letter.end).copied().unwrap_or(0);
    // "Priya B. came on 5/6/2025": a capital is a person's initial.
    if bytes[letter.start] == b'B' && before != b'(' {
        return false;
    }
    // "(C) 206…" beside "(H) 206…".
    let is_bracketed = before == b'(' && after == b')';
    is_bracketed
        || matches!(after, b':' | b'.')
            && matches!(before, b' ' | b'\n' | b'\t' | b'(' | b',' | b'|' | b';')
}

fn longest_phrase(bytes: &[u8], head: Range<usize>) -> Option<(usize, Meaning)> {
    let mut key = 0;
    let mut at = head.start;
    let mut longest = None;
    for position in 0..labels::LONGEST {
        let end = if position == 0 {
            head.end
        } else {
            chunk_end(bytes, at)
        };
        if end == at {
            break;
        }
        key = labels::extend(key, lexicon::hash_in(bytes, at..end));
        let Some(phrase) = labels::phrase(key) else {
            break;
        };
        longest = phrase.meaning.map(|meaning| (end, meaning)).or(longest);
        if !phrase.goes_on {
            break;
        }
        if let Some(sign) = number_sign(bytes, end) {
            // "Hospital #" is "hospital number".
            if let Some(meaning) = labels::meaning(labels::extend(key, lexicon::hash(b"number"))) {
                longest = Some((sign, meaning));
            }
            break;
        }
        at = next_label_word(bytes, end);
        if at == end {
            break;
        }
    }
    longest
}

/// Returns the end of a number sign right after a label word ("Hospital #", "M.R. #").
fn number_sign(bytes: &[u8], end: usize) -> Option<usize> {
    let end = end + usize::from(bytes.get(end) == Some(&b'.'));
    let at = end + usize::from(bytes.get(end) == Some(&b' '));
    let many = usize::from(matches!(bytes.get(at + 1), Some(b's' | b'S')));
    let is_many = many == 1 && !bytes.get(at + 2).is_some_and(|&byte| is_word_byte(byte));
    (bytes.get(at) == Some(&b'#')).then_some(at + 1 + usize::from(is_many))
}

/// Returns the end of the run of letters and digits at `at`; a word of a label has at most 24 bytes.
fn chunk_end(bytes: &[u8], at: usize) -> usize {
    bytes8::run_end(bytes, at, 24, |eight| {
        bytes8::any_letters(eight) | bytes8::digits(eight)
    })
}

/// Steps over the signs allowed between the words of a label: a space, "'s", "_", "-", ".".
fn next_label_word(bytes: &[u8], end: usize) -> usize {
    let mut at = end;
    if bytes[at..].starts_with(b"'s ") || bytes[at..].starts_with(b"'S ") {
        at += 2;
    }
    let limit = bytes.len().min(at + 2);
    at + bytes[at..limit]
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'_' | b'-' | b'.' | b'/'))
        .count()
}
