//! Words of a text in the form in which names and numbers are compared.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A word: letters and digits, with apostrophes inside.
#[derive(Debug, Clone)]
pub(super) struct Word {
    /// Byte range in the text.
    pub(super) span: Range<usize>,
    /// Byte range of its form among the forms of all words.
    form: Range<usize>,
    /// Whether it begins with a capital letter.
    pub(super) is_capital: bool,
    /// Whether it has a digit.
    pub(super) has_digit: bool,
}

/// The words of a text, in order.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub(super) all: Vec<Word>,
    forms: String,
}

impl Words {
    /// Splits a text into words.
    pub(super) fn of(text: &str) -> Self {
        let mut words = Self {
            all: Vec::with_capacity(text.len() / 6),
            forms: String::with_capacity(text.len()),
        };
        let mut start = None;
        for (at, letter) in text.char_indices() {
            let is_inside = is_letter(letter) || is_apostrophe(letter) && start.is_some();
            match (is_inside, start) {
                (true, None) => start = Some(at),
                (false, Some(from)) => {
                    words.push(text, from..at);
                    start = None;
                }
                _ => {}
            }
        }
        if let Some(from) = start {
            words.push(text, from..text.len());
        }
        words
    }

    fn push(&mut self, text: &str, span: Range<usize>) {
        let word = text[span.clone()].trim_end_matches(is_apostrophe);
        let start = self.forms.len();
        fold_into(&mut self.forms, word);
        self.all.push(Word {
            span: span.start..span.start + word.len(),
            form: start..self.forms.len(),
            is_capital: word.starts_with(char::is_uppercase),
            has_digit: word.contains(|letter: char| letter.is_ascii_digit()),
        });
    }

    /// The form of a word: lower case, without accents and apostrophes.
    pub(super) fn form(&self, at: usize) -> &str {
        self.all
            .get(at)
            .map_or("", |word| &self.forms[word.form.clone()])
    }
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || is_combining_mark(letter)
}

fn is_apostrophe(letter: char) -> bool {
    matches!(letter, '\'' | '’')
}

fn fold_into(forms: &mut String, word: &str) {
    if word.is_ascii() {
        let letters = word.bytes().filter(u8::is_ascii_alphanumeric);
        forms.extend(letters.map(|byte| char::from(byte.to_ascii_lowercase())));
        return;
    }
    let letters = word.nfkd().filter(|letter| letter.is_alphanumeric());
    forms.extend(letters.flat_map(char::to_lowercase));
}

/// The form of several words, with one space between them.
pub(super) fn folded(text: &str) -> String {
    let words = Words::of(text);
    let forms: Vec<&str> = (0..words.all.len()).map(|at| words.form(at)).collect();
    forms.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_name_have_one_form() {
        for (text, form) in [
            ("O'Brien", "obrien"),
            ("O’BRIEN", "obrien"),
            (" José  María ", "jose maria"),
            ("Jose\u{301}", "jose"),
            ("Smith-Jones", "smith jones"),
            ("patients'", "patients"),
        ] {
            assert_eq!(folded(text), form);
        }
    }
}
