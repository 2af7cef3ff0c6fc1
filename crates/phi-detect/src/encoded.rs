//! Text in another coding: base64, hexadecimal and lists of character codes.
//!
//! What decodes to readable text is scanned like any other. A finding covers the
//! whole coded run, since what is left of it would decode to nonsense or to PHI.

use std::ops::Range;

use crate::Finding;
use crate::candidate::Candidate;
use crate::page::Page;

/// Shorter runs hold nothing worth hiding.
const RUN_BYTES_MIN: usize = 14;

/// A coded run that decodes to text.
struct Coded {
    span: Range<usize>,
    text: String,
    /// How many bytes of the run stand for how many bytes of text.
    ratio: (usize, usize),
}

/// Decodes every coded run of the page and scans it with `scan`.
pub(crate) fn find(
    page: &Page<'_>,
    scan: &dyn Fn(&str) -> Vec<Finding>,
    candidates: &mut Vec<Candidate>,
) {
    for coded in runs(page) {
        spread(&coded, scan(&coded.text), candidates);
    }
}

/// Gives each finding its share of the run; together they cover all of it.
fn spread(coded: &Coded, findings: Vec<Finding>, candidates: &mut Vec<Candidate>) {
    let (coded_bytes, text_bytes) = coded.ratio;
    let place = |at: usize| (coded.span.start + at / text_bytes * coded_bytes).min(coded.span.end);
    let starts: Vec<usize> = findings
        .iter()
        .enumerate()
        .map(|(index, finding)| {
            if index == 0 {
                coded.span.start
            } else {
                place(finding.span.start)
            }
        })
        .collect();
    for (index, finding) in findings.into_iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(coded.span.end);
        if starts[index] < end {
            candidates.push(Candidate {
                kind: finding.kind,
                span: starts[index]..end,
                score: finding.score,
                rule: "encoded",
            });
        }
    }
}

fn runs(page: &Page<'_>) -> Vec<Coded> {
    let mut found = Vec::new();
    let mut free_from = 0;
    for long in &page.long_runs {
        if long.start < free_from {
            continue;
        }
        let span = widen(page.bytes(), long.clone(), free_from);
        free_from = span.end;
        let run = page.slice(span.clone());
        found.extend(
            hexadecimal(run)
                .or_else(|| base64(run))
                .map(|(text, ratio)| Coded { span, text, ratio }),
        );
    }
    codes(page, &mut found);
    found
}

/// Takes the other characters of base64 on both sides into the run.
fn widen(bytes: &[u8], span: Range<usize>, floor: usize) -> Range<usize> {
    let is_part =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let before = bytes[floor.min(span.start)..span.start]
        .iter()
        .rev()
        .take_while(|byte| is_part(byte))
        .count();
    let after = bytes[span.end..]
        .iter()
        .take_while(|byte| is_part(byte))
        .count();
    let end = span.end + after;
    let padding = bytes[end..]
        .iter()
        .take(2)
        .take_while(|&&byte| byte == b'=')
        .count();
    span.start - before..end + padding
}

/// `3533362d…`, as text and the ratio of bytes.
fn hexadecimal(run: &[u8]) -> Option<(String, (usize, usize))> {
    let run = run.strip_prefix(b"0x").unwrap_or(run);
    let is_hex = run.len().is_multiple_of(2)
        && run.len() >= RUN_BYTES_MIN
        && run.iter().all(u8::is_ascii_hexdigit);
    if !is_hex {
        return None;
    }
    let bytes = run
        .chunks_exact(2)
        .map(|pair| hex(pair[0]) << 4 | hex(pair[1]))
        .collect();
    readable(bytes).map(|text| (text, (2, 1)))
}

fn hex(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        _ => (byte | 0x20) - b'a' + 10,
    }
}

/// Base64 in either alphabet, with or without padding.
fn base64(run: &[u8]) -> Option<(String, (usize, usize))> {
    let run = run
        .strip_suffix(b"==")
        .or_else(|| run.strip_suffix(b"="))
        .unwrap_or(run);
    let has_upper = run.iter().any(u8::is_ascii_uppercase);
    let has_other = run
        .iter()
        .any(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if run.len() < RUN_BYTES_MIN || !has_upper || !has_other || run.len() % 4 == 1 {
        return None;
    }
    // Look at the start before decoding a megabyte of something else.
    readable(decode(&run[..run.len().min(64) & !3])?)?;
    readable(decode(run)?).map(|text| (text, (4, 3)))
}

fn decode(run: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(run.len() / 4 * 3 + 3);
    let mut bits = 0u32;
    let mut count = 0;
    for &byte in run {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

/// The bytes as text, if a person could read it.
fn readable(bytes: Vec<u8>) -> Option<String> {
    let is_shown = |byte: &u8| {
        (0x20..0x7f).contains(byte) || matches!(byte, b'\t' | b'\n' | b'\r') || *byte >= 0xc2
    };
    let shown = bytes.iter().filter(|byte| is_shown(byte)).count();
    if shown * 20 < bytes.len() * 19 {
        return None;
    }
    match String::from_utf8(bytes) {
        Ok(text) => Some(text),
        // The start of a run may be cut inside a character.
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            let is_only_cut = valid + 3 >= bytes.len() && valid > 0;
            is_only_cut.then(|| String::from_utf8_lossy(&bytes[..valid]).into_owned())
        }
    }
}

/// Fewer codes in a row are just numbers.
const CODES_MIN: usize = 9;

/// Lists of codes: `35 33 36 2d`, `0x35, 0x33`, `53 51 54 45`.
fn codes(page: &Page<'_>, found: &mut Vec<Coded>) {
    let mut index = 0;
    while index < page.marks.len() {
        let count = list_length(page, index);
        if count >= CODES_MIN {
            let marks = &page.marks[index..index + count];
            let span = marks[0].start as usize..marks[count - 1].end as usize;
            let values = |radix| -> Option<Vec<u8>> {
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
            for bytes in values(16).into_iter().chain(values(10)) {
                let text = String::from_utf8(bytes)
                    .ok()
                    .filter(|text| looks_hidden(text));
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

/// Codes of digits with signs or letters among them, not a list of measurements.
fn looks_hidden(text: &str) -> bool {
    text.bytes().filter(u8::is_ascii_alphanumeric).count() * 4 >= text.len() * 3
}

fn list_length(page: &Page<'_>, first: usize) -> usize {
    let is_code = |index: usize| {
        page.marks
            .get(index)
            .is_some_and(|mark| (mark.is_number() || mark.is_code()) && matches!(mark.len(), 2..=4))
    };
    let is_joined = |index: usize| {
        let between =
            page.slice(page.marks[index].end as usize..page.marks[index + 1].start as usize);
        (1..=3).contains(&between.len())
            && between
                .iter()
                .all(|byte| matches!(byte, b' ' | b',' | b':' | b'\\'))
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
