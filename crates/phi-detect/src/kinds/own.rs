//! Kinds that accounts define: rows beside the static table, made while the program runs.
//!
//! A row holds nothing but its code, which is all that two accounts with a kind of the same code share. Rows are kept
//! for the life of the process, so that a kind stays cheap to copy; only definitions that an owner stored make one.

use std::sync::{PoisonError, RwLock};

use super::{PhiKind, PhiRule};
use crate::budget::Few;
use crate::spelling::Spelling;

/// Characters of the longest code.
const CODE_MAX: usize = 32;

/// First number of such a kind; smaller numbers belong to the static table.
pub(super) const FIRST: u16 = 1 << 10;

static ROWS: RwLock<Few<&'static PhiRule>> = RwLock::new(Few::new());

impl PhiKind {
    /// Start of the code of every kind that an account defines.
    pub const OWN_PREFIX: &str = "x_";

    /// The kind with this code that an account defines: `x_` and up to 30 lower-case letters, digits or underscores.
    /// `None` for any other code.
    pub fn own(code: &str) -> Option<Self> {
        if !is_code(code) {
            return None;
        }
        let number_of = |rows: &[&PhiRule]| rows.iter().position(|row| row.code == code);
        let rows = ROWS.read().unwrap_or_else(PoisonError::into_inner);
        let known = number_of(&rows);
        drop(rows);
        let at = match known {
            Some(at) => at,
            None => {
                let mut rows = ROWS.write().unwrap_or_else(PoisonError::into_inner);
                number_of(&rows).unwrap_or_else(|| {
                    rows.push(row(code));
                    rows.len() - 1
                })
            }
        };
        let number = u16::try_from(at).ok()?.checked_add(FIRST)?;
        Some(Self(number))
    }

    /// Whether an account defines the kind.
    pub fn is_own(self) -> bool {
        self.0 >= FIRST
    }

    /// The row of a kind that an account defines.
    pub(super) fn own_row(self) -> &'static PhiRule {
        let rows = ROWS.read().unwrap_or_else(PoisonError::into_inner);
        rows[usize::from(self.0 - FIRST)]
    }
}

fn is_code(code: &str) -> bool {
    let rest = code.strip_prefix(PhiKind::OWN_PREFIX).unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let ends_well = |rest: &str| !rest.starts_with('_') && !rest.ends_with('_');
    !rest.is_empty() && code.len() <= CODE_MAX && rest.bytes().all(is_plain) && ends_well(rest)
}

/// A new row, never freed.
fn row(code: &str) -> &'static PhiRule {
    let code: &'static str = Box::leak(code.into());
    let placeholder = format!("[{}]", code.to_ascii_uppercase());
    Box::leak(Box::new(PhiRule {
        code,
        label: code,
        placeholder: Box::leak(placeholder.into()),
        summary: "Values that a recognizer of the account finds.",
        not_found: "",
        authority: "",
        threshold: 0.0,
        is_on_by_default: false,
        hits: &[],
        misses: &[],
        labels: &[],
        keys: &[],
        cues: "",
        number: None,
        weights: &[],
        spelling: Spelling::Code,
        generalize: None,
        precedence: PRECEDENCE,
    }))
}

/// Added to the score when another kind wants the same text: the owner knows the site's own numbers best.
const PRECEDENCE: f32 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_leads_back_to_its_kind() {
        let (one, other) = (PhiKind::own("x_one"), PhiKind::own("x_other"));
        assert_ne!(one, other);
        assert_eq!(one, PhiKind::own("x_one"));
        let one = one.unwrap();
        assert_eq!((one.code(), one.placeholder()), ("x_one", "[X_ONE]"));
        assert!(one.is_own() && !PhiKind::NAME.is_own());
        assert_eq!(PhiKind::from_code("x_one"), None);
    }

    #[test]
    fn wrong_codes_make_no_kind() {
        let long = format!("x_{}", "a".repeat(31));
        for code in [
            "ssn", "x_", "x__", "x_A", "x_a b", "x_a]", "x_a,ssn", "x_a_", "X_a", &long,
        ] {
            assert_eq!(PhiKind::own(code), None, "{code}");
        }
    }

    #[test]
    fn defined_kinds_follow_table_by_code() {
        let (b, a) = (PhiKind::own("x_sort_b"), PhiKind::own("x_sort_a"));
        let mut kinds = [b.unwrap(), PhiKind::NAME, a.unwrap()];
        kinds.sort();
        assert_eq!(kinds.map(PhiKind::code), ["name", "x_sort_a", "x_sort_b"]);
    }
}
