//! Things and places that are called like people: a mountain, a storm, a wing, a bus, an airport, a word said aloud.

use std::ops::Range;

use super::repeat::is_in_code;
use crate::lexicon::{LEXICON, Sense};
use crate::page::Page;

/// Whether the words around a name, or its form, say that it is not a person.
pub(crate) fn is_thing(page: &Page<'_>, span: &Range<usize>) -> bool {
    is_on_map(page, span)
        || is_wing_or_line(page, span)
        || is_town_in_row(page, span)
        || is_pronunciation(page.slice(span.clone()))
}

/// Distance on either side of a name in which a list is read, and number of further items that make a list.
const LIST_BYTES: usize = 120;
const ITEMS_MIN: usize = 3;

/// Whether a name is one of many words with capitals between commas ("Wegmans, Harris Teeter, Fred Meyer, Kinney").
pub(crate) fn is_listed(page: &Page<'_>, span: &Range<usize>) -> bool {
    let is_end = |byte: &u8| {
        matches!(
            byte,
            b'.' | b';' | b':' | b'\n' | b'(' | b')' | b'"' | b'?' | b'|'
        )
    };
    let before = page.slice(span.start.saturating_sub(LIST_BYTES)..span.start);
    let before = before.rsplit(is_end).next().unwrap_or_default();
    let after = page.slice(span.end..page.text.len().min(span.end + LIST_BYTES));
    let after = after.split(is_end).next().unwrap_or_default();
    let is_item = |item: &&[u8]| {
        let item = item.trim_ascii();
        let words = item.split(|&byte| byte == b' ').count();
        words <= 3 && item.first().is_some_and(u8::is_ascii_uppercase)
    };
    let comma = |byte: &u8| *byte == b',';
    // Skips the rest of the name's item, directly beside the name.
    let left = before.rsplit(comma).skip(1).filter(is_item).count();
    let right = after.split(comma).skip(1).filter(is_item).count();
    left + right >= ITEMS_MIN
}

/// Whether the word before or the last word says that a name is on a map ("Mount Henry", "Hurricane Ian", "Clark
/// Fork").
pub(crate) fn is_on_map(page: &Page<'_>, span: &Range<usize>) -> bool {
    const BEFORE: &[&[u8]] = &[
        b"Mount",
        b"Mt",
        b"Fort",
        b"Cape",
        b"Camp",
        b"Lake",
        b"Hurricane",
        b"Storm",
        b"Typhoon",
        b"Cyclone",
    ];
    const LAST: &[&[u8]] = &[
        b"Fork", b"Creek", b"River", b"Canyon", b"Glacier", b"Peak", b"Trail", b"Island",
    ];
    let end = span.start.saturating_sub(1);
    let end = end - usize::from(page.byte_before(end) == b'.');
    let before = page
        .word_start_before(end)
        .map(|start| page.slice(start..end));
    let text = page.slice(span.clone());
    let last = text.rsplit(|&byte| byte == b' ').next().unwrap_or(text);
    // Storm can be a person's name, "Winter Storm" cannot.
    let storm = page.slice(span.start..page.text.len().min(span.end + b" Storm ".len()));
    let names_storm = [b"Winter Storm ".as_slice(), b"Tropical Storm "];
    names_storm.iter().any(|name| storm.starts_with(name))
        || before.is_some_and(|word| BEFORE.contains(&word))
        || last.len() < text.len() && LAST.contains(&last)
}

/// Whether a name belongs to a building or a line: an article or a number precedes it, and the noun follows ("the
/// Curie wing", "the 147 Sheridan bus"). "The Jones room" may be the room of the patient Jones.
fn is_wing_or_line(page: &Page<'_>, span: &Range<usize>) -> bool {
    const THINGS: &[&[u8]] = &[
        b"wing",
        b"pavilion",
        b"building",
        b"auditorium",
        b"bus",
        b"tram",
        b"train",
        b"line",
        b"ferry",
        b"program",
        b"project",
        b"bridge",
    ];
    let before = page.slice(span.start.saturating_sub(5)..span.start);
    let is_led = before.ends_with(b"the ")
        || before.ends_with(b"The ")
        || matches!(before, [.., digit, b' '] if digit.is_ascii_digit());
    let is_thing = page.byte(span.end) == b' '
        && page
            .word_end_at(span.end + 1)
            .is_some_and(|end| THINGS.contains(&page.slice(span.end + 1..end)));
    is_led && is_thing
}

/// Whether a name is a place in a row of data, with a state at its end ("LAGUARDIA NY,B-757-200").
fn is_town_in_row(page: &Page<'_>, span: &Range<usize>) -> bool {
    let last = page.slice(span.clone()).rsplit(|&byte| byte == b' ').next();
    let is_state = last.is_some_and(|word| {
        word.len() == 2
            && word.len() < span.len()
            && word.iter().all(u8::is_ascii_uppercase)
            && LEXICON.sense(word).has(Sense::STATE)
    });
    is_state && page.byte(span.end) == b',' && is_in_code(page, span)
}

/// Whether a text is syllables, the stressed one in capitals ("(Hu-MARE-ah)").
fn is_pronunciation(text: &[u8]) -> bool {
    let parts = || text.split(|&byte| byte == b'-');
    let is_shouted = |part: &[u8]| part.len() >= 2 && part.iter().all(u8::is_ascii_uppercase);
    let is_small = |part: &[u8]| part.iter().all(u8::is_ascii_lowercase);
    parts().count() >= 3 && parts().any(is_shouted) && parts().any(is_small)
}
