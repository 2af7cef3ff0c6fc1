//! SQL inserts: `INSERT INTO patients (name, ssn) VALUES ('Jane Roe', '536228741'), (…)`.

use std::ops::Range;

use crate::labels::{self, Meaning};
use crate::page::Field;

/// Reads the rows of every insert that names its columns.
pub(super) fn read(bytes: &[u8], found: &mut Vec<Field>) {
    let mut free_from = 0;
    for paren in memchr::memchr_iter(b'(', bytes) {
        if paren < free_from || !follows_insert(bytes, paren) {
            continue;
        }
        let Some((columns, after)) = list(bytes, paren) else {
            // No list ends within reach, so none that starts before does.
            free_from = paren + LIST_BYTES_MAX;
            continue;
        };
        let meanings: Vec<_> = columns
            .iter()
            .map(|span| column(bytes, span.clone()))
            .collect();
        if let Some(values) = values_keyword(bytes, after) {
            rows(bytes, values, &meanings, found);
        }
    }
}

/// Whether "insert into table" stands right before.
fn follows_insert(bytes: &[u8], paren: usize) -> bool {
    let head = bytes[paren.saturating_sub(160)..paren].to_ascii_lowercase();
    let Some(insert) = memchr::memmem::rfind(&head, b"insert into ") else {
        return false;
    };
    let table = head[insert + 12..].trim_ascii();
    !table.is_empty()
        && table.iter().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'"' | b'`' | b'[' | b']')
        })
}

/// What a column is called; a column of names in a table about people holds their names.
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

fn rows(bytes: &[u8], from: usize, meanings: &[Option<Meaning>], found: &mut Vec<Field>) {
    let is_about_people = meanings
        .iter()
        .flatten()
        .any(|&meaning| super::tells_of_a_person(meaning));
    let mut at = from;
    loop {
        at += bytes[at..]
            .iter()
            .take(16)
            .take_while(|&&byte| byte.is_ascii_whitespace() || byte == b',')
            .count();
        if bytes.get(at) != Some(&b'(') {
            return;
        }
        let Some((values, after)) = list(bytes, at) else {
            return;
        };
        for (span, &meaning) in values.into_iter().zip(meanings) {
            let meaning = if is_about_people {
                super::in_person_record(meaning)
            } else {
                meaning
            };
            found.push(Field::new(super::trimmed(bytes, span), meaning));
        }
        at = after;
    }
}

/// Longer lists are not read.
const LIST_BYTES_MAX: usize = 16_384;

/// The items of a parenthesised list, and where it ends. Strings may hold commas and parentheses.
fn list(bytes: &[u8], paren: usize) -> Option<(Vec<Range<usize>>, usize)> {
    let limit = bytes.len().min(paren + LIST_BYTES_MAX);
    let mut items = Vec::new();
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
