//! Reading a field of a reply character by character: plain text, or JSON that may be cut anywhere.

use super::unit::{Spot, Unit};

/// Format of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Text as people read it.
    Plain,
    /// JSON: the arguments of a tool, or an answer that was asked for as JSON.
    Json,
}

/// Units that one character completes. The text after half a surrogate pair decides about it, so there may be several.
pub(super) type Units = [Option<Unit>; 3];

const NONE: Units = [None, None, None];

/// Nesting beyond which keys are no longer remembered.
const DEPTH_MAX: usize = 64;

/// Characters of a key that are remembered.
const KEY_CHARACTERS_MAX: usize = 64;

/// Reads one field.
pub(super) struct FieldReader {
    shape: Shape,
    has_begun: bool,
    /// Kind of the string around this position, if any.
    string: Option<Spot>,
    /// An escape that is not complete yet.
    escape: Vec<u8>,
    /// The objects and arrays around, with the keys of the members.
    around: Vec<Option<String>>,
    /// Objects and arrays beyond the depth that is remembered.
    deeper: usize,
    expects_key: bool,
    is_in_bare: bool,
}

impl FieldReader {
    pub(super) fn new(shape: Shape) -> Self {
        Self {
            shape,
            has_begun: false,
            string: None,
            escape: Vec::new(),
            around: Vec::new(),
            deeper: 0,
            expects_key: false,
            is_in_bare: false,
        }
    }

    /// Whether what is read is JSON.
    pub(super) fn is_json(&self) -> bool {
        self.shape == Shape::Json
    }

    /// The nearest key above that says what a value is.
    pub(super) fn label(&self) -> Option<&str> {
        let keys = self.around.iter().rev().flatten();
        keys.map(String::as_str)
            .find(|key| !crate::request::is_neutral_key(key))
    }

    /// Takes the next character.
    pub(super) fn step(&mut self, character: char) -> Units {
        if !self.has_begun && !character.is_whitespace() {
            self.has_begun = true;
            // A model that was asked for JSON may still answer in words.
            if !matches!(character, '{' | '[' | '"') {
                self.shape = Shape::Plain;
            }
        }
        match (self.shape, self.string) {
            (Shape::Plain, _) => one(Unit::plain(character, Spot::Text)),
            (Shape::Json, None) => one(Unit::plain(character, self.step_outside(character))),
            (Shape::Json, Some(spot)) => self.step_in_string(character, spot),
        }
    }

    /// Returns the rest of an escape at the end.
    pub(super) fn finish(&mut self) -> Option<Unit> {
        self.give_up_escape(self.string.unwrap_or(Spot::Bare))
    }

    fn step_outside(&mut self, character: char) -> Spot {
        match character {
            '"' => {
                let is_key = self.expects_key && self.is_in_object();
                let spot = if is_key { Spot::Key } else { Spot::Text };
                if is_key && let Some(key) = self.key() {
                    key.clear();
                }
                self.string = Some(spot);
            }
            '{' | '[' => self.open(character == '{'),
            '}' | ']' => self.close(),
            ',' => self.expects_key = true,
            ':' => self.expects_key = false,
            _ if character.is_whitespace() && !self.is_in_bare => {}
            _ => {
                self.is_in_bare = true;
                return Spot::Bare;
            }
        }
        self.is_in_bare = false;
        Spot::Structure
    }

    fn step_in_string(&mut self, character: char, spot: Spot) -> Units {
        if !self.escape.is_empty() {
            return self.step_in_escape(character, spot);
        }
        match character {
            '\\' => {
                self.escape.push(b'\\');
                NONE
            }
            '"' => {
                self.string = None;
                one(Unit::plain('"', Spot::Structure))
            }
            _ => {
                self.remember(character, spot);
                one(Unit::plain(character, spot))
            }
        }
    }

    fn step_in_escape(&mut self, character: char, spot: Spot) -> Units {
        // After half a surrogate pair only another escape goes on with it.
        let (start, is_second) = match self.escape.len() {
            length @ 6.. => (length - 6, true),
            length => (length, false),
        };
        let written = if is_second { start } else { start - 1 };
        let byte = u8::try_from(character)
            .ok()
            .filter(|byte| fits(*byte, written, is_second));
        let Some(byte) = byte else {
            return self.break_escape(character, spot);
        };
        self.escape.push(byte);
        let is_short = !is_second && written == 0 && byte != b'u';
        if is_short {
            return one(self.complete(short(byte), spot));
        }
        match self.escape.len() {
            6 => match unit_of(&self.escape) {
                0xD800..=0xDBFF => NONE,
                code => one(self.complete(plain_char(code), spot)),
            },
            12 => match (unit_of(&self.escape[..6]), unit_of(&self.escape[6..])) {
                (high, low @ 0xDC00..=0xDFFF) => {
                    let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                    one(self.complete(plain_char(code), spot))
                }
                (_, other) => self.part(other, spot),
            },
            _ => NONE,
        }
    }

    /// The escape does not go on with this character.
    fn break_escape(&mut self, character: char, spot: Spot) -> Units {
        if self.escape.len() > 6 {
            let rest = self.escape.split_off(6);
            let first = self.complete(char::REPLACEMENT_CHARACTER, spot);
            self.escape = rest;
            let [second, third, _] = self.step_in_escape(character, spot);
            return [Some(first), second, third];
        }
        let broken = self.give_up_escape(spot);
        let [next, ..] = self.step_in_string(character, spot);
        [broken, next, None]
    }

    /// Two escapes that are not a pair.
    fn part(&mut self, second: u32, spot: Spot) -> Units {
        let rest = self.escape.split_off(6);
        let first = self.complete(char::REPLACEMENT_CHARACTER, spot);
        self.escape = rest;
        if (0xD800..=0xDBFF).contains(&second) {
            return one(first);
        }
        let second = self.complete(plain_char(second), spot);
        [Some(first), Some(second), None]
    }

    fn complete(&mut self, character: char, spot: Spot) -> Unit {
        let unit = Unit::escaped(character, spot, &self.escape);
        self.escape.clear();
        self.remember(character, spot);
        unit
    }

    fn give_up_escape(&mut self, spot: Spot) -> Option<Unit> {
        let is_open = !self.escape.is_empty();
        is_open.then(|| self.complete(char::REPLACEMENT_CHARACTER, spot))
    }

    fn remember(&mut self, character: char, spot: Spot) {
        if spot == Spot::Key
            && let Some(key) = self.key().filter(|key| key.len() < KEY_CHARACTERS_MAX)
        {
            key.push(character);
        }
    }

    fn key(&mut self) -> Option<&mut String> {
        if self.deeper > 0 {
            return None;
        }
        self.around.last_mut()?.as_mut()
    }

    fn is_in_object(&self) -> bool {
        self.deeper == 0 && matches!(self.around.last(), Some(Some(_)))
    }

    fn open(&mut self, is_object: bool) {
        if self.around.len() < DEPTH_MAX {
            self.around.push(is_object.then(String::new));
        } else {
            self.deeper += 1;
        }
        self.expects_key = is_object;
    }

    fn close(&mut self) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else {
            self.around.pop();
        }
        self.expects_key = false;
    }
}

fn one(unit: Unit) -> Units {
    [Some(unit), None, None]
}

/// Whether a byte is valid at this position of an escape, after its first backslash.
fn fits(byte: u8, position: usize, is_second: bool) -> bool {
    match (is_second, position) {
        (true, 0) => byte == b'\\',
        (true, 1) => byte == b'u',
        (false, 0) => byte.is_ascii_graphic(),
        _ => byte.is_ascii_hexdigit(),
    }
}

fn short(byte: u8) -> char {
    match byte {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        other => char::from(other),
    }
}

/// The code unit of `\uXXXX`.
fn unit_of(escape: &[u8]) -> u32 {
    let digits = escape
        .get(2..6)
        .and_then(|digits| std::str::from_utf8(digits).ok());
    digits
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .unwrap_or(0xFFFD)
}

fn plain_char(code: u32) -> char {
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, String, Vec<String>) {
        let mut reader = FieldReader::new(Shape::Json);
        let (mut decoded, mut written, mut labels) = (String::new(), String::new(), Vec::new());
        for character in text.chars() {
            for unit in reader.step(character).into_iter().flatten() {
                unit.write(&mut written);
                if unit.spot == Spot::Text {
                    decoded.push(unit.character);
                    let label = reader.label().unwrap_or("-").to_owned();
                    if labels.last() != Some(&label) {
                        labels.push(label);
                    }
                }
            }
        }
        if let Some(unit) = reader.finish() {
            unit.write(&mut written);
        }
        (decoded, written, labels)
    }

    #[test]
    fn reader_preserves_text_and_decodes_strings() {
        for (text, meant) in [
            (r#"{"a":"b"}"#, "b"),
            (r#"{"a":"\u00e9\n\"\\","b":"x"}"#, "é\n\"\\x"),
            (r#"["\ud83d\udc4b!"]"#, "👋!"),
            (r#"["\ud83dx"]"#, "\u{fffd}x"),
            (r#"["\ud83d\ud83d\udc4b"]"#, "\u{fffd}👋"),
            (r#"["\ud83d\u0041"]"#, "\u{fffd}A"),
            (r#"["\ud83d\n"]"#, "\u{fffd}\n"),
            (r#"["\u00zz"]"#, "\u{fffd}zz"),
            (r#"["\é"]"#, "\u{fffd}é"),
            (r#"["\ud83d"]"#, "\u{fffd}"),
            (r#"["ab\"#, "ab"),
            (r#"["ab\u00"#, "ab"),
            (r#"["ab\ud83d\u"#, "ab"),
            ("Sorry, \"no\".", "Sorry, \"no\"."),
        ] {
            let (decoded, written, _) = read(text);
            assert_eq!(written, text);
            assert_eq!(decoded, meant, "{text}");
        }
    }

    #[test]
    fn value_is_labelled_by_nearest_key() {
        let text = r#"{"ssn":"1","b":["2",{"phone":{"value":"3"}},"4"],"c":"5","\u0064":"6"}"#;
        let (_, _, labels) = read(text);
        assert_eq!(labels, ["ssn", "b", "phone", "b", "c", "d"]);
    }
}
