//! Base64 and hexadecimal inside a text: decoded to be scanned, or taken for a file.
//!
//! One rule for both codings. A run may be cut into lines of one length, or into quoted pieces of a program. The
//! detector itself decodes a run in one piece that holds UTF-8; everything else that decodes to text is decoded here.

use std::borrow::Cow;
use std::ops::Range;

use super::inflate;

/// The shortest run that is decoded here: eight characters of UTF-16.
const TEXT_MIN: usize = 20;

/// Runs this long are judged as files: a line of wrapped base64 has 64 or 76 characters.
const FILE_MIN: usize = 60;

/// Bytes from which on a run that decodes to unreadable bytes is a file. Keys, signatures and hashes are shorter.
const UNNAMED_BYTES_MIN: usize = 525;

/// Bytes of a run that are decoded to judge whether it is a file.
const SAMPLE_CHARACTERS: usize = 4096;

/// Lines this long are cut from a file; shorter ones of one length may be a list of ids.
const FILE_LINE_MIN: usize = FILE_MIN;

/// The shortest piece of a run that is cut.
const PIECE_MIN: usize = 8;

/// Longest gap between two pieces: the end of a line, quotes, an operator and the indentation of a program.
const GAP_MAX: usize = 64;

/// Shortest ciphertext. A word of letters alone is base64 as well.
const CIPHERTEXT_MIN: usize = 32;

/// Digits in a row that are very unlikely in a ciphertext.
const DIGITS_MAX: usize = 6;

/// Beginnings of files, by position.
const MAGIC: &[(usize, &[u8])] = &[
    (0, b"%PDF"),
    (0, b"\x89PNG"),
    (0, b"\xff\xd8\xff"),
    (0, b"GIF8"),
    (0, b"PK\x03\x04"),
    (0, b"\x1f\x8b\x08"),
    (0, b"BZh9"),
    (0, b"\xfd7zXZ"),
    (0, b"\x28\xb5\x2f\xfd"),
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

/// Beginnings of the commonest in base64, for those that are glued to the text before them.
const CODED_MAGIC: &[&[u8]] = &[
    b"JVBERi0",
    b"iVBORw0KGgo",
    b"/9j/4AAQ",
    b"R0lGODlh",
    b"UEsDBBQ",
    b"H4sIAAAA",
];

/// A run of base64 or hexadecimal: its place in the text, and its letters without what cuts them.
struct Run<'t> {
    span: Range<usize>,
    letters: Cow<'t, [u8]>,
    cut: Cut,
    /// Start of the last piece in the letters, and end of the piece before in the text. The last may be a word that
    /// follows the run.
    last: Option<(usize, usize)>,
}

/// Cuts of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// In one piece.
    Whole,
    /// Into pieces that can only be parts of one: long lines, or strings that a program joins.
    Lines,
    /// Into pieces that a list may hold as well.
    List,
}

/// Returns the coded runs of a text that the detector does not decode itself, each with its decoded text.
pub(crate) fn coded_texts(text: &str) -> Vec<(Range<usize>, String)> {
    let decoded = |run: Run<'_>| run.text().or_else(|| run.without_last()?.text());
    runs(text.as_bytes(), TEXT_MIN)
        .filter_map(decoded)
        .collect()
}

/// Whether a text holds a coded file. Of ciphertexts that providers hand out and want back (`may_be_opaque`), only those
/// that begin like a file count.
pub(super) fn holds_coded_file(bytes: &[u8], may_be_opaque: bool) -> bool {
    let is_file = |run: &Run<'_>| run.is_file(may_be_opaque);
    runs(bytes, FILE_MIN)
        .any(|run| is_file(&run) || run.without_last().is_some_and(|run| is_file(&run)))
}

/// Whether a text is one run of base64 that decodes to nothing readable, as ciphertexts and signatures do.
pub(super) fn is_ciphertext(text: &str) -> bool {
    let letters = text.trim_end_matches('=').as_bytes();
    let has = |signs: &[u8]| letters.iter().any(|letter| signs.contains(letter));
    let is_run = text.len() - letters.len() <= 2
        && letters.len() >= CIPHERTEXT_MIN
        && letters.iter().copied().all(is_base64)
        && !(has(b"+/") && has(b"-_"));
    if !is_run || !is_random(letters) {
        return false;
    }
    let bytes = from_base64(letters);
    !is_readable(&bytes) && utf16(&bytes).is_none()
}

/// Whether letters follow each other as in a ciphertext: in words and numbers the next is mostly of the same class.
fn is_random(letters: &[u8]) -> bool {
    let class = |letter: u8| match letter {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    };
    let mut digits = 0;
    for letter in letters {
        digits = if letter.is_ascii_digit() {
            digits + 1
        } else {
            0
        };
        if digits > DIGITS_MAX {
            return false;
        }
    }
    let pairs = letters.windows(2);
    let changes = pairs
        .filter(|pair| class(pair[0]) != class(pair[1]))
        .count();
    changes * 100 >= (letters.len() - 1) * 45
}

/// The runs of at least this many letters, in order.
fn runs(bytes: &[u8], length_min: usize) -> impl Iterator<Item = Run<'_>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        loop {
            let first = next_piece(bytes, start)?;
            let (run, next) = run_from(bytes, first);
            start = next;
            if run.letters.len() >= length_min {
                return Some(run);
            }
        }
    })
}

/// Returns the next piece. It steps from the far end that a piece would have to reach, so that prose, in which every
/// word ends a piece, is passed over quickly.
fn next_piece(bytes: &[u8], mut start: usize) -> Option<Range<usize>> {
    while start + PIECE_MIN <= bytes.len() {
        let window = &bytes[start..start + PIECE_MIN];
        match window.iter().rposition(|byte| !is_base64(*byte)) {
            Some(at) => start += at + 1,
            None => return Some(start..piece_end(bytes, start)),
        }
    }
    None
}

fn piece_end(bytes: &[u8], start: usize) -> usize {
    let letters = bytes[start..].iter().take_while(|byte| is_base64(**byte));
    start + letters.count()
}

/// Returns the run that a piece begins (the pieces of its length that follow, and a shorter one) and the position to go
/// on from.
fn run_from(bytes: &[u8], first: Range<usize>) -> (Run<'_>, usize) {
    let piece = &bytes[first.clone()];
    let mut run = Run {
        letters: Cow::Borrowed(piece.strip_prefix(b"0x").unwrap_or(piece)),
        span: first.clone(),
        cut: Cut::Whole,
        last: None,
    };
    let mut last = first.len();
    while last == first.len() {
        let Some((next, is_listed)) = joined_piece(bytes, run.span.end) else {
            break;
        };
        if next.len() > last {
            break;
        }
        last = next.len();
        run.last = Some((run.letters.len(), run.span.end));
        run.letters.to_mut().extend_from_slice(&bytes[next.clone()]);
        run.span.end = next.end;
        if is_listed || first.len() < FILE_LINE_MIN {
            run.cut = Cut::List;
        } else if run.cut == Cut::Whole {
            run.cut = Cut::Lines;
        }
    }
    let next = run.span.end;
    let padding = bytes[next..].iter().take_while(|byte| **byte == b'=');
    run.span.end += padding.take(2).count();
    (run, next)
}

/// The piece after a gap that only cuts (blanks, quotes, and what joins strings in programs), and whether the gap may
/// separate the entries of a list.
fn joined_piece(bytes: &[u8], end: usize) -> Option<(Range<usize>, bool)> {
    let near = &bytes[end..bytes.len().min(end + GAP_MAX)];
    let mut quotes = 0;
    let is_gap = |byte: &&u8| {
        quotes += usize::from(b"\"'`".contains(byte));
        // `+` is a letter of base64 as well.
        byte.is_ascii_whitespace() || b"\"'`,\\.|&;".contains(byte) || **byte == b'+' && quotes > 0
    };
    let gap = &near[..near.iter().take_while(is_gap).count()];
    // A blank alone separates words, and so does a quote that only ends.
    if matches!(gap, b"" | b" ") || quotes == 1 {
        return None;
    }
    let start = end + gap.len();
    let piece = start..piece_end(bytes, start);
    let is_listed = gap.iter().any(|byte| b",;|.".contains(byte));
    (!piece.is_empty()).then_some((piece, is_listed))
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

impl Run<'_> {
    fn sample(&self) -> &[u8] {
        &self.letters[..self.letters.len().min(SAMPLE_CHARACTERS)]
    }

    /// Returns the run without its last piece.
    fn without_last(&self) -> Option<Self> {
        let (letters, end) = self.last?;
        Some(Self {
            span: self.span.start..end,
            letters: Cow::Owned(self.letters[..letters].to_vec()),
            cut: self.cut,
            last: None,
        })
    }

    /// Returns the decoded text, with its place, unless the detector reads it.
    fn text(&self) -> Option<(Range<usize>, String)> {
        let sample = self.decode(self.sample());
        let is_narrow = self.cut != Cut::Whole && is_readable(&sample);
        if !is_narrow && utf16(&sample).is_none() {
            return None;
        }
        let bytes = self.decode(&self.letters);
        let narrow = || String::from_utf8_lossy(&bytes).into_owned();
        let text = utf16(&bytes).or_else(|| is_narrow.then(narrow))?;
        Some((self.span.clone(), text))
    }

    fn is_hexadecimal(&self) -> bool {
        self.letters.iter().all(u8::is_ascii_hexdigit)
    }

    fn decode(&self, letters: &[u8]) -> Vec<u8> {
        if self.is_hexadecimal() {
            from_hexadecimal(letters)
        } else {
            from_base64(letters)
        }
    }

    fn is_file(&self, may_be_opaque: bool) -> bool {
        let sample = self.sample();
        let has_coded_magic = |magic: &&[u8]| memchr::memmem::find(sample, magic).is_some();
        if CODED_MAGIC.iter().any(has_coded_magic) {
            return true;
        }
        let bytes = self.decode(sample);
        let has_magic = MAGIC
            .iter()
            .any(|(at, magic)| bytes.get(*at..).is_some_and(|rest| rest.starts_with(magic)));
        has_magic || inflate::is_zlib(&bytes) || !may_be_opaque && self.is_unnamed_file(&bytes)
    }

    /// Whether these bytes are neither text nor a key, a signature or a hash.
    fn is_unnamed_file(&self, sample: &[u8]) -> bool {
        // Hexadecimal lines of one length are a list of hashes.
        let (length, kinds_min, is_one) = match self.is_hexadecimal() {
            true => (
                self.letters.len() / 2,
                HEXADECIMAL_KINDS_MIN,
                self.cut == Cut::Whole,
            ),
            false => (
                self.letters.len() / 4 * 3,
                BASE64_KINDS_MIN,
                self.cut != Cut::List,
            ),
        };
        is_one
            && length >= UNNAMED_BYTES_MIN
            && kinds(self.sample()) >= kinds_min
            && !is_readable(sample)
            && utf16(sample).is_none()
    }
}

/// A coded file uses nearly all of its alphabet. Sequences of DNA, numbers and long words do not.
const BASE64_KINDS_MIN: usize = 40;
const HEXADECIMAL_KINDS_MIN: usize = 16;

/// Counts different letters.
fn kinds(letters: &[u8]) -> usize {
    let mut seen = [false; 256];
    for letter in letters {
        seen[usize::from(*letter)] = true;
    }
    seen.iter().filter(|seen| **seen).count()
}

/// Whether bytes are text: UTF-8 nearly without control characters. A sample may end inside a character.
pub(super) fn is_readable(bytes: &[u8]) -> bool {
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

/// The text that bytes are in UTF-16 of either order. Nearly any bytes are letters of some script, so that at least half
/// of the characters must be Latin, digits or punctuation.
fn utf16(bytes: &[u8]) -> Option<String> {
    let zeros = |at: usize| bytes.chunks_exact(2).filter(|pair| pair[at] == 0).count();
    let units = bytes.len() / 2;
    let (is_little, is_big) = (zeros(1) * 2 >= units, zeros(0) * 2 >= units);
    if units == 0 || is_little == is_big {
        return None;
    }
    let unit = match is_little {
        true => |pair: &[u8]| u16::from_le_bytes([pair[0], pair[1]]),
        false => |pair: &[u8]| u16::from_be_bytes([pair[0], pair[1]]),
    };
    let units = bytes
        .chunks_exact(2)
        .map(unit)
        .filter(|unit| *unit != 0xfeff);
    let letters = char::decode_utf16(units).map(|letter| letter.unwrap_or('\u{fffd}'));
    let text: String = letters.collect();
    is_readable(text.as_bytes()).then_some(text)
}

/// Decodes base64 in either alphabet; every other byte is passed over.
pub(super) fn from_base64(letters: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(letters.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for letter in letters {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
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

/// Decodes hexadecimal digits.
fn from_hexadecimal(digits: &[u8]) -> Vec<u8> {
    let value = |digit: u8| char::from(digit).to_digit(16).unwrap_or_default() as u8;
    let pairs = digits.chunks_exact(2);
    pairs
        .map(|pair| value(pair[0]) << 4 | value(pair[1]))
        .collect()
}

#[cfg(test)]
mod tests;
