//! The kinds of PHI as data: one file and one row each.
//!
//! A row says everything about its kind: how it is called, which labels introduce it, what it must
//! find and what it must leave alone. Codes, placeholders, settings, documentation and tests follow
//! from the row. How a kind is found stands in `rules`; a kind that says which [`Number`] it is needs
//! nothing there.

mod address;
mod dob;
mod email;
mod health_plan_id;
mod meaning;
mod medicare_id;
mod mrn;
mod name;
mod npi;
mod number;
mod phone;
mod ssn;

pub(crate) use meaning::Meaning;
pub(crate) use number::{Evidence, Number, Shape, Weight};

use crate::depth::Depth;
use crate::spelling::Spelling;

/// What the labels of a kind say whose row gives its [`Number`].
const BY_LABEL: Meaning = Meaning::OtherId(None);

/// A kind of PHI: what it is, how it is called and its proof.
pub struct PhiRule {
    /// The code used in headers, errors, the audit trail, settings and the command line.
    pub code: &'static str,
    /// The name people read.
    pub label: &'static str,
    /// What mask mode writes in place of a finding.
    pub placeholder: &'static str,
    /// What is found, in a few sentences for users.
    pub summary: &'static str,
    /// What looks like it and is left alone on purpose.
    pub not_found: &'static str,
    /// The document that defines the format.
    pub authority: &'static str,
    /// Findings of fast scans with a lower score are dropped unless an account sets another threshold.
    pub threshold: f32,
    /// Whether it is looked for by every account. If not, by those that set a threshold for it.
    pub is_on_by_default: bool,
    /// Texts in which exactly the parts between `«` and `»` are found.
    pub hits: &'static [&'static str],
    /// Texts in which nothing of this kind is found.
    pub misses: &'static [&'static str],
    /// The phrases that introduce it, each in lower case with single spaces, separated by `|`.
    pub(crate) labels: &'static [(Meaning, &'static str)],
    /// Phrases that say something else as the whole key of a value in data than they say in prose.
    pub(crate) keys: &'static [(Meaning, &'static str)],
    /// What it looks like, where its label is all there is to know it by.
    pub(crate) number: Option<Number>,
    /// How sure each shape and evidence makes us.
    pub(crate) weights: &'static [Weight],
    /// What may differ between two spellings of one value.
    pub spelling: Spelling,
    /// Added to the score when two kinds want the same text.
    pub(crate) precedence: f32,
}

/// Every kind, in the order in which lists of kinds are written.
pub static RULES: &[&PhiRule] = &[
    // One row per file.
    &ssn::RULE,
    &dob::RULE,
    &phone::RULE,
    &email::RULE,
    &address::RULE,
    &mrn::RULE,
    &name::RULE,
    &medicare_id::RULE,
    &npi::RULE,
    &health_plan_id::RULE,
];

/// A kind of PHI: a row of the table, cheap to copy, ordered as the table is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhiKind(u8);

impl PhiKind {
    /// The kind of names, beside which other kinds are looked for.
    pub(crate) const NAME: PhiKind = PhiKind(6);

    /// Every kind, in table order.
    pub fn all() -> impl Iterator<Item = PhiKind> {
        (0..RULES.len() as u8).map(PhiKind)
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

    /// The least score of a finding at a depth, unless an account sets another.
    ///
    /// Scores of careful scans are probabilities: four in five candidates at their threshold are false, because a leak costs
    /// more than a false alarm.
    pub fn default_threshold(self, depth: Depth) -> f32 {
        match depth {
            Depth::Careful => 0.2,
            Depth::Fast => self.rule().threshold,
        }
    }

    /// The one form of all spellings of a value of this kind. Values that differ keep differing.
    pub fn normalise(self, value: &str) -> String {
        self.rule().spelling.normalise(value)
    }

    /// The row that describes this kind.
    pub fn rule(self) -> &'static PhiRule {
        RULES[self.index()]
    }

    /// Its place in the table.
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl std::fmt::Debug for PhiKind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_names_is_its_row() {
        assert_eq!(PhiKind::NAME.code(), "name");
    }
}
