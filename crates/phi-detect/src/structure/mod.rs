//! Documents inside the text: JSON, XML, HTML, HL7 v2, X12, DICOM, cards, tables with a header, SQL, forms.
//!
//! Each reader is tolerant: it takes what it recognises, wherever it stands in the
//! text, and leaves the rest to the rules for prose. All it yields is fields, that
//! is values with the meaning their key, column or position gives them.

mod below;
mod card;
mod dicom;
mod heads;
mod html;
mod json;
mod segments;
mod sql;
mod table;
mod xml;

use crate::encoded::dumps;
use crate::labels::Meaning;
use crate::page::Field;

/// The fields of all documents found in the text: in order, never overlapping.
pub(crate) fn fields(text: &str) -> Vec<Field> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    segments::read(bytes, &mut found);
    // The text column of a dump is cut anywhere; what the bytes say is read for itself.
    found.extend(
        dumps(bytes)
            .iter()
            .map(|dump| Field::settled(dump.span(), None)),
    );
    card::read(bytes, &mut found);
    dicom::read(bytes, &mut found);
    json::read(text, &mut found);
    html::read(bytes, &mut found);
    xml::read(bytes, &mut found);
    sql::read(bytes, &mut found);
    table::read(bytes, &mut found);
    below::read(bytes, &mut found);
    found.retain(|field| !field.span.is_empty());
    // Stable: where two readers see the same value, the first reader is right.
    found.sort_by_key(|field| field.span.start);
    without_overlaps(found)
}

/// One field for each piece of text. A value that its key says nothing about may hold a document of its own, whose fields then
/// count; else the first is right.
fn without_overlaps(fields: Vec<Field>) -> Vec<Field> {
    let mut kept: Vec<Field> = Vec::with_capacity(fields.len());
    for field in fields {
        let Some(last) = kept.last().filter(|last| field.span.start < last.span.end) else {
            kept.push(field);
            continue;
        };
        let is_mere_text = last.meaning.is_none() && !last.is_settled;
        let says_more = field.meaning.is_some() || field.is_settled;
        if is_mere_text && says_more && field.span.len() < last.span.len() {
            kept.pop();
            kept.push(field);
        }
    }
    kept
}

/// A value with its white space cut off.
pub(crate) fn trimmed_blanks(bytes: &[u8], span: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let text = &bytes[span.clone()];
    let start = span.start + (text.len() - text.trim_ascii_start().len());
    start..start + text.trim_ascii().len()
}

/// A value with its white space and quotes cut off.
pub(crate) fn trimmed(bytes: &[u8], span: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let (mut start, mut end) = (span.start, span.end);
    while start < end && is_wrapping(bytes[start]) {
        start += 1;
    }
    while start < end && is_wrapping(bytes[end - 1]) {
        end -= 1;
    }
    start..end
}

fn is_wrapping(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'')
}

/// Whether a field of this meaning makes the record it stands in one about a person.
pub(crate) fn tells_of_a_person(meaning: Meaning) -> bool {
    matches!(
        meaning,
        Meaning::Ssn
            | Meaning::Dob
            | Meaning::Born
            | Meaning::Phone
            | Meaning::Email
            | Meaning::Address
            | Meaning::Mrn
            | Meaning::MrnMaybe
            | Meaning::Medicare
            | Meaning::Name
    )
}

/// In a record about a person, "name" is that person's name.
pub(crate) fn in_person_record(meaning: Option<Meaning>) -> Option<Meaning> {
    match meaning {
        Some(Meaning::NameMaybe) => Some(Meaning::Name),
        other => other,
    }
}
