//! Text between a label and a value, and how firmly it ties them.

use super::Strength;
use super::answer::{Answer, answer_at};
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, is_word_byte, placeholder_at, word_end};
use crate::word_list::WordList;

/// Maximum number of words other than fillers between label and value.
const REACH_WORDS: usize = 7;
/// Maximum number of words that qualify a label, up to its colon.
const QUALIFYING_WORDS_MAX: usize = 5;

/// Summary of the text between a label and a value.
#[derive(Default)]
pub(super) struct Gap {
    words: usize,
    /// Numbers of three digits or more; shorter ones are counts and ages.
    pub(super) numbers: usize,
    line_breaks: usize,
    /// Answer to the question that contains the label.
    answer: Option<Answer>,
    /// Words after the last number.
    since: Since,
}

/// Words after the last number of a gap, or after the label of a gap without numbers.
#[derive(Default)]
struct Since {
    words: usize,
    /// Small words other than joints.
    fillers: usize,
    /// Number of words that put one value beside another ("and", "to").
    joints: usize,
}

impl Gap {
    /// Reads the gap; none if a sentence ends in it.
    pub(super) fn read(page: &Page<'_>, from: usize, to: usize) -> Option<Gap> {
        let bytes = page.bytes();
        let mut gap = Gap::default();
        let mut at = from;
        while at < to {
            let byte = bytes[at];
            if let Some(answer) = answer_at(bytes, at).filter(|answer| answer.start <= to)
                && gap.answer.is_none()
                && gap.numbers == 0
            {
                gap.answer = Some(answer);
                // The rest of a question after its label does not count as distance ("your MRN, so that I can look
                // you up?\n482913").
                if byte == b'?' && bytes[at..answer.start].contains(&b'\n') {
                    (gap.words, gap.since) = (0, Since::default());
                }
                at = answer.start;
            } else if byte.is_ascii_digit() {
                let end = skip_code(bytes, at, to);
                gap.number(end - at >= 3);
                at = end;
            } else if is_word_byte(byte) {
                at = gap.word(bytes, at, from, to);
            } else if byte == b'['
                && let Some(length) = placeholder_at(&bytes[at..])
            {
                // A placeholder counts as the value that it replaces ("MRNs [MRN], 482914").
                gap.number(true);
                at += length;
            } else {
                // Dots in a row lead the eye: "MRN ........ 482913".
                let is_leader = at > from && byte == b'.' && bytes[at - 1] == b'.';
                let ends_sentence = matches!(byte, b'.' | b'?' | b'!')
                    && bytes.get(at + 1).is_some_and(u8::is_ascii_whitespace)
                    && at > from
                    && !is_leader
                    && !bytes[..at].ends_with(b" vs");
                if ends_sentence {
                    return None;
                }
                gap.line_breaks += usize::from(byte == b'\n');
                if byte == b':' && gap.only_qualifies(bytes, from, at) {
                    gap = Gap::default();
                }
                at += 1;
            }
        }
        Some(gap)
    }

    /// Whether the words up to a colon only qualify the label ("MRN (outside hospital):", "MRN at referring site:").
    fn only_qualifies(&self, bytes: &[u8], from: usize, colon: usize) -> bool {
        let is_short = (1..=QUALIFYING_WORDS_MAX).contains(&self.words);
        if !is_short || self.numbers > 0 || self.answer.is_some() {
            return false;
        }
        let words = &bytes[from..colon];
        let ends = bytes.get(colon + 1).is_none_or(u8::is_ascii_whitespace);
        // "Tel. of her son:": the dot is the label's.
        let opens = words.strip_prefix(b".").unwrap_or(words).first() == Some(&b' ');
        let parts = |byte: &u8| matches!(byte, b',' | b';' | b'\n' | b'=' | b'"');
        opens && ends && !words.iter().any(parts)
    }

    /// Takes the word at `at` into account and returns its end.
    fn word(&mut self, bytes: &[u8], at: usize, from: usize, to: usize) -> usize {
        let end = word_end(bytes, at).max(at + 1).min(to);
        if is_prefix_of_number(bytes, at, end) {
            self.number(true);
            return skip_code(bytes, at, to);
        }
        // "birthday's" is "birthday is".
        if at > from && bytes[at - 1] == b'\'' && end == at + 1 {
            return end;
        }
        if is_joint(&bytes[at..end]) {
            self.since.joints += 1;
        } else if LEXICON.sense_in(bytes, at..end).has(Sense::FILLER) {
            self.since.fillers += 1;
        } else {
            self.words += 1;
            self.since.words += 1;
        }
        end
    }

    fn number(&mut self, is_long: bool) {
        if is_long {
            self.numbers += 1;
            self.since = Since::default();
        }
    }

    pub(super) fn tie(&self) -> Option<Strength> {
        let is_beside = self.numbers > 0 && self.since.words == 0 && self.since.fillers == 0;
        let is_joined = is_beside && self.since.joints > 0;
        match (self.words, self.numbers, self.line_breaks) {
            (0, 0, 0..=2) => Some(Strength::Tight),
            (1..=2, 0, 0) if self.answer.is_some() => Some(Strength::Tight),
            _ if self.answer.is_some_and(|answer| answer.is_unspoken) => None,
            (0, ..) if is_beside => Some(Strength::List),
            (0..=REACH_WORDS, 0, 0) => Some(Strength::Near),
            // "MRN changed from 771204 to 771240".
            (1..=2, 1, 0) if is_joined => Some(Strength::Near),
            _ => None,
        }
    }
}

/// Words that put one value beside another.
fn is_joint(word: &[u8]) -> bool {
    static JOINTS: WordList = WordList::new("and or to into not vs versus");
    JOINTS.has(word)
}

/// Whether capitals are tied to digits, and so are part of the number (`P-20881`).
fn is_prefix_of_number(bytes: &[u8], start: usize, end: usize) -> bool {
    end - start <= 4
        && bytes[start..end].iter().all(u8::is_ascii_uppercase)
        && matches!(bytes.get(end), Some(b'-' | b'/' | b'.'))
        && bytes.get(end + 1).is_some_and(u8::is_ascii_digit)
}

/// Steps over digits and what is tied to them, so that a number counts once.
fn skip_code(bytes: &[u8], at: usize, to: usize) -> usize {
    at + bytes[at..to]
        .iter()
        .take_while(|&&byte| is_word_byte(byte) || matches!(byte, b'-' | b'/' | b'.'))
        .count()
}
