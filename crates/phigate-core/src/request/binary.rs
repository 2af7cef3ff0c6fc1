//! Bytes of a file inside a text: `data:` URLs, and runs of base64 and hexadecimal that are not readable text.

use super::coded;

/// Longest head of a `data:` URL that is examined.
const HEAD_MAX: usize = 1024;

/// Whether a text holds a file that a scanner of text cannot read. Signatures that providers hand out and want back
/// are unreadable by design: there (`may_be_opaque`) only what begins like a file counts.
pub(super) fn holds_file(text: &str, may_be_opaque: bool) -> bool {
    let bytes = text.as_bytes();
    holds_data_url(bytes) || coded::holds_coded_file(bytes, may_be_opaque)
}

/// Whether bytes hold a data URL of an unreadable file (`data:application/pdf;base64,…`), also with blanks, other
/// parameters and either case.
fn holds_data_url(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b':', bytes).any(|colon| {
        let has_scheme = colon >= 4 && bytes[colon - 4..colon].eq_ignore_ascii_case(b"data");
        has_scheme && is_unreadable_url(&bytes[colon + 1..])
    })
}

/// Whether the text after `data:` announces base64 of unreadable content.
fn is_unreadable_url(rest: &[u8]) -> bool {
    let near = &rest[..rest.len().min(HEAD_MAX)];
    let Some((head, payload_at)) = memchr::memchr_iter(b',', near).find_map(|comma| {
        let head = near[..comma].trim_ascii_end();
        let cut = head.len().checked_sub(b"base64".len())?;
        let (before, coding) = head.split_at(cut);
        coding
            .eq_ignore_ascii_case(b"base64")
            .then_some((before.trim_ascii_end(), comma + 1))
    }) else {
        return false;
    };
    let Some(media_type) = head.strip_suffix(b";").map(<[u8]>::trim_ascii_start) else {
        return false;
    };
    let begins = |word: &[u8]| {
        let start = media_type.get(..word.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    let payload = rest[payload_at..].trim_ascii_start();
    let length = payload.iter().take_while(is_payload).count();
    let is_text = media_type.is_empty() || begins(b"text") || begins(b"application/json");
    let has_type = media_type.contains(&b'/');
    length >= 4
        && (has_type && !is_text || !coded::is_readable(&coded::from_base64(&payload[..length])))
}

/// Letters of base64, and the ends of its lines.
fn is_payload(byte: &&u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_\r\n".contains(byte)
}
