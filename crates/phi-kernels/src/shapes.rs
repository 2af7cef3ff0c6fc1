//! Shapes of the numbers that kernels multiply.

/// Columns of a block.
pub const LANES: usize = 16;

/// Two neighbouring numbers of a row.
pub type Pair = [i16; 2];

/// Weights of sixteen columns, two rows at a time.
#[derive(Clone, Copy, Debug)]
pub enum Weights<'a> {
    /// Signed bytes, as they are stored in a file.
    Bytes(&'a [[u8; 2 * LANES]]),
    /// 16-bit numbers.
    Words(&'a [[Pair; LANES]]),
}

impl<'a> Weights<'a> {
    /// Returns the number of pairs of numbers that a row needs.
    pub fn pairs(&self) -> usize {
        match self {
            Weights::Bytes(all) => all.len(),
            Weights::Words(all) => all.len(),
        }
    }

    /// The weights of some pairs.
    #[must_use]
    pub fn part(&self, range: std::ops::Range<usize>) -> Weights<'a> {
        match self {
            Weights::Bytes(all) => Weights::Bytes(&all[range]),
            Weights::Words(all) => Weights::Words(&all[range]),
        }
    }
}
