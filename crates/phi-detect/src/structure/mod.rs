//! Documents inside the text: JSON, XML, HTML, HL7 v2, X12, DICOM, cards, tables with a header, SQL, forms.
//!
//! Each reader is tolerant: it takes what it recognises anywhere in the text, and leaves the rest to the rules for
//! prose. All it yields is fields, that is values with the meaning their key, column or position gives them.

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

use crate::budget::{self, Budget, List, Memory, Way};
use crate::encoded::dumps;
use crate::labels::Meaning;
use crate::page::Field;

/// A text to read, and the time for it.
struct Source<'a> {
    text: &'a str,
    budget: &'a Budget<'a>,
}

impl<'a> Source<'a> {
    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Goes through something of the text for as long as there is time.
    fn through<I: IntoIterator>(&self, steps: I) -> impl Iterator<Item = I::Item> {
        budget::through(Some(self.budget), steps)
    }

    /// Memory that counts for the scan.
    fn memory(&self) -> &'a Memory {
        self.budget.memory()
    }

    /// A way through the text, for as long as there is time.
    fn way(&self) -> Way<'a> {
        Way::new(Some(self.budget))
    }
}

/// Readers by rank: the first that finds a value decides its meaning.
const READERS: [fn(&Source<'_>, &mut List<Field>); 10] = [
    segments::read,
    settle_dumps,
    card::read,
    dicom::read,
    json::read,
    html::read,
    xml::read,
    sql::read,
    table::read,
    below::read,
];

/// The fields of all documents found in the text: in order, never overlapping.
pub(crate) fn fields(text: &str, budget: &Budget<'_>) -> List<Field> {
    let source = Source { text, budget };
    let mut found = budget.memory().list();
    for read in READERS {
        if budget.has_time() {
            read(&source, &mut found);
        }
    }
    found.retain(|field| !field.span.is_empty());
    // Stable: the first reader's stays first.
    found.sort_by_key(|field| field.span.start);
    without_overlaps(found)
}

/// Settles the fields of dumps: their text column is cut anywhere, and the decoded bytes are scanned separately.
fn settle_dumps(source: &Source<'_>, found: &mut List<Field>) {
    let dumps = dumps(source.bytes(), source.way(), source.memory());
    found.extend(dumps.iter().map(|dump| Field::settled(dump.span(), None)));
}

/// Keeps one field for each piece of text. A value without a meaning from its key may hold a nested document, whose
/// fields then count; otherwise the first field is kept.
fn without_overlaps(fields: List<Field>) -> List<Field> {
    let mut kept: List<Field> = fields.memory().list();
    kept.reserve(fields.len());
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

/// Cuts off the white space of a value.
pub(crate) fn trimmed_blanks(bytes: &[u8], span: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let text = &bytes[span.clone()];
    let start = span.start + (text.len() - text.trim_ascii_start().len());
    start..start + text.trim_ascii().len()
}

/// Cuts off the white space and quotes of a value.
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

/// Whether a field of this meaning makes its record one about a person.
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

/// Returns the meaning in a record about a person: "name" is that person's name.
pub(crate) fn in_person_record(meaning: Option<Meaning>) -> Option<Meaning> {
    meaning.map(Meaning::of_person)
}
