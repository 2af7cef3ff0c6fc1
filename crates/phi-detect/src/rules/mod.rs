//! The kinds of PHI, one file or folder and one row each.
//!
//! A row says everything about its kind: how it is called, how it is found, what
//! it must find and what it must leave alone. Codes, placeholders, settings,
//! documentation and tests follow from the row.

mod address;
mod dob;
mod email;
mod medicare_id;
mod mrn;
mod name;
mod phone;
mod ssn;

use std::ops::Range;

use crate::candidate::Candidate;
use crate::page::Page;
use crate::spelling::Spelling;
use crate::{PhiKind, Settings};

/// A kind of PHI and how it is found.
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
    /// Findings with a lower score are dropped unless an account sets another threshold.
    pub threshold: f32,
    /// Texts in which exactly the parts between `«` and `»` are found.
    pub hits: &'static [&'static str],
    /// Texts in which nothing of this kind is found.
    pub misses: &'static [&'static str],
    /// What may differ between two spellings of one value.
    pub spelling: Spelling,
    /// Added to the score when two kinds want the same text.
    pub(crate) precedence: f32,
    /// Whether two findings read as one, from the left, what stands between, and the right.
    pub(crate) joins: fn(&str, &str, &str) -> bool,
    pub(crate) find: fn(&Page<'_>, &mut Out<'_>),
    /// Finds what stands right after a name: a record number, a date of birth.
    pub(crate) beside: fn(&Page<'_>, &Range<usize>, &mut Out<'_>),
    /// The span of what the model found, with what follows and belongs to it by its form.
    pub(crate) complete: fn(&Page<'_>, Range<usize>) -> Range<usize>,
    /// Whether the words around say that what the model found is something else.
    pub(crate) contradicts: fn(&Page<'_>, &Range<usize>) -> bool,
}

/// For kinds about which the words around never contradict the model.
fn never(_: &Page<'_>, _: &Range<usize>) -> bool {
    false
}

/// For kinds that a name beside them says nothing about.
fn no_neighbour(_: &Page<'_>, _: &Range<usize>, _: &mut Out<'_>) {}

/// For kinds of which the model finds all there is.
fn as_found(_: &Page<'_>, span: Range<usize>) -> Range<usize> {
    span
}

/// For kinds whose findings are never parts of one.
fn stand_alone(_: &str, _: &str, _: &str) -> bool {
    false
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
];

/// The kind of names, beside which other kinds are looked for; its row above.
pub(crate) const NAME_KIND: PhiKind = PhiKind(6);

/// The row of a kind.
pub(crate) fn of(kind: PhiKind) -> &'static PhiRule {
    RULES[usize::from(kind.0)]
}

/// Runs every rule over the page.
pub(crate) fn find_all(page: &Page<'_>, settings: &Settings, candidates: &mut Vec<Candidate>) {
    for kind in PhiKind::all() {
        let mut out = Out {
            kind,
            settings,
            candidates,
        };
        (of(kind).find)(page, &mut out);
    }
}

/// Finds the people named in the text wherever else it names them.
pub(crate) fn find_names_again(
    page: &Page<'_>,
    settings: &Settings,
    names: &[Range<usize>],
    candidates: &mut Vec<Candidate>,
) {
    let mut out = Out {
        kind: NAME_KIND,
        settings,
        candidates,
    };
    name::find_again(page, names, &mut out);
}

/// Runs every rule over what stands beside the names found so far.
pub(crate) fn find_beside_names(
    page: &Page<'_>,
    settings: &Settings,
    names: &[Range<usize>],
    candidates: &mut Vec<Candidate>,
) {
    for kind in PhiKind::all() {
        let mut out = Out {
            kind,
            settings,
            candidates,
        };
        for name in names {
            (of(kind).beside)(page, name, &mut out);
        }
    }
}

/// Where a rule puts what it found.
pub(crate) struct Out<'a> {
    kind: PhiKind,
    pub(crate) settings: &'a Settings,
    candidates: &'a mut Vec<Candidate>,
}

impl Out<'_> {
    /// One more candidate of the rule's kind.
    pub(crate) fn push(&mut self, span: Range<usize>, score: f32, rule: &'static str) {
        self.candidates.push(Candidate {
            kind: self.kind,
            span,
            score,
            rule,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_names_is_its_row() {
        assert_eq!(NAME_KIND.code(), "name");
    }
}
