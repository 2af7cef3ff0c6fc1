//! The kinds of PHI as data: one file and one row each.
//!
//! A row says everything about its kind: its names, the labels that introduce it, the values to find and the values
//! to leave alone. Codes, placeholders, settings, documentation and tests follow from the row. The rules that find a
//! kind are in `rules`; a kind whose row gives its [`Number`] does not need rules there.

mod account;
mod address;
mod age;
mod biometric;
mod date;
mod device;
mod dob;
mod email;
mod facility;
mod health_plan_id;
mod ip;
mod license;
mod meaning;
mod medicare_id;
mod mrn;
mod name;
mod npi;
mod number;
mod own;
mod phone;
mod place;
mod record_id;
mod ssn;
mod url;
mod username;
mod vehicle;

pub(crate) use meaning::Meaning;
pub(crate) use number::{Evidence, Number, Shape, Weight};

use std::cmp::Ordering;

use crate::budget::Few;
use crate::depth::Depth;
use crate::generalize::Generalize;
use crate::spelling::Spelling;

/// Meaning of the labels of a kind whose row gives its [`Number`].
const BY_LABEL: Meaning = Meaning::OtherId(None);

/// A kind of PHI: its meaning, its names and its proof.
pub struct PhiRule {
    /// The code used in headers, errors, the audit trail, settings and the command line.
    pub code: &'static str,
    /// The name people read.
    pub label: &'static str,
    /// Text that mask mode writes in place of a finding.
    pub placeholder: &'static str,
    /// Description of the values that are found, in a few sentences for users.
    pub summary: &'static str,
    /// Description of similar values that are left alone on purpose.
    pub not_found: &'static str,
    /// The document that defines the format.
    pub authority: &'static str,
    /// Findings of fast scans with a lower score are dropped unless an account sets another threshold.
    pub threshold: f32,
    /// Whether every account searches for it. If not, only accounts that set a threshold for it do.
    pub is_on_by_default: bool,
    /// Texts in which exactly the parts between `«` and `»` are found.
    pub hits: &'static [&'static str],
    /// Texts in which nothing of this kind is found.
    pub misses: &'static [&'static str],
    /// The phrases that introduce it, each in lower case with single spaces, separated by `|`.
    pub(crate) labels: &'static [(Meaning, &'static str)],
    /// Phrases that say something else as the whole key of a value in data than they say in prose.
    pub(crate) keys: &'static [(Meaning, &'static str)],
    /// Phrases that introduce it beyond the eight kinds of the specification, as in `labels`. They are read only if the
    /// account looks for the kind, so that they never change what the eight kinds find.
    pub(crate) cues: &'static str,
    /// Form of the value, for a kind that is found by its label alone.
    pub(crate) number: Option<Number>,
    /// Score of each shape and evidence.
    pub(crate) weights: &'static [Weight],
    /// Differences allowed between two spellings of one value.
    pub spelling: Spelling,
    /// Makes a value coarser instead of replacing it, for a kind that allows it.
    pub(crate) generalize: Option<Generalize>,
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
    &date::RULE,
    &age::RULE,
    &place::RULE,
    &facility::RULE,
    &record_id::RULE,
    &account::RULE,
    &license::RULE,
    &vehicle::RULE,
    &device::RULE,
    &url::RULE,
    &ip::RULE,
    &username::RULE,
    &biometric::RULE,
];

/// Kinds whose values identify a person on their own, so that no list of an account may let one through.
static ALWAYS_PHI: &[&PhiRule] = &[
    // In the order of the table.
    &ssn::RULE,
    &dob::RULE,
    &mrn::RULE,
    &medicare_id::RULE,
    &health_plan_id::RULE,
];

/// A kind of PHI: a row of the table, cheap to copy, ordered as the table is. Kinds that accounts define follow the
/// table, by their codes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PhiKind(u16);

impl PhiKind {
    /// The kind of e-mail addresses, which alone have a domain.
    pub const EMAIL: PhiKind = PhiKind(3);

    /// The kind of names, beside which other kinds are looked for.
    pub(crate) const NAME: PhiKind = PhiKind(6);

    /// Every kind of the table, in its order.
    pub fn all() -> impl Iterator<Item = PhiKind> {
        (0..RULES.len() as u16).map(PhiKind)
    }

    /// The kind of the table with this code, if there is one.
    pub fn from_code(code: &str) -> Option<PhiKind> {
        PhiKind::all().find(|kind| kind.code() == code)
    }

    /// The code used in headers, errors, the audit trail and the command line.
    pub fn code(self) -> &'static str {
        self.rule().code
    }

    /// Whether the kind is one of the eight of the specification, which every account looks for.
    pub fn is_core(self) -> bool {
        self.rule().is_on_by_default
    }

    /// The name people read.
    pub fn label(self) -> &'static str {
        self.rule().label
    }

    /// Returns the text that mask mode writes in place of a finding.
    pub fn placeholder(self) -> &'static str {
        self.rule().placeholder
    }

    /// The least score of a finding at a depth, unless an account sets another.
    ///
    /// Scores of careful scans are probabilities: four in five candidates at their threshold are false, because a
    /// leak costs more than a false alarm. It costs less beyond the eight kinds.
    pub fn default_threshold(self, depth: Depth) -> f32 {
        match depth {
            Depth::Careful if self.is_core() => 0.2,
            Depth::Careful => 0.3,
            Depth::Fast => self.rule().threshold,
        }
    }

    /// The one form of all spellings of a value of this kind. Values that differ keep differing.
    pub fn normalise(self, value: &str) -> String {
        self.rule().spelling.normalise(value)
    }

    /// Whether values of this kind can be made coarser instead of being replaced.
    pub fn can_generalize(self) -> bool {
        self.rule().generalize.is_some()
    }

    /// Makes a value coarser (the year of a date, "90+"); `None` if it becomes its placeholder.
    pub fn generalize(self, value: &str, this_year: i32) -> Option<String> {
        self.rule()
            .generalize
            .and_then(|make| make(value, this_year))
    }

    /// Whether an account may list values of this kind that are not PHI.
    pub fn may_be_allowed(self) -> bool {
        !ALWAYS_PHI
            .iter()
            .any(|rule| std::ptr::eq(*rule, self.rule()))
    }

    /// The row that describes this kind.
    pub fn rule(self) -> &'static PhiRule {
        match self.index() {
            Some(at) => RULES[at],
            None => self.own_row(),
        }
    }

    /// Returns the kind's index in the table; `None` for a kind that an account defines.
    pub(crate) fn index(self) -> Option<usize> {
        (!self.is_own()).then_some(usize::from(self.0))
    }
}

impl PartialOrd for PhiKind {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PhiKind {
    fn cmp(&self, other: &Self) -> Ordering {
        match self.is_own() && other.is_own() {
            true => self.code().cmp(other.code()),
            false => self.0.cmp(&other.0),
        }
    }
}

impl std::fmt::Debug for PhiKind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.code())
    }
}

/// A set of kinds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PhiKinds {
    table: u128,
    /// Kinds that accounts define, in order. Almost always empty.
    own: Few<PhiKind>,
}

impl PhiKinds {
    /// Adds a kind.
    pub fn insert(&mut self, kind: PhiKind) {
        match kind.index() {
            Some(at) => self.table |= 1 << at,
            None => {
                if let Err(at) = self.own.binary_search(&kind) {
                    self.own.insert(at, kind);
                }
            }
        }
    }

    /// Adds the kinds of another set.
    pub fn extend(&mut self, other: &Self) {
        self.table |= other.table;
        for kind in &other.own {
            self.insert(*kind);
        }
    }

    /// Whether no kind is in the set.
    pub fn is_empty(&self) -> bool {
        self.table == 0 && self.own.is_empty()
    }

    /// The kinds, in table order.
    pub fn iter(&self) -> impl Iterator<Item = PhiKind> {
        let table = PhiKind::all().filter(|kind| self.table & 1 << kind.0 != 0);
        table.chain(self.own.iter().copied())
    }
}

impl FromIterator<PhiKind> for PhiKinds {
    fn from_iter<I: IntoIterator<Item = PhiKind>>(kinds: I) -> Self {
        let mut set = Self::default();
        kinds.into_iter().for_each(|kind| set.insert(kind));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_with_constants_are_their_rows() {
        assert_eq!(PhiKind::EMAIL.code(), "email");
        assert_eq!(PhiKind::NAME.code(), "name");
    }

    #[test]
    fn identifiers_of_a_person_are_never_allowed() {
        let never = PhiKind::all().filter(|kind| !kind.may_be_allowed());
        let wanted = ["ssn", "dob", "mrn", "medicare_id", "health_plan_id"];
        assert!(never.map(PhiKind::code).eq(wanted));
    }

    #[test]
    fn set_of_kinds_gives_its_kinds_back() {
        for kind in PhiKind::all() {
            let (mut set, mut name) = (PhiKinds::default(), PhiKinds::default());
            set.insert(kind);
            name.insert(PhiKind::NAME);
            set.extend(&name);
            assert!(set.iter().any(|one| one == kind) && !set.is_empty());
            assert_eq!(
                set.iter().count(),
                if kind == PhiKind::NAME { 1 } else { 2 }
            );
        }
    }
}
