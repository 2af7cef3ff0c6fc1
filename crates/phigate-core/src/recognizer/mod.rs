//! Recognizers: kinds of PHI that an account defines, such as the ids of its studies.
//!
//! A definition is tried before it counts: its examples, and its speed. It is applied to text with disguises undone,
//! beside the detector, so its findings are findings like all others.

mod check;
mod definition;
mod find;
mod proof;
#[cfg(test)]
mod tests;

pub use check::{CHECKS, Check};
pub use definition::{Definition, NOT_FOUND, WrongDefinition};
pub use find::{RULE, Recognizers};
pub use proof::{PROOF_BYTES, PROOF_SHARE, proof_texts};

use regex::{Regex, RegexBuilder};

use definition::{Finds, wrong};

/// Most recognizers of an account.
pub const RECOGNIZERS_MAX: usize = 64;

/// Bytes of a compiled pattern, and of its memory while it runs.
const COMPILED_BYTES_MAX: usize = 4 << 20;
const RUNNING_BYTES_MAX: usize = 512 << 10;

/// A definition ready for use.
#[derive(Debug, Clone)]
pub struct Recognizer {
    definition: Definition,
    pattern: Regex,
    /// A label directly before a value; `None` without labels.
    label: Option<Regex>,
}

impl Recognizer {
    /// Compiles a definition, and tries its examples. A definition that was accepted once is accepted again.
    pub fn new(definition: Definition) -> Result<Self, WrongDefinition> {
        let recognizer = Self::compile(definition)?;
        recognizer.prove()?;
        Ok(recognizer)
    }

    /// Compiles a definition that was accepted before.
    pub fn compile(definition: Definition) -> Result<Self, WrongDefinition> {
        let (field, source) = match &definition.finds {
            Finds::Pattern(pattern) => ("pattern", pattern.clone()),
            Finds::Words(words) => ("words", any_of(words, r"\s+")),
        };
        let pattern = compiled(&source, matches!(definition.finds, Finds::Words(_)));
        let pattern = pattern.map_err(|why| wrong(field, why))?;
        let label = (!definition.labels.is_empty())
            .then(|| compiled(&any_of(&definition.labels, r"[\s_-]*"), true))
            .transpose()
            .map_err(|why| wrong("labels", why))?;
        Ok(Self {
            definition,
            pattern,
            label,
        })
    }

    /// The definition.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }
}

/// Compiles a pattern. The reason for a refusal never repeats the pattern.
fn compiled(source: &str, ignores_case: bool) -> Result<Regex, String> {
    let mut builder = RegexBuilder::new(source);
    builder
        .case_insensitive(ignores_case)
        .size_limit(COMPILED_BYTES_MAX)
        .dfa_size_limit(RUNNING_BYTES_MAX);
    builder.build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => {
            "repeats too much: it is too large to be fast".to_owned()
        }
        _ => "is not a regular expression without look-around and references to groups".to_owned(),
    })
}

/// The pattern of whole words and phrases, the longest first, with `gap` between the words of a phrase.
fn any_of(phrases: &[String], gap: &str) -> String {
    let mut phrases: Vec<&str> = phrases.iter().map(|phrase| phrase.trim()).collect();
    phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
    let written = phrases.iter().map(|phrase| {
        let words: Vec<String> = phrase.split_whitespace().map(regex::escape).collect();
        let (first, last) = (phrase.chars().next(), phrase.chars().next_back());
        let [before, after] = [first, last].map(border);
        format!("{before}{}{after}", words.join(gap))
    });
    let written: Vec<String> = written.collect();
    written.join("|")
}

/// The border of a word at a letter. Beside plain letters a border of plain letters does, which is faster.
fn border(letter: Option<char>) -> &'static str {
    match letter {
        Some(letter) if letter.is_ascii_alphanumeric() => r"(?-u:\b)",
        Some(letter) if letter.is_alphanumeric() => r"\b",
        _ => "",
    }
}
