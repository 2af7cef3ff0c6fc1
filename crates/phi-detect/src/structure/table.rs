//! Tables with a header line: CSV, tab- or semicolon-separated, Markdown, and columns set apart by spaces.

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

/// What parts the cells of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Delimiter {
    Sign(u8),
    /// Two spaces or more.
    Spaces,
}

/// A table whose header was read.
struct Table {
    delimiter: Delimiter,
    columns: Vec<Option<Meaning>>,
    /// How far into the header each column starts.
    offsets: Vec<usize>,
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
        let cells = cells(bytes, line.clone(), self.delimiter);
        if cells.len() == self.columns.len() {
            Row::Cells(cells)
        } else if self.delimiter == Delimiter::Spaces && cells.len() >= 2 {
            Row::Cells(self.by_place(line.start, cells))
        } else {
            Row::Other
        }
    }

    /// The cells under each column where some are empty: each belongs to the column it starts under.
    fn by_place(&self, line: usize, cells: Vec<Range<usize>>) -> Vec<Range<usize>> {
        let mut placed = vec![line..line; self.columns.len()];
        for cell in cells {
            // A number set flush right may start a little before its column.
            let offset = cell.start - line + 2;
            let column = self.offsets.partition_point(|&start| start <= offset);
            placed[column.saturating_sub(1)] = cell;
        }
        placed
    }

    fn emit(&self, bytes: &[u8], cells: Vec<Range<usize>>, found: &mut Vec<Field>) {
        for (span, &meaning) in cells.into_iter().zip(&self.columns) {
            // Spaces part columns less surely than signs do: what no head explains is left to the rules for prose.
            if meaning.is_some() || self.delimiter != Delimiter::Spaces {
                found.push(Field::new(super::trimmed(bytes, span), meaning));
            }
        }
    }
}

/// Whether a line is a header: short cells without numbers, at least two of them labels we know.
fn header(bytes: &[u8], line: Range<usize>) -> Option<Table> {
    if line.len() > 2000 || line.len() < 3 {
        return None;
    }
    let text = &bytes[line.clone()];
    let (count, sign) = b",\t|;"
        .map(|one| (memchr::memchr_iter(one, text).count(), one))
        .into_iter()
        .max_by_key(|(count, _)| *count)?;
    // Sentences have longer pieces between their commas.
    let by_sign = (count > 0 && text.len() / (count + 1) <= 32)
        .then(|| header_by(bytes, line.clone(), Delimiter::Sign(sign)))
        .flatten();
    // Heads have neither colons nor numbers; most lines with gaps in them do.
    let has_columns = || {
        let is_head = |byte: &u8| *byte != b':' && !byte.is_ascii_digit();
        memchr::memmem::find(text, b"  ").is_some() && text.iter().all(is_head)
    };
    by_sign.or_else(|| {
        has_columns()
            .then(|| header_by(bytes, line, Delimiter::Spaces))
            .flatten()
    })
}

fn header_by(bytes: &[u8], line: Range<usize>, delimiter: Delimiter) -> Option<Table> {
    let cells = cells(bytes, line.clone(), delimiter);
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
    let offsets = cells.iter().map(|cell| cell.start - line.start).collect();
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
    Some(Table {
        delimiter,
        columns,
        offsets,
    })
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

/// "Last" and "First" head the parts of a name, where the table is about people.
fn is_part_of_name(head: &str) -> bool {
    head.eq_ignore_ascii_case("last") || head.eq_ignore_ascii_case("first")
}

/// What a column head means; prose before the first head ("Here is the file: name") is cut off.
fn column(bytes: &[u8], cell: Range<usize>) -> Option<Meaning> {
    let cell = super::trimmed(bytes, cell);
    let text = std::str::from_utf8(&bytes[cell]).ok()?;
    let head = text.rsplit(": ").next().unwrap_or(text);
    let is_head =
        head.len() <= 40 && head.split_whitespace().count() <= 5 && !head.contains(['.', '?', '=']);
    if is_head {
        labels::of_whole_key(head)
            .or_else(|| labels::of_key(head).filter(|_| !head.contains(' ')))
            .or_else(|| is_part_of_name(head).then_some(Meaning::NameMaybe))
    } else {
        None
    }
}

/// The cells of a line.
fn cells(bytes: &[u8], line: Range<usize>, delimiter: Delimiter) -> Vec<Range<usize>> {
    match delimiter {
        Delimiter::Sign(sign) => cells_by_sign(bytes, line, sign),
        Delimiter::Spaces => cells_by_spaces(bytes, line),
    }
}

/// The pieces of a line with two spaces or more between them.
fn cells_by_spaces(bytes: &[u8], line: Range<usize>) -> Vec<Range<usize>> {
    let mut cells: Vec<Range<usize>> = Vec::new();
    for at in line.filter(|&at| !bytes[at].is_ascii_whitespace()) {
        match cells.last_mut() {
            Some(cell) if at - cell.end < 2 => cell.end = at + 1,
            _ => cells.push(at..at + 1),
        }
    }
    cells
}

/// The cells of a line with a sign between them; quoted cells may hold it.
fn cells_by_sign(bytes: &[u8], line: Range<usize>, delimiter: u8) -> Vec<Range<usize>> {
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
