//! Stretches of a text that the reader is asked about: whole lines around candidates in doubt, and behind labels.

use std::ops::Range;

use super::spans::Spans;
use crate::labels::Meaning;
use crate::page::Page;

/// Likelihood before reading below which a candidate is left out unread.
pub(super) const ASKED_MIN: f32 = 0.04;
/// Likelihood before reading from which a text is taken to name a person.
const SURE: f32 = 0.8;
/// Size of the longest text that is read as a whole if it likely names a person.
const WHOLE_MAX: usize = 4 << 10;
/// Bytes on either side of a candidate that are read with it: beside a likely one, and beside a doubtful one.
const AROUND_SURE: usize = 600;
const AROUND_DOUBTFUL: usize = 200;
/// Bytes behind a label in which its value is looked for, and figures that the value of a number's label has at least.
const BEHIND_LABEL: usize = 40;
const FIGURES_MIN: usize = 3;
/// Most bytes that are read of a text.
const READ_MAX: usize = 64 << 10;

/// The stretches to read, in order and apart.
///
/// `looks` are the spans of candidates and how likely each is before reading.
pub(super) fn stretches(
    page: &Page<'_>,
    looks: impl Iterator<Item = (Range<usize>, f32)>,
) -> Vec<Range<usize>> {
    let text = page.text;
    let mut around: Vec<Range<usize>> = Vec::new();
    let mut has_sure = false;
    let mut spans = Vec::new();
    for (span, likely) in looks {
        if likely >= ASKED_MIN {
            let is_sure = likely >= SURE;
            has_sure |= is_sure;
            let reach = if is_sure {
                AROUND_SURE
            } else {
                AROUND_DOUBTFUL
            };
            around.push(span.start.saturating_sub(reach)..text.len().min(span.end + reach));
        }
        spans.push((span, ()));
    }
    if has_sure && text.len() <= WHOLE_MAX {
        return std::iter::once(0..text.len()).collect();
    }
    around.extend(lone_labels(page, &Spans::new(spans)));
    around.sort_unstable_by_key(|range| range.start);
    let mut stretches: Vec<Range<usize>> = Vec::new();
    let mut bytes = 0;
    for range in around {
        let range = whole_lines(text, range);
        match stretches.last_mut() {
            Some(last) if range.start <= last.end => {
                bytes += range.end.saturating_sub(last.end);
                last.end = last.end.max(range.end);
            }
            _ => {
                bytes += range.len();
                stretches.push(range);
            }
        }
        if bytes > READ_MAX {
            break;
        }
    }
    stretches
}

/// The surroundings of labels of numbers that have figures behind them and no candidate. A key that any program has, such
/// as `record_id`, counts only beside another sign of a person.
fn lone_labels(page: &Page<'_>, candidates: &Spans<()>) -> impl Iterator<Item = Range<usize>> {
    let size = page.text.len();
    let labels = page.labels.iter().filter(|label| label.meaning.is_number());
    let lone = labels.filter(move |label| {
        let start = label.end as usize;
        let value = start..size.min(start + BEHIND_LABEL);
        let bytes = page.slice(value.clone()).iter();
        let mut figures = bytes.enumerate().filter(|(_, byte)| byte.is_ascii_digit());
        let first = figures.next().map(|(at, _)| start + at);
        let field = first.and_then(|first| page.field_at(first));
        let is_of_any_program = field.is_some_and(|one| one.meaning == Some(Meaning::MrnBeside));
        figures.count() + 1 >= FIGURES_MIN
            && !is_of_any_program
            && candidates.overlapping(&value).next().is_none()
    });
    lone.map(move |label| {
        let end = label.end as usize;
        end.saturating_sub(BEHIND_LABEL)..size.min(end + 2 * BEHIND_LABEL)
    })
}

/// The range from the first line or word that begins in it to the last one that ends in it.
fn whole_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(range.start);
    let end = text.ceil_char_boundary(range.end);
    let is_break = |byte: &u8| byte.is_ascii_whitespace();
    let part = &text.as_bytes()[start..end];
    let lead = if start == 0 {
        0
    } else {
        part.iter().take(64).position(is_break).unwrap_or(0)
    };
    let tail = if end == text.len() {
        0
    } else {
        part.iter().rev().take(64).position(is_break).unwrap_or(0)
    };
    start + lead..(end - tail).max(start + lead)
}
