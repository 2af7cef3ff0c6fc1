//! Reading JSON text into a tree.

use super::{Json, NotJson};
use crate::json::has_control;
use std::borrow::Cow;

/// How deep documents may nest. Deeper ones are unreadable to us.
const DEPTH_MAX: usize = 128;

/// A place in a document.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) position: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    pub(super) fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.position += 1;
        }
    }

    pub(super) fn expect(&mut self, byte: u8) -> Result<(), NotJson> {
        if self.peek() == Some(byte) {
            self.position += 1;
            Ok(())
        } else {
            Err(NotJson)
        }
    }

    fn word(&mut self, word: &str, value: Json<'a>) -> Result<Json<'a>, NotJson> {
        let is_here = self.text.as_bytes()[self.position..].starts_with(word.as_bytes());
        self.position += word.len();
        if is_here { Ok(value) } else { Err(NotJson) }
    }

    pub(super) fn value(&mut self, depth: usize) -> Result<Json<'a>, NotJson> {
        if depth > DEPTH_MAX {
            return Err(NotJson);
        }
        self.skip_space();
        match self.peek().ok_or(NotJson)? {
            b'n' => self.word("null", Json::Null),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            b'"' => Ok(Json::Text(self.string()?)),
            b'[' => self.list(depth),
            b'{' => self.object(depth),
            _ => self.number(),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json<'a>, NotJson> {
        self.expect(b'[')?;
        let mut items = Vec::new();
        self.skip_space();
        if self.expect(b']').is_ok() {
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.skip_space();
            if self.expect(b']').is_ok() {
                return Ok(Json::List(items));
            }
            self.expect(b',')?;
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json<'a>, NotJson> {
        self.expect(b'{')?;
        let mut members = Vec::new();
        self.skip_space();
        if self.expect(b'}').is_ok() {
            return Ok(Json::Object(members));
        }
        loop {
            self.skip_space();
            let key = self.string()?;
            self.skip_space();
            self.expect(b':')?;
            members.push((key, self.value(depth + 1)?));
            self.skip_space();
            if self.expect(b'}').is_ok() {
                return Ok(Json::Object(members));
            }
            self.expect(b',')?;
        }
    }

    fn digits(&mut self) -> Result<(), NotJson> {
        let start = self.position;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.position += 1;
        }
        if self.position > start {
            Ok(())
        } else {
            Err(NotJson)
        }
    }

    fn number(&mut self) -> Result<Json<'a>, NotJson> {
        let start = self.position;
        let _has_sign = self.expect(b'-');
        let starts_with_zero = self.peek() == Some(b'0');
        let integer_from = self.position;
        self.digits()?;
        if starts_with_zero && self.position > integer_from + 1 {
            return Err(NotJson);
        }
        if self.expect(b'.').is_ok() {
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.position += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.position += 1;
            }
            self.digits()?;
        }
        Ok(Json::Number(Cow::Borrowed(
            &self.text[start..self.position],
        )))
    }

    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, NotJson> {
        self.expect(b'"')?;
        let start = self.position;
        let bytes = self.text.as_bytes();
        loop {
            let rest = &bytes[self.position..];
            self.position += memchr::memchr2(b'"', b'\\', rest).ok_or(NotJson)?;
            if bytes[self.position] == b'"' {
                break;
            }
            self.position += 2;
            if self.position > bytes.len() {
                return Err(NotJson);
            }
        }
        let written = self.text.get(start..self.position).ok_or(NotJson)?;
        self.position += 1;
        if has_control(written.as_bytes()) {
            return Err(NotJson);
        }
        if memchr::memchr(b'\\', written.as_bytes()).is_none() {
            return Ok(Cow::Borrowed(written));
        }
        unescape(written).map(Cow::Owned)
    }
}

/// Decodes escapes. Half of a surrogate pair becomes U+FFFD: providers cut emoji in two when they stream.
fn unescape(written: &str) -> Result<String, NotJson> {
    let mut decoded = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(position) = rest.find('\\') {
        decoded.push_str(&rest[..position]);
        let escape = *rest.as_bytes().get(position + 1).ok_or(NotJson)?;
        let mut used = position + 2;
        match escape {
            b'"' => decoded.push('"'),
            b'\\' => decoded.push('\\'),
            b'/' => decoded.push('/'),
            b'b' => decoded.push('\u{8}'),
            b'f' => decoded.push('\u{c}'),
            b'n' => decoded.push('\n'),
            b'r' => decoded.push('\r'),
            b't' => decoded.push('\t'),
            b'u' => {
                let unit = code_unit(rest, used)?;
                used += 4;
                let low = rest
                    .get(used..used + 2)
                    .filter(|next| *next == "\\u")
                    .map(|_| code_unit(rest, used + 2))
                    .transpose()?;
                match (char::from_u32(unit), low) {
                    (Some(letter), _) => decoded.push(letter),
                    (None, Some(low))
                        if (0xd800..0xdc00).contains(&unit) && (0xdc00..0xe000).contains(&low) =>
                    {
                        let scalar = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                        decoded.push(char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER));
                        used += 6;
                    }
                    (None, _) => decoded.push(char::REPLACEMENT_CHARACTER),
                }
            }
            _ => return Err(NotJson),
        }
        rest = rest.get(used..).ok_or(NotJson)?;
    }
    decoded.push_str(rest);
    Ok(decoded)
}

fn code_unit(text: &str, at: usize) -> Result<u32, NotJson> {
    let digits = text
        .get(at..at + 4)
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .ok_or(NotJson)?;
    u32::from_str_radix(digits, 16).map_err(|_| NotJson)
}
