//! What the surroundings of a value say about it: the nearest label, and how firmly it is tied.

use crate::labels::Meaning;
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, is_word_byte, placeholder_at, word_end};

/// How firmly a label is tied to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tie {
    /// Somewhere before, in the same sentence.
    Near,
    /// In a list that the label opens: "MRNs 123456, 234567".
    List,
    /// With nothing but punctuation and small words between: "SSN on file is", "DOB:".
    Tight,
    /// The value stands in a field of that name.
    Field,
}

/// A label that lays claim to a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Claim {
    pub(crate) meaning: Meaning,
    pub(crate) tie: Tie,
    /// Where the label ends, or the field starts.
    pub(crate) from: usize,
}

impl Claim {
    pub(crate) fn is(&self, meaning: Meaning) -> bool {
        self.meaning == meaning
    }

    /// Whether the label is bound to the value rather than just in the same sentence.
    pub(crate) fn is_firm(&self) -> bool {
        self.tie >= Tie::List
    }
}

/// How far before a value a label may stand, in bytes.
const REACH_BYTES: usize = 72;
/// How many labels before a value are looked at.
const REACH_LABELS: usize = 5;
/// How many words that are no fillers may stand between label and value.
const REACH_WORDS: usize = 7;

/// The nearest label before `at` among those that `decides` accepts.
pub(crate) fn claim_before(
    page: &Page<'_>,
    at: usize,
    decides: impl Fn(Meaning) -> bool,
) -> Option<Claim> {
    let field = page.field_at(at);
    let floor = field.map_or(0, |field| field.span.start);
    let next = page
        .labels
        .partition_point(|label| (label.end as usize) <= at);
    let reachable = page.labels[..next].iter().rev().take(REACH_LABELS);
    let reachable = reachable.take_while(|label| {
        label.start as usize >= floor && at - label.end as usize <= REACH_BYTES
    });
    // Mostly there is nothing that could decide, and no need to read what stands between.
    let field_meaning = field.and_then(|field| field.meaning);
    let mut meanings = reachable.clone().map(|label| label.meaning);
    if !meanings.any(&decides) && !field_meaning.is_some_and(&decides) {
        return None;
    }
    for label in reachable {
        let end = label.end as usize;
        // A sentence or a placeholder ends the reach of labels, and of the field's name.
        let gap = Gap::read(page, end, at)?;
        if decides(label.meaning) {
            return gap.tie().map(|tie| Claim {
                meaning: label.meaning,
                tie,
                from: end,
            });
        }
    }
    let field = field?;
    let meaning = field.meaning.filter(|&meaning| decides(meaning))?;
    Some(Claim {
        meaning,
        tie: Tie::Field,
        from: field.span.start,
    })
}

/// Whether the sentence up to `at` speaks of something, however far back and whatever else it names.
pub(crate) fn is_spoken_of(page: &Page<'_>, at: usize, meaning: impl Fn(Meaning) -> bool) -> bool {
    let next = page
        .labels
        .partition_point(|label| (label.end as usize) <= at);
    page.labels[..next]
        .iter()
        .rev()
        .take(REACH_LABELS + 3)
        .take_while(|label| at - (label.end as usize) <= REACH_BYTES * 2)
        .any(|label| meaning(label.meaning) && Gap::read(page, label.end as usize, at).is_some())
}

/// The label right after `end`: "536-22-8741 (SSN)", "3/14/62 is her date of birth".
pub(crate) fn claim_after(
    page: &Page<'_>,
    end: usize,
    decides: impl Fn(Meaning) -> bool,
) -> Option<Claim> {
    let next = page
        .labels
        .partition_point(|label| (label.start as usize) < end);
    let label = page.labels.get(next)?;
    let start = label.start as usize;
    if start - end > 24 || !decides(label.meaning) {
        return None;
    }
    // "536-22-8741, SSN: 123…": the label opens something else.
    let opens_its_own = {
        let rest = page.slice(label.end as usize..page.text.len().min(label.end as usize + 3));
        let rest = rest.trim_ascii_start();
        matches!(rest.first(), Some(b':' | b'=' | b'#'))
            || rest.first().is_some_and(u8::is_ascii_digit)
    };
    if opens_its_own {
        return None;
    }
    let between = page.slice(end..start);
    let says_so = between.trim_ascii() == b"("
        || between.trim_ascii() == b"["
        || between.trim_ascii() == b"-"
        || starts_with_word(between, &[b"is", b"was", b"as", b"for"]);
    says_so.then_some(Claim {
        meaning: label.meaning,
        tie: Tie::Tight,
        from: end,
    })
}

fn starts_with_word(text: &[u8], words: &[&[u8]]) -> bool {
    let text = text.trim_ascii_start();
    words.iter().any(|word| {
        text.len() > word.len()
            && text[..word.len()].eq_ignore_ascii_case(word)
            && !is_word_byte(text[word.len()])
    })
}

/// Where the value of a label starts: after signs, small words and, in a dialogue, the next speaker.
pub(crate) fn value_after(page: &Page<'_>, label_end: usize) -> usize {
    let bytes = page.bytes();
    let rest = page.slice(label_end..page.text.len().min(label_end + REACH_BYTES));
    // The rest of a question is skipped: "date of birth, Mr. Roe?\nCALLER: six…".
    let line_end = memchr::memchr(b'\n', rest).map(|length| label_end + length);
    if let Some(answer) = line_end.and_then(|end| answer_start(bytes, end)) {
        return after_fillers(page, answer);
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
            if end == at || is_number || !sense.has(Sense::FILLER) {
                break;
            }
            at = end;
        } else {
            at += 1;
        }
    }
    at
}

/// What stands between a label and a value.
#[derive(Default)]
struct Gap {
    words: usize,
    /// Small words other than "and" and "or".
    fillers: usize,
    /// Numbers of three digits or more; shorter ones are counts and ages.
    numbers: usize,
    line_breaks: usize,
    /// Whether the label is in a question and the value in its answer.
    is_answer: bool,
}

impl Gap {
    /// Reads the gap; none if a sentence ends in it or a placeholder already fills it.
    fn read(page: &Page<'_>, from: usize, to: usize) -> Option<Gap> {
        let bytes = page.bytes();
        let mut gap = Gap::default();
        let mut at = from;
        while at < to {
            let byte = bytes[at];
            if let Some(answer) = answer_start(bytes, at).filter(|&start| start <= to)
                && !gap.is_answer
            {
                gap.is_answer = true;
                at = answer;
            } else if byte.is_ascii_digit() {
                let end = skip_code(bytes, at, to);
                gap.numbers += usize::from(end - at >= 3);
                at = end;
            } else if is_word_byte(byte) {
                let end = word_end(bytes, at).max(at + 1).min(to);
                if is_prefix_of_number(bytes, at, end) {
                    gap.numbers += 1;
                    at = skip_code(bytes, at, to);
                    continue;
                }
                // "birthday's" is "birthday is".
                if at > from && bytes[at - 1] == b'\'' && end == at + 1 {
                    at = end;
                    continue;
                }
                let sense = LEXICON.sense_in(bytes, at..end);
                let is_joint = matches!(&bytes[at..end], b"and" | b"or" | b"AND" | b"OR");
                if !sense.has(Sense::FILLER) {
                    gap.words += 1;
                } else if !is_joint {
                    gap.fillers += 1;
                }
                at = end;
            } else {
                // Dots in a row lead the eye: "MRN ........ 482913".
                let is_leader = at > from && byte == b'.' && bytes[at - 1] == b'.';
                let ends_sentence = matches!(byte, b'.' | b'?' | b'!')
                    && bytes.get(at + 1).is_some_and(u8::is_ascii_whitespace)
                    && at > from
                    && !is_leader;
                let is_taken = byte == b'[' && placeholder_at(&bytes[at..]).is_some();
                if ends_sentence || is_taken {
                    return None;
                }
                gap.line_breaks += usize::from(byte == b'\n');
                at += 1;
            }
        }
        Some(gap)
    }

    fn tie(&self) -> Option<Tie> {
        let is_list = self.numbers > 0 && self.words == 0 && self.fillers == 0;
        match (self.words, self.numbers, self.line_breaks) {
            (0, 0, 0..=2) => Some(Tie::Tight),
            (1..=2, 0, 0) if self.is_answer => Some(Tie::Tight),
            _ if is_list => Some(Tie::List),
            (0..=REACH_WORDS, 0, 0) => Some(Tie::Near),
            _ => None,
        }
    }
}

/// Where an answer starts after the end of a question's line: "Birthday?\nCaller: May 23", "[00:19] CALLER: six".
fn answer_start(bytes: &[u8], at: usize) -> Option<usize> {
    const SPEAKER_BYTES_MAX: usize = 32;
    let line = at
        + match (bytes[at], bytes.get(at + 1)) {
            (b'\n', _) => 1,
            (b'?', Some(b'\n')) => 2,
            _ => return None,
        };
    let rest = &bytes[line..bytes.len().min(line + SPEAKER_BYTES_MAX)];
    let colon = rest.windows(2).position(|pair| pair == b": ")?;
    let is_speaker = rest[..colon].iter().all(|byte| {
        is_word_byte(*byte) || matches!(byte, b' ' | b'.' | b'[' | b']' | b':' | b'-' | b'\'')
    }) && rest[..colon].iter().any(u8::is_ascii_alphabetic);
    is_speaker.then_some(line + colon + 2)
}

/// `P-20881`: capitals tied to digits are part of the number.
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
