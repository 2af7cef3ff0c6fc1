//! Bytes of a file inside a text: `data:` URLs and long runs of base64 that are not readable text.

use std::ops::Range;

/// Runs this long are examined: a line of wrapped base64 has 64 or 76 characters.
const RUN_MIN: usize = 60;

/// From this length on a run that decodes to unreadable bytes is a file. Keys, signatures and hashes are shorter.
const UNNAMED_MIN: usize = 700;

/// Longest head of a `data:` URL that is examined.
const HEAD_MAX: usize = 1024;

/// Bytes of a run that are decoded to judge it.
const SAMPLE_CHARACTERS: usize = 4096;

/// How files begin, by position.
const MAGIC: &[(usize, &[u8])] = &[
    (0, b"%PDF"),
    (0, b"\x89PNG"),
    (0, b"\xff\xd8\xff"),
    (0, b"GIF8"),
    (0, b"PK\x03\x04"),
    (0, b"\x1f\x8b\x08"),
    (0, b"BZh9"),
    (0, b"\xfd7zXZ"),
    (0, b"7z\xbc\xaf"),
    (0, b"RIFF"),
    (0, b"II*\0"),
    (0, b"MM\0*"),
    (0, b"OggS"),
    (0, b"fLaC"),
    (0, b"ID3"),
    (0, b"\xd0\xcf\x11\xe0"),
    (4, b"ftyp"),
    (128, b"DICM"),
];

/// How the commonest of them begin in base64, for those that are glued to what stands before them.
const CODED_MAGIC: &[&[u8]] = &[
    b"JVBERi0",
    b"iVBORw0KGgo",
    b"/9j/4AAQ",
    b"R0lGODlh",
    b"UEsDBBQ",
    b"H4sIAAAA",
];

/// Whether a text holds a file that a scanner of text cannot read. Signatures that providers hand out and want back
/// are unreadable by design: there (`may_be_opaque`) only what begins like a file counts.
pub(super) fn holds_file(text: &str, may_be_opaque: bool) -> bool {
    let bytes = text.as_bytes();
    holds_data_url(bytes) || runs(bytes).any(|run| is_file(&bytes[run], may_be_opaque))
}

/// `data:application/pdf;base64,…`, with blanks, other parameters and either case.
fn holds_data_url(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b':', bytes).any(|colon| {
        let has_scheme = colon >= 4 && bytes[colon - 4..colon].eq_ignore_ascii_case(b"data");
        has_scheme && is_unreadable_url(&bytes[colon + 1..])
    })
}

/// Whether what follows `data:` says that base64 comes, of something other than readable text.
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
    let length = run_length(payload);
    let is_text = media_type.is_empty() || begins(b"text") || begins(b"application/json");
    let has_type = media_type.contains(&b'/');
    length >= 4 && (has_type && !is_text || !is_readable(&decode(&payload[..length])))
}

/// The long runs of base64 of a text. It steps from the far end of where a run would have to reach, so that prose,
/// in which every word ends one, is passed over quickly.
fn runs(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = 0;
    std::iter::from_fn(move || {
        while start + RUN_MIN <= bytes.len() {
            let window = &bytes[start..start + RUN_MIN];
            match window.iter().rposition(|byte| !is_base64(*byte)) {
                Some(at) => start += at + 1,
                None => {
                    let run = start..start + run_length(&bytes[start..]);
                    start = run.end;
                    return Some(run);
                }
            }
        }
        None
    })
}

/// How far base64 goes on, over the ends of its lines.
fn run_length(bytes: &[u8]) -> usize {
    let mut end = 0;
    loop {
        let line = bytes[end..].iter().take_while(|byte| is_base64(**byte));
        let line_end = end + line.count();
        let is_break = |byte: &&u8| matches!(byte, b'\n' | b'\r');
        let next = line_end + bytes[line_end..].iter().take_while(is_break).count();
        let is_wrapped = line_end - end >= RUN_MIN && next > line_end;
        end = line_end;
        if !is_wrapped || !bytes.get(next).is_some_and(|byte| is_base64(*byte)) {
            return end;
        }
        end = next;
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

fn is_file(run: &[u8], may_be_opaque: bool) -> bool {
    let sample = &run[..run.len().min(SAMPLE_CHARACTERS)];
    if CODED_MAGIC
        .iter()
        .any(|magic| memchr::memmem::find(sample, magic).is_some())
    {
        return true;
    }
    let bytes = decode(sample);
    let has_magic = MAGIC
        .iter()
        .any(|(at, magic)| bytes.get(*at..).is_some_and(|rest| rest.starts_with(magic)));
    has_magic
        || !may_be_opaque && run.len() >= UNNAMED_MIN && is_mixed(sample) && !is_readable(&bytes)
}

/// Base64 of a file uses nearly all of its alphabet. Sequences of DNA, hexadecimal and long words do not.
fn is_mixed(run: &[u8]) -> bool {
    let mut seen = [false; 256];
    for byte in run {
        seen[usize::from(*byte)] = true;
    }
    seen.iter().filter(|seen| **seen).count() >= 40
}

/// Whether bytes are text: UTF-8 nearly without control characters. A sample may end inside a character.
fn is_readable(bytes: &[u8]) -> bool {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() + 4 > bytes.len() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    let is_odd = |character: &char| character.is_control() && !character.is_whitespace();
    let odd = valid.chars().filter(is_odd).count();
    odd * 50 <= valid.len()
}

/// The bytes that base64 stands for, in either alphabet; line ends are passed over.
fn decode(run: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(run.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in run {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}
