//! Offsets in code points, as most languages other than Rust count.

use std::ops::Range;

/// Turns byte offsets of a text into offsets in Unicode code points.
///
/// It counts on from the last offset it was asked for, so that a text with many findings is counted through
/// once. Ask in order; an offset before the last one is answered with the last one.
///
/// ```
/// use phi_detect::{CodePoints, Detector};
///
/// let text = "Größe: 180 cm, SSN 536-22-8741";
/// let mut points = CodePoints::new(text);
/// let findings = Detector::default().scan(text);
/// let spans: Vec<_> = findings.iter().map(|one| points.range(&one.span)).collect();
/// assert_eq!(spans, [19..30]);
/// ```
#[derive(Clone)]
pub struct CodePoints<'t> {
    text: &'t str,
    bytes: usize,
    points: usize,
}

impl<'t> CodePoints<'t> {
    /// Starts at the beginning of a text.
    pub fn new(text: &'t str) -> Self {
        Self {
            text,
            bytes: 0,
            points: 0,
        }
    }

    /// Returns the number of code points before this byte offset.
    pub fn at(&mut self, byte: usize) -> usize {
        if let Some(between) = self.text.get(self.bytes..byte) {
            self.points += between.chars().count();
            self.bytes = byte;
        }
        self.points
    }

    /// Converts a byte range to code points.
    pub fn range(&mut self, span: &Range<usize>) -> Range<usize> {
        self.at(span.start)..self.at(span.end)
    }
}

/// The text may hold PHI.
impl std::fmt::Debug for CodePoints<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            out,
            "CodePoints({} of {} bytes)",
            self.bytes,
            self.text.len()
        )
    }
}
