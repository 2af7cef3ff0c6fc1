//! Maps of a font: how long its codes are, and which text they stand for.

use std::collections::HashMap;

use phigate_types::Unread;

use super::lexer::{Lexer, Token};
use super::object::Object;

/// The most entries of a map.
const ENTRIES: usize = 200_000;

/// Map of a font.
#[derive(Default)]
pub(super) struct Map {
    /// Lengths of codes: bytes, first code and last code.
    pub(super) ranges: Vec<(usize, u32, u32)>,
    /// Text of each code.
    pub(super) texts: HashMap<u32, String>,
}

impl Map {
    /// Reads a map.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Unread> {
        let mut lexer = Lexer::of_page(bytes);
        let (mut map, mut operands) = (Self::default(), Vec::new());
        loop {
            match lexer.next()? {
                Token::End => return Ok(map),
                Token::Object(object) => operands.push(object),
                Token::Word(word) => {
                    match word {
                        b"endcodespacerange" => map.lengths(&operands)?,
                        b"endbfchar" => map.characters(&operands)?,
                        b"endbfrange" => map.series(&operands)?,
                        // The map builds on another, which is not in the file.
                        b"usecmap" => return Err(Unread::NoText),
                        _ => {}
                    }
                    operands.clear();
                }
            }
            if map.texts.len() > ENTRIES || operands.len() > ENTRIES {
                return Err(Unread::Limit);
            }
        }
    }

    fn lengths(&mut self, operands: &[Object]) -> Result<(), Unread> {
        for pair in operands.chunks(2) {
            let [Object::Text(first), Object::Text(last)] = pair else {
                return Err(Unread::Damaged);
            };
            let range = code(first).zip(code(last)).ok_or(Unread::Damaged)?;
            self.ranges.push((first.len(), range.0, range.1));
        }
        Ok(())
    }

    fn characters(&mut self, operands: &[Object]) -> Result<(), Unread> {
        for pair in operands.chunks(2) {
            match pair {
                [Object::Text(from), Object::Text(to)] => self.add(code(from), wide(to))?,
                // The name of a glyph.
                [Object::Text(from), Object::Name(to)] => {
                    self.add(code(from), super::encoding::glyph(to))?;
                }
                _ => return Err(Unread::Damaged),
            }
        }
        Ok(())
    }

    fn series(&mut self, operands: &[Object]) -> Result<(), Unread> {
        for triple in operands.chunks(3) {
            let [Object::Text(first), Object::Text(last), to] = triple else {
                return Err(Unread::Damaged);
            };
            let (first, last) = code(first).zip(code(last)).ok_or(Unread::Damaged)?;
            if last < first || last - first > 0xffff {
                return Err(Unread::Damaged);
            }
            for (number, each) in (first..=last).enumerate() {
                let text = match to {
                    Object::Text(to) => later(to, number),
                    Object::Array(list) => match list.get(number) {
                        Some(Object::Text(to)) => wide(to),
                        _ => return Err(Unread::Damaged),
                    },
                    _ => return Err(Unread::Damaged),
                };
                self.add(Some(each), text)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, code: Option<u32>, text: Option<String>) -> Result<(), Unread> {
        let code = code.ok_or(Unread::Damaged)?;
        let text = text.unwrap_or_default();
        // Readers keep the first or the last of two.
        match self.texts.insert(code, text.clone()) {
            Some(other) if other != text => Err(Unread::ReadersDisagree),
            _ if self.texts.len() > ENTRIES => Err(Unread::Limit),
            _ => Ok(()),
        }
    }
}

fn code(bytes: &[u8]) -> Option<u32> {
    let is_code = (1..=4).contains(&bytes.len());
    is_code.then(|| {
        bytes
            .iter()
            .fold(0, |code, byte| code << 8 | u32::from(*byte))
    })
}

/// Returns UTF-16, or a single byte as its character.
fn wide(bytes: &[u8]) -> Option<String> {
    match bytes {
        [byte] => Some(char::from(*byte).to_string()),
        _ if bytes.len().is_multiple_of(2) => {
            let units = bytes
                .chunks_exact(2)
                .map(|two| u16::from_be_bytes([two[0], two[1]]));
            String::from_utf16(&units.collect::<Vec<_>>()).ok()
        }
        _ => None,
    }
}

/// Returns the text of a code of a series: its last character is counted on.
fn later(first: &[u8], number: usize) -> Option<String> {
    let mut text = wide(first)?;
    let last = u32::from(text.pop()?) + u32::try_from(number).ok()?;
    text.push(char::from_u32(last)?);
    Some(text)
}
