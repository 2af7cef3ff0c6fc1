//! Counts of findings and replacements in a reply.

use std::collections::BTreeMap;

use phi_detect::PhiKind;

/// Counts for the audit trail and the headers. Holds no content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Tokens that were replaced by their values.
    pub restored: u64,
    /// New PHI, by kind.
    pub found: BTreeMap<PhiKind, u64>,
    /// Values of the request that came back.
    pub echoes: u64,
}

impl Tally {
    /// The kinds of new PHI, in table order.
    pub fn kinds(&self) -> Vec<PhiKind> {
        self.found.keys().copied().collect()
    }

    /// Number of new PHI findings.
    pub fn findings(&self) -> u64 {
        self.found.values().sum()
    }

    /// Whether the reply held PHI that was not in the request.
    pub fn has_new_phi(&self) -> bool {
        !self.found.is_empty()
    }
}
