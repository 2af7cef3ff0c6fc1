//! RTF: all text of all destinations, shown or not.

use data_encoding::HEXLOWER_PERMISSIVE;
use encoding_rs::{Encoding, WINDOWS_1252};
use phigate_types::Unread;

use crate::bounds;
use crate::image;

/// Destinations without text: fonts, colours, and numbers of the program.
const MADE: &[&str] = &[
    "colortbl",
    "fonttbl",
    "latentstyles",
    "listoverridetable",
    "rsidtbl",
    "xmlnstbl",
    "colorschememapping",
];

/// Destinations with bytes of another format.
const OBJECTS: &[&str] = &[
    "objdata",
    "datastore",
    "themedata",
    "passwordhash",
    "fontemb",
    "fontfile",
    "filetbl",
];

/// Words for characters.
const CHARACTERS: &[(&str, &str)] = &[
    ("par", "\n"),
    ("line", "\n"),
    ("sect", "\n"),
    ("page", "\n"),
    ("row", "\n"),
    ("nestrow", "\n"),
    ("cell", "\t"),
    ("nestcell", "\t"),
    ("tab", "\t"),
    ("emdash", "\u{2014}"),
    ("endash", "\u{2013}"),
    ("bullet", "\u{2022}"),
    ("lquote", "\u{2018}"),
    ("rquote", "\u{2019}"),
    ("ldblquote", "\u{201c}"),
    ("rdblquote", "\u{201d}"),
    ("emspace", " "),
    ("enspace", " "),
    ("qmspace", " "),
];

/// Destinations that are not part of the line in which they are written.
const ASIDE: &[&str] = &[
    "annotation",
    "atnauthor",
    "atnid",
    "fldinst",
    "footer",
    "footnote",
    "header",
    "info",
    "shptxt",
    "title",
    "author",
    "subject",
    "keywords",
    "comment",
    "operator",
    "company",
    "manager",
    "category",
    "doccomm",
    "stylesheet",
];

/// State of a group.
#[derive(Clone, Copy)]
struct Group {
    /// Fallback bytes for a Unicode character.
    fallback: usize,
    is_made: bool,
    is_picture: bool,
    is_aside: bool,
}

struct Reader<'b> {
    rest: &'b [u8],
    groups: Vec<Group>,
    encoding: &'static Encoding,
    /// Characters of the code page that are not decoded yet.
    pending: Vec<u8>,
    high: Option<u16>,
    /// Digits of a picture.
    picture: Vec<u8>,
    text: String,
}

/// Reads a document.
pub(crate) fn read(bytes: &[u8]) -> Result<String, Unread> {
    let mut reader = Reader {
        rest: bytes,
        groups: Vec::new(),
        encoding: WINDOWS_1252,
        pending: Vec::new(),
        high: None,
        picture: Vec::new(),
        text: String::new(),
    };
    while let Some((first, rest)) = reader.rest.split_first() {
        reader.rest = rest;
        match first {
            b'{' => reader.open()?,
            b'}' => reader.close()?,
            b'\\' => reader.control()?,
            b'\r' | b'\n' => {}
            0 => return Err(Unread::Damaged),
            _ => reader.byte(*first),
        }
        if reader.groups.is_empty() && !reader.rest.iter().all(|byte| b"\r\n\t \0".contains(byte)) {
            return Err(Unread::Damaged);
        }
    }
    reader.flush();
    if reader.groups.is_empty() {
        Ok(reader.text)
    } else {
        Err(Unread::Damaged)
    }
}

impl Reader<'_> {
    fn group(&mut self) -> Option<&mut Group> {
        self.groups.last_mut()
    }

    fn open(&mut self) -> Result<(), Unread> {
        self.flush();
        let outer = self.groups.last().copied();
        let mut inner = outer.unwrap_or(Group {
            fallback: 1,
            is_made: false,
            is_picture: false,
            is_aside: false,
        });
        inner.is_aside = false;
        self.groups.push(inner);
        if self.groups.len() > bounds::DEPTH {
            Err(Unread::Limit)
        } else {
            Ok(())
        }
    }

    fn close(&mut self) -> Result<(), Unread> {
        self.flush();
        let group = self.groups.pop().ok_or(Unread::Damaged)?;
        if group.is_aside {
            self.end_line();
        }
        let ends_picture =
            group.is_picture && !self.groups.last().is_some_and(|outer| outer.is_picture);
        if ends_picture {
            let digits = std::mem::take(&mut self.picture);
            let picture = HEXLOWER_PERMISSIVE.decode(&digits);
            image::check(&picture.map_err(|_| Unread::Image)?)?;
        }
        Ok(())
    }

    fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// Takes a byte of text in the code page.
    fn byte(&mut self, byte: u8) {
        let Some(group) = self.groups.last() else {
            return;
        };
        if group.is_picture {
            self.picture.extend((byte != b' ').then_some(byte));
        } else if !group.is_made {
            self.high = None;
            self.pending.push(byte);
        }
    }

    /// Decodes the bytes so far.
    fn flush(&mut self) {
        if !self.pending.is_empty() {
            let bytes = std::mem::take(&mut self.pending);
            self.text
                .push_str(&self.encoding.decode_without_bom_handling(&bytes).0);
        }
    }

    fn push(&mut self, text: &str) {
        if self.groups.last().is_some_and(|group| group.is_made) {
            return;
        }
        self.flush();
        self.text.push_str(text);
    }

    fn control(&mut self) -> Result<(), Unread> {
        let first = *self.rest.first().ok_or(Unread::Damaged)?;
        if first.is_ascii_alphabetic() {
            return self.word();
        }
        self.rest = &self.rest[1..];
        match first {
            b'\'' => {
                let (digits, rest) = self.rest.split_at_checked(2).ok_or(Unread::Damaged)?;
                let digits = std::str::from_utf8(digits).map_err(|_| Unread::Damaged)?;
                self.rest = rest;
                let byte = u8::from_str_radix(digits, 16).map_err(|_| Unread::Damaged)?;
                self.byte(byte);
            }
            b'~' => self.push("\u{a0}"),
            b'-' => self.push("\u{ad}"),
            b'_' => self.push("-"),
            b'\n' | b'\r' => self.push("\n"),
            b'\\' | b'{' | b'}' => self.byte(first),
            // An ignorable destination is text all the same.
            _ => {}
        }
        Ok(())
    }

    /// Reads a control word with its number.
    fn word(&mut self) -> Result<(), Unread> {
        let letters = self
            .rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        let (word, rest) = self.rest.split_at(letters);
        let word = std::str::from_utf8(word).map_err(|_| Unread::Damaged)?;
        let sign = usize::from(rest.first() == Some(&b'-'));
        let digits = rest[sign..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let length = if digits == 0 { 0 } else { sign + digits };
        let (number, rest) = rest.split_at(length);
        let number = std::str::from_utf8(number)
            .ok()
            .and_then(|text| text.parse::<i64>().ok());
        self.rest = rest.strip_prefix(b" ").unwrap_or(rest);
        if length > 0 && number.is_none() {
            return Err(Unread::Damaged);
        }
        self.act(word, number)
    }

    fn act(&mut self, word: &str, number: Option<i64>) -> Result<(), Unread> {
        if let Some((_, text)) = CHARACTERS.iter().find(|(known, _)| *known == word) {
            self.push(text);
            return Ok(());
        }
        match word {
            "u" => return self.unicode(number.ok_or(Unread::Damaged)?),
            "bin" => {
                let is_picture = self.groups.last().is_some_and(|group| group.is_picture);
                return Err(if is_picture {
                    Unread::Image
                } else {
                    Unread::EmbeddedObject
                });
            }
            "ansicpg" => {
                let label = format!("windows-{}", number.unwrap_or(1252));
                self.encoding = Encoding::for_label(label.as_bytes()).unwrap_or(WINDOWS_1252);
            }
            "mac" | "pc" | "pca" => return Err(Unread::UnknownType),
            "uc" => {
                let fallback = usize::try_from(number.unwrap_or(1)).unwrap_or(1);
                // More characters than a letter needs would be text that only some readers show.
                if fallback > 4 {
                    return Err(Unread::ReadersDisagree);
                }
                if let Some(group) = self.group() {
                    group.fallback = fallback;
                }
            }
            "pict" => {
                if let Some(group) = self.group() {
                    group.is_picture = true;
                }
            }
            _ if OBJECTS.contains(&word) => return Err(Unread::EmbeddedObject),
            _ if MADE.contains(&word) => {
                if let Some(group) = self.group() {
                    group.is_made = true;
                }
            }
            _ if ASIDE.contains(&word) => {
                self.flush();
                self.end_line();
                if let Some(group) = self.group() {
                    group.is_aside = true;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes a character by number, and skips its fallback for older readers.
    fn unicode(&mut self, number: i64) -> Result<(), Unread> {
        let unit = u16::try_from(if number < 0 { number + 65_536 } else { number });
        let unit = unit.map_err(|_| Unread::Damaged)?;
        let units = match self.high.take() {
            Some(high) => vec![high, unit],
            None if (0xd800..0xdc00).contains(&unit) => {
                self.high = Some(unit);
                Vec::new()
            }
            None => vec![unit],
        };
        let high = self.high;
        self.push(&String::from_utf16(&units).map_err(|_| Unread::Damaged)?);
        for _ in 0..self.groups.last().map_or(0, |group| group.fallback) {
            match self.rest {
                [b'\\', b'\'', _, _, rest @ ..] => self.rest = rest,
                [b'\\' | b'{' | b'}', ..] | [] => break,
                [_, rest @ ..] => self.rest = rest,
            }
        }
        self.high = high;
        Ok(())
    }
}
