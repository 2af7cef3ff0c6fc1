//! Characters written by other characters: entities, percent codes, backslash escapes, tags inside numbers.

/// Reads the escape at `at`. Returns where it ends and appends what it stands for, which may be nothing.
pub(super) fn read(bytes: &[u8], at: usize, shown: &mut String) -> Option<usize> {
    match bytes[at] {
        b'&' => entity(bytes, at, shown),
        b'%' => percent(bytes, at, shown),
        b'\\' => backslash(bytes, at, shown),
        b'<' => tag_inside_number(bytes, at),
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

/// `&#53;`, `&#x35;`, `&hyphen;`.
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

/// `%2D`, and characters of several bytes such as `%C3%A9`.
fn percent(bytes: &[u8], at: usize, shown: &mut String) -> Option<usize> {
    let first = hex_byte(bytes, at + 1)?;
    let length = match first {
        0x20..=0x7e => 1,
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

/// `\u0035`, `\x35`, `\n`, `\"`, and Markdown's `\-`.
fn backslash(bytes: &[u8], at: usize, shown: &mut String) -> Option<usize> {
    if bytes[at..].starts_with(b"\\text{")
        && bytes.get(at + 7) == Some(&b'}')
        && bytes[at + 6].is_ascii()
    {
        shown.push(char::from(bytes[at + 6]));
        return Some(at + 8);
    }
    let next = *bytes.get(at + 1)?;
    let (c, length) = match next {
        b'u' => return unicode_escape(bytes, at, shown),
        b'x' => (char::from(hex_byte(bytes, at + 2)?), 4),
        b'n' | b'r' => ('\n', 2),
        b't' => ('\t', 2),
        byte if byte.is_ascii_punctuation() => (char::from(byte), 2),
        _ => return None,
    };
    shown.push(c);
    Some(at + length)
}

/// `\u0035`, with a second one when the first is half of a surrogate pair.
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

/// Tags that change how text looks but not what it is.
static LOOKS: &[&[u8]] = &[
    b"b", b"big", b"code", b"em", b"font", b"i", b"mark", b"s", b"small", b"span", b"strong",
    b"sub", b"sup", b"tt", b"u", b"wbr",
];

/// A tag of looks or a comment between the digits of a number: `536<b>-</b>22`.
fn tag_inside_number(bytes: &[u8], at: usize) -> Option<usize> {
    let is_part = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'<' | b'>'))
    };
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    let rest = &bytes[at..bytes.len().min(at + 64)];
    let length = rest.iter().position(|&byte| byte == b'>')? + 1;
    let inner = &rest[1..length - 1];
    let name = inner.strip_prefix(b"/").unwrap_or(inner);
    let name_length = name
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let is_look = LOOKS
        .iter()
        .any(|look| name[..name_length].eq_ignore_ascii_case(look))
        || inner.starts_with(b"!--");
    (is_look && is_part(before) && is_part(bytes.get(at + length))).then_some(at + length)
}
