//! Stretches of a text that the reader is asked about: whole lines around candidates.

use std::ops::Range;

use super::Standing;
use crate::candidate::Candidate;
use crate::page::Page;

/// Size of the longest text that is read as a whole if it surely names a person.
const WHOLE_MAX: usize = 16 << 10;
/// Bytes on either side of a candidate that are read with it: beside a sure one, and beside a doubtful one.
const AROUND_SURE: usize = 1 << 10;
const AROUND_DOUBTFUL: usize = 300;
/// Most bytes that are read of a text.
const READ_MAX: usize = 64 << 10;

/// The stretches to read, in order and apart.
pub(super) fn stretches<'a>(
    page: &Page<'_>,
    candidates: impl Iterator<Item = (&'a Candidate, Standing)>,
) -> Vec<Range<usize>> {
    let text = page.text;
    let mut around: Vec<Range<usize>> = Vec::new();
    let mut has_sure = false;
    for (one, standing) in candidates {
        let is_sure = standing == Standing::Kept;
        has_sure |= is_sure;
        let reach = if is_sure {
            AROUND_SURE
        } else {
            AROUND_DOUBTFUL
        };
        around.push(one.span.start.saturating_sub(reach)..text.len().min(one.span.end + reach));
    }
    if has_sure && text.len() <= WHOLE_MAX {
        return std::iter::once(0..text.len()).collect();
    }
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
