//! Sixty-four bytes of text at once, as sets: one bit for each byte that belongs, the lowest for the first.
//!
//! Where words begin and end is then a matter of shifting and counting bits, without a branch per byte or per word, which the
//! processor would guess wrong on running text.

/// Sixty-four bytes of a text; zeros beyond its end.
pub(crate) struct Block([u8; SIZE]);

pub(crate) const SIZE: usize = 64;

/// The blocks of a text and where each begins. The last ends beyond the text, so that everything in it comes to an end.
pub(crate) fn blocks(bytes: &[u8]) -> impl Iterator<Item = (usize, Block)> {
    (0..=bytes.len() / SIZE).map(|index| {
        let from = index * SIZE;
        (from, Block::load(&bytes[from..]))
    })
}

impl Block {
    #[inline(always)]
    fn load(rest: &[u8]) -> Block {
        match rest.first_chunk() {
            Some(block) => Block(*block),
            None => Block::load_last(rest),
        }
    }

    #[inline(never)]
    fn load_last(rest: &[u8]) -> Block {
        let mut block = [0; SIZE];
        block[..rest.len()].copy_from_slice(rest);
        Block(block)
    }

    /// The bytes that belong, as `belongs` says without a branch.
    #[inline(always)]
    pub(crate) fn set(&self, belongs: impl Fn(u8) -> bool) -> u64 {
        /// Moves the lowest bits of eight bytes next to each other, into the highest byte.
        const GATHER: u64 = 0x0102_0408_1020_4080;
        // A loop of its own, which the compiler turns into one over registers of many bytes.
        let mut told = [0; SIZE];
        for (told, byte) in told.iter_mut().zip(self.0) {
            *told = u8::from(belongs(byte));
        }
        let (eights, _) = told.as_chunks();
        eights.iter().rev().fold(0, |all, eight| {
            all << 8 | u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56
        })
    }
}

/// Where the bytes stand that belong, in order.
pub(crate) fn places(
    bytes: &[u8],
    belongs: impl Fn(u8) -> bool + Copy,
) -> impl Iterator<Item = usize> {
    // Beyond the text are zeros.
    blocks(bytes)
        .flat_map(move |(from, block)| members(block.set(belongs)).map(move |place| from + place))
        .take_while(|&place| place < bytes.len())
}

/// Takes the first member out of a set; 64 when there is none.
#[inline(always)]
pub(crate) fn take_first(set: &mut u64) -> usize {
    let first = set.trailing_zeros() as usize;
    *set &= set.wrapping_sub(1);
    first
}

/// The members of a set, in order.
pub(crate) fn members(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || (set != 0).then(|| take_first(&mut set)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_bit() {
        for byte in 0..=255 {
            for place in 0..SIZE {
                let mut block = Block([!byte; SIZE]);
                block.0[place] = byte;
                assert_eq!(block.set(|one| one == byte), 1 << place);
                assert_eq!(block.set(|one| one != byte), !(1 << place));
            }
        }
    }

    #[test]
    fn blocks_cover_a_text_of_any_length_and_something_beyond() {
        for length in 0..=3 * SIZE {
            let text: Vec<u8> = (0..length).map(|at| at as u8 | 1).collect();
            let mut read = Vec::new();
            for (from, block) in blocks(&text) {
                assert_eq!(from, read.len());
                read.extend(block.0);
            }
            assert!(read.len() > length);
            assert!(read[..length] == text && read[length..].iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn places_end_with_the_text() {
        let mut text = vec![1; SIZE + 3];
        text[2] = 0;
        text[SIZE + 1] = 0;
        let all: Vec<_> = places(&text, |byte| byte == 0).collect();
        assert_eq!(all, [2, SIZE + 1]);
    }

    #[test]
    fn members_come_in_order() {
        let all: Vec<_> = members(1 << 63 | 0b1101).collect();
        assert_eq!(all, [0, 2, 3, 63]);
    }
}
