//! XML and HTML: values between tags and in attributes.

use crate::labels::{self, Meaning};
use crate::page::Field;

/// Reads tags wherever they stand: `<birthDate value="1962-03-14"/>`, `<ssn>536228741</ssn>`.
pub(super) fn read(bytes: &[u8], found: &mut Vec<Field>) {
    let mut at = 0;
    let mut in_role = false;
    while let Some(step) = memchr::memchr(b'<', &bytes[at..]) {
        let start = at + step + 1;
        let name_end = start + name_length(&bytes[start..]);
        if name_end == start {
            at = start;
            continue;
        }
        // In clinical documents the patient's number is the id of the patient's role.
        let opens_role = bytes[start..name_end].eq_ignore_ascii_case(b"patientRole");
        let is_role_id = in_role && bytes[start..name_end].eq_ignore_ascii_case(b"id");
        let meaning = if is_role_id {
            Some(Meaning::Mrn)
        } else {
            meaning_of(&bytes[start..name_end])
        };
        in_role = opens_role || is_role_id;
        let tag_end = attributes(bytes, name_end, meaning, found);
        let is_open = bytes.get(tag_end.wrapping_sub(1)) == Some(&b'>')
            && bytes.get(tag_end.wrapping_sub(2)) != Some(&b'/');
        if is_open && let Some(meaning) = meaning {
            let length = memchr::memchr(b'<', &bytes[tag_end..]).unwrap_or(0);
            let value = super::trimmed(bytes, tag_end..tag_end + length);
            if value.len() <= 200 {
                found.push(Field::new(value, Some(meaning)));
            }
        }
        at = tag_end;
    }
}

/// Reads attributes up to the end of the tag and returns where that is.
fn attributes(bytes: &[u8], from: usize, tag: Option<Meaning>, found: &mut Vec<Field>) -> usize {
    let limit = bytes.len().min(from + 4096);
    let mut at = from;
    while at < limit {
        if matches!(bytes[at], b'>' | b'<') {
            return at + usize::from(bytes[at] == b'>');
        }
        let name_end = at + name_length(&bytes[at..limit]);
        if name_end == at {
            at += 1;
            continue;
        }
        let name = &bytes[at..name_end];
        at = name_end;
        let [b'=', quote @ (b'"' | b'\''), ..] = bytes[at..limit] else {
            continue;
        };
        let start = at + 2;
        let Some(length) = memchr::memchr(quote, &bytes[start..limit]) else {
            return start;
        };
        let is_generic = matches!(name, b"value" | b"extension" | b"content");
        let meaning = if is_generic { tag } else { meaning_of(name) };
        if meaning.is_some() {
            found.push(Field::new(start..start + length, meaning));
        }
        at = start + length + 1;
    }
    at
}

fn meaning_of(name: &[u8]) -> Option<Meaning> {
    let name = std::str::from_utf8(name)
        .ok()
        .filter(|name| name.len() <= 64)?;
    let local = name.rsplit(':').next().unwrap_or(name);
    labels::of_key(local)
}

fn name_length(bytes: &[u8]) -> usize {
    let starts = bytes.first().is_some_and(u8::is_ascii_alphabetic);
    if !starts {
        return 0;
    }
    bytes
        .iter()
        .take(64)
        .take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_' | b'-' | b'.')
        })
        .count()
}
