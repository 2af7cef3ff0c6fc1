//! Replacement of findings in mask mode.

use crate::code::coded;

/// Replacement of the findings of a kind in mask mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Replace {
    /// The placeholder of the kind.
    #[default]
    Placeholder,
    /// A coarser value, or the placeholder if there is none.
    Generalize,
}

/// Code of each replacement.
const ROWS: &[(Replace, &str)] = &[
    // In the order of the enum.
    (Replace::Placeholder, "placeholder"),
    (Replace::Generalize, "generalize"),
];

impl Replace {
    /// Every replacement, in the order in which they are offered.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.0)
    }

    /// Code in settings, records and on the command line.
    pub const fn code(self) -> &'static str {
        ROWS[self as usize].1
    }
}

coded!(Replace, "replacement");
