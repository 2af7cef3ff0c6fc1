//! Characters of codes and of names of glyphs.

use std::collections::HashMap;
use std::sync::OnceLock;

use encoding_rs::{Encoding, MACINTOSH, WINDOWS_1252};

/// Names of glyphs by Adobe's list, and their characters.
const GLYPHS: &str = include_str!("glyphs.txt");

/// Characters of Adobe's standard encoding from 0xA1 on; NUL where there is none.
const STANDARD: &str = "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ\0–†‡·\0¶•‚„”»…‰\0¿\0`´ˆ˜¯˘˙¨\0˚¸\0˝˛ˇ—\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0Æ\0ª\0\0\0\0ŁØŒº\0\0\0\0\0æ\0\0\0ı\0\0łøœß\0\0\0\0";

/// Characters of the font Symbol from 0x20 on.
const SYMBOL: &str = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧ∆ΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_\0αβχδεφγηιϕκλµνοπθρστυϖωξψζ{|}∼\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…\0\0↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇\0\0\0∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈\0\0\0∑\0\0\0\0\0\0\0\0\0\0\0\0〉∫⌠\0⌡";

/// Encoding of a font of single bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    Standard,
    Windows,
    Mac,
    Symbol,
    Dingbats,
    /// That of the font's own program, which is not read.
    Unknown,
}

impl Base {
    /// Returns the encoding of a name in a file.
    pub(super) fn named(name: &[u8]) -> Self {
        match name {
            b"WinAnsiEncoding" => Self::Windows,
            b"MacRomanEncoding" => Self::Mac,
            b"StandardEncoding" => Self::Standard,
            _ => Self::Unknown,
        }
    }

    /// Returns the character of a code.
    pub(super) fn character(self, code: u8) -> Option<char> {
        let of = |encoding: &'static Encoding| {
            let text = encoding
                .decode_without_bom_handling(&[code])
                .0
                .chars()
                .next();
            text.filter(|each| !each.is_control())
        };
        let found = match self {
            Self::Standard => match code {
                b'\'' => Some('’'),
                b'`' => Some('‘'),
                b' '..=b'~' => Some(char::from(code)),
                0xa1.. => STANDARD.chars().nth(usize::from(code) - 0xa1),
                _ => None,
            },
            Self::Windows => match code {
                0x7f | 0x81 | 0x8d | 0x8f | 0x90 | 0x9d => Some('•'),
                _ => of(WINDOWS_1252),
            },
            Self::Mac => of(MACINTOSH),
            Self::Symbol => SYMBOL.chars().nth(usize::from(code.checked_sub(0x20)?)),
            Self::Dingbats => dingbat(code),
            Self::Unknown => None,
        };
        found.filter(|each| *each != '\0')
    }
}

/// Returns the character of a code of Zapf Dingbats: its numbers, and one sign for everything else.
fn dingbat(code: u8) -> Option<char> {
    let number = |first: u8, base: u32| char::from_u32(base + u32::from(code - first));
    match code {
        b' ' => Some(' '),
        0xac..=0xb5 => number(0xac, 0x2460),
        0xb6..=0xbf => number(0xb6, 0x2776),
        0xc0..=0xc9 => number(0xc0, 0x2780),
        0xca..=0xd3 => number(0xca, 0x278a),
        0x21..=0x7e | 0xa1..=0xfe => Some('■'),
        _ => None,
    }
}

/// Returns the text of the name of a glyph: of Adobe's list, or written as a number.
pub(super) fn glyph(name: &[u8]) -> Option<String> {
    static KNOWN: OnceLock<HashMap<&str, char>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        let row = |line: &'static str| {
            let (name, number) = line.split_once(' ')?;
            Some((name, char::from_u32(u32::from_str_radix(number, 16).ok()?)?))
        };
        GLYPHS.lines().filter_map(row).collect()
    });
    let name = std::str::from_utf8(name).ok()?;
    // The part after a dot names the shape of the letter, such as small capitals.
    let name = name.split('.').next().filter(|name| !name.is_empty())?;
    let mut text = String::new();
    for part in name.split('_') {
        match known.get(part) {
            Some(character) => text.push(*character),
            None => text.push_str(&numbered(part)?),
        }
    }
    Some(text)
}

/// Returns the text of a name such as `uni0041` or `u1F600`.
fn numbered(name: &str) -> Option<String> {
    let is_digits = |text: &str| {
        text.bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'))
    };
    let one = |digits: &str| char::from_u32(u32::from_str_radix(digits, 16).ok()?);
    if let Some(digits) = name.strip_prefix("uni")
        && digits.len() % 4 == 0
        && !digits.is_empty()
        && is_digits(digits)
    {
        let fours = (0..digits.len()).step_by(4);
        return fours.map(|at| one(&digits[at..at + 4])).collect();
    }
    let digits = name.strip_prefix('u')?;
    ((4..=6).contains(&digits.len()) && is_digits(digits))
        .then(|| one(digits))?
        .map(String::from)
}

/// Whether a character says which one it is. Those for private use do not.
pub(super) fn is_known(text: &str) -> bool {
    !text.is_empty()
        && !text
            .chars()
            .any(|each| matches!(each, '\0' | '\u{fffd}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..))
}
