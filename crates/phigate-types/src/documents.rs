//! Handling of documents inside requests.

use crate::code::coded;

/// An account's handling of documents that callers send inside their requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Documents {
    /// Not read, and so refused in modes that let nothing pass unscanned.
    #[default]
    Refuse,
    /// Read as text and scanned.
    Text,
}

/// Code, label and effect of each choice.
const ROWS: &[(Documents, &str, &str, &str)] = &[
    // One row per choice.
    (
        Documents::Refuse,
        "refuse",
        "Refuse",
        "Documents are not read: Block, Redact and Mask refuse requests with them, and Flag forwards them unscanned.",
    ),
    (
        Documents::Text,
        "text",
        "Read as text",
        "Documents are read and scanned. In Redact and Mask, one with PHI goes on as its changed text. What cannot be read as a whole is refused.",
    ),
];

impl Documents {
    /// Every choice, in the order in which they are offered.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.0)
    }

    /// Code in settings and on the command line.
    pub const fn code(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// Name for people.
    pub const fn label(self) -> &'static str {
        ROWS[self as usize].2
    }

    /// Effect, for the owner who chooses.
    pub const fn summary(self) -> &'static str {
        ROWS[self as usize].3
    }
}

coded!(Documents, "handling of documents");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_parse_back() {
        for (number, choice) in Documents::all().enumerate() {
            assert_eq!(choice as usize, number);
            assert_eq!(choice.code().parse(), Ok(choice));
        }
        assert!("on".parse::<Documents>().is_err());
    }
}
