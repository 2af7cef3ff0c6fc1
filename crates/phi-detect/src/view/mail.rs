//! Quoted-printable (RFC 2045, section 6.7), as mail leaves it in pasted text: `536=2D22`, a soft line break.
//!
//! An equals sign is usually just one. If nothing says that the text is mail, only codes inside a number or an address
//! are decoded.

use super::edit::Edit;
use crate::budget::List;

/// Decodes what is coded and joins what was wrapped.
pub(super) fn edits(bytes: &[u8], edits: &mut List<Edit>) {
    let mut said: Option<bool> = None;
    let mut line = 0;
    let mut free_from = 0;
    for at in memchr::memchr2_iter(b'=', b'\n', bytes) {
        if bytes[at] == b'\n' {
            line = at + 1;
            continue;
        }
        if at < free_from {
            continue;
        }
        let mut is_mail = || *said.get_or_insert_with(|| is_said(bytes));
        if let Some(end) = soft_break(bytes, at) {
            if joins_value(bytes, at, end)
                || is_full_line(at - line) && is_word(bytes, end)
                || is_mail()
            {
                edits.push(Edit::drop(at..end));
            }
        } else if let Some((shown, end)) = coded(bytes, at)
            && (is_inside_value(bytes, at, end, shown) || shown >= '\u{80}' || is_mail())
        {
            edits.push(Edit::show(at..end, shown));
            free_from = end;
        }
    }
}

/// Whether the text says how it is coded.
fn is_said(bytes: &[u8]) -> bool {
    let name = b"uoted-";
    memchr::memmem::find_iter(bytes, name).any(|at| {
        let rest = &bytes[at + name.len()..];
        rest.get(..b"printable".len())
            .is_some_and(|word| word.eq_ignore_ascii_case(b"printable"))
    })
}

/// Returns the start of the line after a soft break.
fn soft_break(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at + 1..)? {
        [b'\n', ..] => Some(at + 2),
        [b'\r', b'\n', ..] => Some(at + 3),
        _ => None,
    }
}

/// Whether a line is nearly full: mail wraps its lines at 76 characters.
fn is_full_line(length: usize) -> bool {
    (60..=76).contains(&length)
}

fn is_word(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(u8::is_ascii_alphanumeric)
}

/// Whether the break is inside a number (`536-22=⏎-8741`).
fn joins_value(bytes: &[u8], at: usize, end: usize) -> bool {
    let is_part = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'/' | b'.'))
    };
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    is_part(before) && is_part(bytes.get(end))
}

/// Returns the character coded here, which may take several codes, and its end.
fn coded(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let mut buffer = [0; 4];
    for count in 0..4 {
        let code = bytes.get(at + count * 3..at + count * 3 + 3)?;
        let hex = code.strip_prefix(b"=").filter(|hex| {
            hex.iter()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'))
        })?;
        buffer[count] = u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?;
        if let Ok(text) = std::str::from_utf8(&buffer[..=count]) {
            let c = text.chars().next()?;
            let is_shown = !c.is_control() || matches!(c, '\t' | '\n' | '\r');
            return is_shown.then_some((c, at + count * 3 + 3));
        }
    }
    None
}

/// Whether a coded sign is between the characters of a number or an address.
fn is_inside_value(bytes: &[u8], at: usize, end: usize, shown: char) -> bool {
    let before = at.checked_sub(1).map_or(0, |before| bytes[before]);
    let after = bytes.get(end).copied().unwrap_or(0);
    match shown {
        '-' | '.' | '/' | ' ' | ')' => before.is_ascii_digit() && after.is_ascii_digit(),
        '@' => before.is_ascii_alphanumeric() && after.is_ascii_alphanumeric(),
        _ => false,
    }
}
