//! Characters together with the way they are written.
//!
//! In plain text a character is written as itself. In JSON it may be written as an escape, and the part outside
//! of strings is not text at all. Looking for tokens and for PHI happens on characters; the output is as written.

/// The longest way to write a character: two escapes of a surrogate pair.
const WRITTEN_MAX: usize = 12;

/// Position of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spot {
    /// In plain text, or in a string value.
    Text,
    /// In the key of an object.
    Key,
    /// Outside of strings: a number, or what should not be there.
    Bare,
    /// Punctuation of JSON, quotes included.
    Structure,
}

/// One character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) character: char,
    pub(super) spot: Spot,
    escape: [u8; WRITTEN_MAX],
    /// Zero when the character is written as itself.
    escape_length: u8,
}

impl Unit {
    /// A character that is written as itself.
    pub(super) fn plain(character: char, spot: Spot) -> Self {
        Self {
            character,
            spot,
            escape: [0; WRITTEN_MAX],
            escape_length: 0,
        }
    }

    /// A character that is written as an escape. What is longer than any escape is cut; there is no such.
    pub(super) fn escaped(character: char, spot: Spot, written: &[u8]) -> Self {
        let mut unit = Self::plain(character, spot);
        let length = written.len().min(WRITTEN_MAX);
        unit.escape[..length].copy_from_slice(&written[..length]);
        unit.escape_length = length as u8;
        unit
    }

    /// Writes it as it came.
    pub(super) fn write(&self, out: &mut String) {
        if self.escape_length == 0 {
            out.push(self.character);
        } else {
            let written = &self.escape[..usize::from(self.escape_length)];
            out.extend(written.iter().map(|&byte| char::from(byte)));
        }
    }
}

/// Whether a character can be part of a word.
pub(super) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}
