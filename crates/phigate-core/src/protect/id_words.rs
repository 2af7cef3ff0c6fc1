//! Identifiers read as words: names of functions, ids of calls and users, models, and paths of files.
//!
//! `letter_to_kofi_okonkwo` and `patient_48291378` say what a sentence says, without its blanks.

use std::ops::Range;

use phi_detect::Finding;

use super::scanner::Scanner;

/// Longer identifiers are generated.
const LENGTH_MAX: usize = 256;

/// Longest path that is read.
const PATH_MAX: usize = 1024;

/// The shortest word that means something.
const WORD_MIN: usize = 3;

/// The shortest word of a name that is in no list.
const NAME_MIN: usize = 4;

/// Digits of a number that is neither a version nor a position.
const NUMBER: std::ops::RangeInclusive<usize> = 5..=12;

/// Beginnings of a patch, and of its lines that name a file.
const PATCH: &str = "*** Begin Patch";
const PATCH_LINE: &str = "*** ";

/// Words of models that are also names of people or gods.
const MODEL_WORDS: &str = "chronos embeddings gemma hermes jina kimi";

impl Scanner {
    /// Whether the id of a model holds PHI.
    pub fn finds_in_model(&self, id: &str) -> bool {
        !find_in_model(self, id).is_some_and(|(found, is_complete)| found.is_empty() && is_complete)
    }
}

/// PHI in the id of a model, and whether all of it was scanned. `None` when there was no time for it.
pub(super) fn find_in_model(scanner: &Scanner, id: &str) -> Option<(Vec<Finding>, bool)> {
    let plain = scanner.find(None, id)?;
    let mut found: Vec<Finding> = plain.iter().cloned().collect();
    found.extend(find_in_words(scanner, id)?);
    found.extend(scanner.find_in_identifier(id).iter().cloned());
    // No model has a number of this length.
    for digits in digit_runs(id) {
        let label = match digits.len() {
            9 => "ssn",
            10 => "phone",
            _ => continue,
        };
        let numbers = scanner.find(Some(label), &id[digits.clone()])?;
        found.extend(numbers.iter().map(|number| Finding {
            span: digits.clone(),
            ..number.clone()
        }));
    }
    let is_word_of_models = |word: &str| MODEL_WORDS.split(' ').any(|known| known == word);
    found.retain(|finding| {
        let text = id.get(finding.span.clone()).unwrap_or_default();
        let mut words = text.split(|letter: char| !letter.is_alphanumeric());
        // A slash separates the maker of a model from the model's name.
        let is_makers = text.contains('/') && !text.contains(|letter: char| letter.is_numeric());
        // Further kinds without a letter are versions: `gpt-4o-2024-08-06`.
        let is_version = !finding.kind.is_core() && !text.contains(char::is_alphabetic);
        !is_makers
            && !is_version
            && !words.all(|word| is_word_of_models(&word.to_ascii_lowercase()))
    });
    Some((found, plain.is_complete()))
}

fn digit_runs(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let bytes = text.as_bytes();
        let start = at + bytes[at..].iter().position(u8::is_ascii_digit)?;
        let length = bytes[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        at = start + length.count();
        Some(start..at)
    })
}

/// PHI that shows when the words of an identifier are read apart: a labelled number, or a name at its end. `None` when
/// there was no time for it.
pub(super) fn find_in_words(scanner: &Scanner, id: &str) -> Option<Vec<Finding>> {
    if id.len() > LENGTH_MAX || id.contains(char::is_whitespace) {
        return Some(Vec::new());
    }
    let mut found = Vec::new();
    if has_labelled_number(id) {
        let is_sign = |letter: char| matches!(letter, '_' | '-' | ':' | '/');
        let spaced = id.replace(is_sign, " ");
        let findings = scanner.find(None, &spaced)?;
        // Versions and sizes of models read like addresses.
        let is_number = |finding: &&Finding| {
            let text = spaced.get(finding.span.clone()).unwrap_or_default();
            text.split(' ').any(is_long_number)
        };
        found.extend(findings.iter().filter(is_number).cloned());
    }
    for tail in tails(id) {
        let names = scanner.find_in_identifier(&id[tail.clone()]);
        found.extend(names.iter().map(|name| Finding {
            span: tail.start + name.span.start..tail.start + name.span.end,
            ..name.clone()
        }));
    }
    Some(found)
}

/// Whether an identifier has a word, and a number that is neither a version nor a position.
fn has_labelled_number(id: &str) -> bool {
    let parts = || id.split(['_', '-', ':', '/', '.']);
    let is_word = |part: &str| part.len() >= WORD_MIN && part.chars().all(char::is_alphabetic);
    parts().any(is_long_number) && parts().any(is_word)
}

fn is_long_number(part: &str) -> bool {
    NUMBER.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
}

/// The last two words of each part of an identifier, without numbers and codes behind them: `kofi_okonkwo` of
/// `letter_to_kofi_okonkwo_2`.
fn tails(id: &str) -> Vec<Range<usize>> {
    let mut tails = Vec::new();
    let mut at = 0;
    for part in id.split([':', '/', '@', '|']) {
        let words = words(part);
        let last = words
            .iter()
            .rposition(|word| is_name_like(&part[word.clone()]));
        if let Some(last) = last.filter(|last| *last > 0)
            && is_name_like(&part[words[last - 1].clone()])
            && words[last + 1..]
                .iter()
                .all(|word| !is_word(&part[word.clone()]))
        {
            tails.push(at + words[last - 1].start..at + words[last].end);
        }
        at += part.len() + 1;
    }
    // The detector reads the whole identifier by itself.
    tails.retain(|tail| *tail != (0..id.len()));
    tails
}

fn is_word(word: &str) -> bool {
    word.chars().all(char::is_alphabetic)
}

/// Whether a word is as long as those that the detector takes for an unknown name.
fn is_name_like(word: &str) -> bool {
    word.len() >= NAME_MIN && is_word(word)
}

/// Splits an identifier into words, at its signs and at capitals.
fn words(part: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut before = None;
    for (at, letter) in part.char_indices() {
        let starts = !before.is_some_and(char::is_alphanumeric)
            || before.is_some_and(char::is_lowercase) && letter.is_uppercase();
        let end = at + letter.len_utf8();
        match words.last_mut() {
            _ if !letter.is_alphanumeric() => {}
            Some(word) if !starts => word.end = end,
            _ => words.push(at..end),
        }
        before = Some(letter);
    }
    words
}

/// The steps of the paths in a text, without the ends that say what a file is: of a path by itself, and of those that a
/// patch names.
pub(super) fn path_steps(text: &str) -> Vec<Range<usize>> {
    let mut steps = Vec::new();
    if text.trim_start().starts_with(PATCH) {
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            if let Some(path) = line
                .strip_prefix(PATCH_LINE)
                .and_then(|rest| rest.split_once(": "))
            {
                let start = at + line.len() - path.1.len();
                steps_of(start, path.1.trim_end(), &mut steps);
            }
            at += line.len();
        }
    } else if text.len() <= PATH_MAX && text.contains('/') && !text.contains(char::is_whitespace) {
        steps_of(0, text, &mut steps);
    }
    steps
}

fn steps_of(start: usize, path: &str, steps: &mut Vec<Range<usize>>) {
    let mut at = start;
    for step in path.split('/') {
        let stem = match step.split_once('.') {
            Some((stem, _)) if !stem.is_empty() => stem,
            _ => step,
        };
        if stem.len() < path.len() {
            steps.push(at..at + stem.len());
        }
        at += step.len() + 1;
    }
}

#[cfg(test)]
mod tests {
    use phi_detect::{Detector, Profile};

    use super::*;

    #[test]
    fn version_of_a_model_is_no_date() {
        let detector = Detector::default().with_profile(Profile::SafeHarbor);
        let scanner = Scanner::new(detector);
        for id in [
            "gpt-4o-2024-08-06",
            "claude-3-opus-20240229",
            "gpt-4-0613",
            "gemini-2.5-flash",
        ] {
            assert!(!scanner.finds_in_model(id), "{id}");
        }
        assert!(scanner.finds_in_model("ft:gpt-4o:ssn-536-22-8741"));
    }
}
