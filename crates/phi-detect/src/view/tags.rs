//! Tags that change how text looks but not what it says.

use super::edit::Edit;
use crate::budget::List;
use crate::word_list::WordList;

/// Tags of looks. One row each.
static LOOKS: WordList =
    WordList::new("b big code em font i kbd mark s small span strong sub sup tt u wbr");

/// A longer tag carries more than looks.
const TAG_BYTES_MAX: usize = 64;

/// Takes tags of looks out and shows a line break as one.
pub(super) fn edits(bytes: &[u8], edits: &mut List<Edit>) {
    for at in memchr::memchr_iter(b'<', bytes) {
        let rest = &bytes[at..bytes.len().min(at + TAG_BYTES_MAX)];
        let Some(length) = rest.iter().position(|&byte| byte == b'>') else {
            continue;
        };
        let end = at + length + 1;
        let inner = &rest[1..length];
        let inner = inner.strip_prefix(b"/").unwrap_or(inner);
        let inner = inner.strip_suffix(b"/").unwrap_or(inner).trim_ascii_end();
        let name_length = inner
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        let name = &inner[..name_length];
        let is_bare = name_length == inner.len();
        let is_look = LOOKS.has(name);
        if is_bare && name.eq_ignore_ascii_case(b"br") {
            edits.push(Edit::show(at..end, '\n'));
        } else if is_look && (is_bare || is_inside_value(bytes, at, end))
            || is_empty_comment(inner) && cuts_value(bytes, at, end)
        {
            edits.push(Edit::drop(at..end));
        }
    }
}

/// Whether a comment holds no figures, so that no number is lost with it.
fn is_empty_comment(inner: &[u8]) -> bool {
    inner.starts_with(b"!--") && !inner.iter().any(u8::is_ascii_digit)
}

/// Whether a tag is between two characters of a number or name. A comment between elements is separate text.
fn cuts_value(bytes: &[u8], at: usize, end: usize) -> bool {
    let is_part = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'@'))
    };
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    is_part(before) && is_part(bytes.get(end))
}

/// Whether the tag is between the characters of a number or name: `536<b class="x">-</b>22`. Its attributes are then
/// only looks.
fn is_inside_value(bytes: &[u8], at: usize, end: usize) -> bool {
    let is_part = |byte: Option<&u8>| {
        byte.is_some_and(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'<' | b'>' | b'@')
        })
    };
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    is_part(before) && is_part(bytes.get(end))
}
