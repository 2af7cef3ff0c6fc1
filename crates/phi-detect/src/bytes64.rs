//! Sixty-four bytes of text at once, as sets: one bit for each byte that belongs, the lowest for the first.
//!
//! The starts and ends of words are then found by shifting and counting bits, without a branch per byte or per word,
//! which the processor would guess wrong on running text.

use std::ops::Range;

/// Sixty-four bytes of a text; zeros beyond its end.
pub(crate) struct Block([u8; SIZE]);

pub(crate) const SIZE: usize = 64;

/// Returns the blocks of a text and their offsets. The last ends beyond the text, so that everything in it comes to an
/// end.
pub(crate) fn blocks(bytes: &[u8]) -> impl Iterator<Item = (usize, Block)> {
    (0..=bytes.len() / SIZE).map(|index| {
        let from = index * SIZE;
        (from, Block::load(&bytes[from..]))
    })
}

/// Returns the offsets of the bytes for which `belongs` is true, in order; `belongs` must not branch.
pub(crate) fn places(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> impl Iterator<Item = usize> {
    let mut blocks = blocks(bytes);
    let (mut from, mut left) = (0, 0);
    std::iter::from_fn(move || {
        while left == 0 {
            let (next, block) = blocks.next()?;
            (from, left) = (next, block.set(&belongs));
        }
        let place = from + take_first(&mut left);
        // Beyond the text are zeros, which may belong.
        (place < bytes.len()).then_some(place)
    })
}

/// The runs of bytes that belong, as `belongs` says without a branch; in order.
pub(crate) fn runs(
    bytes: &[u8],
    belongs: impl Fn(u8) -> bool,
) -> impl Iterator<Item = Range<usize>> {
    let mut blocks = blocks(bytes);
    let (mut from, mut start, mut is_open) = (0, 0, 0);
    let (mut starts, mut ends) = (0, 0);
    std::iter::from_fn(move || {
        while ends == 0 {
            let (next, block) = blocks.next()?;
            let all = block.set(&belongs);
            let before = all << 1 | is_open;
            (from, starts, ends) = (next, all & !before, before & !all);
            if is_open == 0 {
                start = from + take_first(&mut starts);
            }
            is_open = all >> (SIZE - 1);
        }
        let run = start..from + take_first(&mut ends);
        start = from + take_first(&mut starts);
        Some(run)
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
        // A separate loop, which the compiler turns into one over registers of many bytes.
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

/// Takes the first member out of a set; 64 if the set is empty.
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
    use crate::budget::Few;

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
    fn blocks_cover_text_and_pad_with_zeros() {
        for length in 0..=3 * SIZE {
            let text: Few<u8> = (0..length).map(|at| at as u8 | 1).collect();
            let mut read = Few::new();
            for (from, block) in blocks(&text) {
                assert_eq!(from, read.len());
                read.extend(block.0);
            }
            assert!(read.len() > length);
            assert!(read[..length] == text && read[length..].iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn places_and_runs_ignore_block_boundaries() {
        let text = b"Mrs. Roe, n\xC3\xA9e d'Elan-vital, of a street whose name goes on for more than sixty-four bytes: \
            Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogochuchaf 4B";
        let is_letter = |byte: u8| byte.is_ascii_alphabetic() | (byte >= 0x80);
        for before in 0..=2 * SIZE {
            let text = [vec![b'.'; before].as_slice(), text].concat();
            let at: Few<_> = places(&text, is_letter).collect();
            let expected: Few<_> = (0..text.len()).filter(|&at| is_letter(text[at])).collect();
            assert_eq!(at, expected);
            let found: Few<_> = runs(&text, is_letter).map(|run| &text[run]).collect();
            let words = text.split(|byte| !is_letter(*byte));
            let words: Few<_> = words.filter(|word| !word.is_empty()).collect();
            assert_eq!(found, words);
        }
        assert!(places(b"1\x001", |byte| byte == 0).eq([1]));
        assert_eq!(runs(&[b'x'; 3 * SIZE], is_letter).next(), Some(0..3 * SIZE));
    }

    #[test]
    fn members_come_in_order() {
        let all: Few<_> = members(1 << 63 | 0b1101).collect();
        assert_eq!(all, [0, 2, 3, 63]);
    }
}
