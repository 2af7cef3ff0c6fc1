//! Images that are written inside of a page.

use phigate_types::Unread;

use super::file::File;
use super::lexer::{Lexer, Token, is_space};
use super::object::{Dict, Object};
use super::pictures;

/// Tokens that must be readable behind the end of an image.
const BEHIND: usize = 8;

/// Skips an image, behind `BI`.
pub(super) fn skip(file: &File<'_>, lexer: &mut Lexer<'_>) -> Result<(), Unread> {
    let dict = head(lexer)?;
    let size = |long: &str, short: &str| {
        let value = file.get(&dict, long).or_else(|| file.get(&dict, short));
        value.and_then(Object::size).ok_or(Unread::Damaged)
    };
    let (width, height) = (size("Width", "W")?, size("Height", "H")?);
    pictures::check_sides(width, height)?;
    // The data begin behind one byte of white space.
    let start = lexer.at + 1;
    let rest = lexer.bytes.get(start..).ok_or(Unread::Damaged)?;
    let mut from = 0;
    loop {
        let found = rest
            .get(from..)
            .and_then(|rest| crate::sniff::position(rest, b"EI"));
        let end = from + found.ok_or(Unread::Damaged)?;
        from = end + 2;
        let is_apart = end
            .checked_sub(1)
            .is_none_or(|before| is_space(rest[before]))
            && rest.get(from).is_none_or(|byte| is_space(*byte));
        if !is_apart || !continues(&rest[from..]) {
            continue;
        }
        let data = &rest[..end];
        let (filter, pixels) = match file.undo(&dict, data) {
            Ok(undone) => undone,
            Err(Unread::Damaged) => file.undo(&dict, data.trim_ascii_end())?,
            Err(reason) => return Err(reason),
        };
        if filter.is_some() {
            crate::image::check(&pixels)?;
        } else if pixels.len() > pictures::most(&dict, width, height) + 2 {
            return Err(Unread::Image);
        }
        lexer.at = start + from;
        return Ok(());
    }
}

/// Reads the entries in front of `ID`.
fn head(lexer: &mut Lexer<'_>) -> Result<Dict, Unread> {
    let mut dict = Dict::default();
    loop {
        let key = match lexer.next()? {
            Token::Object(Object::Name(key)) => key,
            Token::Word(b"ID") => return Ok(dict),
            _ => return Err(Unread::Damaged),
        };
        match lexer.next()? {
            Token::Object(value) => dict.add(key, value)?,
            Token::Word(_) | Token::End => return Err(Unread::Damaged),
        }
    }
}

/// Whether bytes read on as operators of a page.
fn continues(bytes: &[u8]) -> bool {
    let mut lexer = Lexer::of_page(bytes);
    (0..BEHIND).all(|_| match lexer.next() {
        Ok(Token::Word(word)) => word.iter().all(u8::is_ascii_graphic),
        Ok(_) => true,
        Err(_) => false,
    })
}
