//! Rosters: the patients of a site, kept as keyed codes alone.
//!
//! A text is asked word by word: is this the code of a patient's name, and near it the code of the same patient's other
//! values? Nothing but the answer for one text leaves this module.

mod csv;
mod dates;
mod field;
mod patient;
#[cfg(test)]
mod tests;
mod values;
mod words;

pub use csv::{Columns, WrongRoster, read_patients};
pub use field::Field;
pub use patient::{WrongValue, codes_of};

use std::ops::Range;
use std::sync::Arc;

use phi_detect::{Extra, PhiKind};

use patient::{NAME_WORDS_MAX, mark};
use values::values;
use words::Words;

/// Rule of every such finding.
pub const RULE: &str = "roster";

/// Score of every such finding.
const SCORE: f32 = 0.99;

/// Characters between a surname and another value of the same patient.
const NEAR_CHARACTERS: usize = 200;

/// Bytes of the longest such distance.
const NEAR_BYTES: usize = NEAR_CHARACTERS * 4;

/// Words between two questions about the time.
const WORDS_PER_LOOK: usize = 512;

/// Whether the code of these words is in a roster.
type Lookup = dyn Fn(&[&str]) -> bool + Send + Sync;

/// The rosters of an account.
#[derive(Clone)]
pub struct Roster(Arc<Lookup>);

impl std::fmt::Debug for Roster {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Roster")
    }
}

/// Words of a text that are a given name or a surname in the roster.
struct Part {
    span: Range<usize>,
    /// Index after the last word.
    next: usize,
    first: usize,
    form: String,
    is_capital: bool,
}

impl Roster {
    /// The roster that this function looks codes up in.
    pub fn new(lookup: impl Fn(&[&str]) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(lookup))
    }

    /// Gives every value of a patient in a text to `found`, until there is no time left.
    pub fn find(&self, text: &str, has_time: &dyn Fn() -> bool, found: &mut dyn FnMut(Extra)) {
        let words = Words::of(text);
        let Some(parts) = self.parts(text, &words, has_time) else {
            return;
        };
        let values = values(text, &words);
        let mut add = |field: Field, span: Range<usize>| {
            if let Some(kind) = field.kind() {
                found(finding(kind, span));
            }
        };
        for value in &values {
            if self.has(&[mark::ALONE, value.field.name(), &value.form]) {
                add(value.field, value.span.clone());
            }
        }
        for (at, part) in parts.iter().enumerate() {
            if at.is_multiple_of(WORDS_PER_LOOK) && !has_time() {
                return;
            }
            for value in near(&values, |value| &value.span, part, text) {
                if self.is_of(part, value.field, &value.form) {
                    add(Field::Family, part.span.clone());
                    add(value.field, value.span.clone());
                }
            }
            for given in near(&parts, |other| &other.span, part, text) {
                let is_whole = given.next == part.first || part.next == given.first;
                let may_be = is_whole || part.is_capital && given.is_capital;
                if may_be && self.is_of(part, Field::Given, &given.form) {
                    let both = [part, given].map(|one| one.span.clone());
                    match is_whole {
                        true => add(Field::Family, joined(both)),
                        false => both.into_iter().for_each(|span| add(Field::Family, span)),
                    }
                }
            }
        }
    }

    fn has(&self, words: &[&str]) -> bool {
        (self.0)(words)
    }

    /// Whether a surname and a value are of one patient.
    fn is_of(&self, family: &Part, field: Field, form: &str) -> bool {
        self.has(&[mark::BOTH, &family.form, field.name(), form])
    }

    /// The names of the roster in a text, in order. `None` if there was no time.
    fn parts(&self, text: &str, words: &Words, has_time: &dyn Fn() -> bool) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        for first in 0..words.all.len() {
            if first.is_multiple_of(WORDS_PER_LOOK) && !has_time() {
                return None;
            }
            let word = &words.all[first];
            if word.has_digit || !self.has(&[mark::NAME, words.form(first)]) {
                continue;
            }
            let mut form = String::new();
            for last in first..words.all.len().min(first + NAME_WORDS_MAX) {
                let end = words.all[last].span.end;
                if last > first {
                    if !is_name_gap(&text[words.all[last - 1].span.end..words.all[last].span.start])
                    {
                        break;
                    }
                    form.push(' ');
                }
                form.push_str(words.form(last));
                // The first word was looked up: it may be the beginning of a longer name alone.
                if last == first || self.has(&[mark::NAME, &form]) {
                    parts.push(Part {
                        span: word.span.start..end,
                        next: last + 1,
                        first,
                        form: form.clone(),
                        is_capital: word.is_capital,
                    });
                }
            }
        }
        Some(parts)
    }
}

/// The items with a span at most the distance away from a part, apart from overlapping ones. The items are in order of
/// their starts.
fn near<'i, T>(
    items: &'i [T],
    span_of: impl Fn(&T) -> &Range<usize> + 'i,
    part: &'i Part,
    text: &'i str,
) -> impl Iterator<Item = &'i T> {
    let from = part.span.start.saturating_sub(NEAR_BYTES);
    let first = items.partition_point(|item| span_of(item).start < from);
    let end = part.span.end + NEAR_BYTES;
    let count = items[first..].partition_point(|item| span_of(item).start <= end);
    items[first..first + count].iter().filter(move |item| {
        let span = span_of(item);
        let gap = match span.start >= part.span.end {
            true => part.span.end..span.start,
            false => span.end..part.span.start,
        };
        let is_apart = gap.start <= gap.end;
        is_apart && text.get(gap).is_some_and(is_near)
    })
}

fn is_near(gap: &str) -> bool {
    gap.len() <= NEAR_CHARACTERS || gap.chars().count() <= NEAR_CHARACTERS
}

/// Whether words with this between them may be one name: a blank, a hyphen, a comma, the dot of an initial.
fn is_name_gap(gap: &str) -> bool {
    let is_sign = |letter: char| letter.is_whitespace() || "-,.".contains(letter);
    gap.chars().count() <= 3 && gap.chars().all(is_sign)
}

fn joined([one, other]: [Range<usize>; 2]) -> Range<usize> {
    one.start.min(other.start)..one.end.max(other.end)
}

fn finding(kind: PhiKind, span: Range<usize>) -> Extra {
    Extra {
        kind,
        span,
        score: SCORE,
        rule: RULE,
    }
}
