//! The walk over all objects of a PDF: everything in them is text, or a part of the format, or makes the document
//! unreadable.

use std::collections::HashMap;

use phigate_types::{Place, Unread};

use super::cmap::Map;
use super::content::{Pages, Written};
use super::file::File;
use super::lexer::{Lexer, Token};
use super::object::{Dict, Object};
use super::roles::{self, Role};
use super::tree::{self, Older, Page};
use super::{active, layout, pictures, strings};
use crate::collect::Collector;
use crate::{is_plain, xml};

/// Entries that are numbers or names which the format itself makes.
const MADE: &[&[u8]] = &[
    b"ID",
    b"Registry",
    b"Ordering",
    b"FontFamily",
    b"CharSet",
    b"Panose",
    b"CheckSum",
    b"Lang",
];

/// Entries that people read beside the page.
const SHOWN: &[&[u8]] = &[b"Contents", b"RC", b"V", b"Opt"];

/// Beginning of a map of a font.
const MAP: &[u8] = b"%!PS-Adobe-3.0 Resource-CMap";

/// Characters of the longest ligature; what a map says for a code beyond that is text.
const LIGATURE: usize = 4;

/// Longest string that is not text, but for signatures.
const BINARY: usize = 1024;

/// Text beside the pages.
#[derive(Default)]
struct Beside {
    shown: String,
    background: String,
}

/// Walk over the objects of a file.
struct Walk<'f, 'b, 'c> {
    file: &'f File<'b>,
    found: &'c mut Collector,
    roles: HashMap<u32, Role>,
    /// Pages of objects that have one.
    places: HashMap<u32, u32>,
    /// Pages of streams that were replaced.
    older: HashMap<u32, Older<'f>>,
    pixels: usize,
}

/// Reads everything but the pages.
pub(super) fn all<'f>(
    file: &'f File<'_>,
    pages: &[Page<'f>],
    reader: &mut Pages<'f, '_>,
    found: &mut Collector,
) -> Result<(), Unread> {
    let mut walk = Walk {
        file,
        found,
        roles: roles::by_reference(file),
        places: places(file, pages),
        older: tree::older(file, pages),
        pixels: 0,
    };
    for (index, entry) in file.entries.iter().enumerate() {
        walk.object(entry.number, &entry.object)?;
        if let (Object::Dict(dict), Some(_)) = (&entry.object, &entry.stream) {
            walk.stream(index, entry.number, dict, reader)?;
        }
    }
    for trailer in &file.trailers {
        walk.object(0, &Object::Dict(trailer.without(b"ID")))?;
    }
    for (number, comment) in &file.comments {
        walk.found
            .add_background(walk.place(*number), comment.clone())?;
    }
    Ok(())
}

/// Returns the pages of pages and annotations, by the number of their objects.
fn places(file: &File<'_>, pages: &[Page<'_>]) -> HashMap<u32, u32> {
    let mut places = HashMap::new();
    for (number, page) in (1..).zip(pages) {
        places.insert(page.number, number);
        for annotation in file.array(page.dict, "Annots").unwrap_or_default() {
            if let Object::Ref(annotation, _) = annotation {
                places.insert(*annotation, number);
            }
        }
    }
    places
}

impl<'f> Walk<'f, '_, '_> {
    fn place(&self, number: u32) -> Place {
        let page = self.places.get(&number);
        page.map_or(Place::Object(number), |page| Place::Page(*page))
    }

    /// Takes the strings of an object.
    fn object(&mut self, number: u32, object: &Object) -> Result<(), Unread> {
        let mut beside = Beside::default();
        self.strings(object, b"", false, &mut beside)?;
        let place = self.place(number);
        let lines = |text: String| text.trim_end().to_owned();
        self.found.add(place, lines(beside.shown))?;
        self.found.add_background(place, lines(beside.background))
    }

    fn strings(
        &self,
        object: &Object,
        key: &[u8],
        is_signature: bool,
        beside: &mut Beside,
    ) -> Result<(), Unread> {
        match object {
            Object::Text(bytes) if !MADE.contains(&key) => {
                let text = strings::text(bytes);
                if bytes.len() > BINARY && text.len() < bytes.len() / 2 && !is_signature {
                    return Err(Unread::EmbeddedObject);
                }
                let is_shown = SHOWN.contains(&key) && !is_signature;
                if !is_date(&text) {
                    beside.line(is_shown, &text);
                }
            }
            // A number with more digits than any offset may be a number of a person.
            Object::Number(number) if key != b"P" && *number > 9_999_999.0 => {
                let is_offset = object
                    .size()
                    .is_some_and(|offset| offset <= self.file.len());
                if !is_offset {
                    let key = String::from_utf8_lossy(key);
                    beside.line(false, &format!("{key}: {number}"));
                }
            }
            Object::Name(name) => {
                if let Some(name) = strings::wordy(name).filter(|_| key != b"CharSet") {
                    beside.line(false, &name);
                }
            }
            Object::Array(items) => {
                for item in items {
                    self.strings(item, key, is_signature, beside)?;
                }
            }
            Object::Dict(dict) => self.dict(dict, beside)?,
            _ => {}
        }
        Ok(())
    }

    fn dict(&self, dict: &Dict, beside: &mut Beside) -> Result<(), Unread> {
        active::check(self.file, dict)?;
        let is_signature = dict.has("ByteRange");
        // The name of a field says what its value is.
        let label = [b"TU".as_slice(), b"T"]
            .iter()
            .find_map(|key| match dict.get_own(key) {
                Some(Object::Text(label)) => Some(strings::text(label)),
                _ => None,
            });
        for (key, value) in dict.iter() {
            if let Some(key) = strings::wordy(key) {
                beside.line(false, &key);
            }
            match (value, &label) {
                (Object::Text(value), Some(label)) if matches!(key, b"V" | b"DV") => {
                    beside.line(key == b"V", &format!("{label}: {}", strings::text(value)));
                }
                _ => self.strings(value, key, is_signature, beside)?,
            }
        }
        Ok(())
    }

    /// Accounts for the content of a stream.
    fn stream(
        &mut self,
        index: usize,
        number: u32,
        dict: &'f Dict,
        reader: &mut Pages<'f, '_>,
    ) -> Result<(), Unread> {
        if self.file.is_claimed(index) {
            return Ok(());
        }
        let role = roles::by_shape(self.file, dict);
        let role = role.or_else(|| self.roles.get(&number).copied());
        let place = self.place(number);
        if let (None, Some(older)) = (role, self.older.get(&number)) {
            let place = older.page.map_or(place, Place::Page);
            self.form(reader.form(index, older.resources)?, place)?;
            return Ok(());
        }
        let role = match role {
            Some(role) => role,
            // TeX leaves maps in a file to which no font leads.
            None if self.file.decode(index)?.starts_with(MAP) => Role::Map,
            None => return Err(Unread::HiddenText),
        };
        match role {
            Role::Form | Role::Drawing => self.form(reader.form(index, None)?, place)?,
            role => self.data(role, index, dict, place)?,
        }
        self.file.claim(index);
        Ok(())
    }

    /// Takes the text of a stream that draws nothing.
    fn data(
        &mut self,
        role: Role,
        index: usize,
        dict: &'f Dict,
        place: Place,
    ) -> Result<(), Unread> {
        match role {
            Role::Font => self.font(index)?,
            Role::Profile => {
                let bytes = self.file.decode(index)?;
                if bytes.get(36..40) != Some(b"acsp") {
                    return Err(Unread::HiddenText);
                }
            }
            Role::Numbers => self.numbers(index, place)?,
            Role::Map => {
                let bytes = self.file.decode(index)?;
                let map = Map::read(&bytes)?;
                let texts = map
                    .texts
                    .into_values()
                    .filter(|text| text.chars().count() > LIGATURE);
                let texts: String = texts.map(|text| text + "\n").collect();
                self.found.add_background(place, texts + &words(&bytes)?)?;
            }
            Role::Function => {
                let text = String::from_utf8_lossy(&self.file.decode(index)?).into_owned();
                self.found.add_background(place, text)?;
            }
            Role::Metadata => {
                let bytes = self.file.decode(index)?;
                let page = xml::raw(&xml::decode(&bytes)?)?;
                self.found.add_background(place, page.content)?;
                self.found.add_background(place, page.background)?;
            }
            Role::Attachment => {
                let bytes = self.file.decode(index)?;
                if !is_plain(&bytes) {
                    return Err(Unread::EmbeddedObject);
                }
                let text = String::from_utf8(bytes).map_err(|_| Unread::EmbeddedObject)?;
                self.found.add(place, text)?;
            }
            Role::Image => {
                let pixels = pictures::check(self.file, index, dict)?;
                pictures::add(&mut self.pixels, pixels)?;
            }
            Role::Form | Role::Drawing => return Err(Unread::HiddenText),
        }
        Ok(())
    }

    fn form(&mut self, written: Written, place: Place) -> Result<(), Unread> {
        let text = layout::text(&written.glyphs);
        self.found.add(place, text.written)?;
        self.found
            .add_background(place, text.seen.unwrap_or_default())?;
        self.found.add_background(place, written.aside)
    }

    /// Checks that a stream begins as the program of a font.
    fn font(&self, index: usize) -> Result<(), Unread> {
        const STARTS: &[&[u8]] = &[
            b"%!",
            b"\x80\x01",
            b"\0\x01\0\0",
            b"true",
            b"OTTO",
            b"ttcf",
            b"\x01\0",
        ];
        let bytes = self.file.decode(index)?;
        let is_font = STARTS.iter().any(|start| bytes.starts_with(start));
        is_font.then_some(()).ok_or(Unread::HiddenText)
    }

    /// Takes a stream of numbers, which is text if it looks like it.
    fn numbers(&mut self, index: usize, place: Place) -> Result<(), Unread> {
        let bytes = self.file.decode(index)?;
        match String::from_utf8(bytes) {
            Ok(text) if !text.chars().any(char::is_control) => {
                self.found.add_background(place, text)
            }
            _ => Ok(()),
        }
    }
}

impl Beside {
    fn line(&mut self, is_shown: bool, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            let out = if is_shown {
                &mut self.shown
            } else {
                &mut self.background
            };
            out.push_str(text);
            out.push('\n');
        }
    }
}

/// Whether a string is a time, as programs write it: `D:20260131120000+01'00'`.
fn is_date(text: &str) -> bool {
    let digits = text.strip_prefix("D:").unwrap_or_default();
    (4..=22).contains(&digits.len())
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"+-Z'".contains(&byte))
}

/// Returns the comments and words of a map.
fn words(bytes: &[u8]) -> Result<String, Unread> {
    let mut lexer = Lexer::of_page(bytes);
    let mut text = String::new();
    loop {
        match lexer.next()? {
            Token::End => break,
            Token::Object(object @ Object::Name(_)) => strings::collect(&object, &mut text),
            Token::Object(_) | Token::Word(_) => {}
        }
    }
    text.push_str(&lexer.comments);
    Ok(text)
}
