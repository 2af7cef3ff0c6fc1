//! Text glued to the end of a token: `[NAME_7K3QD].evil.example` and `[NAME_7K3QD]@evil.example` are addresses.

use super::unit::{Spot, Unit};

/// The longest name of one host, and the longest name before `@`.
const GLUED_MAX: usize = 64;

/// Above this are the scripts that are written without blanks.
const LETTERS_END: char = '\u{2e80}';

/// Context of a token, as far as the text after it decides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// Text: the token is a separate word.
    Text,
    /// An address.
    Address,
    /// Undecided until more text arrives.
    Undecided,
}

/// Reads what follows a token.
pub(super) fn after(units: &[Unit], is_end: bool) -> After {
    let mut is_host = true;
    let mut previous = ' ';
    for unit in units.iter().take(GLUED_MAX) {
        let character = unit.character;
        if unit.spot == Spot::Structure {
            return After::Text;
        }
        // Escapes of Markdown, and what names of hosts are read without.
        if matches!(
            character,
            '\\' | '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}'
        ) {
            continue;
        }
        let is_letter = character.is_alphanumeric() && character < LETTERS_END;
        match (previous, character) {
            (_, '@') | (':', '/') | ('&', '#') => return After::Address,
            ('&', _) if is_letter => return After::Address,
            ('.', _) if is_letter && is_host => return After::Address,
            (':', _) | ('.', '.') => return After::Text,
            (_, ':' | '.' | '-' | '_') => {}
            (_, '!' | '#'..='\'' | '*' | '+' | '/' | '=' | '?' | '^' | '`' | '{'..='~') => {
                is_host = false;
            }
            _ if is_letter => {}
            _ => return After::Text,
        }
        previous = character;
    }
    match is_end || units.len() >= GLUED_MAX {
        true => After::Text,
        false => After::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_suffix_separates_addresses_from_text() {
        for (text, expected) in [
            (".evil.example", After::Address),
            (".e", After::Address),
            ("-roe.e", After::Address),
            ("@e", After::Address),
            ("+x@e", After::Address),
            ("'s/x@e", After::Address),
            ("://e", After::Address),
            ("&#46;e", After::Address),
            ("&period;e", After::Address),
            ("\\.e", After::Address),
            ("\u{200b}.e", After::Address),
            (". Bye", After::Text),
            (".\n", After::Text),
            ("...and", After::Text),
            (", e", After::Text),
            (": e", After::Text),
            ("'s e", After::Text),
            ("/[", After::Text),
            ("&[", After::Text),
            ("さん.e", After::Text),
            ("** e", After::Text),
            ("/1.5 ", After::Text),
            (")", After::Text),
            ("", After::Undecided),
            (".", After::Undecided),
            ("-roe", After::Undecided),
            (":", After::Undecided),
        ] {
            let units: Vec<Unit> = text
                .chars()
                .map(|character| Unit::plain(character, Spot::Text))
                .collect();
            assert_eq!(after(&units, false), expected, "{text}");
            let at_end = match expected {
                After::Undecided => After::Text,
                other => other,
            };
            assert_eq!(after(&units, true), at_end, "{text}");
        }
    }
}
