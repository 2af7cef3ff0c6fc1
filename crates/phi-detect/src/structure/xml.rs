//! XML and HTML: values between tags and in attributes.

use std::cell::LazyCell;

use memchr::memmem;

use super::Source;
use crate::budget::{Few, List};
use crate::labels::{self, Meaning};
use crate::page::Field;

/// Reads tags anywhere in the text (`<birthDate value="1962-03-14"/>`, `<ssn>536228741</ssn>`).
pub(super) fn read(source: &Source<'_>, found: &mut List<Field>) {
    let bytes = source.bytes();
    let (mut at, mut way) = (0, source.way());
    let mut in_role = false;
    // Fonts, plants and processors have families, too.
    let is_about_people = LazyCell::new(|| {
        let mut signs = [b"given".as_slice(), b"atient", b"erson"].into_iter();
        signs.any(|sign| memmem::find(bytes, sign).is_some())
    });
    while way.goes_on(at)
        && let Some(step) = memchr::memchr(b'<', &bytes[at..])
    {
        let start = at + step + 1;
        let name_end = start + name_length(&bytes[start..]);
        if name_end == start {
            at = start;
            continue;
        }
        // In clinical documents the patient's number is the id of the patient's role.
        let opens_role = bytes[start..name_end].eq_ignore_ascii_case(b"patientRole");
        let is_role_id = in_role && bytes[start..name_end].eq_ignore_ascii_case(b"id");
        let is_of_things =
            bytes[start..name_end].eq_ignore_ascii_case(b"family") && !*is_about_people;
        let meaning = match (is_role_id, is_of_things) {
            (true, _) => Some(Meaning::Mrn),
            (_, true) => None,
            _ => meaning_of(&bytes[start..name_end]),
        };
        in_role = opens_role || is_role_id;
        let (tag_end, meaning) = attributes(bytes, name_end, meaning, found);
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

/// Reads attributes up to the end of the tag. Returns that end, and the meaning that the tag gives to its content.
fn attributes(
    bytes: &[u8],
    from: usize,
    tag: Option<Meaning>,
    found: &mut List<Field>,
) -> (usize, Option<Meaning>) {
    let limit = bytes.len().min(from + 4096);
    let mut at = from;
    let mut named = None;
    let mut values = Few::new();
    while at < limit {
        if matches!(bytes[at], b'>' | b'<') {
            at += usize::from(bytes[at] == b'>');
            break;
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
            at = start;
            break;
        };
        let value = start..start + length;
        if is_value_attribute(name) {
            values.push(value);
        } else if let Some(meaning) = named_by(name, &bytes[value.clone()]) {
            named = named.or(Some(meaning));
        } else if let Some(meaning) = meaning_of(name) {
            found.push(Field::new(value, Some(meaning)));
        }
        at = start + length + 1;
    }
    let meaning = named.or(tag);
    if meaning.is_some() {
        let fields = values.into_iter().map(|span| Field::new(span, meaning));
        found.extend(fields);
    }
    (at, meaning)
}

/// Whether an attribute holds the value of its element.
fn is_value_attribute(name: &[u8]) -> bool {
    matches!(
        name,
        b"value" | b"extension" | b"content" | b"val" | b"data-value" | b"defaultValue" | b"v"
    )
}

/// Attributes whose value says what the element holds.
fn is_naming_attribute(name: &[u8]) -> bool {
    matches!(
        name,
        b"name"
            | b"key"
            | b"id"
            | b"label"
            | b"field"
            | b"property"
            | b"data-label"
            | b"data-field"
            | b"data-title"
            | b"aria-label"
            | b"placeholder"
            | b"title"
            | b"itemprop"
            | b"k"
            | b"path"
            | b"column"
    )
}

/// Returns the meaning in a naming attribute: by the registered root of an identifier (HL7 OIDs), or as a label.
fn named_by(name: &[u8], value: &[u8]) -> Option<Meaning> {
    match value {
        b"2.16.840.1.113883.4.1" => return Some(Meaning::Ssn),
        b"2.16.840.1.113883.4.572" | b"2.16.840.1.113883.4.927" => return Some(Meaning::Medicare),
        b"2.16.840.1.113883.4.6" => return labels::of_whole_key("npi"),
        _ => {}
    }
    let value = std::str::from_utf8(value)
        .ok()
        .filter(|value| value.len() <= 64 && is_naming_attribute(name))?;
    // `<div id="patient">` holds a part of the page.
    let is_loose = matches!(name, b"id" | b"title" | b"placeholder" | b"path");
    labels::of_whole_key(value)
        .or_else(|| labels::of_key(value).filter(|_| !value.contains(' ')))
        .filter(|&meaning| super::tells_of_a_person(meaning))
        .filter(|meaning| !is_loose || !matches!(meaning, Meaning::Name | Meaning::Address))
}

fn meaning_of(name: &[u8]) -> Option<Meaning> {
    let name = std::str::from_utf8(name)
        .ok()
        .filter(|name| name.len() <= 64)?;
    let local = name.rsplit(':').next().unwrap_or(name);
    // A document of elements is mostly a person's record.
    let meaning = labels::of_key(local)?;
    Some(if meaning == Meaning::MrnBeside {
        meaning.of_person()
    } else {
        meaning
    })
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
