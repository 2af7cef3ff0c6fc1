//! Generalized values: the year of a date, "90+" for an age, in place of a placeholder.

use std::fmt;

use phi_detect::{PhiKind, PhiKinds};

/// Kinds whose values are generalized where a placeholder would be written.
#[derive(Clone)]
pub struct Generalizing {
    kinds: PhiKinds,
    this_year: fn() -> i32,
}

impl fmt::Debug for Generalizing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.kinds.iter()).finish()
    }
}

impl Generalizing {
    /// Generalizes these kinds. The function returns the current year: the year of a birth 90 years ago is not kept.
    pub fn new(kinds: PhiKinds, this_year: fn() -> i32) -> Self {
        Self { kinds, this_year }
    }

    /// The coarser value of a finding; `None` if it gets its placeholder. What is kept of a value may tell nothing about
    /// the kinds that the finding hides.
    pub fn value(&self, kind: PhiKind, hidden: &PhiKinds, value: &str) -> Option<String> {
        let year = (self.this_year)();
        let of = |kind: PhiKind| match self.kinds.iter().any(|one| one == kind) {
            true => kind.generalize(value, year),
            false => None,
        };
        let coarse = of(kind)?;
        let is_kept_of = |other: PhiKind| of(other).as_ref() == Some(&coarse);
        (coarse.is_empty() || hidden.iter().all(is_kept_of)).then_some(coarse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(code: &str) -> PhiKind {
        PhiKind::from_code(code).unwrap()
    }

    fn kinds(codes: &[&str]) -> PhiKinds {
        codes.iter().map(|code| kind(code)).collect()
    }

    #[test]
    fn hidden_kind_keeps_the_placeholder() {
        let all = Generalizing::new(kinds(&["date", "dob", "place"]), || 2026);
        let value = |code, hidden: &[&str], text| all.value(kind(code), &kinds(hidden), text);
        for (code, hidden, text, wanted) in [
            ("date", &[][..], "March 4, 2024", Some("2024")),
            ("date", &["dob"], "March 4, 1962", Some("1962")),
            ("date", &["dob"], "March 4, 1922", None),
            ("date", &["mrn"], "20240304", None),
            ("date", &[], "June 12", None),
            ("age", &[], "94", None),
            ("place", &["name"], "Salem, ", Some("")),
            ("place", &[], "Salem", None),
        ] {
            assert_eq!(
                value(code, hidden, text).as_deref(),
                wanted,
                "{code} {text}"
            );
        }
    }
}
