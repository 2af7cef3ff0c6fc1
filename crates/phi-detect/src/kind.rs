//! The kinds of PHI, as rows of the rule table.

use crate::rules::{self, PhiRule};

/// A kind of PHI: a row of the table, cheap to copy, ordered as the table is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhiKind(pub(crate) u8);

impl PhiKind {
    /// Every kind, in table order.
    pub fn all() -> impl Iterator<Item = PhiKind> {
        (0..rules::RULES.len() as u8).map(PhiKind)
    }

    /// The kind with this code, if there is one.
    pub fn from_code(code: &str) -> Option<PhiKind> {
        PhiKind::all().find(|kind| kind.code() == code)
    }

    /// The code used in headers, errors, the audit trail and the command line.
    pub fn code(self) -> &'static str {
        self.rule().code
    }

    /// The name people read.
    pub fn label(self) -> &'static str {
        self.rule().label
    }

    /// What mask mode writes in place of a finding.
    pub fn placeholder(self) -> &'static str {
        self.rule().placeholder
    }

    /// The one form of all spellings of a value of this kind. Values that differ keep differing.
    pub fn normalise(self, value: &str) -> String {
        self.rule().spelling.normalise(value)
    }

    /// The row that describes this kind.
    pub fn rule(self) -> &'static PhiRule {
        rules::of(self)
    }
}

impl std::fmt::Debug for PhiKind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.code())
    }
}
