//! Bytes as text: encodings.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use phigate_types::Unread;

/// Byte order marks.
const MARKS: &[(&[u8], &Encoding)] = &[
    (b"\xef\xbb\xbf", UTF_8),
    (b"\xff\xfe", UTF_16LE),
    (b"\xfe\xff", UTF_16BE),
];

/// Bytes in which the encoding of a page is looked for, as browsers do.
const META_WITHIN: usize = 1024;

/// Returns the encoding that a byte order mark names, and the bytes behind it.
pub(crate) fn marked(bytes: &[u8]) -> Option<(&'static Encoding, &[u8])> {
    let of = |(mark, encoding): &(&[u8], &'static Encoding)| {
        bytes.strip_prefix(*mark).map(|rest| (*encoding, rest))
    };
    MARKS.iter().find_map(of)
}

/// Returns bytes in a known encoding as text.
///
/// # Errors
///
/// [`Unread::Damaged`] if they are not in that encoding.
pub(crate) fn decode(encoding: &'static Encoding, bytes: &[u8]) -> Result<String, Unread> {
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes);
    text.map(std::borrow::Cow::into_owned)
        .ok_or(Unread::Damaged)
}

/// Returns the bytes of a text file as text: UTF-8, UTF-16 with its mark, or Windows-1252.
///
/// # Errors
///
/// [`Unread::UnknownType`] if they are not text.
pub(crate) fn plain(bytes: &[u8]) -> Result<String, Unread> {
    let text = match marked(bytes) {
        Some((encoding, rest)) => decode(encoding, rest)?,
        None => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) if is_mostly_ascii(bytes) => decode(WINDOWS_1252, bytes)?,
            Err(_) => return Err(Unread::UnknownType),
        },
    };
    if is_text(&text) {
        Ok(text)
    } else {
        Err(Unread::UnknownType)
    }
}

/// Returns the bytes of a page as text.
pub(crate) fn web(bytes: &[u8]) -> Result<String, Unread> {
    if marked(bytes).is_some() {
        return plain(bytes);
    }
    let head = &bytes[..bytes.len().min(META_WITHIN)].to_ascii_lowercase();
    let label = crate::sniff::after(head, b"charset=").map(|rest| {
        let rest = rest.strip_prefix(b"\"").unwrap_or(rest);
        let rest = rest.strip_prefix(b"'").unwrap_or(rest);
        let is_of_label = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_:.".contains(byte);
        let end = rest.iter().position(|byte| !is_of_label(byte));
        &rest[..end.unwrap_or(rest.len())]
    });
    match label.and_then(Encoding::for_label) {
        Some(encoding) if encoding != UTF_8 && encoding.is_ascii_compatible() => {
            decode(encoding, bytes)
        }
        _ => plain(bytes),
    }
}

/// Whether a text has no control characters but those of texts.
pub(crate) fn is_text(text: &str) -> bool {
    !text.contains(|each: char| {
        each.is_control() && !matches!(each, '\t' | '\n' | '\r' | '\x0b' | '\x0c' | '\u{85}')
    })
}

/// Whether bytes read as Windows-1252 would be mostly ASCII. Otherwise they are in another encoding, and their words
/// would not be found.
fn is_mostly_ascii(bytes: &[u8]) -> bool {
    let others = bytes.iter().filter(|byte| !byte.is_ascii()).count();
    others * 10 <= bytes.len() * 3
}

/// Returns the runs of printable ASCII and of UTF-16 in bytes of another kind, one per line.
pub(crate) fn runs(bytes: &[u8]) -> String {
    let mut found = String::new();
    for (first, step) in [(0, 1), (0, 2), (1, 2)] {
        let mut run = String::new();
        let mut rest = bytes.get(first..).unwrap_or_default().chunks_exact(step);
        for chunk in rest.by_ref() {
            let is_wide = chunk.get(1).is_none_or(|high| *high == 0);
            if is_wide && (b' '..=b'~').contains(&chunk[0]) {
                run.push(char::from(chunk[0]));
            } else {
                end_run(&mut run, &mut found);
            }
        }
        end_run(&mut run, &mut found);
    }
    found
}

/// Keeps a run of at least four characters.
fn end_run(run: &mut String, found: &mut String) {
    if run.len() >= 4 {
        found.push_str(run);
        found.push('\n');
    }
    run.clear();
}
