//! Spans that can be asked what overlaps a range.

use std::ops::Range;

/// Spans with a value each, sorted by their start.
pub(super) struct Spans<T> {
    all: Vec<(Range<usize>, T)>,
    /// The furthest end of all spans up to each.
    reach: Vec<usize>,
}

impl<T> Spans<T> {
    pub(super) fn new(mut all: Vec<(Range<usize>, T)>) -> Self {
        all.sort_by_key(|(span, _)| span.start);
        let reach = all.iter().scan(0, |reach, (span, _)| {
            *reach = span.end.max(*reach);
            Some(*reach)
        });
        let reach = reach.collect();
        Spans { all, reach }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The spans that overlap a range, in order.
    pub(super) fn overlapping(
        &self,
        range: &Range<usize>,
    ) -> impl Iterator<Item = &(Range<usize>, T)> {
        let first = self.reach.partition_point(|&reach| reach <= range.start);
        let range = range.clone();
        let near = self.all[first..].iter();
        let near = near.take_while(move |(span, _)| span.start < range.end);
        near.filter(move |(span, _)| span.end > range.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_spans_are_found_in_order() {
        let spans = Spans::new(vec![(5..9, 'b'), (0..20, 'a'), (12..14, 'c')]);
        let found = |range| {
            spans
                .overlapping(&range)
                .map(|(_, name)| *name)
                .collect::<String>()
        };
        assert_eq!(found(8..13), "abc");
        assert_eq!(found(9..12), "a");
        assert_eq!(found(20..30), "");
    }
}
