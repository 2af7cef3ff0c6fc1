//! Strings of a PDF as text.

use encoding_rs::{UTF_16BE, UTF_16LE};

use super::object::Object;

/// Shortest stretch of letters in bytes of another kind that counts as text.
const SHORTEST: usize = 5;

/// Characters of PDF's own encoding that differ from Latin-1: 0x18 to 0x1F, and 0x80 to 0xA0.
const LOW: &str = "˘ˇˆ˙˝˛˚˜";
const HIGH: &str = "•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž\u{fffd}€";

/// Returns a string as text. Of bytes that are not text, the stretches that are.
pub(super) fn text(bytes: &[u8]) -> String {
    let wide = |encoding: &'static encoding_rs::Encoding, rest: &[u8]| {
        encoding.decode_without_bom_handling(rest).0.into_owned()
    };
    let text = match bytes {
        [0xfe, 0xff, rest @ ..] => wide(UTF_16BE, rest),
        [0xff, 0xfe, rest @ ..] => wide(UTF_16LE, rest),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) if !text.is_ascii() => text.to_owned(),
            _ => bytes.iter().map(|byte| own(*byte)).collect(),
        },
    };
    let is_text = |each: char| !each.is_control() || matches!(each, '\n' | '\r' | '\t' | '\u{1b}');
    if text.chars().all(is_text) {
        return text;
    }
    let stretches = text.split(|each: char| !is_text(each) || each == '\u{fffd}');
    let stretches: Vec<&str> = stretches
        .filter(|part| part.trim().chars().count() >= SHORTEST)
        .collect();
    stretches.join("\n")
}

/// Returns a character of PDF's own encoding.
fn own(byte: u8) -> char {
    let of = |table: &str, at: u8| table.chars().nth(usize::from(at)).unwrap_or('\u{fffd}');
    match byte {
        0x18..=0x1f => of(LOW, byte - 0x18),
        0x80..=0xa0 => of(HIGH, byte - 0x80),
        _ => char::from(byte),
    }
}

/// Adds all strings of a value, each in a line.
pub(super) fn collect(object: &Object, out: &mut String) {
    match object {
        Object::Text(bytes) => {
            let text = text(bytes);
            if !text.trim().is_empty() {
                out.push_str(&text);
                out.push('\n');
            }
        }
        Object::Array(items) => items.iter().for_each(|item| collect(item, out)),
        Object::Dict(dict) => dict.iter().for_each(|(_, value)| collect(value, out)),
        Object::Name(name) => {
            if let Some(name) = wordy(name) {
                out.push_str(&name);
                out.push('\n');
            }
        }
        Object::Null | Object::Bool(_) | Object::Number(_) | Object::Ref(..) => {}
    }
}

/// Returns a name that is more than an identifier: with spaces, other signs, or many digits.
pub(super) fn wordy(name: &[u8]) -> Option<String> {
    let digits = name.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.+-,:*'".contains(byte);
    (digits >= 7 || !name.iter().all(is_sign)).then(|| text(name))
}
