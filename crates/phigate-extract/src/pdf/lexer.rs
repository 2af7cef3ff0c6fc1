//! Reader of PDF syntax: objects, operators and what is between them.

use phigate_types::Unread;

use super::object::{Dict, Object};

/// Nesting of arrays and dictionaries.
const DEPTH: usize = 64;

/// Longest name or operator.
const NAME: usize = 512;

/// Reader of syntax from a position on.
pub(super) struct Lexer<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) at: usize,
    /// Comments so far, which are text that no reader shows.
    pub(super) comments: String,
    /// Whether `1 0 R` is a reference. In pages it is not.
    has_references: bool,
}

/// Object or word.
pub(super) enum Token<'b> {
    Object(Object),
    Word(&'b [u8]),
    End,
}

/// Whether a byte is white space.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

/// Whether a byte ends a word.
fn is_delimiter(byte: u8) -> bool {
    b"()<>[]{}/%".contains(&byte)
}

fn is_regular(byte: u8) -> bool {
    !is_space(byte) && !is_delimiter(byte)
}

impl<'b> Lexer<'b> {
    /// Creates a reader of a file.
    pub(super) fn new(bytes: &'b [u8], at: usize) -> Self {
        Self {
            bytes,
            at,
            comments: String::new(),
            has_references: true,
        }
    }

    /// Creates a reader of a page.
    pub(super) fn of_page(bytes: &'b [u8]) -> Self {
        Self {
            has_references: false,
            ..Self::new(bytes, 0)
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn rest(&self) -> &'b [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Skips white space and comments.
    pub(super) fn skip(&mut self) {
        while let Some(byte) = self.peek() {
            if byte == b'%' {
                let rest = self.rest();
                let length = rest
                    .iter()
                    .take_while(|byte| !b"\r\n".contains(byte))
                    .count();
                let comment = String::from_utf8_lossy(&rest[1..length]);
                self.comments.push_str(comment.trim());
                self.comments.push('\n');
                self.at += length;
            } else if is_space(byte) {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    /// Skips a word if it is the next one.
    pub(super) fn take(&mut self, word: &str) -> bool {
        self.skip();
        let is_next = self.rest().starts_with(word.as_bytes());
        let ends = self.bytes.get(self.at + word.len());
        let is_whole = is_next && ends.is_none_or(|byte| !is_regular(*byte));
        if is_whole {
            self.at += word.len();
        }
        is_whole
    }

    /// Reads an unsigned number, as in tables and before `obj`.
    pub(super) fn number(&mut self) -> Option<u64> {
        self.skip();
        let digits = self
            .rest()
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let number = std::str::from_utf8(&self.rest()[..digits])
            .ok()?
            .parse()
            .ok()?;
        self.at += digits;
        self.peek()
            .is_none_or(|byte| !is_regular(byte))
            .then_some(number)
    }

    /// Reads the beginning of an object: its number and generation.
    pub(super) fn header(&mut self) -> Option<(u32, u16)> {
        let start = self.at;
        let read = |lexer: &mut Self| {
            let number = u32::try_from(lexer.number()?).ok()?;
            let generation = u16::try_from(lexer.number()?).ok()?;
            // Many writers put nothing between `obj` and what follows.
            lexer.skip();
            lexer
                .rest()
                .starts_with(b"obj")
                .then_some((number, generation))
        };
        let header = read(self);
        self.at = if header.is_some() { self.at + 3 } else { start };
        header
    }

    /// Reads an object.
    pub(super) fn object(&mut self) -> Result<Object, Unread> {
        match self.token(0)? {
            Token::Object(object) => Ok(object),
            Token::Word(_) | Token::End => Err(Unread::Damaged),
        }
    }

    /// Reads an object or a word.
    pub(super) fn next(&mut self) -> Result<Token<'b>, Unread> {
        self.token(0)
    }

    fn token(&mut self, depth: usize) -> Result<Token<'b>, Unread> {
        if depth > DEPTH {
            return Err(Unread::Limit);
        }
        self.skip();
        let Some(first) = self.peek() else {
            return Ok(Token::End);
        };
        let object = match first {
            b'(' => Object::Text(self.literal()?),
            b'<' if self.rest().starts_with(b"<<") => Object::Dict(self.dict(depth)?),
            b'<' => Object::Text(self.hexadecimal()?),
            b'/' => Object::Name(self.name()?),
            b'[' => Object::Array(self.array(depth)?),
            b'+' | b'-' | b'.' | b'0'..=b'9' => self.numeric()?,
            _ if is_delimiter(first) => return Err(Unread::Damaged),
            _ => {
                let length = self
                    .rest()
                    .iter()
                    .take_while(|byte| is_regular(**byte))
                    .count();
                let word = &self.rest()[..length.min(NAME)];
                self.at += word.len();
                match word {
                    b"true" => Object::Bool(true),
                    b"false" => Object::Bool(false),
                    b"null" => Object::Null,
                    _ => return Ok(Token::Word(word)),
                }
            }
        };
        Ok(Token::Object(object))
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Object>, Unread> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip();
            if self.peek() == Some(b']') {
                self.at += 1;
                return Ok(items);
            }
            match self.token(depth + 1)? {
                Token::Object(object) => items.push(object),
                Token::Word(_) | Token::End => return Err(Unread::Damaged),
            }
        }
    }

    fn dict(&mut self, depth: usize) -> Result<Dict, Unread> {
        self.at += 2;
        let mut dict = Dict::default();
        loop {
            self.skip();
            if self.rest().starts_with(b">>") {
                self.at += 2;
                return Ok(dict);
            }
            if self.peek() != Some(b'/') {
                return Err(Unread::Damaged);
            }
            let key = self.name()?;
            match self.token(depth + 1)? {
                Token::Object(value) => dict.add(key, value)?,
                Token::Word(_) | Token::End => return Err(Unread::Damaged),
            }
        }
    }

    fn name(&mut self) -> Result<Vec<u8>, Unread> {
        self.at += 1;
        let mut name = Vec::new();
        while let Some(byte) = self.peek().filter(|byte| is_regular(*byte)) {
            self.at += 1;
            let code = self
                .rest()
                .get(..2)
                .filter(|_| byte == b'#')
                .and_then(hexadecimal_byte);
            if let Some(code) = code {
                self.at += 2;
                name.push(code);
            } else {
                name.push(byte);
            }
            if name.len() > NAME {
                return Err(Unread::Limit);
            }
        }
        Ok(name)
    }

    fn numeric(&mut self) -> Result<Object, Unread> {
        let length = self
            .rest()
            .iter()
            .take_while(|byte| is_regular(**byte))
            .count();
        let text = std::str::from_utf8(&self.rest()[..length]).map_err(|_| Unread::Damaged)?;
        let is_number = text
            .bytes()
            .skip(1)
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        if !is_number || text.len() > 64 {
            return Err(Unread::Damaged);
        }
        let number = match text {
            "." | "-" | "+" | "-." => 0.0,
            _ => text.parse::<f64>().map_err(|_| Unread::Damaged)?,
        };
        self.at += length;
        let is_whole = self.has_references && text.bytes().all(|byte| byte.is_ascii_digit());
        Ok(is_whole
            .then(|| self.reference(text))
            .flatten()
            .unwrap_or(Object::Number(number)))
    }

    /// Reads the rest of a reference, if it is one.
    fn reference(&mut self, number: &str) -> Option<Object> {
        let start = self.at;
        let mut read = || {
            let rest = self.rest();
            let spaces = rest.iter().take_while(|byte| is_space(**byte)).count();
            rest.get(spaces).filter(|byte| byte.is_ascii_digit())?;
            let generation = u16::try_from(self.number()?).ok()?;
            let rest = self.rest();
            let spaces = rest.iter().take_while(|byte| is_space(**byte)).count();
            let is_reference = rest.get(spaces) == Some(&b'R')
                && rest.get(spaces + 1).is_none_or(|byte| !is_regular(*byte));
            self.at += spaces + 1;
            is_reference.then_some(Object::Ref(number.parse().ok()?, generation))
        };
        let reference = read();
        if reference.is_none() {
            self.at = start;
        }
        reference
    }

    fn hexadecimal(&mut self) -> Result<Vec<u8>, Unread> {
        self.at += 1;
        let (mut bytes, mut high) = (Vec::new(), None);
        loop {
            let byte = self.peek().ok_or(Unread::Damaged)?;
            self.at += 1;
            if byte == b'>' {
                bytes.extend(high.map(|high: u8| high << 4));
                return Ok(bytes);
            }
            if is_space(byte) {
                continue;
            }
            let digit = digit(byte).ok_or(Unread::Damaged)?;
            high = match high {
                None => Some(digit),
                Some(high) => {
                    bytes.push(high << 4 | digit);
                    None
                }
            };
        }
    }

    fn literal(&mut self) -> Result<Vec<u8>, Unread> {
        self.at += 1;
        let (mut bytes, mut depth) = (Vec::new(), 1usize);
        loop {
            let byte = self.peek().ok_or(Unread::Damaged)?;
            self.at += 1;
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                b'\\' => {
                    self.escape(&mut bytes)?;
                    continue;
                }
                b'\r' => {
                    self.at += usize::from(self.peek() == Some(b'\n'));
                    bytes.push(b'\n');
                    continue;
                }
                _ => {}
            }
            if depth == 0 {
                return Ok(bytes);
            }
            bytes.push(byte);
        }
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), Unread> {
        let byte = self.peek().ok_or(Unread::Damaged)?;
        self.at += 1;
        match byte {
            b'n' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b't' => bytes.push(b'\t'),
            b'b' => bytes.push(8),
            b'f' => bytes.push(0x0c),
            b'\r' => self.at += usize::from(self.peek() == Some(b'\n')),
            b'\n' => {}
            b'0'..=b'7' => {
                let mut code = u16::from(byte - b'0');
                for _ in 0..2 {
                    let Some(next @ b'0'..=b'7') = self.peek() else {
                        break;
                    };
                    code = code * 8 + u16::from(next - b'0');
                    self.at += 1;
                }
                // Readers drop the overflow or the whole code.
                bytes.push(u8::try_from(code).map_err(|_| Unread::ReadersDisagree)?);
            }
            _ => bytes.push(byte),
        }
        Ok(())
    }
}

/// Returns the value of a hexadecimal digit.
pub(super) fn digit(byte: u8) -> Option<u8> {
    let value = char::from(byte).to_digit(16)?;
    u8::try_from(value).ok()
}

fn hexadecimal_byte(digits: &[u8]) -> Option<u8> {
    Some(digit(digits[0])? << 4 | digit(digits[1])?)
}
