//! Names of people written as names of programs: `Maria_Delgado`, `john.smith`, `patient-jane-roe`.
//!
//! Keys, function names, model ids and names of participants allow no spaces, so people's names are joined there, and a
//! reader of text takes them for one word. `max_tokens` and `weather_agent` occur in the same places. The evidence is
//! therefore two neighbours, a given name and a surname, neither of them a word of a program or of everyday speech.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

use crate::budget::Few;
use crate::lexicon::{LEXICON, Sense, hash};
use crate::words::identifiers::{
    BRANDS, CODE, FAMILIES, HOUSES, PROGRAM_WORDS, SURNAME_ENDS, TITLES, WORD_SURNAMES,
};

/// The rule of such findings, and how sure it is: two words with nothing around them.
pub(crate) const RULE: &str = "name.joined";
pub(crate) const SCORE: f32 = 0.8;

/// Scores from which the model is believed about a pair of unknown words in lower case, and about one like
/// `Zebulon_Quartermaine`, a form that is rare in programs.
const PAIR_SCORE_MIN: f32 = 0.95;
const TITLED_PAIR_SCORE_MIN: f32 = 0.7;

/// A given name and a surname are not shorter.
const SHORTEST_BYTES: usize = 5;

/// Longer identifiers are generated.
const LONGEST_BYTES: usize = 128;

/// Role of a word in an identifier.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A given name, or a family name that is nothing else.
    Given,
    /// A word that nothing explains.
    Unknown,
    /// A surname that is a word: counts right after a given name.
    WordSurname,
    /// A particle between two parts of a name ("de", "van").
    Particle,
    Title,
    /// Two letters: the end of a name such as `Nguyen_Van_An`.
    Short,
    /// A word of everyday speech or of a program.
    Ordinary,
}

/// Finds the name of a person in an identifier without spaces.
///
/// Most given names of the world are in no list: if two words are unknown and only roles are beside them, `score` says
/// how much they look like a name, written as a name is.
pub(crate) fn find(text: &str, score: impl Fn(&str) -> f32) -> Option<Range<usize>> {
    if !may_be_joined_name(text) {
        return None;
    }
    let words = words(text);
    if words.len() < 2 {
        return None;
    }
    let folded: Few<String> = words.iter().map(|word| fold(&text[word.clone()])).collect();
    if folded.iter().any(|word| is_one_of(HOUSES, word)) {
        return None;
    }
    let parts: Few<Part> = folded.iter().map(|word| part(word)).collect();
    let known = (0..words.len()).find_map(|first| {
        let end = run_end(text, &words, first);
        let length = name_length(&parts[first..end])?;
        let from = first + usize::from(parts[first] == Part::Title);
        Some(from..first + length)
    });
    let name = known.or_else(|| unknown_pair(text, &words, &folded, &parts, score))?;
    let span = words[name.start].start..words[name.end - 1].end;
    (!is_generated(text, &words[name])).then_some(span)
}

/// Whether a text could be an identifier with a name in it, judged by its length and its spaces.
pub fn may_be_joined_name(text: &str) -> bool {
    (SHORTEST_BYTES..=LONGEST_BYTES).contains(&text.len()) && !text.contains(char::is_whitespace)
}

/// Whether an identifier is made of words of everyday speech and of programs, and does not name a person: `first_row`,
/// `outputConfig`. A word that nothing explains may be a surname.
pub fn is_ordinary(text: &str) -> bool {
    if !(1..=LONGEST_BYTES).contains(&text.len()) {
        return false;
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$');
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_explained = |word: &Range<usize>| {
        let part = part(&text[word.clone()].to_ascii_lowercase());
        matches!(part, Part::Ordinary | Part::Short)
    };
    let words = words(text);
    text.bytes().all(is_plain) && digits < 4 && !words.is_empty() && words.iter().all(is_explained)
}

/// Returns the number of these neighbouring words, from the first on, that are the name of a person.
fn name_length(parts: &[Part]) -> Option<usize> {
    let is_name = |part: &Part| matches!(part, Part::Given | Part::Unknown);
    match parts {
        [Part::Title, second, ..] if is_name(second) => Some(2),
        [first, ..] if is_name(first) => {
            let mut length = 1;
            let mut names = 1;
            for (index, part) in parts.iter().enumerate().skip(1).take(3) {
                let may_end = match part {
                    Part::Given | Part::Unknown => true,
                    Part::WordSurname => parts[index - 1] == Part::Given,
                    Part::Short => names >= 1 && parts[index - 1] == Part::Particle,
                    Part::Particle => continue,
                    Part::Title | Part::Ordinary => break,
                };
                if !may_end {
                    break;
                }
                names += 1;
                length = index + 1;
            }
            let has_given = parts[..length].contains(&Part::Given);
            (names >= 2 && has_given).then_some(length)
        }
        _ => None,
    }
}

/// Finds two words that nothing explains, alone or with roles before them, and that look like a name.
fn unknown_pair(
    text: &str,
    words: &[Range<usize>],
    folded: &[String],
    parts: &[Part],
    score: impl Fn(&str) -> f32,
) -> Option<Range<usize>> {
    let first = parts.len().checked_sub(2)?;
    let roles = &folded[..first];
    let is_role = |word: &String| {
        LEXICON
            .sense(word.as_bytes())
            .has(Sense::ROLE | Sense::TITLE)
    };
    let [left, right] = &folded[first..] else {
        return None;
    };
    let is_pair = parts[first..].iter().all(|part| *part == Part::Unknown)
        && roles.iter().all(is_role)
        && run_end(text, words, first) == words.len()
        && left.len().min(right.len()) >= 4
        && left != right;
    let sign = &text[words[first].end..words[first + 1].start];
    if !is_pair || sign == "/" {
        return None;
    }
    let is_titled = |word: &Range<usize>| {
        let mut letters = text[word.clone()].chars();
        letters.next().is_some_and(char::is_uppercase) && letters.all(char::is_lowercase)
    };
    let is_written_as_name = sign == "_" && words[first..].iter().all(is_titled);
    let least = if is_written_as_name {
        TITLED_PAIR_SCORE_MIN
    } else {
        PAIR_SCORE_MIN
    };
    let spaced = format!("{} {}", capitalised(left), capitalised(right));
    (score(&spaced) >= least).then_some(first..words.len())
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

fn part(word: &str) -> Part {
    let sense = LEXICON.sense(word.as_bytes());
    let letters = word.chars().count();
    if is_one_of(TITLES, word) {
        Part::Title
    } else if sense.has(Sense::PARTICLE) && letters > 1 {
        Part::Particle
    } else if letters < 3 {
        if letters == 2 {
            Part::Short
        } else {
            Part::Ordinary
        }
    } else if is_one_of(PROGRAM_WORDS, word) || is_one_of(BRANDS, word) {
        Part::Ordinary
    } else if sense.has(Sense::GIVEN) || is_one_of(FAMILIES, word) {
        Part::Given
    } else if is_one_of(WORD_SURNAMES, word) {
        Part::WordSurname
    } else if sense != Sense::NONE || is_code(word) || !has_vowel(word) || is_compound(word) {
        Part::Ordinary
    } else {
        Part::Unknown
    }
}

/// Whether a word is two words of programs in one (`databind`, `keyspace`).
fn is_compound(word: &str) -> bool {
    let is_word = |half: &str| {
        is_code(half)
            || LEXICON
                .sense(half.as_bytes())
                .has(Sense::STOP | Sense::FILLER)
    };
    (3..word.len().saturating_sub(2))
        .filter(|&at| word.is_char_boundary(at))
        .map(|at| word.split_at(at))
        .any(|(left, right)| is_word(left) && is_word(right) && !is_one_of(SURNAME_ENDS, right))
}

fn has_vowel(word: &str) -> bool {
    word.contains(|letter: char| !letter.is_ascii() || "aeiouy".contains(letter))
}

/// Whether the words that programs are made of hold this one.
fn is_code(word: &str) -> bool {
    static CODE_WORDS: LazyLock<HashSet<u64>> = LazyLock::new(|| {
        let words = CODE.split_ascii_whitespace();
        words.map(|word| hash(word.as_bytes())).collect()
    });
    CODE_WORDS.contains(&hash(word.as_bytes()))
}

fn is_one_of(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}

/// Returns the index after the words that follow one another with the same sign, or nothing, between them.
fn run_end(text: &str, words: &[Range<usize>], first: usize) -> usize {
    let between = |pair: &[Range<usize>]| &text[pair[0].end..pair[1].start];
    let mut pairs = words[first..].windows(2);
    let sign = pairs.clone().next().map_or("", between);
    let is_sign = sign.len() <= 1 && !sign.contains(|sign: char| sign.is_ascii_digit());
    let others = pairs
        .by_ref()
        .take_while(|pair| is_sign && between(pair) == sign);
    first + 1 + others.count()
}

/// Whether these words are letters of a random token, such as `xK9AnnQuoRt`: joined without a sign, with digits in the token.
fn is_generated(text: &str, name: &[Range<usize>]) -> bool {
    let is_glued = name.windows(2).any(|pair| pair[0].end == pair[1].start);
    let is_digit_of_token = |characters: &mut dyn Iterator<Item = char>| {
        characters
            .take_while(|character| character.is_alphanumeric())
            .any(|character| character.is_ascii_digit())
    };
    is_glued
        && (is_digit_of_token(&mut text[..name[0].start].chars().rev())
            || is_digit_of_token(&mut text[name[name.len() - 1].end..].chars()))
}

/// The words of an identifier: runs of letters, cut between a small letter and a capital after it.
fn words(text: &str) -> Few<Range<usize>> {
    let mut words: Few<Range<usize>> = Few::new();
    let mut before = None;
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        let goes_on = before.is_some_and(|before: char| {
            is_letter(before) && !(before.is_lowercase() && character.is_uppercase())
        });
        if is_letter(character) {
            match words.last_mut().filter(|_| goes_on) {
                Some(word) => word.end = end,
                None => words.push(at..end),
            }
        }
        before = Some(character);
    }
    words
}

/// Whether this is a letter, or an accent that follows one as a separate character.
fn is_letter(character: char) -> bool {
    character.is_alphabetic() || unicode_normalization::char::is_combining_mark(character)
}

/// Folds a word to lower case without accents.
fn fold(word: &str) -> String {
    let letters = word.nfd();
    letters
        .filter(|&letter| !unicode_normalization::char::is_combining_mark(letter))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_identifier_has_no_name_or_number() {
        for (text, expected) in [
            ("rows", true),
            ("outputConfig", true),
            ("x_future", true),
            ("q", true),
            ("input-2", true),
            ("jane", false),
            ("jane_roe", false),
            ("quartermaine", false),
            ("miller", false),
            ("id_536228741", false),
            ("two words", false),
            ("señal", false),
            ("", false),
            ("12", false),
        ] {
            assert_eq!(is_ordinary(text), expected, "{text}");
        }
    }
}
