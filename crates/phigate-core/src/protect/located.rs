//! Findings in their places in a document.

use std::ops::Range;

use phi_detect::Finding;
use phigate_types::{Effect, Mode, Policy, Ruling};
use smol_str::SmolStr;

use crate::json::NodeId;
use crate::request::Place;

/// A finding in its place in a document.
#[derive(Debug, Clone)]
pub(crate) struct LocatedFinding {
    /// The finding, with its range in the decoded text of the node.
    pub(super) finding: Finding,
    pub(super) node: NodeId,
    pub(super) place: Place,
    /// Whether this continues the finding in the text part before.
    pub(super) continues: bool,
}

impl LocatedFinding {
    /// A finding at `span` of a node's text.
    pub(super) fn new(finding: &Finding, node: NodeId, place: Place, span: Range<usize>) -> Self {
        Self {
            finding: Finding {
                span,
                ..finding.clone()
            },
            node,
            place,
            continues: false,
        }
    }

    /// Sort key: position in the document.
    fn start(&self) -> (NodeId, usize) {
        (self.node, self.finding.span.start)
    }
}

/// A finding whose value the account does not count as PHI.
#[derive(Debug, Clone)]
pub(crate) struct Allowed {
    pub(super) located: LocatedFinding,
    /// Id of the entry of the allow list.
    pub(super) entry: SmolStr,
}

/// Result of scanning a whole document.
#[derive(Debug)]
pub(crate) struct ScanResult {
    /// The findings, in order of place.
    pub(super) findings: Vec<LocatedFinding>,
    /// Values that the account does not count as PHI, in order of place.
    pub(super) allowed: Vec<Allowed>,
    /// Whether everything was scanned.
    pub(crate) is_complete: bool,
    /// Bytes of text that were scanned.
    pub(super) text_bytes: u64,
}

impl ScanResult {
    pub(super) fn empty() -> Self {
        Self {
            findings: Vec::new(),
            allowed: Vec::new(),
            is_complete: true,
            text_bytes: 0,
        }
    }

    /// The keys that hold PHI, in order.
    pub(super) fn keys_with_phi(&self) -> Vec<NodeId> {
        let findings = self.findings.iter();
        let in_keys = findings.filter(|located| located.place == Place::Key);
        in_keys.map(|located| located.node).collect()
    }

    /// Sorts the findings by position and unites overlapping ones.
    pub(super) fn settle(&mut self) {
        self.findings.sort_by_key(LocatedFinding::start);
        self.findings.dedup_by(|late, early| {
            let overlaps =
                late.node == early.node && late.finding.span.start < early.finding.span.end;
            if overlaps {
                let end = early.finding.span.end.max(late.finding.span.end);
                early.continues |= late.continues;
                let mut hides = std::mem::take(&mut early.finding.hides);
                hides.extend(&late.finding.hides);
                if late.finding.score > early.finding.score {
                    let start = early.finding.span.start;
                    std::mem::swap(&mut early.finding, &mut late.finding);
                    early.finding.span.start = start;
                }
                early.finding.span.end = end;
                if late.finding.kind != early.finding.kind {
                    hides.insert(late.finding.kind);
                }
                early.finding.hides = hides;
            }
            overlaps
        });
    }

    /// Whether a finding overlaps this range. The findings must be settled.
    pub(super) fn overlaps(&self, node: NodeId, span: &Range<usize>) -> bool {
        let after = self
            .findings
            .partition_point(|located| located.start() < (node, span.end));
        self.findings[..after]
            .last()
            .is_some_and(|before| before.node == node && before.finding.span.end > span.start)
    }
}

/// The treatment of a finding: the strongest of its kind and of the kinds hidden under it.
pub fn ruling<'p>(policy: &'p Policy, finding: &Finding) -> Ruling<'p> {
    let own = policy.of(finding.kind.code());
    let hidden = finding.hides.iter().map(|kind| policy.of(kind.code()));
    hidden.fold(own, Ruling::or_stronger)
}

/// Whether the policy blocks any of these findings.
pub(super) fn is_blocked(policy: &Policy, findings: &[LocatedFinding]) -> bool {
    let blocks = |mode: Mode| matches!(mode.effect, Effect::Block);
    let mut findings = findings.iter();
    findings.any(|found| blocks(ruling(policy, &found.finding).mode()))
}
