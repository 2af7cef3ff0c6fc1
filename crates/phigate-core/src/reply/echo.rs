//! Telling the caller's own values from PHI that the model produced.

use std::collections::HashSet;
use std::sync::OnceLock;

use phi_detect::PhiKind;

use crate::json::{Bounds, Document, Kind};
use crate::text::PhiText;

/// The values of a request, to know them again in its reply.
pub struct Echoes {
    /// Values that were found in the request.
    found: HashSet<(PhiKind, String)>,
    /// The request as the caller sent it.
    request: Vec<u8>,
    /// All its text in two forms, made when a value is first asked for that was not found in the request.
    texts: OnceLock<Texts>,
}

/// Shows the number of values, and not the values.
impl std::fmt::Debug for Echoes {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Echoes({} values)", self.found.len())
    }
}

struct Texts {
    /// Words with one blank between them and one at either end; a semicolon between two texts.
    words: String,
    /// Text without blanks between digits, so that the grouping of numbers does not matter.
    digits: String,
}

impl Echoes {
    /// The values of a request: its bytes as the caller sent them, and the values that were found in it.
    pub fn new(request: Vec<u8>, found: impl IntoIterator<Item = (PhiKind, PhiText)>) -> Self {
        let found = found.into_iter();
        Self {
            found: found
                .map(|(kind, value)| (kind, kind.normalise(value.expose())))
                .collect(),
            request,
            texts: OnceLock::new(),
        }
    }

    /// Whether a value of a reply was in the request.
    pub(super) fn holds(&self, kind: PhiKind, value: &str) -> bool {
        if self.found.contains(&(kind, kind.normalise(value))) {
            return true;
        }
        let wanted = words_of(value);
        if wanted.trim().is_empty() {
            return false;
        }
        let texts = self.texts.get_or_init(|| Texts::of(&self.request));
        if texts.words.contains(&wanted) {
            return true;
        }
        let digits: String = value.chars().filter(char::is_ascii_digit).collect();
        let is_number = digits.len() >= NUMBER_DIGITS_MIN && !value.contains(char::is_alphabetic);
        is_number && texts.holds_number(&digits)
    }
}

/// The fewest digits by which a number is known again in another grouping.
const NUMBER_DIGITS_MIN: usize = 7;

impl Texts {
    fn of(request: &[u8]) -> Self {
        let mut words = String::new();
        // It was read before, so it is JSON; if it were not, nothing would be an echo.
        let document = Document::parse(request.to_vec(), Bounds::NONE).ok();
        for node in document.iter().flat_map(Document::nodes) {
            match node.kind() {
                Kind::String => words.push_str(&words_of(&node.string().unwrap_or_default())),
                Kind::Number => words.push_str(&words_of(node.raw())),
                Kind::Null | Kind::Bool | Kind::Array | Kind::Object => continue,
            }
            words.push(';');
        }
        let mut digits = String::with_capacity(words.len());
        let mut ended_in_digit = false;
        for word in words.split(' ').filter(|word| !word.is_empty()) {
            let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
            if !(is_number && ended_in_digit) {
                digits.push(' ');
            }
            digits.push_str(word);
            ended_in_digit = is_number;
        }
        digits.push(' ');
        Self { words, digits }
    }

    /// A number as such, or as the end of one with a country code; never a part out of the middle.
    fn holds_number(&self, digits: &str) -> bool {
        self.digits.contains(&format!(" {digits} "))
            || self.digits.contains(&format!(" 1{digits} "))
    }
}

/// Words with one blank before each and one at the end. Letter case stays: "may" is not the patient May.
fn words_of(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    for word in text.split(|character: char| !character.is_alphanumeric()) {
        if !word.is_empty() {
            out.push(' ');
            out.push_str(word);
        }
    }
    out.push(' ');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_value_is_recognised_in_any_spelling() {
        let request = br#"{"messages":[{"content":"Jane Roe, 536 22 8741, rang from +1 206.555.0142; may I"},{"content":"Ms. Roe \u00c9mile"}],"n":987654321}"#;
        let kind = |code: &str| PhiKind::from_code(code).expect("the kind is in the table");
        let echoes = Echoes::new(
            request.to_vec(),
            [(kind("ssn"), PhiText::new("536 22 8741"))],
        );
        for (code, value, expected) in [
            ("ssn", "536-22-8741", true),
            ("ssn", "536-22-8742", false),
            ("ssn", "36-22-8741", false),
            ("ssn", "987-65-4321", true),
            ("name", "Jane Roe", true),
            ("name", "Roe", true),
            ("name", "Jane", true),
            ("name", "Roe Jane", false),
            ("name", "Émile", true),
            ("name", "May", false),
            ("name", "Ro", false),
            ("phone", "(206) 555-0142", true),
            ("phone", "555-0142", true),
        ] {
            assert_eq!(echoes.holds(kind(code), value), expected, "{code} {value}");
        }
    }
}
