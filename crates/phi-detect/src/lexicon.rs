//! Looks words up: is it a title, a month, a street suffix, a given name, the start of a label?
//!
//! One hash table for all words, behind a small bit filter that settles nearly
//! every word of running prose without touching the table. Words are compared
//! by a 64-bit hash of their lower-case bytes.

use std::ops::Range;
use std::sync::LazyLock;

use crate::labels;
use crate::swar;
use crate::words;

/// What a word can be; one word can be several things ("May", "Will").
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sense(pub(crate) u32);

impl Sense {
    pub(crate) const NONE: Sense = Sense(0);
    /// First word of a phrase in the label table.
    pub(crate) const LABEL: Sense = Sense(1);
    pub(crate) const TITLE: Sense = Sense(1 << 1);
    pub(crate) const MONTH: Sense = Sense(1 << 2);
    pub(crate) const STREET: Sense = Sense(1 << 3);
    pub(crate) const UNIT: Sense = Sense(1 << 4);
    /// A US state or territory, by postal code or in full.
    pub(crate) const STATE: Sense = Sense(1 << 5);
    pub(crate) const DIRECTION: Sense = Sense(1 << 6);
    pub(crate) const GIVEN: Sense = Sense(1 << 7);
    pub(crate) const DIGIT_WORD: Sense = Sense(1 << 8);
    pub(crate) const NUMBER_WORD: Sense = Sense(1 << 9);
    pub(crate) const ORDINAL: Sense = Sense(1 << 10);
    pub(crate) const KIN: Sense = Sense(1 << 11);
    /// Words that introduce a person: "patient", "attending", "signed".
    pub(crate) const ROLE: Sense = Sense(1 << 12);
    /// "MD", "RN": stands after a name, outside it.
    pub(crate) const CREDENTIAL: Sense = Sense(1 << 13);
    /// Common words that are never part of a name, even when capitalised.
    pub(crate) const STOP: Sense = Sense(1 << 14);
    /// Words that may stand between a label and its value.
    pub(crate) const FILLER: Sense = Sense(1 << 15);
    /// Small words inside names: "de", "van", "bin".
    pub(crate) const PARTICLE: Sense = Sense(1 << 16);
    /// Marks the word before it as an eponym: "disease", "catheter", "score".
    pub(crate) const EPONYM_TAIL: Sense = Sense(1 << 17);
    /// First words of address lines that need no street suffix: "PO", "box", "RR", "highway".
    pub(crate) const BOX: Sense = Sense(1 << 18);
    /// A road word that stands before the name: "rue", "calle".
    pub(crate) const ROAD: Sense = Sense(1 << 21);
    pub(crate) const COUNTRY: Sense = Sense(1 << 22);
    /// No part of a street name.
    pub(crate) const NO_STREET: Sense = Sense(1 << 23);
    /// Spoken or bracketed "at" and "dot" of an e-mail address.
    pub(crate) const MAIL_WORD: Sense = Sense(1 << 20);

    /// A word that is as often a given name: "Will", "May".
    pub(crate) const GIVEN_WORD: Sense = Sense(1 << 24);
    /// A degree or licence that is hardly another word; puts itself on the page.
    pub(crate) const DEGREE: Sense = Sense(1 << 25);
    /// Introduces a person without being a title or role of its own: "dtr", "anes", "trooper".
    pub(crate) const INTRODUCES: Sense = Sense(1 << 26);
    /// A key of data in camel case.
    pub(crate) const KEY: Sense = Sense(1 << 27);
    /// Not words: digits alone, digits and letters, "@", and a mask placeholder.
    pub(crate) const NUMBER: Sense = Sense(1 << 28);
    pub(crate) const CODE: Sense = Sense(1 << 29);
    pub(crate) const AT: Sense = Sense(1 << 30);
    pub(crate) const PLACEHOLDER: Sense = Sense(1 << 31);

    /// Senses that put a word on the page; the others are only asked for.
    const LOUD: u32 = !(Self::STOP.0
        | Self::FILLER.0
        | Self::CREDENTIAL.0
        | Self::PARTICLE.0
        | Self::EPONYM_TAIL.0
        | Self::NUMBER_WORD.0
        | Self::ORDINAL.0
        | Self::DIRECTION.0
        | Self::ROAD.0
        | Self::COUNTRY.0
        | Self::NO_STREET.0
        | Self::GIVEN_WORD.0
        | Self::INTRODUCES.0);

    pub(crate) fn has(self, other: Sense) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn is_loud(self) -> bool {
        self.0 & Self::LOUD != 0
    }
}

impl std::ops::BitOr for Sense {
    type Output = Sense;

    fn bitor(self, other: Sense) -> Sense {
        Sense(self.0 | other.0)
    }
}

/// The table of all known words.
pub(crate) struct Lexicon {
    /// A bit for every word.
    filter: Box<[u64]>,
    /// A bit for every loud word: the commonest words are not, and one look says so.
    loud: Box<[u64]>,
    slots: Box<[(u64, Sense)]>,
}

/// Built on first use, from `words` and the first words of `labels`.
pub(crate) static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::build);

const FILTER_BITS: usize = 1 << 18;
const SLOTS: usize = 1 << 15;

impl Lexicon {
    fn build() -> Self {
        let mut lexicon = Lexicon {
            filter: vec![0; FILTER_BITS / 64].into(),
            loud: vec![0; FILTER_BITS / 64].into(),
            slots: vec![(0, Sense::NONE); SLOTS].into(),
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
            self.loud[bit / 64] |= 1 << (bit % 64);
        }
        let slot = self.slot(key);
        self.slots[slot] = (key, self.slots[slot].1 | sense);
    }

    /// The slot that holds `key`, or the free one where it belongs.
    fn slot(&self, key: u64) -> usize {
        let mut slot = (key >> 32) as usize % SLOTS;
        while self.slots[slot].0 != key && self.slots[slot].0 != 0 {
            slot = (slot + 1) % SLOTS;
        }
        slot
    }

    /// Whether the word with this hash may be loud; if not, it certainly is not.
    #[inline]
    pub(crate) fn may_be_loud(&self, key: u64) -> bool {
        let bit = key as usize % FILTER_BITS;
        self.loud[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// What the word with this hash can be.
    #[inline]
    pub(crate) fn sense_of(&self, key: u64) -> Sense {
        let bit = key as usize % FILTER_BITS;
        if self.filter[bit / 64] >> (bit % 64) & 1 == 0 {
            return Sense::NONE;
        }
        let (found, sense) = self.slots[self.slot(key)];
        if found == key { sense } else { Sense::NONE }
    }

    /// What the word at this place of a text can be.
    pub(crate) fn sense_in(&self, text: &[u8], word: Range<usize>) -> Sense {
        self.sense_of(hash_in(text, word))
    }

    /// What this word can be, in any case of letters.
    pub(crate) fn sense(&self, word: &[u8]) -> Sense {
        self.sense_of(hash(word))
    }
}

/// Hash of a word without regard to case.
pub(crate) fn hash(word: &[u8]) -> u64 {
    hash_in(word, 0..word.len())
}

/// Hash of the word at this place of a text: what follows it makes reading it faster.
#[inline]
fn hash_in(text: &[u8], word: Range<usize>) -> u64 {
    let mut state = HASH_START;
    let mut at = word.start;
    loop {
        let eight = swar::lower(swar::load(text, at));
        let count = (word.end - at).min(8);
        state = step(state, swar::first(eight, count));
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
