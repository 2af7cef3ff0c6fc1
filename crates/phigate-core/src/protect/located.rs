//! Findings in their places in a document.

use std::ops::Range;

use phi_detect::{Finding, PhiKind};

use crate::chat::Place;
use crate::json::NodeId;

/// A finding in its place in a document.
#[derive(Debug, Clone)]
pub(crate) struct LocatedFinding {
    pub(super) kind: PhiKind,
    pub(super) node: NodeId,
    pub(super) place: Place,
    /// In the decoded text of the node.
    pub(super) span: Range<usize>,
    pub(super) score: f32,
    pub(super) rule: &'static str,
    /// Whether this goes on from the text part before, so that it is one finding with that.
    pub(super) continues: bool,
}

impl LocatedFinding {
    /// A finding at `span` of a node's text.
    pub(super) fn new(finding: &Finding, node: NodeId, place: Place, span: Range<usize>) -> Self {
        Self {
            kind: finding.kind,
            node,
            place,
            span,
            score: finding.score,
            rule: finding.rule,
            continues: false,
        }
    }
}

/// What the scan of a whole document showed.
#[derive(Debug)]
pub(crate) struct ScanResult {
    /// The findings, in order of place.
    pub(super) findings: Vec<LocatedFinding>,
    /// Whether everything was scanned.
    pub(super) is_complete: bool,
    /// Bytes of text that were scanned.
    pub(super) text_bytes: u64,
}

impl ScanResult {
    pub(super) fn empty() -> Self {
        Self {
            findings: Vec::new(),
            is_complete: true,
            text_bytes: 0,
        }
    }

    /// Whether everything was scanned and nothing was found.
    pub(crate) fn is_clean(&self) -> bool {
        self.is_complete && self.findings.is_empty()
    }

    /// The kinds found, each once, in table order.
    pub(crate) fn kinds(&self) -> Vec<PhiKind> {
        let mut kinds: Vec<PhiKind> = self.findings.iter().map(|finding| finding.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    /// The keys that hold PHI, in order.
    pub(super) fn keys_with_phi(&self) -> Vec<NodeId> {
        let findings = self.findings.iter();
        let in_keys = findings.filter(|finding| finding.place == Place::Key);
        in_keys.map(|finding| finding.node).collect()
    }

    /// Puts the findings in order of place. What overlaps becomes one finding.
    pub(super) fn settle(&mut self) {
        self.findings
            .sort_by_key(|finding| (finding.node, finding.span.start));
        self.findings.dedup_by(|late, early| {
            let overlaps = late.node == early.node && late.span.start < early.span.end;
            if overlaps {
                early.span.end = early.span.end.max(late.span.end);
                early.continues |= late.continues;
                if late.score > early.score {
                    (early.kind, early.score, early.rule) = (late.kind, late.score, late.rule);
                }
            }
            overlaps
        });
    }

    /// Whether something was found here already. The findings must be settled.
    pub(super) fn overlaps(&self, node: NodeId, span: &Range<usize>) -> bool {
        let after = self
            .findings
            .partition_point(|finding| (finding.node, finding.span.start) < (node, span.end));
        self.findings[..after]
            .last()
            .is_some_and(|before| before.node == node && before.span.end > span.start)
    }
}
