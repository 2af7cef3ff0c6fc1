//! DICOM (PS3.6): tags of the patient's module, in dumps and as keys of DICOM JSON.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::Source;
use crate::budget::List;
use crate::labels::Meaning;
use crate::page::Field;

/// Attributes that describe people, by group and element. One row each.
static ATTRIBUTES: &[(&[u8; 8], Meaning)] = &[
    (b"00080080", Meaning::Thing),
    (b"00080081", Meaning::Address),
    (b"00080090", Meaning::Name),
    (b"00080092", Meaning::Address),
    (b"00080094", Meaning::Phone),
    (b"00081048", Meaning::Name),
    (b"00081050", Meaning::Name),
    (b"00081060", Meaning::Name),
    (b"00081070", Meaning::Name),
    (b"00100010", Meaning::Name),
    (b"00100020", Meaning::Mrn),
    (b"00100030", Meaning::Dob),
    (b"00101000", Meaning::Mrn),
    (b"00101001", Meaning::Name),
    (b"00101005", Meaning::Name),
    (b"00101040", Meaning::Address),
    (b"00101060", Meaning::Name),
    (b"00102154", Meaning::Phone),
    (b"00102155", Meaning::Phone),
    (b"00102297", Meaning::Name),
    (b"00321032", Meaning::Name),
    (b"00402010", Meaning::Phone),
];

/// Returns the meaning of a key of DICOM JSON (`00100010`, `0010,0010`, `x00100010`).
pub(super) fn of_key(key: &[u8]) -> Option<Meaning> {
    let key = key.strip_prefix(b"x").unwrap_or(key);
    match key.len() {
        8 => of_tag(key),
        9 if key[4] == b',' => of_tag(&[&key[..4], &key[5..]].concat()),
        _ => None,
    }
}

fn of_tag(tag: &[u8]) -> Option<Meaning> {
    ATTRIBUTES
        .iter()
        .find(|(known, _)| tag.eq_ignore_ascii_case(*known))
        .map(|(_, meaning)| *meaning)
}

/// Values are shorter.
const LINE_BYTES_MAX: usize = 256;

/// Start of the groups of tags that describe people.
static GROUP: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"00"));

/// Reads the lines of a dump: `(0010,0010) PN [ROE^JANE] # 8, 1 PatientName`.
pub(super) fn read(source: &Source<'_>, found: &mut List<Field>) {
    let bytes = source.bytes();
    for group in GROUP.find_iter(bytes) {
        let starts = group == 0 || !bytes[group - 1].is_ascii_alphanumeric();
        if !starts || bytes.get(group + 4) != Some(&b',') {
            continue;
        }
        let blank = usize::from(bytes.get(group + 5) == Some(&b' '));
        let from = group + 9 + blank;
        let element = bytes.get(from - 4..from).unwrap_or_default();
        let Some(meaning) = of_tag(&[&bytes[group..group + 4], element].concat()) else {
            continue;
        };
        let reach = bytes.len().min(from + LINE_BYTES_MAX);
        let end = memchr::memchr(b'\n', &bytes[from..reach]).map_or(reach, |length| from + length);
        let value = value(bytes, from..end);
        if meaning != Meaning::Thing && !value.is_empty() {
            found.push(Field::settled(value, Some(meaning)));
        }
    }
}

/// The value on a line: in square brackets, in quotes, or after the last colon.
fn value(bytes: &[u8], line: Range<usize>) -> Range<usize> {
    let text = &bytes[line.clone()];
    let between = |open: u8, close: u8| {
        let start = memchr::memchr(open, text)? + 1;
        let end = start + memchr::memchr(close, &text[start..])?;
        Some(line.start + start..line.start + end)
    };
    let after_colon = || memchr::memrchr(b':', text).map(|colon| line.start + colon + 1..line.end);
    // "Patient's Name PN: 'ROE^JANE'": the apostrophe opens nothing.
    let quoted = || {
        let value = super::trimmed_blanks(bytes, after_colon()?);
        let quote = bytes.get(value.start).copied()?;
        matches!(quote, b'\'' | b'"').then_some(value)
    };
    let value = between(b'[', b']').or_else(quoted).or_else(after_colon);
    super::trimmed(bytes, value.unwrap_or(0..0))
}
