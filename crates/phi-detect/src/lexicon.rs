//! Looks words up: is it a title, a month, a street suffix, a given name, the start of a label?
//!
//! One hash table for all words, behind a small bit filter that settles nearly
//! every word of running prose without touching the table.

use std::ops::Range;
use std::sync::LazyLock;

pub(crate) use crate::words::Sense;
pub(crate) use crate::words::{hash, hash_in};

use crate::labels;
use crate::words;

/// The table of all known words.
pub(crate) struct Lexicon {
    /// A bit for every word.
    filter: Box<Bits>,
    /// A bit for every loud word, by its quick hash: one lookup rejects the commonest words.
    loud: Box<Bits>,
    slots: Box<[(u64, Sense); SLOTS]>,
}

/// Built on first use, from `words` and the first words of `labels`.
pub(crate) static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::build);

const FILTER_BITS: usize = 1 << 18;
const SLOTS: usize = 1 << 15;

type Bits = [u64; FILTER_BITS / 64];

impl Lexicon {
    fn build() -> Self {
        let mut lexicon = Lexicon {
            filter: all(0),
            loud: all(0),
            slots: all((0, Sense::NONE)),
        };
        for &(sense, list) in words::WORDS {
            for word in list.split_ascii_whitespace() {
                lexicon.add(word, sense);
            }
        }
        for phrase in labels::phrases() {
            let head = phrase.split(' ').next().unwrap_or(phrase);
            lexicon.add(head, Sense::LABEL);
        }
        lexicon
    }

    fn add(&mut self, word: &str, sense: Sense) {
        let key = hash(word.as_bytes());
        let bit = key as usize % FILTER_BITS;
        self.filter[bit / 64] |= 1 << (bit % 64);
        if sense.is_loud() {
            let bit = quick_bit(word.as_bytes(), 0..word.len());
            self.loud[bit / 64] |= 1 << (bit % 64);
        }
        let slot = self.slot(key);
        self.slots[slot] = (key, self.slots[slot].1 | sense);
    }

    /// Returns the slot that holds `key`, or the free one to put it in.
    fn slot(&self, key: u64) -> usize {
        let mut slot = (key >> 32) as usize % SLOTS;
        while self.slots[slot].0 != key && self.slots[slot].0 != 0 {
            slot = (slot + 1) % SLOTS;
        }
        slot
    }

    /// Whether the word at this place of a text may be loud; if not, it certainly is not.
    #[inline(always)]
    pub(crate) fn may_be_loud(&self, text: &[u8], word: Range<usize>) -> bool {
        let bit = quick_bit(text, word);
        self.loud[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// Returns the senses of the word with this hash.
    #[inline]
    pub(crate) fn sense_of(&self, key: u64) -> Sense {
        let bit = key as usize % FILTER_BITS;
        if self.filter[bit / 64] >> (bit % 64) & 1 == 0 {
            return Sense::NONE;
        }
        let (found, sense) = self.slots[self.slot(key)];
        if found == key { sense } else { Sense::NONE }
    }

    /// Returns the senses of the word at this place of a text.
    pub(crate) fn sense_in(&self, text: &[u8], word: Range<usize>) -> Sense {
        self.sense_of(hash_in(text, word))
    }

    /// Returns the senses of this word, in any case of letters.
    pub(crate) fn sense(&self, word: &[u8]) -> Sense {
        self.sense_of(hash(word))
    }
}

/// Makes a table on the heap whose length the compiler knows.
fn all<T: Copy, const LENGTH: usize>(value: T) -> Box<[T; LENGTH]> {
    let table = vec![value; LENGTH].try_into();
    table.unwrap_or_else(|_| unreachable!("it has this length"))
}

/// The bit of a word among the loud ones.
#[inline(always)]
fn quick_bit(text: &[u8], word: Range<usize>) -> usize {
    words::quick_hash_in(text, word) as usize >> (usize::BITS - FILTER_BITS.ilog2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case() {
        assert!(LEXICON.sense(b"DR").has(Sense::TITLE));
        assert!(LEXICON.sense(b"Avenue").has(Sense::STREET));
        assert!(LEXICON.sense(b"maria").has(Sense::GIVEN));
        assert!(LEXICON.sense(b"xylographic") == Sense::NONE);
    }

    #[test]
    fn the_table_is_at_most_half_full() {
        let used = LEXICON.slots.iter().filter(|slot| slot.0 != 0).count();
        assert!(used * 2 < SLOTS, "{used} of {SLOTS} slots used");
    }
}
