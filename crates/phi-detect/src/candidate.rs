//! A piece of text that some rule, or the name model, thinks is PHI.
//!
//! Rules and model push candidates in any order, overlapping as they please;
//! [`crate::resolve`] turns them into findings.

use std::ops::Range;

use crate::kinds::PhiKind;

/// Possible PHI, before overlaps are settled and thresholds applied.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    /// The kind of PHI it would be.
    pub(crate) kind: PhiKind,
    /// Byte range in the text that was handed to the rule, on character boundaries.
    pub(crate) span: Range<usize>,
    /// Calibrated confidence, 0 to 1.
    pub(crate) score: f32,
    /// The rule that found it, such as `ssn.labelled`.
    pub(crate) rule: &'static str,
}
