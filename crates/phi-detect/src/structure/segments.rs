//! HL7 v2 and X12: the place of a value in its segment says what it is.

use std::ops::Range;

use super::Source;
use crate::budget::{Few, List};
use crate::labels::Meaning;
use crate::page::Field;

/// Structure of the value at a place.
#[derive(Clone, Copy)]
enum Part {
    /// Identifiers with a type in the fifth component (HL7 CX).
    Ids,
    /// Family, given, middle, suffix (HL7 XPN).
    Name,
    /// An identifier, then a name (HL7 XCN).
    Provider,
    /// Street, other, city, state, ZIP, country (HL7 XAD).
    Address,
    /// Telephone numbers (HL7 XTN).
    Phones,
    /// A value of one meaning.
    Plain(Meaning),
}

/// The name of a segment, and the places in it that matter.
type Segment = (&'static [u8; 3], &'static [(usize, Part)]);

/// HL7 v2 segments and the fields in them that describe people.
static HL7: &[Segment] = &[
    // Alphabetical, one row per segment.
    (b"AIP", &[(3, Part::Provider)]),
    (b"DG1", &[(16, Part::Provider)]),
    (b"EVN", &[(5, Part::Provider)]),
    (b"FT1", &[(20, Part::Provider), (21, Part::Provider)]),
    (
        b"GT1",
        &[
            (3, Part::Name),
            (4, Part::Name),
            (5, Part::Address),
            (6, Part::Phones),
            (7, Part::Phones),
            (8, Part::Plain(Meaning::Dob)),
            (12, Part::Plain(Meaning::Ssn)),
        ],
    ),
    (
        b"IN1",
        &[
            (5, Part::Address),
            (6, Part::Name),
            (7, Part::Phones),
            (16, Part::Name),
            (18, Part::Plain(Meaning::Dob)),
            (19, Part::Address),
        ],
    ),
    (
        b"IN2",
        &[
            (2, Part::Plain(Meaning::Ssn)),
            (6, Part::Plain(Meaning::Medicare)),
        ],
    ),
    (b"MRG", &[(1, Part::Ids), (7, Part::Name)]),
    (
        b"NK1",
        &[
            (2, Part::Name),
            (4, Part::Address),
            (5, Part::Phones),
            (6, Part::Phones),
            (16, Part::Plain(Meaning::Dob)),
            (30, Part::Name),
            (31, Part::Phones),
            (32, Part::Address),
            (37, Part::Plain(Meaning::Ssn)),
        ],
    ),
    (
        b"OBR",
        &[
            (10, Part::Provider),
            (16, Part::Provider),
            (17, Part::Phones),
            (28, Part::Provider),
        ],
    ),
    (b"OBX", &[(16, Part::Provider), (25, Part::Provider)]),
    (
        b"ORC",
        &[
            (10, Part::Provider),
            (11, Part::Provider),
            (12, Part::Provider),
            (14, Part::Phones),
            (24, Part::Address),
        ],
    ),
    (b"PD1", &[(4, Part::Provider)]),
    (
        b"PID",
        &[
            (2, Part::Ids),
            (3, Part::Ids),
            (4, Part::Ids),
            (5, Part::Name),
            (6, Part::Name),
            (7, Part::Plain(Meaning::Dob)),
            (9, Part::Name),
            (11, Part::Address),
            (13, Part::Phones),
            (14, Part::Phones),
            (18, Part::Plain(Meaning::OtherId(None))),
            (19, Part::Plain(Meaning::Ssn)),
            (20, Part::Plain(Meaning::SsnMaybe)),
        ],
    ),
    (b"PR1", &[(8, Part::Provider), (11, Part::Provider)]),
    (
        b"PV1",
        &[
            (7, Part::Provider),
            (8, Part::Provider),
            (9, Part::Provider),
            (17, Part::Provider),
            (52, Part::Provider),
        ],
    ),
    (
        b"PRD",
        &[(2, Part::Name), (3, Part::Address), (5, Part::Phones)],
    ),
    (
        b"PRT",
        &[(5, Part::Provider), (14, Part::Address), (15, Part::Phones)],
    ),
    (
        b"ROL",
        &[(4, Part::Provider), (11, Part::Address), (12, Part::Phones)],
    ),
    (b"RXA", &[(10, Part::Provider)]),
    (b"RXD", &[(10, Part::Provider)]),
    (b"RXE", &[(13, Part::Provider), (14, Part::Provider)]),
    (b"RXO", &[(14, Part::Provider), (15, Part::Provider)]),
    (
        b"SCH",
        &[
            (12, Part::Provider),
            (16, Part::Provider),
            (20, Part::Provider),
        ],
    ),
    (
        b"STF",
        &[
            (3, Part::Name),
            (6, Part::Plain(Meaning::Dob)),
            (10, Part::Phones),
            (11, Part::Address),
        ],
    ),
    (
        b"TXA",
        &[
            (5, Part::Provider),
            (9, Part::Provider),
            (10, Part::Provider),
            (11, Part::Provider),
        ],
    ),
];

/// Reads every HL7 and X12 segment of the text.
pub(super) fn read(source: &Source<'_>, found: &mut List<Field>) {
    let bytes = source.bytes();
    let bars = source.through(memchr::memchr_iter(b'|', bytes));
    let starts = bars.filter_map(|bar| segment_start(bytes, bar));
    let starts = source.memory().collect(starts);
    for (index, &start) in source.through(starts.iter().enumerate()) {
        // Pasted messages may have lost their line breaks.
        let next = starts.get(index + 1).copied().unwrap_or(bytes.len());
        let line = memchr::memchr2(b'\n', b'\r', &bytes[start..next])
            .map_or(next, |length| start + length);
        let line = string_end(bytes, start..line);
        if let Some((_, parts)) = row_of(bytes, start) {
            hl7_segment(bytes, start..line, parts, found);
        }
    }
    x12(bytes, found);
}

/// Returns the end of a segment that is the last of a string (`"PID|1||482913^^^H^MR"}`). Two quotes in a row are an
/// empty value.
fn string_end(bytes: &[u8], line: Range<usize>) -> usize {
    let closes = |at: usize| {
        let rest = &bytes[at + 1..];
        matches!(rest, [] | [b'}' | b']' | b')' | b',' | b';', ..]) && bytes[at - 1] != b'|'
    };
    memchr::memchr2_iter(b'"', b'\'', &bytes[line.clone()])
        .map(|length| line.start + length)
        .find(|&at| at > line.start && closes(at))
        .unwrap_or(line.end)
}

fn row_of(bytes: &[u8], start: usize) -> Option<&'static Segment> {
    HL7.iter()
        .find(|(name, _)| bytes[start..start + 3] == **name)
}

/// Returns the start of the segment with this first bar: three capitals or digits at the start of a word.
fn segment_start(bytes: &[u8], bar: usize) -> Option<usize> {
    let start = bar.checked_sub(3)?;
    let name = &bytes[start..bar];
    let is_name = name[0].is_ascii_uppercase()
        && name
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let before = start.checked_sub(1).map(|before| bytes[before]);
    let opens = match before {
        None | Some(b'\n' | b'\r') => true,
        // In the middle of a line three capitals may be anything, unless they are a segment we know.
        Some(byte)
            if byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b':' | b'>') =>
        {
            row_of(bytes, start).is_some()
        }
        Some(_) => false,
    };
    (is_name && opens).then_some(start)
}

fn starts_word(bytes: &[u8], at: usize) -> bool {
    at == 0 || !bytes[at - 1].is_ascii_alphanumeric()
}

fn hl7_segment(bytes: &[u8], span: Range<usize>, parts: &[(usize, Part)], found: &mut List<Field>) {
    let holds_text = matches!(&bytes[span.start..span.start + 3], b"OBX");
    for (index, field) in split(bytes, span, b'|').enumerate().skip(1) {
        let known = parts.iter().find(|(place, _)| *place == index);
        let first = found.len();
        if let Some((_, part)) = known {
            for value in split(bytes, field.clone(), b'~') {
                hl7_value(bytes, value, *part, found);
            }
        }
        // The results of an observation may be a letter; all else is codes.
        if !(holds_text && index == 5) {
            fill_with_codes(field, first, found);
        }
    }
}

/// Marks what the fields found since `first` leave of `span` as codes.
fn fill_with_codes(span: Range<usize>, first: usize, found: &mut List<Field>) {
    let mut from = span.start;
    let last = found.len();
    let end = span.end..span.end;
    for index in first..=last {
        let taken = if index < last {
            &found[index].span
        } else {
            &end
        }
        .clone();
        if index < last && taken.is_empty() {
            continue;
        }
        if from < taken.start {
            found.push(Field::settled(from..taken.start, None));
        }
        from = from.max(taken.end);
    }
}

fn hl7_value(bytes: &[u8], value: Range<usize>, part: Part, found: &mut List<Field>) {
    let components: Few<_> = split(bytes, value.clone(), b'^').take(12).collect();
    let first = components[0].clone();
    let mut push = |span: Range<usize>, meaning| {
        found.push(Field::settled(super::trimmed(bytes, span), Some(meaning)));
    };
    match part {
        Part::Plain(meaning) => push(first, meaning),
        Part::Name => push(filled(&components, 0..4), Meaning::Name),
        Part::Provider => push(filled(&components, 1..5), Meaning::Name),
        Part::Address => push(filled(&components, 0..6), Meaning::Address),
        Part::Ids => {
            let kind = components
                .get(4)
                .map_or(&b""[..], |span| &bytes[span.clone()]);
            push(first, id_meaning(kind));
        }
        Part::Phones if first.len() >= 7 => push(first, Meaning::Phone),
        Part::Phones => push(filled(&components, 5..7), Meaning::Phone),
    }
}

/// Returns the meaning of an identifier type of HL7 table 0203; senders put much else there, and then it is the
/// patient's number.
fn id_meaning(kind: &[u8]) -> Meaning {
    match kind {
        b"SS" => Meaning::Ssn,
        b"MC" => Meaning::Medicare,
        b"DL" | b"PPN" | b"AN" | b"VN" | b"MA" | b"MB" | b"NI" | b"NPI" | b"BC" | b"BA" | b"EI"
        | b"SN" | b"XX" => Meaning::OtherId(None),
        _ => Meaning::Mrn,
    }
}

/// Returns the span from the first filled to the last filled of these components; empty if all are empty.
fn filled(components: &[Range<usize>], of: Range<usize>) -> Range<usize> {
    let these = &components[of.start.min(components.len())..of.end.min(components.len())];
    let first = these.iter().find(|span| !span.is_empty());
    let last = these.iter().rfind(|span| !span.is_empty());
    match (first, last) {
        (Some(first), Some(last)) => first.start..last.end,
        _ => 0..0,
    }
}

/// Reads X12 elements that describe people, by segment and, if it matters, the qualifier in another element.
fn x12(bytes: &[u8], found: &mut List<Field>) {
    let mut free_from = 0;
    for star in memchr::memchr_iter(b'*', bytes) {
        if star < free_from {
            continue;
        }
        let start = [3, 2].into_iter().find_map(|length| {
            let start = star.checked_sub(length)?;
            let name = &bytes[start..star];
            let is_known = matches!(name, b"NM1" | b"DMG" | b"PER" | b"REF" | b"N3" | b"N4");
            (is_known && starts_word(bytes, start)).then_some(start)
        });
        let Some(start) = start else {
            continue;
        };
        let end = star + memchr::memchr2(b'~', b'\n', &bytes[star..]).unwrap_or(bytes.len() - star);
        let elements: Few<_> = split(bytes, start..end, b'*').take(16).collect();
        x12_segment(bytes, &elements, found);
        free_from = end;
    }
}

fn x12_segment(bytes: &[u8], elements: &[Range<usize>], found: &mut List<Field>) {
    let element = |index: usize| elements.get(index).cloned().unwrap_or(0..0);
    let text = |index: usize| &bytes[element(index)];
    let mut push = |span, meaning| {
        found.push(Field::settled(span, Some(meaning)));
    };
    match text(0) {
        b"NM1" if text(2) == b"1" => {
            push(filled(elements, 3..6), Meaning::Name);
            // Some senders leave one element too many empty.
            let qualifier = if text(8).is_empty() { 9 } else { 8 };
            match text(qualifier) {
                b"MI" => push(element(qualifier + 1), Meaning::OtherId(None)),
                b"34" => push(element(qualifier + 1), Meaning::Ssn),
                b"HN" => push(element(qualifier + 1), Meaning::Medicare),
                _ => {}
            }
        }
        b"DMG" if text(1) == b"D8" => push(element(2), Meaning::Dob),
        b"PER" => {
            push(element(2), Meaning::Name);
            for index in [3, 5, 7] {
                match text(index) {
                    b"TE" | b"FX" | b"HP" | b"WP" | b"CP" => {
                        push(element(index + 1), Meaning::Phone);
                    }
                    b"EM" => push(element(index + 1), Meaning::Email),
                    _ => {}
                }
            }
        }
        b"REF" if text(1) == b"SY" => push(element(2), Meaning::Ssn),
        b"REF" if text(1) == b"EA" => push(element(2), Meaning::Mrn),
        b"N3" => push(element(1), Meaning::Address),
        b"N4" => push(element(3), Meaning::Zip),
        _ => {}
    }
}

/// The pieces of a span between separators.
fn split(bytes: &[u8], span: Range<usize>, separator: u8) -> impl Iterator<Item = Range<usize>> {
    let mut next = Some(span.start);
    std::iter::from_fn(move || {
        let start = next?;
        let rest = &bytes[start..span.end];
        let end = memchr::memchr(separator, rest).map_or(span.end, |length| start + length);
        next = (end < span.end).then_some(end + 1);
        Some(start..end)
    })
}
