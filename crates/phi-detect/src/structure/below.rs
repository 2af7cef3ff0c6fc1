//! Forms and cards that print the label below its value, each on a separate line.

use std::ops::Range;

use super::Source;
use super::heads;
use crate::budget::List;
use crate::labels::Meaning;
use crate::page::Field;

/// Longer lines are prose.
const LINE_BYTES_MAX: usize = 60;

/// A line of a block.
struct Line {
    span: Range<usize>,
    label: Option<Meaning>,
}

/// Reads every block of short lines in which labels follow values.
pub(super) fn read(source: &Source<'_>, found: &mut List<Field>) {
    let bytes = source.bytes();
    let mut block = source.memory().list();
    let (mut start, mut way) = (0, source.way());
    while start < bytes.len() && way.goes_on(start) {
        let length = memchr::memchr(b'\n', &bytes[start..]).unwrap_or(bytes.len() - start);
        let span = super::trimmed_blanks(bytes, start..start + length);
        start += length + 1;
        if span.is_empty() || span.len() > LINE_BYTES_MAX {
            emit(&block, found);
            block.clear();
            continue;
        }
        let text = &bytes[span.clone()];
        let label = (!text.ends_with(b":"))
            .then(|| heads::personal(text))
            .flatten();
        block.push(Line { span, label });
    }
    emit(&block, found);
}

/// Gives values the meaning of the label below, unless a label could belong to the line after it.
fn emit(block: &[Line], found: &mut List<Field>) {
    let ends_with_label = block.last().is_some_and(|line| line.label.is_some());
    let starts_with_label = block.first().is_none_or(|line| line.label.is_some());
    if !ends_with_label || starts_with_label {
        return;
    }
    let is_form = block.iter().filter(|line| line.label.is_some()).count() >= 2;
    for pair in block.windows(2) {
        // Words above the one word "Patient" are a name only on a form.
        let is_plain = |meaning| !matches!(meaning, Meaning::Name | Meaning::Address);
        if let (None, Some(meaning)) = (pair[0].label, pair[1].label)
            && (is_form || is_plain(meaning))
        {
            found.push(Field::new(pair[0].span.clone(), Some(meaning)));
        }
    }
}
