//! Questions and their answers: the label is in the one, the value in the other.

use crate::labels::Meaning;
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Label, Page, is_word_byte, word_end};

use super::REACH_BYTES;

/// Returns the start of a label's value: after signs, small words and, in a dialogue, the next speaker.
pub(crate) fn value_after(page: &Page<'_>, label_end: usize) -> usize {
    let bytes = page.bytes();
    let rest = page.slice(label_end..page.text.len().min(label_end + REACH_BYTES));
    // The rest of a question is skipped: "date of birth, Mr. Roe?\nCALLER: six…".
    let question_end = memchr::memchr2(b'\n', b'?', rest).map(|length| label_end + length);
    if let Some(answer) = question_end.and_then(|end| answer_at(bytes, end)) {
        return after_fillers(page, answer.start);
    }
    after_fillers(page, label_end)
}

fn after_fillers(page: &Page<'_>, from: usize) -> usize {
    let bytes = page.bytes();
    let mut at = from;
    while at < bytes.len() && at < from + REACH_BYTES {
        if is_word_byte(bytes[at]) {
            let end = word_end(bytes, at);
            let sense = LEXICON.sense(&bytes[at..end]);
            let is_number = sense.has(Sense::DIGIT_WORD | Sense::NUMBER_WORD);
            // "it's" is "it is".
            let is_short_for = at > from && bytes[at - 1] == b'\'' && end == at + 1;
            let is_of_last = is_number && follows_last(bytes, at);
            if end == at || is_number && !is_of_last || !sense.has(Sense::FILLER) && !is_short_for {
                break;
            }
            at = end;
        } else {
            at += 1;
        }
    }
    at
}

/// Whether "last" precedes a number, which then counts the digits that follow ("last four").
fn follows_last(bytes: &[u8], at: usize) -> bool {
    bytes[..at].ends_with(b"last ") || bytes[..at].ends_with(b"Last ")
}

/// Whether a label is the name of a speaker who answers ("your social?\nMember: 8741"). Only the name of a person or
/// role is one: after "What next?" the line "MRN: 482913" opens a form.
pub(super) fn is_speaker(bytes: &[u8], label: &Label) -> bool {
    let (start, end) = (label.start as usize, label.end as usize);
    let before = &bytes[start.saturating_sub(4)..start];
    let question = before.trim_ascii_end();
    bytes.get(end) == Some(&b':')
        && question.len() < before.len()
        && question.ends_with(b"?")
        && (label.meaning == Meaning::Name
            || LEXICON
                .sense(&bytes[start..end])
                .has(Sense::ROLE | Sense::KIN | Sense::TITLE))
}

/// An answer after a question.
#[derive(Clone, Copy)]
pub(super) struct Answer {
    pub(super) start: usize,
    /// Whether no speaker is named: it may as well be another sentence.
    pub(super) is_unspoken: bool,
}

/// The answer after the end of a question or of its line: "Birthday?\nCaller: May 23",
/// "Birthday? Caller: May 23", "[00:19] CALLER: six", "I have the MRN. It's 482913".
#[inline]
pub(super) fn answer_at(bytes: &[u8], at: usize) -> Option<Answer> {
    let next = at + 1;
    match bytes[at] {
        b'\n' => on_next_line(bytes, next),
        b'?' => {
            let rest = &bytes[next..bytes.len().min(next + 4)];
            let spaces = rest.iter().take_while(|&&byte| byte == b' ').count();
            let next = next + spaces;
            match bytes.get(next) {
                Some(b'\n') => on_next_line(bytes, next + 1).or_else(|| below(bytes, next + 1)),
                Some(_) if spaces > 0 => Some(Answer {
                    start: after_speaker(bytes, next, 2).unwrap_or(next),
                    is_unspoken: true,
                }),
                _ => None,
            }
        }
        b'.' if refers_back(&bytes[next..]) => Some(Answer {
            start: next + 1,
            is_unspoken: true,
        }),
        _ => None,
    }
}

/// Whether the next sentence refers to the value that the last sentence named (" It's 482913").
fn refers_back(rest: &[u8]) -> bool {
    const OPENINGS: &[&[u8]] = &[b"it's ", b"its ", b"it is ", b"that's "];
    let next = rest.get(1..).unwrap_or_default();
    rest.first().is_some_and(u8::is_ascii_whitespace)
        && OPENINGS.iter().any(|opening| {
            next.get(..opening.len())
                .is_some_and(|words| words.eq_ignore_ascii_case(opening))
        })
}

fn on_next_line(bytes: &[u8], start: usize) -> Option<Answer> {
    after_speaker(bytes, start, SPEAKER_WORDS_MAX).map(|start| Answer {
        start,
        is_unspoken: false,
    })
}

/// Returns an answer without a speaker, on the next line or after an empty line ("MRN, please?\n482913").
fn below(bytes: &[u8], start: usize) -> Option<Answer> {
    let start = start + usize::from(bytes.get(start) == Some(&b'\n'));
    (start < bytes.len()).then_some(Answer {
        start,
        is_unspoken: true,
    })
}

const SPEAKER_BYTES_MAX: usize = 32;
const SPEAKER_WORDS_MAX: usize = 6;

/// Returns the start of the words of the speaker named at `start`.
fn after_speaker(bytes: &[u8], start: usize, words_max: usize) -> Option<usize> {
    let rest = &bytes[start.min(bytes.len())..bytes.len().min(start + SPEAKER_BYTES_MAX)];
    let colon = rest.windows(2).position(|pair| pair == b": ")?;
    let name = &rest[..colon];
    let is_name = name.iter().all(|byte| {
        is_word_byte(*byte) || matches!(byte, b' ' | b'.' | b'[' | b']' | b':' | b'-' | b'\'')
    }) && name.iter().any(u8::is_ascii_alphabetic);
    let words = name.iter().filter(|&&byte| byte == b' ').count() + 1;
    (is_name && words <= words_max).then_some(start + colon + 2)
}
