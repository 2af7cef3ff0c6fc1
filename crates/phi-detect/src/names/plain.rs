//! Words of ASCII letters, as nearly all are: read at once, and hashed as the weights file knows them.

use crate::bytes8;

/// FNV-1a, by which the weights file knows its words.
pub(super) const HASH_START: u64 = 0xCBF2_9CE4_8422_2325;
const HASH_FACTOR: u64 = 0x0100_0000_01B3;

/// Takes one more byte into a hash.
#[inline(always)]
pub(super) fn step(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(HASH_FACTOR)
}

/// A word of fewer than sixteen ASCII letters.
pub(super) struct PlainWord {
    pub(super) letters: usize,
    pub(super) capitals: usize,
    /// Letters of the word in lower case, then zeros.
    pub(super) small: [u64; 2],
}

impl PlainWord {
    /// Reads the word that begins at `start`; `None` if it is longer.
    ///
    /// The processor cannot predict the length of a word: all words take the same steps.
    #[inline(always)]
    pub(super) fn read(bytes: &[u8], start: usize) -> Option<PlainWord> {
        let both = bytes8::load_two(bytes, start);
        let masks = both.map(bytes8::letters);
        let letters = bytes8::run_of_two(masks);
        if letters == 16 {
            return None;
        }
        let kept = bytes8::first_of_two(letters);
        let in_word = |index: usize| bytes8::capitals(both[index], masks[index]) & kept[index];
        let capitals = [in_word(0), in_word(1)];
        let capitals = if capitals == [0; 2] {
            0
        } else {
            (capitals[0] | capitals[1] >> 1).count_ones() as usize
        };
        let small = [0, 1].map(|index| bytes8::lower(both[index]) & kept[index]);
        Some(PlainWord {
            letters,
            capitals,
            small,
        })
    }

    /// The hash of its letters made small.
    pub(super) fn hash(&self) -> u64 {
        let [low, high] = self.small;
        let hash = hash_on(HASH_START, low, self.letters.min(8));
        match self.letters {
            ..=8 => hash,
            _ => hash_on(hash, high, self.letters - 8),
        }
    }
}

/// Takes the first `count` of eight bytes into the hash; the rest are zeros.
#[inline(always)]
fn hash_on(hash: u64, eight: u64, count: usize) -> u64 {
    // Always eight steps, since a loop that ends with the word is guessed wrong at every word.
    // A step over a zero only multiplies, which a multiplication undoes.
    let hash = eight.to_le_bytes().into_iter().fold(hash, step);
    hash.wrapping_mul(UNDO[8 - count])
}

/// Factors that undo a number of multiplications by the hash factor.
static UNDO: [u64; 9] = undo();

const fn undo() -> [u64; 9] {
    // Newton's iteration: each round doubles how many low bits of the inverse are right.
    let mut inverse = HASH_FACTOR;
    let mut round = 0;
    while round < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(HASH_FACTOR.wrapping_mul(inverse)));
        round += 1;
    }
    let mut table = [1; 9];
    let mut count = 1;
    while count < 9 {
        table[count] = inverse.wrapping_mul(table[count - 1]);
        count += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_word_matches_letter_by_letter_reading() {
        let text = b"Electroencephalograms";
        for capitals in 0..=16 {
            for length in 1..=text.len() {
                let mut word = text[..length].to_vec();
                let upper = capitals.min(length);
                word[..upper].make_ascii_uppercase();
                word[upper..].make_ascii_lowercase();
                let small = word.to_ascii_lowercase();
                for behind in ["", "-", "4 and so on and on", "\u{e9} and so on", "[`{@"] {
                    let text = [&word, behind.as_bytes()].concat();
                    let Some(read) = PlainWord::read(&text, 0) else {
                        assert!(length >= 16);
                        continue;
                    };
                    assert_eq!((read.letters, read.capitals), (length, upper));
                    let kept = read.small.map(u64::to_le_bytes).concat();
                    assert_eq!(&kept[..length], small);
                    assert!(kept[length..].iter().all(|&byte| byte == 0));
                    assert_eq!(read.hash(), small.iter().copied().fold(HASH_START, step));
                }
            }
        }
    }
}
