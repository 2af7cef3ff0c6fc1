//! Places and facilities: cells that a label names, a city before its state, and names that end in what they are.

use std::ops::Range;

use super::Proposals;
use crate::kinds::PhiKind;
use crate::labels::Meaning;
use crate::page::{self, Page};
use crate::word_list::WordList;

/// Last words of the names of facilities.
static FACILITIES: WordList = WordList::new(
    "hospital clinic center centre pharmacy laboratory labs hospice infirmary sanatorium manor school academy university \
     college pediatrics paediatrics dialysis rehabilitation rehab orthopedics dermatology cardiology oncology surgery \
     medicine associates healthcare nursing care physicians dental optometry radiology imaging home",
);
/// Words inside such names.
static LINKS: WordList = WordList::new("of for and the at de del la st saint");
/// Last words of the names of places.
static PLACES: WordList = WordList::new("county parish township reservation village borough");
/// Words behind a name that speak of what an organisation publishes.
static PUBLISHES: WordList =
    WordList::new("recommends recommend says website guideline guidelines study");

/// Proposes fields that hold a city, cities before a state, and names that end in what they are.
pub(super) fn find(page: &Page<'_>, out: &mut Proposals<'_>) {
    let kind = PhiKind::from_code;
    let (Some(place), Some(facility)) = (kind("place"), kind("facility")) else {
        return;
    };
    if !out.settings.looks_for(place) && !out.settings.looks_for(facility) {
        return;
    }
    for (span, _) in page.fields_of(Meaning::City) {
        out.push(page, place, span, 0.8, "place.field");
    }
    let bytes = page.bytes();
    let mut way = page.way();
    let mut at = 0;
    while let Some(start) = next_capital(bytes, at) {
        if !way.goes_on(start) {
            return;
        }
        let run = capitals(page, start);
        at = run.end.max(start + 1);
        if let Some(end) = before_state(page, &run) {
            out.push(page, place, run.start..end, 0.55, "place.state");
        }
        let last = page::word_start(bytes, run.end);
        let word = page.slice(last..run.end);
        let is_more = last > run.start;
        if is_more && PLACES.has(word) {
            // "Resident of Multnomah County".
            let of = memchr::memmem::rfind(page.slice(run.clone()), b" of ");
            let start = of.map_or(run.start, |at| run.start + at + 4);
            out.push(page, place, start..run.end, 0.6, "place.named");
        } else if is_more && FACILITIES.has(word) && !is_published(page, run.end) {
            out.push(page, facility, run.clone(), 0.6, "facility.named");
        }
    }
}

/// The text of a cell or form field from a place on: to the end of the line, a sign, or two blanks.
pub(super) fn cell(page: &Page<'_>, start: usize) -> Option<Range<usize>> {
    const LONGEST: usize = 80;
    let bytes = page.bytes();
    let rest = &bytes[start..bytes.len().min(start + LONGEST)];
    let is_end = |at: usize| {
        matches!(
            rest[at],
            b'\n' | b'\r' | b'"' | b'|' | b'\t' | b',' | b';' | b'<' | b'(' | b'{' | b'}'
        ) || rest[at..].starts_with(b"  ")
            || rest[at..].starts_with(b". ")
    };
    let length = (0..rest.len()).find(|&at| is_end(at)).unwrap_or(rest.len());
    let text = rest[..length].trim_ascii_end();
    let text = text.strip_suffix(b".").unwrap_or(text);
    let has_capital = text
        .first()
        .is_some_and(|byte| byte.is_ascii_uppercase() || *byte >= 0x80);
    (has_capital && text.len() >= 3).then_some(start..start + text.len())
}

/// The words with capitals from a place on, or one word in small letters.
pub(super) fn phrase(page: &Page<'_>, start: usize) -> Option<Range<usize>> {
    const SHORTEST: usize = 4;
    if page.byte(start).is_ascii_uppercase() {
        let run = capitals(page, start);
        return (run.len() >= SHORTEST).then_some(run);
    }
    let end = page::word_end(page.bytes(), start);
    let is_name = end - start >= SHORTEST && !crate::names::is_ordinary(page.text.get(start..end)?);
    is_name.then_some(start..end)
}

/// The next capital that begins a word.
fn next_capital(bytes: &[u8], at: usize) -> Option<usize> {
    let mut rest = at..bytes.len();
    rest.find(|&at| {
        bytes[at].is_ascii_uppercase() && (at == 0 || !page::is_word_byte(bytes[at - 1]))
    })
}

/// A run of words with a capital, and small words that link them; at most eight.
fn capitals(page: &Page<'_>, start: usize) -> Range<usize> {
    let bytes = page.bytes();
    let mut end = page::word_end(bytes, start).max(start + 1);
    for _ in 0..7 {
        let mut next = end;
        if page.byte(next) == b'\'' && page.byte(next + 1) == b's' {
            next += 2;
        }
        next += usize::from(page.byte(next) == b'.');
        if !matches!(page.byte(next), b' ' | b'-' | b'&') {
            break;
        }
        next += 1;
        if super::ahead(page, next, 2) == b"& " {
            next += 2;
        }
        let word = next..page::word_end(bytes, next);
        let is_capital = bytes.get(next).is_some_and(u8::is_ascii_uppercase);
        let is_link = LINKS.has(page.slice(word.clone()))
            && page.byte(word.end) == b' '
            && page.byte(word.end + 1).is_ascii_uppercase();
        if word.is_empty() || !(is_capital || is_link) {
            break;
        }
        end = word.end;
    }
    start..end
}

/// The end of a city that a state follows ("Salem, OR").
fn before_state(page: &Page<'_>, run: &Range<usize>) -> Option<usize> {
    let is_city = run.len() >= 3 && opens_with_state(super::ahead(page, run.end, REACH));
    is_city.then_some(run.end)
}

/// Bytes behind a city in which its state is looked for.
const REACH: usize = 24;

/// Returns the length of the comma and blank between a place and its state, if a state follows.
pub(crate) fn comma_before_state(text: &str, end: usize) -> Option<usize> {
    let after = &text.as_bytes()[end..text.len().min(end + REACH)];
    opens_with_state(after).then_some(2)
}

fn opens_with_state(after: &[u8]) -> bool {
    let Some(rest) = after.strip_prefix(b", ") else {
        return false;
    };
    let length = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic() || **byte == b' ')
        .count();
    let words = std::str::from_utf8(&rest[..length]).unwrap_or_default();
    let one = words.split(' ').next().unwrap_or_default();
    is_state_code(one) || STATES.split('|').any(|state| words.starts_with(state))
}

/// Whether a text is a state, or begins with the code of one: states are left as they are.
pub(crate) fn is_state(text: &str) -> bool {
    let first = text.split(|letter: char| !letter.is_alphabetic()).next();
    first.is_some_and(is_state_code) || STATES.split('|').any(|state| state == text)
}

fn is_state_code(word: &str) -> bool {
    static CODES: WordList = WordList::new(
        "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA \
         RI SC SD TN TX UT VT VA WA WV WI WY DC PR",
    );
    word.len() == 2
        && word.bytes().all(|byte| byte.is_ascii_uppercase())
        && CODES.has(word.as_bytes())
}

const STATES: &str = "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho|\
    Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|\
    Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|\
    Pennsylvania|Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|Virginia|Washington|West Virginia|\
    Wisconsin|Wyoming|Puerto Rico";

fn is_published(page: &Page<'_>, end: usize) -> bool {
    let start = end + usize::from(page.byte(end) == b' ');
    PUBLISHES.has(page.slice(start..page::word_end(page.bytes(), start)))
}
