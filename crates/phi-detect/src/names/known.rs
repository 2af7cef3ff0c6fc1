//! Coverage of a text by the model's training: the share of its words that the weights know.
//!
//! In a language outside the training data every word is unknown, and unknown words look like names: the model's
//! confidence means nothing there. The measure needs no list of languages, so it holds for all of them.

use std::ops::Range;

use super::weights::Weights;

/// Bytes on both sides of a finding in which words are counted.
const REACH_BYTES: usize = 260;
/// Fewer words say nothing about a language.
const WORDS_MIN: usize = 8;
/// Shorter words are shared by many languages.
const LETTERS_MIN: usize = 3;

/// FNV-1a, by which the weights file knows its words.
const HASH_START: u64 = 0xCBF2_9CE4_8422_2325;
const HASH_FACTOR: u64 = 0x0100_0000_01B3;

/// The share of known words among those written small around `span`; `None` if there are too few to judge.
pub(crate) fn known_share(text: &str, span: &Range<usize>) -> Option<f32> {
    let weights = Weights::get();
    let from = text.floor_char_boundary(span.start.saturating_sub(REACH_BYTES));
    let to = text.ceil_char_boundary(text.len().min(span.end + REACH_BYTES));
    let (mut words, mut known) = (0, 0);
    let mut take = |hash: u64| {
        words += 1;
        known += usize::from(is_known(weights, hash));
    };
    for part in [&text[from..span.start], &text[span.end..to]] {
        if part.is_ascii() {
            small_words(part).for_each(|word| take(word.iter().copied().fold(HASH_START, step)));
        } else {
            small_words_of_any_letters(part).for_each(|word| take(hash_of(weights, word)));
        }
    }
    (words >= WORDS_MIN).then(|| known as f32 / words as f32)
}

/// The words of a plain text that are long enough and have no capital.
fn small_words(text: &str) -> impl Iterator<Item = &[u8]> {
    let words = text.as_bytes().split(|byte| !byte.is_ascii_alphanumeric());
    words.filter(|word| word.len() >= LETTERS_MIN && word.iter().all(u8::is_ascii_lowercase))
}

/// Returns the words without capitals, of letters of any alphabet.
fn small_words_of_any_letters(text: &str) -> impl Iterator<Item = &str> {
    let is_small = |letter: char| letter.is_alphabetic() && !letter.is_uppercase();
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(move |word| word.chars().all(is_small) && word.chars().count() >= LETTERS_MIN)
}

/// Whether the weights know a word as an ordinary one, by its hash.
fn is_known(weights: &Weights, hash: u64) -> bool {
    weights.word(hash).is_some() || weights.lexicon_class(hash) & 1 == 1
}

/// Whether the model knows a word as an ordinary one.
pub(crate) fn is_ordinary(word: &str) -> bool {
    let weights = Weights::get();
    is_known(weights, hash_of(weights, word))
}

/// Whether the lists behind the model know a word as a person's name only, not as an ordinary word or a place.
pub(crate) fn is_only_a_name(word: &str) -> bool {
    /// Frequency of a name, from 0 to 3; below this it is in one long list only.
    const COMMON_MIN: u8 = 2;
    let weights = Weights::get();
    let hash = hash_of(weights, word);
    // Bits from the top: given name (2), surname (2), place, ordinary word.
    let class = weights.lexicon_class(hash);
    let (given, surname) = (class >> 4, class >> 2 & 3);
    weights.word(hash).is_none() && class & 3 == 0 && given.max(surname) >= COMMON_MIN
}

/// The hash of a word in small letters without accents.
fn hash_of(weights: &Weights, word: &str) -> u64 {
    word.chars().fold(HASH_START, |hash, letter| {
        if letter.is_ascii() {
            return step(hash, letter.to_ascii_lowercase() as u8);
        }
        match weights.fold(letter) {
            Some((byte, _)) => step(hash, byte),
            None => letter.encode_utf8(&mut [0; 4]).bytes().fold(hash, step),
        }
    })
}

fn step(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(HASH_FACTOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_share_separates_taught_languages() {
        let share = |text: &str| known_share(text, &(0..0)).expect("enough words");
        let english =
            "the patient was seen today for a cough and went home with her daughter in the evening";
        let spanish = "el paciente acude a urgencias por dolor abdominal de tres días de evolución con fiebre";
        let madeup = "wakrobu tinzela morfati gulzeb prantu kesodi blumaro fentiko zorvani quespa drilomu natzebi";
        assert!(share(english) > 0.9, "{}", share(english));
        assert!(share(spanish) > 0.7, "{}", share(spanish));
        assert!(share(madeup) < 0.3, "{}", share(madeup));
        assert_eq!(known_share("seen by Jane Roe", &(8..16)), None);
    }

    #[test]
    fn some_words_are_nothing_but_names() {
        for word in ["Okonkwo", "IMHOFF", "Adeola"] {
            assert!(is_only_a_name(word), "{word}");
        }
        for word in ["Price", "Lansing", "catheter", "Qzxv"] {
            assert!(!is_only_a_name(word), "{word}");
        }
    }
}
