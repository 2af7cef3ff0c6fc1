//! Evidence for and against each candidate of a scan.

use std::ops::Range;

use super::features::NAMES;
use crate::candidate::Candidate;
use crate::kinds::PhiKind;

/// The explanations of a scan.
#[derive(Default)]
pub(crate) struct Explained {
    /// Whether all candidates are read about, also those that no scan would read about.
    pub(crate) reads_all: bool,
    pub(crate) all: Vec<Explanation>,
}

/// A candidate with what was decided about it, and from which features.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// The kind of PHI it would be.
    pub kind: PhiKind,
    /// Byte range in the scanned text.
    pub span: Range<usize>,
    /// The rule that proposed it.
    pub rule: &'static str,
    /// The fast passes' view: `kept`, `weak`, `dropped`, or `read` for the reader's own candidates.
    pub standing: &'static str,
    /// Whether it became a finding.
    pub is_found: bool,
    /// The decided score, 0 to 1.
    pub score: f32,
    /// Names and values of the features.
    pub features: Vec<(&'static str, i32)>,
    /// Values of the features before reading; none for the reader's own candidates.
    pub first_look: Vec<i32>,
    /// Weight of each feature for the candidate, in thousandths of log-odds.
    pub weights: Vec<i32>,
}

impl Explanation {
    pub(crate) fn new(
        one: &Candidate,
        standing: &'static str,
        is_found: bool,
        score: f32,
        row: &[i32],
        weights: &[i32],
    ) -> Self {
        Explanation {
            kind: one.kind,
            span: one.span.clone(),
            rule: one.rule,
            standing,
            is_found,
            score,
            features: NAMES.into_iter().zip(row.iter().copied()).collect(),
            first_look: Vec::new(),
            weights: weights.to_vec(),
        }
    }

    /// The features that speak most for the candidate.
    pub fn reasons_for(&self) -> Vec<String> {
        self.reasons(|weight| weight)
    }

    /// The features that speak most against it.
    pub fn reasons_against(&self) -> Vec<String> {
        self.reasons(|weight| -weight)
    }

    fn reasons(&self, strength: impl Fn(i32) -> i32) -> Vec<String> {
        const REASONS: usize = 4;
        const LEAST: i32 = 100;
        let mut all: Vec<_> = self.features.iter().zip(&self.weights).collect();
        all.retain(|(_, weight)| strength(**weight) >= LEAST);
        all.sort_by_key(|(_, weight)| -strength(**weight));
        let told = all.iter().take(REASONS);
        told.map(|((name, value), _)| format!("{name} {value}"))
            .collect()
    }
}
