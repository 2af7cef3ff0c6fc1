//! Fonts of a PDF: which text their codes stand for, and how wide it is.

use std::collections::HashMap;

use phigate_types::Unread;

use super::cmap::Map;
use super::encoding::{self, Base};
use super::file::File;
use super::object::{Dict, Object};

/// Widths of Helvetica from the space to the tilde, in hundredths of the size, for fonts that do not say theirs.
const WIDTHS: &[u8; 95] = &[
    28, 28, 36, 56, 56, 89, 67, 22, 33, 33, 39, 58, 28, 33, 28, 28, 56, 56, 56, 56, 56, 56, 56, 56,
    56, 56, 28, 28, 58, 58, 58, 56, 102, 67, 67, 72, 72, 67, 61, 78, 72, 28, 50, 67, 56, 83, 72,
    78, 67, 78, 72, 67, 61, 72, 67, 94, 67, 67, 61, 28, 28, 28, 47, 56, 22, 56, 56, 50, 56, 56, 28,
    56, 56, 22, 22, 50, 22, 83, 56, 56, 56, 56, 33, 50, 28, 56, 50, 72, 50, 50, 50, 33, 26, 33, 58,
];

/// Lengths of the codes of a font.
enum Codes {
    One,
    Two,
    /// Bytes, first and last code.
    Ranges(Vec<(usize, u32, u32)>),
}

/// Font of a page.
pub(super) struct Font {
    codes: Codes,
    /// Map to text, if the font has one.
    map: Option<Map>,
    /// Text by the encoding, for fonts of single bytes.
    named: Vec<Option<String>>,
    /// Whether map and encoding must say the same.
    is_checked: bool,
    widths: HashMap<u32, f64>,
    width: Option<f64>,
    /// Whether lines run from top to bottom.
    pub(super) is_vertical: bool,
}

/// Code of a string, and its text.
pub(super) struct Shown {
    pub(super) code: u32,
    pub(super) length: usize,
    /// `None` if the font does not say it.
    pub(super) text: Option<String>,
    /// Width in multiples of the size.
    pub(super) width: f64,
}

impl Font {
    /// Reads a font.
    pub(super) fn read(file: &File<'_>, dict: &Dict) -> Result<Self, Unread> {
        let map = match dict.get_own(b"ToUnicode").and_then(|map| file.stream(map)) {
            Some((index, _)) => {
                file.claim(index);
                Some(Map::read(&file.decode(index)?)?)
            }
            None => None,
        };
        if dict.is("Subtype", "Type0") {
            Self::composite(file, dict, map)
        } else {
            Self::simple(file, dict, map)
        }
    }

    fn simple(file: &File<'_>, dict: &Dict, map: Option<Map>) -> Result<Self, Unread> {
        let descriptor = file.dict(dict, "FontDescriptor");
        let is_embedded = dict.is("Subtype", "Type3")
            || descriptor.is_some_and(|descriptor| {
                ["FontFile", "FontFile2", "FontFile3"]
                    .iter()
                    .any(|key| descriptor.has(key))
            });
        let (named, is_known) = names(file, dict, is_embedded)?;
        let first = file
            .get(dict, "FirstChar")
            .and_then(Object::integer)
            .unwrap_or(0);
        let scale = if dict.is("Subtype", "Type3") {
            match file.array(dict, "FontMatrix").and_then(<[Object]>::first) {
                Some(Object::Number(scale)) => scale.abs(),
                _ => 0.001,
            }
        } else {
            0.001
        };
        let mut widths = HashMap::new();
        for (number, width) in file
            .array(dict, "Widths")
            .unwrap_or_default()
            .iter()
            .enumerate()
        {
            let code = first.checked_add(i64::try_from(number).unwrap_or(i64::MAX));
            let code = code.and_then(|code| u32::try_from(code).ok());
            if let (Some(code), Object::Number(width)) = (code, file.follow(width).0) {
                widths.insert(code, width * scale);
            }
        }
        let width = descriptor.and_then(|descriptor| file.get(descriptor, "MissingWidth"));
        let width = match width {
            Some(Object::Number(width)) => Some(width * scale),
            _ if widths.is_empty() => None,
            _ => Some(0.0),
        };
        Ok(Self {
            codes: Codes::One,
            map,
            named,
            is_checked: is_known,
            widths,
            width,
            is_vertical: false,
        })
    }

    fn composite(file: &File<'_>, dict: &Dict, map: Option<Map>) -> Result<Self, Unread> {
        let (codes, is_vertical) = match file.get(dict, "Encoding") {
            Some(Object::Name(name)) => match name.as_slice() {
                b"Identity-H" => (Codes::Two, false),
                b"Identity-V" => (Codes::Two, true),
                // Their codes have one to four bytes, by tables that are not here.
                _ => return Err(Unread::NoText),
            },
            Some(Object::Dict(encoding)) => {
                let own = dict.get_own(b"Encoding").and_then(|own| file.stream(own));
                let (index, _) = own.ok_or(Unread::Damaged)?;
                file.claim(index);
                if encoding.has("UseCMap") {
                    return Err(Unread::NoText);
                }
                let is_vertical = file.get(encoding, "WMode").and_then(Object::integer) == Some(1);
                (
                    Codes::Ranges(Map::read(&file.decode(index)?)?.ranges),
                    is_vertical,
                )
            }
            _ => return Err(Unread::Damaged),
        };
        let kids = file
            .array(dict, "DescendantFonts")
            .and_then(<[Object]>::first);
        let Some(Object::Dict(kid)) = kids.map(|kid| file.follow(kid).0) else {
            return Err(Unread::Damaged);
        };
        let width = match file.get(kid, "DW") {
            Some(Object::Number(width)) => width / 1000.0,
            _ => 1.0,
        };
        Ok(Self {
            codes,
            map,
            named: Vec::new(),
            is_checked: false,
            widths: kid_widths(file, kid),
            width: Some(width),
            is_vertical,
        })
    }

    /// Returns the codes of a string with their text.
    pub(super) fn show(&self, bytes: &[u8]) -> Result<Vec<Shown>, Unread> {
        let (mut shown, mut rest) = (Vec::new(), bytes);
        while !rest.is_empty() {
            let length = self.code_length(rest).ok_or(Unread::ReadersDisagree)?;
            let (code, after) = rest
                .split_at_checked(length)
                .ok_or(Unread::ReadersDisagree)?;
            rest = after;
            let code = code
                .iter()
                .fold(0, |code, byte| code << 8 | u32::from(*byte));
            let text = self.text(code)?;
            let width = self.widths.get(&code).copied().or(self.width);
            let width = width.unwrap_or_else(|| usual_width(text.as_deref()));
            shown.push(Shown {
                code,
                length,
                text,
                width,
            });
        }
        Ok(shown)
    }

    fn code_length(&self, bytes: &[u8]) -> Option<usize> {
        match &self.codes {
            Codes::One => Some(1),
            Codes::Two => Some(2),
            Codes::Ranges(ranges) => {
                let is_within = |(length, first, last): &&(usize, u32, u32)| {
                    let bytes = bytes.get(..*length).unwrap_or_default();
                    let code = bytes
                        .iter()
                        .fold(0, |code, byte| code << 8 | u32::from(*byte));
                    !bytes.is_empty() && (*first..=*last).contains(&code)
                };
                ranges.iter().find(is_within).map(|(length, ..)| *length)
            }
        }
    }

    fn text(&self, code: u32) -> Result<Option<String>, Unread> {
        let mapped = self.map.as_ref().and_then(|map| map.texts.get(&code));
        let mapped = mapped.filter(|text| encoding::is_known(text));
        let named = self.named.get(code as usize).and_then(Option::as_ref);
        if let (Some(mapped), Some(named)) = (mapped, named)
            && self.is_checked
            && super::second::folded(mapped) != super::second::folded(named)
        {
            return Err(Unread::ReadersDisagree);
        }
        let text = mapped.or(named).filter(|text| encoding::is_known(text));
        Ok(text.cloned())
    }
}

/// Returns the text of each code by the encoding of a font of single bytes, and whether it is sure.
fn names(
    file: &File<'_>,
    dict: &Dict,
    is_embedded: bool,
) -> Result<(Vec<Option<String>>, bool), Unread> {
    let font = file.get(dict, "BaseFont");
    let font = match font {
        Some(Object::Name(name)) => name.as_slice(),
        _ => b"",
    };
    let own = if is_embedded {
        Base::Unknown
    } else if font.ends_with(b"Symbol") {
        Base::Symbol
    } else if font.ends_with(b"ZapfDingbats") {
        Base::Dingbats
    } else {
        Base::Standard
    };
    let (base, differences) = match file.get(dict, "Encoding") {
        None => (own, None),
        Some(Object::Name(name)) => (Base::named(name), None),
        Some(Object::Dict(encoding)) => {
            let base = encoding.name("BaseEncoding").map_or(own, Base::named);
            (base, file.array(encoding, "Differences"))
        }
        Some(_) => return Err(Unread::Damaged),
    };
    // Fonts of signs keep them, whatever the encoding is called.
    let base = match own {
        Base::Symbol | Base::Dingbats => own,
        _ => base,
    };
    let text = |code: u8| base.character(code).map(String::from);
    let mut named: Vec<Option<String>> = (0..=255).map(text).collect();
    if base == Base::Unknown {
        program_names(file, dict, &mut named)?;
    }
    let mut code = 0;
    for item in differences.unwrap_or_default() {
        match file.follow(item).0 {
            Object::Name(name) => {
                *named.get_mut(code).ok_or(Unread::Damaged)? = encoding::glyph(name);
                code += 1;
            }
            number => code = number.size().ok_or(Unread::Damaged)?,
        }
    }
    Ok((named, base != Base::Unknown || differences.is_some()))
}

/// Takes the names of glyphs from the program of a Type 1 font, which begins with them as text.
fn program_names(file: &File<'_>, dict: &Dict, named: &mut [Option<String>]) -> Result<(), Unread> {
    let descriptor = file.dict(dict, "FontDescriptor");
    let program = descriptor.and_then(|descriptor| descriptor.get_own(b"FontFile"));
    let Some((index, _)) = program.and_then(|program| file.stream(program)) else {
        return Ok(());
    };
    let bytes = file.decode(index)?;
    let end = crate::sniff::position(&bytes, b"eexec").unwrap_or(0);
    let text = String::from_utf8_lossy(&bytes[..end]);
    let Some((_, encoding)) = text.split_once("/Encoding") else {
        return Ok(());
    };
    if encoding.trim_start().starts_with("StandardEncoding") {
        for (code, name) in (0..=255).zip(named.iter_mut()) {
            *name = Base::Standard.character(code).map(String::from);
        }
        return Ok(());
    }
    let words: Vec<&str> = encoding.split_ascii_whitespace().collect();
    for row in words.windows(4) {
        if let ["dup", code, name, "put"] = row
            && let Some(name) = name.strip_prefix('/')
            && let Some(entry) = code
                .parse()
                .ok()
                .and_then(|code: usize| named.get_mut(code))
        {
            *entry = encoding::glyph(name.as_bytes());
        }
    }
    Ok(())
}

/// Returns the widths of a composite font, in multiples of the size.
fn kid_widths(file: &File<'_>, kid: &Dict) -> HashMap<u32, f64> {
    let mut widths = HashMap::new();
    let items = file.array(kid, "W").unwrap_or_default();
    let items: Vec<&Object> = items.iter().map(|item| file.follow(item).0).collect();
    let number = |object: &Object| object.size().and_then(|number| u32::try_from(number).ok());
    let mut rest = items.as_slice();
    loop {
        rest = match rest {
            [first, Object::Array(list), rest @ ..] => {
                for (code, width) in (number(first).unwrap_or(u32::MAX)..).zip(list) {
                    if let Object::Number(width) = file.follow(width).0 {
                        widths.insert(code, width / 1000.0);
                    }
                }
                rest
            }
            [first, last, Object::Number(width), rest @ ..] => {
                let range = number(first).zip(number(last));
                if let Some((first, last)) =
                    range.filter(|(first, last)| *last <= first.saturating_add(0xffff))
                {
                    widths.extend((first..=last).map(|code| (code, width / 1000.0)));
                }
                rest
            }
            _ => return widths,
        };
    }
}

fn usual_width(text: Option<&str>) -> f64 {
    let first = text.and_then(|text| text.chars().next());
    let code = first.and_then(|first| u32::from(first).checked_sub(32));
    let width = code.and_then(|code| WIDTHS.get(code as usize));
    f64::from(width.copied().unwrap_or(56)) / 100.0
}
