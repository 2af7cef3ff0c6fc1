//! HL7 v2 and X12: the place of a value in its segment says which kind it is.

use std::ops::Range;
use std::sync::LazyLock;

use super::Proposals;
use crate::budget::Few;
use crate::kinds::PhiKind;
use crate::page::Page;

static ROWS: &str = include_str!("segments.tsv");

/// A place of a standard.
struct Place {
    is_x12: bool,
    segment: &'static str,
    /// A code that another element of the segment has.
    qualifier: Option<&'static str>,
    number: usize,
    kind: PhiKind,
}

static PLACES: LazyLock<Few<Place>> = LazyLock::new(|| {
    let rows = ROWS.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|row| {
        let mut cells = row.split('\t');
        let mut next = || cells.next();
        let (standard, segment, qualifier) = (next()?, next()?, next()?);
        Some(Place {
            is_x12: standard == "x12",
            segment,
            qualifier: Some(qualifier).filter(|one| *one != "-"),
            number: next()?.parse().ok()?,
            kind: PhiKind::from_code(next()?)?,
        })
    })
    .collect()
});

/// Most elements of a segment that are read.
const ELEMENTS_MAX: usize = 64;

/// Proposes the values at the places of both standards.
pub(super) fn find(page: &Page<'_>, out: &mut Proposals<'_>) {
    let bytes = page.bytes();
    let mut way = page.way();
    let mut start = 0;
    while start < bytes.len() && way.goes_on(start) {
        let rest = &bytes[start..];
        let end = memchr::memchr3(b'\n', b'\r', b'~', rest).map_or(bytes.len(), |at| start + at);
        let segment = trimmed(bytes, start..end);
        start = end + 1;
        let name = page
            .slice(segment.clone())
            .iter()
            .position(|byte| matches!(byte, b'|' | b'*'));
        if let Some(length @ 2..=3) = name {
            read(page, segment, length, out);
        }
    }
}

fn read(page: &Page<'_>, segment: Range<usize>, length: usize, out: &mut Proposals<'_>) {
    let text = page.slice(segment.clone());
    let (name, delimiter) = (&text[..length], text[length]);
    let is_x12 = delimiter == b'*';
    let of_segment = PLACES
        .iter()
        .filter(|place| place.is_x12 == is_x12 && place.segment.as_bytes() == name);
    let elements: Few<_> = elements(text, delimiter).take(ELEMENTS_MAX).collect();
    for place in of_segment {
        let has_qualifier = place.qualifier.is_none_or(|code| {
            let mut codes = elements.iter().map(|one| &text[one.clone()]);
            codes.any(|one| one == code.as_bytes())
        });
        let Some(value) = elements.get(place.number).filter(|_| has_qualifier) else {
            continue;
        };
        for value in values(text, value.clone(), place.kind) {
            let span = segment.start + value.start..segment.start + value.end;
            out.push(page, place.kind, span, 0.95, "segment.place");
        }
    }
}

/// The elements of a segment; the first is its name.
fn elements(text: &[u8], delimiter: u8) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    text.split(move |&byte| byte == delimiter).map(move |one| {
        let element = start..start + one.len();
        start = element.end + 1;
        element
    })
}

/// The parts of an element that are values: the first component, and both ends of a range of dates.
fn values(text: &[u8], element: Range<usize>, kind: PhiKind) -> Few<Range<usize>> {
    let part = &text[element.clone()];
    let length = part
        .iter()
        .position(|byte| matches!(byte, b'^' | b'&' | b':'))
        .unwrap_or(part.len());
    let value = &part[..length];
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    if kind.code() != "date" {
        let value = element.start..element.start + length;
        return std::iter::once(value).filter(|_| digits >= 3).collect();
    }
    let is_date = |date: &[u8]| {
        let figures = date.iter().take_while(|byte| byte.is_ascii_digit()).count();
        figures >= 8 && matches!(date[0], b'1' | b'2')
    };
    let mut start = element.start;
    let parts = value.split(|&byte| byte == b'-').map(|one| {
        let range = start..start + one.len();
        start = range.end + 1;
        range
    });
    parts.filter(|one| is_date(&text[one.clone()])).collect()
}

fn trimmed(bytes: &[u8], span: Range<usize>) -> Range<usize> {
    let text = &bytes[span.clone()];
    let lead = text
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    span.start + lead..span.end
}
