//! Extent of a scan.

use crate::code::coded;

/// Whether scans ask the larger reader about text in doubt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Depth {
    /// Rules, tagger and, about text in doubt, the reader.
    #[default]
    Careful,
    /// Rules and tagger alone.
    Fast,
}

/// Code and effect of each depth.
const ROWS: &[(Depth, &str, &str)] = &[
    // One row per depth.
    (
        Depth::Careful,
        "careful",
        "The larger reader is asked about text in doubt.",
    ),
    (
        Depth::Fast,
        "fast",
        "The larger reader is never asked: scans are faster and miss more.",
    ),
];

impl Depth {
    /// Every depth, in the order in which they are offered.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.0)
    }

    /// Code in settings, on the command line and in requests.
    pub const fn code(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// Effect, for the owner who chooses.
    pub const fn summary(self) -> &'static str {
        ROWS[self as usize].2
    }
}

coded!(Depth, "depth of detection");
