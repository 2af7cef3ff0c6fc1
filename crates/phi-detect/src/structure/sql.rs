//! SQL that names its columns: `INSERT INTO patients (name, ssn) VALUES ('Jane Roe', '536228741'), (…)`,
//! and the rows of a dump below `COPY patients (name, ssn) FROM stdin;`.

use std::ops::Range;

use super::Source;
use crate::budget::{Few, List};
use crate::labels::{self, Meaning};
use crate::page::Field;

/// Reads the rows of every insert that names its columns.
pub(super) fn read(source: &Source<'_>, found: &mut List<Field>) {
    let bytes = source.bytes();
    let mut free_from = 0;
    for paren in source.through(memchr::memchr_iter(b'(', bytes)) {
        if paren < free_from || !follows_table(bytes, paren) {
            continue;
        }
        let Some((columns, after)) = list(bytes, paren) else {
            // No list ends within reach, and so no list that starts before that end does.
            free_from = paren + LIST_BYTES_MAX;
            continue;
        };
        let mut meanings: Few<_> = columns
            .iter()
            .map(|span| column(bytes, span.clone()))
            .collect();
        let mut known = meanings.iter().flatten();
        if known.any(|&meaning| super::tells_of_a_person(meaning)) {
            for meaning in &mut meanings {
                *meaning = super::in_person_record(*meaning);
            }
        }
        free_from = after;
        if let Some(values) = values_keyword(bytes, after) {
            free_from = rows(bytes, values, &meanings, found);
        } else if let Some(lines) = copied_lines(bytes, after) {
            free_from = copied(bytes, lines, &meanings, found);
        }
    }
}

/// Whether "insert into table" or "copy table" comes right before.
fn follows_table(bytes: &[u8], paren: usize) -> bool {
    let head = bytes[paren.saturating_sub(160)..paren].to_ascii_lowercase();
    [b"into ".as_slice(), b"copy "].iter().any(|verb| {
        memchr::memmem::rfind(&head, verb).is_some_and(|at| {
            let table = head[at + verb.len()..].trim_ascii();
            let is_name = |byte: &u8| {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'_' | b'.' | b'"' | b'`' | b'[' | b']')
            };
            !table.is_empty() && table.iter().all(is_name)
        })
    })
}

/// Returns the start of the lines below `FROM stdin;`.
fn copied_lines(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = &bytes[from..bytes.len().min(from + 200)];
    let line = memchr::memchr(b'\n', rest)?;
    let head = rest[..line].to_ascii_lowercase();
    memchr::memmem::find(&head, b"from stdin").map(|_| from + line + 1)
}

/// Reads lines with a tab between their values, up to the one that ends them: `\.`, or the next head. Returns the start
/// of that line.
fn copied(
    bytes: &[u8],
    from: usize,
    meanings: &[Option<Meaning>],
    found: &mut List<Field>,
) -> usize {
    let mut start = from;
    while start < bytes.len() {
        let length = memchr::memchr(b'\n', &bytes[start..]).unwrap_or(bytes.len() - start);
        let line = &bytes[start..start + length];
        let cells = memchr::memchr_iter(b'\t', line).count() + 1;
        if cells != meanings.len() || line == b"\\." || line.starts_with(b"COPY ") {
            return start;
        }
        let mut at = start;
        for (cell, &meaning) in line.split(|&byte| byte == b'\t').zip(meanings) {
            let span = super::trimmed(bytes, at..at + cell.len());
            found.push(Field::new(span, meaning));
            at += cell.len() + 1;
        }
        start += length + 1;
    }
    start
}

/// Returns the meaning of a column; a column of names in a table about people holds their names.
fn column(bytes: &[u8], span: Range<usize>) -> Option<Meaning> {
    let name = std::str::from_utf8(&bytes[span])
        .ok()
        .filter(|name| name.len() <= 64)?;
    labels::of_key(name.trim_matches(|c: char| !c.is_alphanumeric()))
}

fn values_keyword(bytes: &[u8], from: usize) -> Option<usize> {
    let at = from
        + bytes[from..]
            .iter()
            .take(16)
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
    let word = bytes.get(at..at + 6)?;
    word.eq_ignore_ascii_case(b"values").then_some(at + 6)
}

/// Reads the rows behind `VALUES`. Returns their end.
fn rows(bytes: &[u8], from: usize, meanings: &[Option<Meaning>], found: &mut List<Field>) -> usize {
    let mut at = from;
    loop {
        at += bytes[at..]
            .iter()
            .take(16)
            .take_while(|&&byte| byte.is_ascii_whitespace() || byte == b',')
            .count();
        if bytes.get(at) != Some(&b'(') {
            return at;
        }
        let Some((values, after)) = list(bytes, at) else {
            return at;
        };
        for (span, &meaning) in values.into_iter().zip(meanings) {
            found.push(Field::new(literal(bytes, span), meaning));
        }
        at = after;
    }
}

/// Returns the text of a value without its quotes and the prefix that says how to read them (`DATE '1962-03-14'`,
/// `N'Roe'`).
fn literal(bytes: &[u8], span: Range<usize>) -> Range<usize> {
    let inner = super::trimmed(bytes, span.clone());
    let quote = memchr::memchr(b'\'', &bytes[inner.clone()]);
    let is_prefix = |prefix: &[u8]| {
        prefix
            .iter()
            .all(|byte| byte.is_ascii_alphabetic() || *byte == b' ')
    };
    match quote {
        Some(at) if is_prefix(&bytes[inner.start..inner.start + at]) => {
            inner.start + at + 1..inner.end
        }
        _ => inner,
    }
}

/// Longer lists are not read.
const LIST_BYTES_MAX: usize = 16_384;

/// Returns the items of a parenthesised list, and its end. Strings may hold commas and parentheses.
fn list(bytes: &[u8], paren: usize) -> Option<(Few<Range<usize>>, usize)> {
    let limit = bytes.len().min(paren + LIST_BYTES_MAX);
    let mut items = Few::new();
    let mut start = paren + 1;
    let mut quote = None;
    for (at, &byte) in bytes.iter().enumerate().take(limit).skip(paren + 1) {
        match (byte, quote) {
            (byte, Some(open)) if byte == open => quote = None,
            (_, Some(_)) => {}
            (byte @ (b'\'' | b'"'), None) => quote = Some(byte),
            (b',', None) => {
                items.push(start..at);
                start = at + 1;
            }
            (b')', None) => {
                items.push(start..at);
                return Some((items, at + 1));
            }
            _ => {}
        }
    }
    None
}
