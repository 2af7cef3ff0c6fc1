//! Numbers, dates and e-mail addresses of a text that may be a patient's.

use std::ops::Range;

use super::dates;
use super::field::{Field, is_mail, telephone};
use super::words::Words;

/// Words of the longest number or date: `+1 (206) 555-0142`.
const WORDS_MAX: usize = 4;

/// Letters and digits of the longest number.
const NUMBER_MAX: usize = 24;

/// Characters between the words of a number or date.
const GAP_MAX: usize = 2;

/// A value that may be a patient's.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) field: Field,
    pub(super) span: Range<usize>,
    pub(super) form: String,
}

/// Every value of a text, in order of their starts.
pub(super) fn values(text: &str, words: &Words) -> Vec<Value> {
    let mut values = Vec::new();
    for at in 0..words.all.len() {
        // Letters before a number may be its beginning, or a month.
        let mut these = words.all[at..].iter().take(2);
        if these.any(|word| word.has_digit) {
            add_from(text, words, at, &mut values);
        }
    }
    let mails = memchr::memchr_iter(b'@', text.as_bytes());
    values.extend(mails.filter_map(|at| mail(text, at)));
    values.sort_by_key(|value| value.span.start);
    values
}

/// Adds the numbers and dates that begin with a word.
fn add_from(text: &str, words: &Words, first: usize, values: &mut Vec<Value>) {
    let start = words.all[first].span.start;
    let mut form = String::new();
    let mut digits = 0;
    for last in first..words.all.len().min(first + WORDS_MAX) {
        if last > first
            && !is_gap(
                text,
                words.all[last - 1].span.end..words.all[last].span.start,
            )
        {
            return;
        }
        form.push_str(words.form(last));
        digits += words.form(last).bytes().filter(u8::is_ascii_digit).count();
        let span = start..words.all[last].span.end;
        let mut add = |field, form: String| {
            let span = span.clone();
            values.push(Value { field, span, form });
        };
        let is_one_number = (last == first || words.all[last].has_digit) && digits > 0;
        if is_one_number && form.len() <= NUMBER_MAX {
            add(Field::Record, form.clone());
            if (7..=15).contains(&digits) && digits == form.len() {
                add(Field::Telephone, telephone(&form));
            }
        }
        let days = match last - first {
            0 if form.len() == 8 => dates::compact(&form),
            2 => dates::days([first, first + 1, last].map(|at| words.form(at))),
            _ => Vec::new(),
        };
        for day in days {
            add(Field::Birth, day);
        }
        if form.len() > NUMBER_MAX {
            return;
        }
    }
}

/// Whether only signs of a number or date are in a gap between two words.
fn is_gap(text: &str, gap: Range<usize>) -> bool {
    let gap = &text[gap];
    let is_sign = |letter: char| letter.is_whitespace() || "-./(),_".contains(letter);
    gap.chars().count() <= GAP_MAX && gap.chars().all(is_sign)
}

/// The e-mail address around an `@`.
fn mail(text: &str, at: usize) -> Option<Value> {
    let is_part = |letter: char| letter.is_alphanumeric() || "._%+-".contains(letter);
    let name = text[..at]
        .chars()
        .rev()
        .take_while(|letter| is_part(*letter));
    let name: usize = name.map(char::len_utf8).sum();
    let domain = text[at + 1..].chars().take_while(|letter| is_part(*letter));
    let domain: usize = domain.map(char::len_utf8).sum();
    let whole = text[at - name..at + 1 + domain].trim_end_matches(['.', '-']);
    let span = at - name..at - name + whole.len();
    let form = whole.to_lowercase();
    is_mail(&form).then_some(Value {
        field: Field::Mail,
        span,
        form,
    })
}
