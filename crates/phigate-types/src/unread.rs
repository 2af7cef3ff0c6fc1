//! Reasons why a document cannot be read as text.

use std::fmt;

use crate::code::coded;

macro_rules! reasons {
    ($($name:ident $code:literal $words:literal;)*) => {
        /// Reason why a document cannot be scanned.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Unread {
            $(#[doc = $words] $name,)*
        }

        const ROWS: &[(Unread, &str, &str)] = &[$((Unread::$name, $code, $words),)*];
    };
}

reasons! {
    // Alphabetical by code: variant, code in records, words for callers.
    ActiveContent "active_content" "it has macros, scripts or other active content";
    Damaged "damaged" "it is damaged, and cannot be read as what it begins as";
    EmbeddedObject "embedded_object" "it has an embedded object or an attachment that is not text";
    Encrypted "encrypted" "it is encrypted or protected by a password";
    HiddenText "hidden_text" "it has hidden text that differs from the text it shows";
    Image "image" "it has an image, and text in images is not read";
    Limit "limit" "it exceeds a limit of the reader: parts, nesting, entities, time or memory";
    NestedArchive "nested_archive" "it has an archive inside";
    NoText "no_text" "it has a page without text, or text in a font that does not say its characters";
    ReadersDisagree "readers_disagree" "it can be read in two ways that differ";
    TooLarge "too_large" "it is too large, or its compressed parts expand too much";
    UnknownType "unknown_type" "its type is not one of those that are read";
}

impl Unread {
    /// Every reason, by code.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.0)
    }

    /// Code in records.
    pub const fn code(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// Clause for messages, of which the document is the subject.
    pub const fn words(self) -> &'static str {
        ROWS[self as usize].2
    }
}

coded!(Unread, "reason");

/// Reason why there is no text of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoText {
    /// The document cannot be read.
    Unread(Unread),
    /// No process could be started to read it.
    NoReader,
}

impl fmt::Display for NoText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Unread(reason) => reason.words(),
            Self::NoReader => "the process that reads documents cannot be started",
        })
    }
}

impl std::error::Error for NoText {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_sorted_and_parse_back() {
        for (number, reason) in Unread::all().enumerate() {
            assert_eq!(reason as usize, number);
            assert_eq!(reason.code().parse(), Ok(reason));
        }
        assert!(Unread::all().is_sorted_by_key(Unread::code));
    }
}
