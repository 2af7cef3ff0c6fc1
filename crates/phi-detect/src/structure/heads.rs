//! Heads of columns: what a row of labels says about the rows below it, in whatever kind of table.

use crate::budget::Few;
use crate::labels::{self, Meaning};

/// Longest label.
const LABEL_BYTES_MAX: usize = 40;

/// The meanings of a row of heads, if enough of them are labels we know that the row must be one.
pub(super) fn meanings<'a>(heads: impl Iterator<Item = &'a str>) -> Option<Few<Option<Meaning>>> {
    meanings_if(heads, 2)
}

/// Returns the meanings of a row that is marked as one of heads: a single label is enough.
pub(super) fn meanings_of_marked<'a>(
    heads: impl Iterator<Item = &'a str>,
) -> Option<Few<Option<Meaning>>> {
    meanings_if(heads, 1)
}

fn meanings_if<'a>(
    heads: impl Iterator<Item = &'a str>,
    least: usize,
) -> Option<Few<Option<Meaning>>> {
    let heads: Few<_> = heads.collect();
    let mut columns: Few<_> = heads.iter().map(|head| meaning(head)).collect();
    let known = columns.iter().flatten().count();
    if known < least || known * 3 < columns.len() {
        return None;
    }
    let mut known = columns.iter().flatten();
    if known.any(|&meaning| super::tells_of_a_person(meaning)) {
        for (meaning, head) in columns.iter_mut().zip(&heads) {
            // In a table of processes it would number these.
            let is_patients = head.trim().eq_ignore_ascii_case("pid");
            *meaning = super::in_person_record(*meaning)
                .or_else(|| is_patients.then_some(Meaning::MrnMaybe));
        }
    }
    Some(columns)
}

/// Returns the meaning of one head.
fn meaning(head: &str) -> Option<Meaning> {
    // "Geb.", "Tel.": one dot is that of a word cut short.
    let head = head.trim();
    let head = head.strip_suffix('.').unwrap_or(head);
    let is_head = head.len() <= LABEL_BYTES_MAX
        && head.split_whitespace().count() <= 5
        && !head.contains(['.', '?', '=']);
    if !is_head {
        return None;
    }
    let is_one_word = !head.contains(' ');
    labels::of_head(head)
        .or_else(|| is_one_word.then(|| labels::of_key(head)).flatten())
        .or_else(|| is_part_of_name(head).then_some(Meaning::NameMaybe))
}

/// Whether a head names part of a person's name ("Last", "First"), in a table about people.
fn is_part_of_name(head: &str) -> bool {
    ["last", "first", "middle", "mi"]
        .iter()
        .any(|part| head.eq_ignore_ascii_case(part))
}

/// Returns the meaning of a label beside or below its value, if it is one of a person's and nothing else is written
/// with it.
pub(super) fn personal(label: &[u8]) -> Option<Meaning> {
    let label = short(label)?;
    labels::of_whole_key(label.trim_end_matches([':', ' ', '*', '#']))
        .filter(|&meaning| super::tells_of_a_person(meaning))
}

/// Whether these words are a label of anything.
pub(super) fn is_label(text: &[u8]) -> bool {
    short(text).is_some_and(|text| meaning(text).is_some())
}

/// Returns a text no longer than a label.
fn short(text: &[u8]) -> Option<&str> {
    let text = Some(text).filter(|text| text.len() <= LABEL_BYTES_MAX)?;
    std::str::from_utf8(text).ok()
}
