//! Tables with a header line: CSV, tab- or semicolon-separated, and Markdown.

use std::ops::Range;

use crate::labels::{self, Meaning};
use crate::page::Field;

/// Reads every table: a line of column heads and the lines below with as many cells.
pub(super) fn read(bytes: &[u8], found: &mut Vec<Field>) {
    let mut table: Option<Table> = None;
    let mut start = 0;
    while start < bytes.len() {
        let length = memchr::memchr(b'\n', &bytes[start..]).unwrap_or(bytes.len() - start);
        let line = start..start + length;
        start += length + 1;
        if let Some(open) = &table {
            match open.row(bytes, line.clone()) {
                Row::Cells(cells) => {
                    open.emit(bytes, cells, found);
                    continue;
                }
                Row::Rule => continue,
                Row::Other => table = None,
            }
        }
        table = table.or_else(|| header(bytes, line));
    }
}

/// A table whose header was read.
struct Table {
    delimiter: u8,
    columns: Vec<Option<Meaning>>,
}

enum Row {
    Cells(Vec<Range<usize>>),
    /// The line of dashes under a Markdown header.
    Rule,
    Other,
}

/// Longer lines are no table rows worth reading.
const LINE_BYTES_MAX: usize = 8192;

impl Table {
    fn row(&self, bytes: &[u8], line: Range<usize>) -> Row {
        if line.len() > LINE_BYTES_MAX {
            return Row::Other;
        }
        let text = &bytes[line.clone()];
        if text.contains(&b'-')
            && text
                .iter()
                .all(|byte| matches!(byte, b'-' | b'|' | b':' | b' ' | b'+' | b'\r'))
        {
            return Row::Rule;
        }
        let cells = cells(bytes, line, self.delimiter);
        if cells.len() == self.columns.len() {
            Row::Cells(cells)
        } else {
            Row::Other
        }
    }

    fn emit(&self, bytes: &[u8], cells: Vec<Range<usize>>, found: &mut Vec<Field>) {
        for (span, &meaning) in cells.into_iter().zip(&self.columns) {
            found.push(Field::new(super::trimmed(bytes, span), meaning));
        }
    }
}

/// Whether a line is a header: short cells without numbers, at least two of them labels we know.
fn header(bytes: &[u8], line: Range<usize>) -> Option<Table> {
    if line.len() > 2000 || line.len() < 3 {
        return None;
    }
    let text = &bytes[line.clone()];
    let (count, delimiter) = b",\t|;"
        .map(|one| (memchr::memchr_iter(one, text).count(), one))
        .into_iter()
        .max_by_key(|(count, _)| *count)?;
    // Sentences have longer pieces between their commas.
    if count == 0 || text.len() / (count + 1) > 32 {
        return None;
    }
    let cells = cells(bytes, line, delimiter);
    if cells.len() < 2 || cells.iter().skip(1).any(|cell| cell.len() > 40) {
        return None;
    }
    if !cells
        .iter()
        .skip(1)
        .all(|cell| is_head_like(&bytes[cell.clone()]))
    {
        return None;
    }
    let mut columns: Vec<_> = cells.into_iter().map(|cell| column(bytes, cell)).collect();
    let known = columns.iter().flatten().count();
    if known < 2 || known * 3 < columns.len() {
        return None;
    }
    if columns
        .iter()
        .flatten()
        .any(|&meaning| super::tells_of_a_person(meaning))
    {
        for meaning in &mut columns {
            *meaning = super::in_person_record(*meaning);
        }
    }
    Some(Table { delimiter, columns })
}

/// Whether a cell can be a column head: a few words, no sentence.
fn is_head_like(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    let words = cell
        .split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty())
        .count();
    !cell.is_empty()
        && words <= 4
        && !cell.ends_with(b".")
        && !cell
            .iter()
            .any(|byte| matches!(byte, b'?' | b'!' | b'=' | b':' | b'{' | b'}'))
}

/// What a column head means; prose before the first head ("Here is the file: name") is cut off.
fn column(bytes: &[u8], cell: Range<usize>) -> Option<Meaning> {
    let cell = super::trimmed(bytes, cell);
    let text = std::str::from_utf8(&bytes[cell]).ok()?;
    let head = text.rsplit(": ").next().unwrap_or(text);
    let is_head =
        head.len() <= 40 && head.split_whitespace().count() <= 5 && !head.contains(['.', '?', '=']);
    if is_head {
        labels::of_whole_key(head).or_else(|| labels::of_key(head).filter(|_| !head.contains(' ')))
    } else {
        None
    }
}

/// The cells of a line; quoted cells may hold the delimiter.
fn cells(bytes: &[u8], line: Range<usize>, delimiter: u8) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let mut start = line.start;
    let mut end = line.end;
    if delimiter == b'|' {
        // Markdown has bars at both ends.
        let inner = super::trimmed(bytes, line.clone());
        start = inner.start + usize::from(bytes.get(inner.start) == Some(&b'|'));
        end = inner.end - usize::from(inner.end > start && bytes[inner.end - 1] == b'|');
    }
    let mut in_quotes = false;
    let from = start;
    for (at, &byte) in bytes.iter().enumerate().take(end).skip(from) {
        match byte {
            b'"' => in_quotes = !in_quotes,
            _ if byte == delimiter && !in_quotes => {
                cells.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    cells.push(start..end);
    cells
}
