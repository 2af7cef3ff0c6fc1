//! Result of a scan.

use std::ops::Range;

use crate::kinds::{PhiKind, PhiKinds};

/// One piece of PHI: its kind, its place, our certainty and the rule that found it.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The kind of PHI.
    pub kind: PhiKind,
    /// Byte range in the scanned text, on character boundaries.
    pub span: Range<usize>,
    /// Calibrated confidence, 0 to 1.
    pub score: f32,
    /// The rule that found it, such as `ssn.labelled`.
    pub rule: &'static str,
    /// Other kinds that were found in a part of it, and gave way to it.
    pub hides: PhiKinds,
}

impl Finding {
    /// The score in thousandths, as it is shown outside: `0.97`, not `0.9700000286102295`.
    pub fn rounded_score(&self) -> f64 {
        f64::from((self.score * 1000.0).round()) / 1000.0
    }
}

/// The findings of one scan: in order of position, never overlapping.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    list: Vec<Finding>,
    incomplete: bool,
}

impl Findings {
    /// Makes findings, with whether all of the text was scanned.
    pub(crate) fn new(list: Vec<Finding>, is_complete: bool) -> Self {
        Findings {
            list,
            incomplete: !is_complete,
        }
    }

    /// The findings, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Finding> {
        self.list.iter()
    }

    /// Drops the findings that `keep` refuses.
    pub fn retain(&mut self, keep: impl FnMut(&Finding) -> bool) {
        self.list.retain(keep);
    }

    /// Returns the number of findings.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether all of the text was scanned. If not, the caller must not call the text clean.
    pub fn is_complete(&self) -> bool {
        !self.incomplete
    }
}

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Finding;
    type IntoIter = std::slice::Iter<'a, Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}
