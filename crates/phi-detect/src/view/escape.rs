//! Characters written by other characters: entities, percent codes, backslash escapes, control codes.

/// Reads the escape at `at`. Returns its end and appends the text that it encodes, which may be empty.
pub(super) fn read(bytes: &[u8], at: usize, shown: &mut String) -> Option<usize> {
    match bytes[at] {
        b'&' => entity(bytes, at, shown),
        b'%' => percent(bytes, at, shown),
        b'\\' => backslash(bytes, at, shown),
        _ => None,
    }
}

/// Named entities that can disguise a number or an address. One row each.
static ENTITIES: &[(&[u8], char)] = &[
    (b"amp", '&'),
    (b"apos", '\''),
    (b"colon", ':'),
    (b"comma", ','),
    (b"commat", '@'),
    (b"dash", '-'),
    (b"equals", '='),
    (b"gt", '>'),
    (b"hyphen", '-'),
    (b"lowbar", '_'),
    (b"lpar", '('),
    (b"lt", '<'),
    (b"mdash", '-'),
    (b"middot", '.'),
    (b"minus", '-'),
    (b"nbsp", ' '),
    (b"ndash", '-'),
    (b"num", '#'),
    (b"period", '.'),
    (b"quot", '"'),
    (b"rpar", ')'),
    (b"shy", '\u{ad}'),
    (b"sol", '/'),
    (b"zwj", '\u{200d}'),
    (b"zwnj", '\u{200c}'),
];

/// Reads an entity (`&#53;`, `&#x35;`, `&hyphen;`).
fn entity(bytes: &[u8], at: usize, shown: &mut String) -> Option<usize> {
    let rest = &bytes[at + 1..bytes.len().min(at + 12)];
    let length = rest.iter().position(|&byte| byte == b';')?;
    let name = &rest[..length];
    let c = match name {
        [b'#', b'x' | b'X', hex @ ..] => number(hex, 16)?,
        [b'#', decimal @ ..] => number(decimal, 10)?,
        _ => ENTITIES.iter().find(|(one, _)| *one == name)?.1,
    };
    shown.push(c);
    Some(at + length + 2)
}

fn number(digits: &[u8], radix: u32) -> Option<char> {
    let text = std::str::from_utf8(digits).ok()?;
    char::from_u32(u32::from_str_radix(text, radix).ok()?)
}

/// Reads a percent escape (`%2D`), and characters of several bytes (`%C3%A9`).
fn percent(bytes: &[u8], at: usize, shown: &mut String) -> Option<usize> {
    let first = hex_byte(bytes, at + 1)?;
    let length = match first {
        b'\t' | b'\n' | b'\r' | 0x20..=0x7e => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let mut character = [0; 4];
    for (index, byte) in character.iter_mut().enumerate().take(length) {
        if bytes.get(at + index * 3) != Some(&b'%') {
            return None;
        }
        *byte = hex_byte(bytes, at + index * 3 + 1)?;
    }
    shown.push_str(std::str::from_utf8(&character[..length]).ok()?);
    Some(at + length * 3)
}

fn hex_byte(bytes: &[u8], at: usize) -> Option<u8> {
    let digits = bytes.get(at..at + 2)?;
    let text = std::str::from_utf8(digits)
        .ok()
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u8::from_str_radix(text, 16).ok()
}

/// Reads a backslash escape (`\u0035`, `\u{35}`, `\x35`, `\065`, `\n`, `\"`, and Markdown's `\-`).
fn backslash(bytes: &[u8], at: usize, shown: &mut String) -> Option<usize> {
    if bytes[at..].starts_with(b"\\text{")
        && bytes.get(at + 7) == Some(&b'}')
        && bytes[at + 6].is_ascii()
    {
        shown.push(char::from(bytes[at + 6]));
        return Some(at + 8);
    }
    let next = *bytes.get(at + 1)?;
    // A line that goes on: `4829\⏎1378`.
    if next == b'\n' {
        return Some(at + 2);
    }
    let (c, length) = match next {
        b'u' if bytes.get(at + 2) == Some(&b'{') => return braced(bytes, at, shown),
        b'u' => return unicode_escape(bytes, at, shown),
        b'U' => (number(bytes.get(at + 2..at + 10)?, 16)?, 10),
        b'0'..=b'3' => (octal(bytes.get(at + 1..at + 4)?)?, 4),
        b'e' => (escape_before_colour(bytes, at + 2)?, 2),
        b'x' => (char::from(hex_byte(bytes, at + 2)?), 4),
        b'n' | b'r' => ('\n', 2),
        b't' => ('\t', 2),
        byte if byte.is_ascii_punctuation() => (char::from(byte), 2),
        _ => return None,
    };
    shown.push(c);
    Some(at + length)
}

/// Returns the character of an octal number (`065`); a folder such as `2024` is not a character.
fn octal(digits: &[u8]) -> Option<char> {
    number(digits, 8).filter(|c| matches!(c, '\u{1b}' | ' '..='~'))
}

/// Reads a number in braces (`\u{35}`).
fn braced(bytes: &[u8], at: usize, shown: &mut String) -> Option<usize> {
    let rest = &bytes[at + 3..bytes.len().min(at + 10)];
    let length = rest.iter().position(|&byte| byte == b'}')?;
    shown.push(number(&rest[..length], 16)?);
    Some(at + 3 + length + 1)
}

/// Reads the escape sign before a colour (`\e[31m`).
fn escape_before_colour(bytes: &[u8], at: usize) -> Option<char> {
    colour_length(&bytes[at.min(bytes.len())..]).map(|_| '\u{1b}')
}

/// Returns the length of a control character with the sequence that it opens (`ESC [31m`).
pub(super) fn control_length(bytes: &[u8]) -> usize {
    let is_escape = bytes.first() == Some(&0x1b);
    let sequence = is_escape.then(|| colour_length(&bytes[1..])).flatten();
    1 + sequence.unwrap_or(0)
}

/// The length of a control sequence after its escape sign (ECMA-48, section 5.4): `[1;31m`, `[2K`.
fn colour_length(bytes: &[u8]) -> Option<usize> {
    let inner = bytes.strip_prefix(b"[")?;
    let parameters = inner
        .iter()
        .take(24)
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b';' | b':' | b'?'))
        .count();
    let ends = inner.get(parameters).is_some_and(u8::is_ascii_alphabetic);
    ends.then_some(parameters + 2)
}

/// Reads `\u0035`, with a second one when the first is half of a surrogate pair.
fn unicode_escape(bytes: &[u8], at: usize, shown: &mut String) -> Option<usize> {
    let unit = |at: usize| {
        let digits = bytes
            .get(at..at + 6)
            .filter(|text| text.starts_with(b"\\u"))?;
        u16::from_str_radix(std::str::from_utf8(&digits[2..]).ok()?, 16).ok()
    };
    let first = unit(at)?;
    let units = [first, unit(at + 6).unwrap_or(0)];
    if let Some(c) = char::from_u32(u32::from(first)) {
        shown.push(c);
        return Some(at + 6);
    }
    let c = char::decode_utf16(units).next()?.ok()?;
    shown.push(c);
    Some(at + 12)
}
