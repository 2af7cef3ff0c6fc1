//! Extent of a scan.

/// Extent of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Depth {
    /// Rules, tagger and, about stretches in doubt, the larger reader; one fitted decision.
    #[default]
    Careful,
    /// Rules and tagger alone.
    Fast,
}
