//! People of a text, and the spans found in it.

use std::ops::Range;

use crate::budget::List;
use crate::candidate::Candidate;
use crate::settings::Settings;

/// People named in a text, and its spans that are taken.
pub(crate) struct NamedPeople<'a> {
    /// Names in order.
    names: &'a [Range<usize>],
    /// Taken spans in order, without overlaps.
    taken: List<Range<usize>>,
}

impl<'a> NamedPeople<'a> {
    pub(super) fn of(
        names: &'a [Range<usize>],
        candidates: &List<Candidate>,
        settings: &Settings,
    ) -> Self {
        let spans = candidates
            .iter()
            .filter(|one| one.score >= settings.threshold(one.kind))
            .map(|one| one.span.clone());
        let mut spans = candidates.memory().collect(spans);
        spans.sort_unstable_by_key(|span| span.start);
        let mut taken: List<Range<usize>> = candidates.memory().list();
        taken.reserve(spans.len());
        for span in spans {
            match taken.last_mut() {
                Some(last) if span.start < last.end => last.end = last.end.max(span.end),
                _ => taken.push(span),
            }
        }
        NamedPeople { names, taken }
    }

    /// Returns the names in order.
    pub(crate) fn names(&self) -> &[Range<usize>] {
        self.names
    }

    /// Whether a finding overlaps this span.
    pub(crate) fn is_taken(&self, span: &Range<usize>) -> bool {
        let next = self.taken.partition_point(|one| one.end <= span.start);
        self.taken.get(next).is_some_and(|one| one.start < span.end)
    }

    /// The last name that starts before a place, and the first that does not.
    pub(crate) fn around(&self, at: usize) -> [Option<&Range<usize>>; 2] {
        let next = self.names.partition_point(|name| name.start < at);
        let last = next.checked_sub(1).map(|before| &self.names[before]);
        [last, self.names.get(next)]
    }
}
