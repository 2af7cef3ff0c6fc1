//! Words are compared by a 64-bit hash of their lower-case bytes.

use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use crate::bytes8;

/// Hash of a word without regard to case.
pub(crate) fn hash(word: &[u8]) -> u64 {
    hash_in(word, 0..word.len())
}

/// Hash of the word at this place of a text: what follows it makes reading it faster.
#[inline]
pub(crate) fn hash_in(text: &[u8], word: Range<usize>) -> u64 {
    let mut state = HASH_START;
    let mut at = word.start;
    loop {
        let eight = bytes8::lower(bytes8::load(text, at));
        let count = (word.end - at).min(8);
        state = step(state, bytes8::first(eight, count));
        if count < 8 {
            return finish(state, word.len());
        }
        at += 8;
    }
}

const HASH_START: u64 = 0x243f_6a88_85a3_08d3;

/// Takes eight more bytes of a word, in lower case, into its hash; the last have zeros after
/// them and may be nothing else.
#[inline(always)]
fn step(state: u64, eight: u64) -> u64 {
    (state.rotate_left(5) ^ eight).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// Spreads the last bytes over the whole hash; never 0, which marks a free slot.
#[inline(always)]
fn finish(state: u64, length: usize) -> u64 {
    let state = state ^ length as u64;
    (state ^ (state >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
}

/// A hash of the first sixteen bytes of a word without regard to case: quick, the same few steps for every word, and good
/// enough to leave most words out. Its highest bits are its best.
#[inline(always)]
pub(crate) fn quick_hash_in(text: &[u8], word: Range<usize>) -> u64 {
    let [low, high] = bytes8::load_two(text, word.start);
    let [kept_low, kept_high] = bytes8::first_of_two(word.len());
    // Capitals become small, and some other bytes change as well.
    let low = (low | bytes8::ONES << 5) & kept_low;
    let high = (high | bytes8::ONES << 5) & kept_high;
    (low ^ high.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Hasher for tables with hashes of words as keys.
pub(crate) type AsIs = BuildHasherDefault<Same>;

/// Takes a hash for its own.
#[derive(Default)]
pub(crate) struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_ignores_case_and_following_text() {
        let long = "Electroencephalography";
        for length in 0..=long.len() {
            let word = &long[..length];
            let text = format!("{}, and more", word.to_uppercase());
            assert_eq!(hash(word.as_bytes()), hash_in(text.as_bytes(), 0..length));
            let quick = |text: &str| quick_hash_in(text.as_bytes(), 0..length);
            assert_eq!(quick(word), quick(&text));
        }
    }

    #[test]
    fn words_have_hashes_of_their_own() {
        let words = [
            "",
            "a",
            "b",
            "ab",
            "ba",
            "reported",
            "reporter",
            "reporters",
        ];
        let quick = words.map(|word| quick_hash_in(word.as_bytes(), 0..word.len()));
        let whole = words.map(|word| hash(word.as_bytes()));
        for (index, _) in words.iter().enumerate() {
            assert!(!whole[..index].contains(&whole[index]));
            assert!(!quick[..index].contains(&quick[index]));
        }
    }
}
