//! Columns of a text: what is above and below a candidate, by position and by separators.

use std::ops::Range;

use super::spans::Spans;
use crate::candidate::Candidate;
use crate::kinds::PhiKind;
use crate::page::Page;

/// Lines above and below a candidate that are looked at.
const NEAR: usize = 3;
/// Longest line that can be a row.
const ROW_MAX: usize = 400;

/// Lines of a text, and spans of likely values in them.
pub(super) struct Columns {
    lines: Vec<Line>,
    likely: Spans<PhiKind>,
}

struct Line {
    at: Range<usize>,
    /// The offsets of the commonest separator.
    separators: Vec<usize>,
}

impl Columns {
    pub(super) fn new(
        page: &Page<'_>,
        likely: impl Iterator<Item = (Range<usize>, PhiKind)>,
    ) -> Self {
        let bytes = page.bytes();
        let ends = memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]);
        let mut start = 0;
        let lines = ends.map(|end| {
            let at = start..end;
            start = end + 1;
            Line {
                separators: separators(bytes, &at),
                at,
            }
        });
        Columns {
            lines: lines.collect(),
            likely: Spans::new(likely.collect()),
        }
    }

    /// Returns the number of lines next to a candidate's that have a likely value of its kind in the same column.
    pub(super) fn alike(&self, one: &Candidate) -> i32 {
        let number = self
            .lines
            .partition_point(|line| line.at.end < one.span.start);
        let Some(here) = self
            .lines
            .get(number)
            .filter(|line| line.at.len() <= ROW_MAX)
        else {
            return 0;
        };
        let first = number.saturating_sub(NEAR);
        let last = self.lines.len().min(number + NEAR + 1);
        let others = (first..last)
            .filter(|&other| other != number)
            .map(|other| &self.lines[other]);
        let is_alike = |other: &Line| {
            let cell = cell_in(here, other, &one.span);
            self.likely
                .overlapping(&cell)
                .any(|(_, kind)| *kind == one.kind)
        };
        others.filter(|other| is_alike(other)).count() as i32
    }
}

/// The part of another line that is in the column of a span: the same field of a row of separators, else the same places.
fn cell_in(here: &Line, other: &Line, span: &Range<usize>) -> Range<usize> {
    if !here.separators.is_empty() && here.separators.len() == other.separators.len() {
        let field = here.separators.partition_point(|&at| at < span.start);
        let start = field
            .checked_sub(1)
            .map_or(other.at.start, |before| other.separators[before] + 1);
        let end = other.separators.get(field).copied().unwrap_or(other.at.end);
        return start..end;
    }
    let start = other.at.start + (span.start - here.at.start);
    let end = (other.at.start + (span.end - here.at.start)).min(other.at.end);
    start.min(end)..end
}

/// Places of the first separator of this list that a line has at least twice.
fn separators(bytes: &[u8], line: &Range<usize>) -> Vec<usize> {
    const SEPARATORS: [u8; 5] = *b"|\t^;,";
    if line.len() > ROW_MAX {
        return Vec::new();
    }
    let part = &bytes[line.clone()];
    let all = SEPARATORS.iter().map(|&sign| {
        memchr::memchr_iter(sign, part)
            .map(|at| line.start + at)
            .collect()
    });
    let mut several = all.filter(|places: &Vec<usize>| places.len() > 1);
    several.next().unwrap_or_default()
}
