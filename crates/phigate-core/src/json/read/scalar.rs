//! Reading numbers and strings.

use super::super::Kind;
use super::{JsonError, JsonProblem, Reader};

impl Reader<'_> {
    pub(super) fn number(&mut self, parent: u32, position: u32) -> Result<(), JsonError> {
        let start = self.position;
        if self.peek() == Some(b'-') {
            self.position += 1;
        }
        match self.peek() {
            Some(b'0') => self.position += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.position += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.position += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.position += 1;
            }
            self.digits()?;
        }
        // Beyond the range of a double, parsers differ: infinity, an error, or all digits.
        let is_finite = || {
            let number = self.text[start..self.position].parse::<f64>();
            number.is_ok_and(f64::is_finite)
        };
        if !self.tolerance.odd_values && !is_finite() {
            return Err(JsonError::at(JsonProblem::Syntax, start));
        }
        self.leaf(Kind::Number, false, false, parent, position, start);
        Ok(())
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.position;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.position += 1;
        }
        if self.position == start {
            Err(self.syntax())
        } else {
            Ok(())
        }
    }

    pub(super) fn string(
        &mut self,
        parent: u32,
        position: u32,
        is_key: bool,
    ) -> Result<(), JsonError> {
        let start = self.position;
        self.position += 1;
        let mut escaped = false;
        loop {
            let rest = &self.bytes[self.position..];
            // Both searches are vectorised; the skipped bytes are then checked for control characters.
            let Some(step) = memchr::memchr2(b'"', b'\\', rest) else {
                return Err(self.syntax());
            };
            if has_control(&rest[..step]) {
                let is_control = |byte: &u8| *byte < 0x20;
                self.position += rest.iter().position(is_control).unwrap_or(step);
                return Err(self.syntax());
            }
            self.position += step;
            if rest[step] == b'"' {
                break;
            }
            escaped = true;
            self.escape()?;
        }
        self.position += 1;
        self.leaf(Kind::String, escaped, is_key, parent, position, start);
        Ok(())
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        match self.bytes.get(self.position + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.position += 2;
                Ok(())
            }
            Some(b'u') => self.unicode_escape(),
            _ => Err(self.syntax()),
        }
    }

    /// Reads a `\u` escape. A lone surrogate has no meaning in UTF-8, and parsers differ in how they read it.
    fn unicode_escape(&mut self) -> Result<(), JsonError> {
        let first = self.hex4(self.position + 2).ok_or_else(|| self.syntax())?;
        match first {
            0xD800..=0xDBFF => {
                let is_pair = self.bytes[self.position + 6..].starts_with(b"\\u")
                    && matches!(self.hex4(self.position + 8), Some(0xDC00..=0xDFFF));
                if !is_pair && !self.tolerance.odd_values {
                    return Err(self.syntax());
                }
                self.position += if is_pair { 12 } else { 6 };
            }
            0xDC00..=0xDFFF if !self.tolerance.odd_values => return Err(self.syntax()),
            _ => self.position += 6,
        }
        Ok(())
    }

    fn hex4(&self, at: usize) -> Option<u32> {
        let digits = self.bytes.get(at..at + 4)?;
        digits.iter().try_fold(0, |value, &byte| {
            Some(value * 16 + char::from(byte).to_digit(16)?)
        })
    }
}

/// Whether there is a control character. There is no early exit, so that the compiler can vectorise the test.
fn has_control(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .fold(false, |found, &byte| found | (byte < 0x20))
}
