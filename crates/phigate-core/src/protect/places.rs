//! Places of findings in documents, in words that are safe to write down.

use std::collections::HashMap;
use std::ops::Range;

use phi_detect::CodePoints;
use phigate_types::{DocumentText, Passage, Place, Stretch};

/// Place of a finding in a document, and its code points from the beginning of that place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// Place, such as `#page=3`; empty in documents that have no places.
    pub path: String,
    /// The first code point.
    pub start: usize,
    /// The code point after the last.
    pub end: usize,
}

/// Places in one document. A sheet or part is named by position if its name holds PHI.
pub struct Places<'d> {
    document: &'d DocumentText,
    is_clean: &'d dyn Fn(&str) -> bool,
    known: HashMap<&'d str, bool>,
}

impl<'d> Places<'d> {
    /// Creates the places of a document. `is_clean` says whether a name holds no PHI.
    pub fn new(document: &'d DocumentText, is_clean: &'d dyn Fn(&str) -> bool) -> Self {
        Self {
            document,
            is_clean,
            known: HashMap::new(),
        }
    }

    /// Returns the positions of byte ranges of a passage, which are in order.
    pub fn positions(
        &mut self,
        passage: &Passage,
        spans: impl Iterator<Item = Range<usize>>,
    ) -> Vec<Position> {
        let mut points = CodePoints::new(&passage.text);
        let mut from: Option<(Stretch, usize)> = None;
        let position = |span: Range<usize>| {
            let stretch = passage.stretch(span.start).unwrap_or(Stretch {
                start: 0,
                place: Place::Whole,
            });
            let base = match from {
                Some((known, base)) if known == stretch => base,
                _ => points.at(stretch.start),
            };
            from = Some((stretch, base));
            Position {
                start: points.at(span.start).saturating_sub(base),
                end: points.at(span.end).saturating_sub(base),
                path: self
                    .document
                    .path(stretch.place, self.shows_name(stretch.place)),
            }
        };
        spans.map(position).collect()
    }

    fn shows_name(&mut self, place: Place) -> bool {
        let Some(name) = self.document.name(place) else {
            return true;
        };
        *self
            .known
            .entry(name)
            .or_insert_with(|| (self.is_clean)(name))
    }
}
