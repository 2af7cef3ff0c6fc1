//! Lists of character codes, in hexadecimal, decimal, octal or binary.

use super::Coded;
use crate::budget::{Few, List, Text};
use crate::page::Page;

/// Fewer codes in a row are just numbers.
const CODES_MIN: usize = 9;

/// Finds lists of codes (`35 33 36 2d`, `0x35, 0x33`, `53 51 54 45`, `065 063 066 055`, `00110101 00110011`).
pub(super) fn find(page: &Page<'_>, found: &mut List<Coded>) {
    let (mut index, mut way) = (0, page.way());
    while index < page.marks.len() && way.goes_on(page.marks[index].start as usize) {
        let count = list_length(page, index);
        if count >= CODES_MIN {
            let marks = &page.marks[index..index + count];
            let span = marks[0].start as usize..marks[count - 1].end as usize;
            let values = |radix| -> Option<Few<u8>> {
                marks
                    .iter()
                    .map(|mark| {
                        let text = std::str::from_utf8(page.slice(mark.range())).ok()?;
                        let digits = text.strip_prefix("0x").unwrap_or(text);
                        u8::from_str_radix(digits, radix)
                            .ok()
                            .filter(|code| (0x20..0x7f).contains(code))
                    })
                    .collect()
            };
            let ratio = (span.len() / count, 1);
            for bytes in [2, 8, 10, 16].into_iter().filter_map(values) {
                let text = String::from_utf8(bytes)
                    .ok()
                    .filter(|text| looks_hidden(text))
                    .and_then(|text| Text::of(page.memory(), text));
                found.extend(text.map(|text| Coded {
                    span: span.clone(),
                    text,
                    ratio,
                }));
            }
        }
        index += count.max(1);
    }
}

/// Whether codes of digits have signs or letters among them, unlike a list of measurements.
fn looks_hidden(text: &str) -> bool {
    text.bytes().filter(u8::is_ascii_alphanumeric).count() * 4 >= text.len() * 3
}

fn list_length(page: &Page<'_>, first: usize) -> usize {
    let is_code = |index: usize| {
        page.marks.get(index).is_some_and(|mark| {
            (mark.is_number() || mark.is_code()) && matches!(mark.len(), 2..=4 | 8)
        })
    };
    let is_joined = |index: usize| {
        let between =
            page.slice(page.marks[index].end as usize..page.marks[index + 1].start as usize);
        let is_wrapped = between.contains(&b'\n') && between.len() <= 12;
        (is_wrapped || (1..=3).contains(&between.len()))
            && between
                .iter()
                .all(|byte| matches!(byte, b' ' | b',' | b':' | b'\\' | b'\n'))
    };
    if !is_code(first) {
        return 0;
    }
    let mut count = 1;
    while is_code(first + count) && is_joined(first + count - 1) {
        count += 1;
    }
    count
}
