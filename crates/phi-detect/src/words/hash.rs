//! Words are compared by a 64-bit hash of their lower-case bytes.

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

pub(crate) const HASH_START: u64 = 0x243f_6a88_85a3_08d3;

/// Takes eight more bytes of a word, in lower case, into its hash; the last have zeros after
/// them and may be nothing else.
#[inline(always)]
pub(crate) fn step(state: u64, eight: u64) -> u64 {
    (state.rotate_left(5) ^ eight).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// Spreads the last bytes over the whole hash; never 0, which marks a free slot.
#[inline(always)]
pub(crate) fn finish(state: u64, length: usize) -> u64 {
    let state = state ^ length as u64;
    (state ^ (state >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
}
