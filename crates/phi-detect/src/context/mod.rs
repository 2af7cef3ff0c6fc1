//! Context of a value: the nearest label, and how firmly it is tied.

mod answer;
mod gap;
mod pair;

pub(crate) use answer::value_after;

use std::ops::Range;

use crate::labels::Meaning;
use crate::lexicon::Sense;
use crate::page::{Label, Page, is_word_byte};
use crate::word_list::WordList;
use gap::Gap;

/// Strength of the tie between a label and a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// Somewhere before, in the same sentence.
    Near,
    /// The value is in a list that the label opens ("MRNs 123456, 234567").
    List,
    /// Only punctuation and small words are between ("SSN on file is", "DOB:").
    Tight,
    /// The value is in a field of that name.
    Field,
}

/// A label that lays claim to a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LabelMatch {
    pub(crate) meaning: Meaning,
    pub(crate) tie: Strength,
    /// End of the label, or start of the field; an offset inside the field if it starts far before the value.
    pub(crate) from: usize,
}

impl LabelMatch {
    pub(crate) fn is(&self, meaning: Meaning) -> bool {
        self.meaning == meaning
    }

    /// Whether the label is bound to the value rather than just in the same sentence.
    pub(crate) fn is_firm(&self) -> bool {
        self.tie >= Strength::List
    }
}

/// Maximum distance of a label before a value, in bytes.
const REACH_BYTES: usize = 72;
/// Distance before a value in which the words of its field are read.
const FIELD_REACH_BYTES: usize = 256;
/// Number of labels before a value that are read.
const REACH_LABELS: usize = 5;

/// The nearest label before `at` among those that `decides` accepts.
pub(crate) fn claim_before(
    page: &Page<'_>,
    at: usize,
    decides: impl Fn(Meaning) -> bool,
) -> Option<LabelMatch> {
    let field = page.field_at(at);
    let floor = field.map_or(0, |field| field.span.start);
    let before = page.labels_before(at);
    let next = before.len();
    let reachable = before.iter().rev().take(REACH_LABELS);
    let reachable = reachable.take_while(|label| {
        label.start as usize >= floor && at - label.end as usize <= REACH_BYTES
    });
    // Usually no label or field could decide, so the text between need not be read.
    let field_meaning = field.and_then(|field| field.meaning);
    let mut meanings = reachable.clone().map(|label| label.meaning);
    if !meanings.any(&decides) && !field_meaning.is_some_and(&decides) {
        return None;
    }
    let is_heard = |label: &Label| is_heard(page, label);
    let mut place = None;
    for (index, label) in reachable.clone().enumerate() {
        if !decides(label.meaning) || !is_heard(label) {
            continue;
        }
        // A sentence ends the reach of labels.
        let from = label.end as usize;
        let Some(gap) = Gap::read(page, from, at) else {
            return place;
        };
        let claim = gap.tie().map(|tie| LabelMatch {
            meaning: pair::meaning(page, next - 1 - index, gap.numbers, at, &decides),
            tie,
            from,
        });
        let is_aside = || is_place(page, label) || goes_on_about(page, next - 1 - index, &decides);
        if place.is_none() && pair::is_mere(label.meaning) && is_aside() {
            place = claim;
            continue;
        }
        let is_ours = claim.is_some_and(|claim| !pair::is_mere(claim.meaning));
        return if is_ours { claim } else { place.or(claim) };
    }
    if place.is_some() {
        return place;
    }
    // It ends that of the field's name, too.
    let field = field?;
    let meaning = field.meaning.filter(|&meaning| decides(meaning))?;
    let mut labels = reachable.filter(|label| is_heard(label));
    let is_open = labels.all(|label| Gap::read(page, label.end as usize, at).is_some());
    let near = page
        .text
        .floor_char_boundary(at.saturating_sub(FIELD_REACH_BYTES));
    is_open.then_some(LabelMatch {
        meaning,
        tie: Strength::Field,
        from: near.max(field.span.start),
    })
}

/// Whether an apparent label is a label, and belongs to the value behind it.
fn is_heard(page: &Page<'_>, label: &Label) -> bool {
    !answer::is_speaker(page.bytes(), label)
        && !is_of_value_before(page, label)
        && !is_mere_word(page, label)
}

/// The nearest label before `at` that says which number this is: one of its `own`, or that of any other number.
pub(crate) fn number_claim(page: &Page<'_>, at: usize, own: &[Meaning]) -> Option<LabelMatch> {
    claim_before(page, at, |meaning| {
        meaning.is_of_number() || own.contains(&meaning)
    })
}

/// Whether an apparent label is a title or part of a phrase ("Mr. Roe", "in order to", "in the order of").
fn is_mere_word(page: &Page<'_>, label: &Label) -> bool {
    let word = page.slice(label.start as usize..label.end as usize);
    let after = page.slice(label.end as usize..page.text.len().min(label.end as usize + 4));
    if word.eq_ignore_ascii_case(b"order") {
        return after.starts_with(b" of ") || after.starts_with(b" to ");
    }
    let gap = after
        .iter()
        .take_while(|byte| matches!(byte, b'.' | b' '))
        .count();
    word.eq_ignore_ascii_case(b"mr")
        && matches!(&after[..gap], b" " | b". ")
        && page
            .word_at(label.end as usize + gap)
            .is_some_and(|(sense, _)| {
                !page.byte(label.end as usize + gap).is_ascii_digit()
                    && !sense.has(Sense::STOP | Sense::FILLER)
            })
}

/// Whether a label in brackets names the value before it ("3/14/1962 (DOB) to 1/5/2025").
fn is_of_value_before(page: &Page<'_>, label: &Label) -> bool {
    let start = label.start as usize;
    page.byte(label.end as usize) == b')'
        && page.byte_before(start) == b'('
        && page
            .slice(start.saturating_sub(3)..start - 1)
            .trim_ascii_end()
            .last()
            .is_some_and(u8::is_ascii_digit)
}

/// Whether a label of another date only adds to the label before it ("birth date reported by her mother as
/// 3/14/1962").
fn goes_on_about(page: &Page<'_>, index: usize, decides: &impl Fn(Meaning) -> bool) -> bool {
    let label = page.labels[index];
    let Some(before) = index.checked_sub(1).map(|before| page.labels[before]) else {
        return false;
    };
    label.meaning == Meaning::OtherDate
        && decides(before.meaning)
        && !pair::is_mere(before.meaning)
        && page.byte(label.end as usize) != b':'
        && page.slice(before.end as usize..label.start as usize) == b" "
}

/// Whether a label only names the source of a value ("SSN on the insurance card: 536…").
fn is_place(page: &Page<'_>, label: &Label) -> bool {
    static WHERE: WordList = WordList::new("on from per");
    let mut end = label.start as usize;
    for _ in 0..3 {
        let Some(next) = end.checked_sub(1).filter(|&next| page.byte(next) == b' ') else {
            return false;
        };
        let Some(start) = page.word_start_before(next) else {
            return false;
        };
        let word = page.slice(start..next);
        if WHERE.has(word) {
            return true;
        }
        end = start;
    }
    false
}

/// Whether the sentence up to `at` mentions a meaning, at any distance and beside any other.
pub(crate) fn is_spoken_of(page: &Page<'_>, at: usize, meaning: impl Fn(Meaning) -> bool) -> bool {
    page.labels_before(at)
        .iter()
        .rev()
        .take(REACH_LABELS + 3)
        .take_while(|label| at - (label.end as usize) <= REACH_BYTES * 2)
        .any(|label| meaning(label.meaning) && Gap::read(page, label.end as usize, at).is_some())
}

/// Whether a sign or "is" directly before a value ties it to the words before.
pub(crate) fn is_stated(page: &Page<'_>, span: &Range<usize>) -> bool {
    const SIGNS: &[&[u8]] = &[b" is ", b": ", b"= ", b"=", b" is: "];
    let before = page.slice(span.start.saturating_sub(5)..span.start);
    SIGNS.iter().any(|sign| before.ends_with(sign))
}

/// Whether the text behind a value explicitly says its meaning ("is her SSN", "(DOB)").
pub(crate) fn is_equated(page: &Page<'_>, end: usize) -> bool {
    const SIGNS: &[&[u8]] = &[b" is ", b" was ", b" (", b" = "];
    let after = page.slice(end..page.text.len().min(end + 5));
    SIGNS.iter().any(|sign| after.starts_with(sign))
}

/// The label right after `end`: "536-22-8741 (SSN)", "3/14/62 is her date of birth".
pub(crate) fn claim_after(
    page: &Page<'_>,
    end: usize,
    decides: impl Fn(Meaning) -> bool,
) -> Option<LabelMatch> {
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
    let says_so = matches!(between.trim_ascii(), b"(" | b"[" | b"-" | b"=")
        || between.trim_ascii().starts_with(b"<-")
        || starts_with_word(unclosed(between), &[b"is", b"was", b"as", b"for", b"of"])
        || is_pointed_at(between);
    says_so.then_some(LabelMatch {
        meaning: label.meaning,
        tie: Strength::Tight,
        from: end,
    })
}

/// Returns the text without the closing bracket of the value ("(8741) of her social").
fn unclosed(between: &[u8]) -> &[u8] {
    between.strip_prefix(b")").unwrap_or(between)
}

/// Whether the text behind a value refers to it ("482913, that's her", "482913? thats the").
fn is_pointed_at(between: &[u8]) -> bool {
    let signs = between
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b',' | b'?' | b'-' | b'.' | b')'))
        .count();
    starts_with_word(&between[signs..], &[b"that", b"thats"])
}

fn starts_with_word(text: &[u8], words: &[&[u8]]) -> bool {
    let text = text.trim_ascii_start();
    words.iter().any(|word| {
        text.len() > word.len()
            && text[..word.len()].eq_ignore_ascii_case(word)
            && !is_word_byte(text[word.len()])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the claim on the last number of a text.
    fn claim(text: &str) -> Option<(Meaning, Strength)> {
        let page = Page::new(text);
        let last = page.marks.iter().rfind(|mark| mark.is_number())?;
        claim_before(&page, last.start as usize, |_| true).map(|claim| (claim.meaning, claim.tie))
    }

    #[test]
    fn label_strength_depends_on_words_between() {
        for (text, expected) in [
            ("MRN: 482913", Some((Meaning::Mrn, Strength::Tight))),
            ("MRN 482913 to 482914", Some((Meaning::Mrn, Strength::List))),
            (
                "MRN? Caller: it's 482913",
                Some((Meaning::Mrn, Strength::Tight)),
            ),
            ("MRN? He felt much worse, 482913", None),
            ("MRN unknown. 482913", None),
            (
                "We have the MRN. It's 482913",
                Some((Meaning::Mrn, Strength::Tight)),
            ),
        ] {
            assert_eq!(claim(text), expected, "{text}");
        }
    }

    #[test]
    fn mrn_label_claims_only_its_own_number() {
        for (text, expected) in [
            (
                "your MRN?\nMember: 482913",
                Some((Meaning::Mrn, Strength::Tight)),
            ),
            ("MRN/Acct: 482913", Some((Meaning::Mrn, Strength::Tight))),
            (
                "MRN on the account: 482913",
                Some((Meaning::Mrn, Strength::Tight)),
            ),
            ("771204 (MRN) 482913", None),
        ] {
            assert_eq!(claim(text), expected, "{text}");
        }
    }
}
