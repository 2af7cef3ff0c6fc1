//! Equality of two spellings of a value.
//!
//! `536-22-8741` and `536 22 8741` are one number; `1/12/1962` and `11/2/1962` are two dates, although their digits are
//! the same. A placeholder for one value must not be used for another, so each kind says how it is spelled.

/// Differences that two spellings of one value may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// A number or code: only its letters and digits count.
    Code,
    /// A telephone number: like a code, and the country code of North America may be left out.
    Telephone,
    /// Words: letter case, and the signs between them, do not count; their borders do.
    Words,
    /// Any text: only letter case does not count.
    Exact,
}

impl Spelling {
    /// The one form of all spellings of a value.
    pub(crate) fn normalise(self, value: &str) -> String {
        match self {
            Spelling::Code => letters_and_digits(value),
            Spelling::Telephone => {
                let digits = letters_and_digits(value);
                match digits.strip_prefix('1') {
                    Some(national) if national.len() == 10 => national.to_owned(),
                    _ => digits,
                }
            }
            Spelling::Words => words(value),
            Spelling::Exact => value.trim().to_lowercase(),
        }
    }
}

fn letters_and_digits(value: &str) -> String {
    value
        .chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Words with one space between them; a number among them without leading zeros (`03/14` is `3/14`).
fn words(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for word in value.split(|character: char| !character.is_alphanumeric()) {
        if word.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        let word = if is_number {
            word.trim_start_matches('0')
        } else {
            word
        };
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::PhiKind;

    fn is_one_value(code: &str, one: &str, other: &str) -> bool {
        let kind = PhiKind::from_code(code).expect("the kind is in the table");
        kind.normalise(one) == kind.normalise(other)
    }

    #[test]
    fn only_spelling_variants_count_as_equal() {
        for (code, one, other, expected) in [
            ("ssn", "536-22-8741", "536 22 8741", true),
            ("ssn", "536-22-8741", "536-22-8742", false),
            ("phone", "(206) 555-0142", "+1 206.555.0142", true),
            ("phone", "206-555-0142", "206-555-0143", false),
            ("medicare_id", "1EG4-TE5-MK73", "1eg4te5mk73", true),
            ("mrn", "00482913", "482913", false),
            ("dob", "03/14/1962", "3-14-1962", true),
            ("dob", "1/12/1962", "11/2/1962", false),
            (
                "email",
                "Jane.Roe@example.org",
                "jane.roe@example.org",
                true,
            ),
            (
                "email",
                "jane.roe@example.org",
                "janeroe@example.org",
                false,
            ),
            ("name", "Jane  ROE", "jane roe", true),
            ("name", "Ann Amaria", "Anna Maria", false),
            ("address", "12 3rd St", "123 Rd St", false),
        ] {
            assert_eq!(
                is_one_value(code, one, other),
                expected,
                "{one} and {other}"
            );
        }
    }
}
