//! Contact cards (vCard, RFC 6350): the name of a property says what its value is.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::Source;
use crate::budget::List;
use crate::labels::Meaning;
use crate::page::Field;

/// Properties that describe people. One row each.
static PROPERTIES: &[(&[u8], Meaning)] = &[
    (b"ADR", Meaning::Address),
    (b"BDAY", Meaning::Dob),
    (b"EMAIL", Meaning::Email),
    (b"FN", Meaning::Name),
    (b"N", Meaning::Name),
    (b"NICKNAME", Meaning::Name),
    (b"RELATED", Meaning::Name),
    (b"TEL", Meaning::Phone),
];

/// Opening of a card.
static OPENING: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"BEGIN:VCARD"));

/// Reads every card of the text.
pub(super) fn read(source: &Source<'_>, found: &mut List<Field>) {
    let bytes = source.bytes();
    for start in OPENING.find_iter(bytes) {
        let rest = &bytes[start + 1..];
        let end = memchr::memmem::find(rest, b":VCARD").map_or(0, |to_own| {
            let own = to_own + 1;
            own + memchr::memmem::find(&rest[own..], b":VCARD").unwrap_or(rest.len() - own)
        });
        card(bytes, start..start + 1 + end, found);
    }
}

fn card(bytes: &[u8], span: Range<usize>, found: &mut List<Field>) {
    let mut line = span.start;
    while line < span.end {
        let length = memchr::memchr(b'\n', &bytes[line..span.end]).unwrap_or(span.end - line);
        let text = &bytes[line..line + length];
        let name_length = text
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        let row = PROPERTIES
            .iter()
            .find(|(name, _)| text[..name_length].eq_ignore_ascii_case(name));
        if let (Some((_, meaning)), Some(colon)) = (row, memchr::memchr(b':', text)) {
            let value = super::trimmed(bytes, line + colon + 1..line + length);
            push(bytes, value, *meaning, found);
        }
        line += length + 1;
    }
}

/// Reads the parts of a name one by one, and those of an address together.
fn push(bytes: &[u8], value: Range<usize>, meaning: Meaning, found: &mut List<Field>) {
    if meaning != Meaning::Name {
        let is_filler = |byte: &u8| matches!(byte, b';' | b',');
        let text = &bytes[value.clone()];
        let front = text.iter().take_while(|byte| is_filler(byte)).count();
        found.push(Field::settled(
            value.start + front..value.end,
            Some(meaning),
        ));
        return;
    }
    let mut start = value.start;
    for end in value
        .clone()
        .filter(|&at| bytes[at] == b';')
        .chain([value.end])
    {
        found.push(Field::settled(
            super::trimmed(bytes, start..end),
            Some(meaning),
        ));
        start = end + 1;
    }
}
