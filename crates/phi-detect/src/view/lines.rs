//! Line breaks that only wrap: quoted replies, wrapped comments, folded vCard and directory entries.

use std::cell::LazyCell;
use std::ops::Range;

use super::edit::Edit;
use crate::budget::List;

/// Takes out what wrapping put at the start of a line.
pub(super) fn edits(bytes: &[u8], edits: &mut List<Edit>) {
    let folded = LazyCell::new(|| folded_part(bytes));
    let mut last_line = 0;
    for newline in memchr::memchr_iter(b'\n', bytes) {
        let line = newline + 1;
        let is_fold = matches!(bytes.get(line), Some(b' ' | b'\t'));
        if is_fold && folded.contains(&newline) {
            let return_sign = usize::from(newline > 0 && bytes[newline - 1] == b'\r');
            edits.push(Edit::drop(newline - return_sign..line + 1));
            continue;
        }
        let end = quote_end(bytes, line)
            .filter(|_| quote_end(bytes, last_line).is_some())
            .or_else(|| wrapped_comment(bytes, last_line..newline, line));
        edits.extend(end.map(|end| Edit::drop(line..end)));
        last_line = line;
    }
}

/// The part of the text in which a blank at the start of a line says that the line before goes on:
/// cards and calendars (RFC 6350, RFC 5545) and directory entries (RFC 2849).
fn folded_part(bytes: &[u8]) -> Range<usize> {
    let starts_entry = bytes.starts_with(b"dn: ");
    let entry = memchr::memmem::find(bytes, b"\ndn: ");
    if starts_entry || entry.is_some() {
        return entry.filter(|_| !starts_entry).unwrap_or(0)..bytes.len();
    }
    let start = memchr::memmem::find(bytes, b"BEGIN:V");
    start.map_or(0..0, |start| {
        let end = memchr::memmem::rfind(bytes, b"END:V").unwrap_or(bytes.len());
        start..end
    })
}

/// Returns the end of the marks of a quoted reply at the start of a line (`> `, `> > `). Three in a row prompt for
/// code.
fn quote_end(bytes: &[u8], line: usize) -> Option<usize> {
    let rest = &bytes[line.min(bytes.len())..bytes.len().min(line + 16)];
    let length = rest
        .iter()
        .take_while(|byte| matches!(byte, b'>' | b' '))
        .count();
    let is_quote = rest.first() == Some(&b'>') && !rest.starts_with(b">>>");
    is_quote.then_some(line + length)
}

/// Signs that open a comment on a line of code.
static COMMENTS: &[&[u8]] = &[b"//", b"#", b"*", b"--", b";"];

/// Returns the end of the comment sign of a line, when the line before is a comment, too, and breaks off at a hyphen.
fn wrapped_comment(bytes: &[u8], before: Range<usize>, line: usize) -> Option<usize> {
    let last = bytes[before.clone()].trim_ascii_end();
    let breaks_off = matches!(last, [.., end, b'-'] if end.is_ascii_alphanumeric());
    if !breaks_off {
        return None;
    }
    let sign_of = |start: usize| {
        let rest = &bytes[start..bytes.len().min(start + 64)];
        let blanks = rest.iter().take_while(|&&byte| byte == b' ').count();
        let sign = COMMENTS
            .iter()
            .find(|sign| rest[blanks..].starts_with(sign))?;
        Some((sign, start + blanks + sign.len()))
    };
    let (sign, end) = sign_of(line)?;
    let (sign_before, _) = sign_of(before.start)?;
    let blank = usize::from(bytes.get(end) == Some(&b' '));
    (sign == sign_before).then_some(end + blank)
}
