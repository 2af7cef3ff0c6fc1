//! Lists of beds: if some lines are a room and a patient, the remaining lines of the list are too.

use std::ops::Range;

use crate::budget::List;
use crate::lexicon::{LEXICON, Sense};
use crate::page::{Page, is_word_byte};

/// Number of lines that make a list of beds, and number of them that must hold a known person.
const LINES_MIN: usize = 3;
const KNOWN_MIN: usize = 2;

/// Finds the patients in the beds of a list ("307 Gold CIWA" below "301 Winters" and "302 Bui").
pub(crate) fn in_beds(page: &Page<'_>, names: &[Range<usize>]) -> List<Range<usize>> {
    let memory = page.memory();
    let mut sorted = memory.collect(names.iter().cloned());
    sorted.sort_by_key(|name| name.start);
    let is_known = |word: &Range<usize>| {
        let next = sorted.partition_point(|name| name.end <= word.start);
        sorted.get(next).is_some_and(|name| name.start < word.end)
    };
    let mut found = memory.list();
    let mut list: List<Range<usize>> = memory.list();
    let mut settle = |list: &mut List<Range<usize>>| {
        let known = list.iter().filter(|word| is_known(word)).count();
        if list.len() >= LINES_MIN && known >= KNOWN_MIN {
            found.extend(list.iter().filter(|word| !is_known(word)).cloned());
        }
        list.clear();
    };
    let mut start = 0;
    while start < page.text.len() {
        let rest = page.slice(start..page.text.len());
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        match patient_of_line(page, start..start + length) {
            Some(word) => list.push(word),
            None => settle(&mut list),
        }
        start += length + 1;
    }
    settle(&mut list);
    found
}

/// The word after the number of a room that opens a line: "- 307 Gold CIWA", "4B Stone 55M".
fn patient_of_line(page: &Page<'_>, line: Range<usize>) -> Option<Range<usize>> {
    let text = page.slice(line.clone());
    let lead = text
        .iter()
        .take(4)
        .take_while(|byte| matches!(byte, b' ' | b'-' | b'*' | b'\t'))
        .count();
    let room = text[lead..]
        .iter()
        .take(6)
        .take_while(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase() || **byte == b'-')
        .count();
    let digits = text[lead..lead + room]
        .iter()
        .filter(|byte| byte.is_ascii_digit())
        .count();
    let start = lead + room + 1;
    let is_room = text[lead..].first().is_some_and(u8::is_ascii_digit)
        && (digits == 3 || digits < 3 && room > digits)
        && text.get(start - 1) == Some(&b' ');
    if !is_room {
        return None;
    }
    let word = text.get(start..)?;
    let length = word
        .iter()
        .take_while(|&&byte| is_word_byte(byte) || matches!(byte, b'-' | b'\''))
        .count();
    let word = &word[..length];
    let sense = LEXICON.sense(word);
    let is_written_as_name = word.len() >= 2
        && word[0].is_ascii_uppercase()
        && word[1..].iter().any(u8::is_ascii_lowercase)
        && !word.iter().any(u8::is_ascii_digit);
    let is_other = sense.has(
        Sense::STOP
            | Sense::ROLE
            | Sense::KIN
            | Sense::LABEL
            | Sense::TITLE
            | Sense::STREET
            | Sense::UNIT,
    );
    let from = line.start + start;
    (is_written_as_name && !is_other).then_some(from..from + length)
}
