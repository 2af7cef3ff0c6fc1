//! Tables with a head: a column whose head is a cue holds values of its kind.

use std::ops::Range;

use super::{Proposals, cues, value};
use crate::budget::Few;
use crate::kinds::PhiKind;
use crate::page::Page;

const DELIMITERS: [u8; 4] = [b',', b'\t', b'|', b';'];
/// Most columns of a table.
const COLUMNS_MAX: usize = 200;

/// A table under way: its delimiter, its number of cells, and the columns that matter.
struct Table {
    delimiter: u8,
    cells: usize,
    columns: Few<(usize, PhiKind)>,
}

/// Proposes the values of columns with such a head.
pub(super) fn find(page: &Page<'_>, out: &mut Proposals<'_>) {
    let bytes = page.bytes();
    let mut way = page.way();
    let mut table: Option<Table> = None;
    let mut start = 0;
    while start < bytes.len() && way.goes_on(start) {
        let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at);
        let line = start..end;
        start = end + 1;
        let row = table
            .as_ref()
            .map(|table| cells(bytes, line.clone(), table.delimiter));
        match (&table, row) {
            (Some(table), Some(row)) if row.len() == table.cells => emit(page, table, &row, out),
            _ => table = head(bytes, line),
        }
    }
}

/// Reads a line as the head of a table, if one of its cells is a cue.
fn head(bytes: &[u8], line: Range<usize>) -> Option<Table> {
    const LONGEST: usize = 4096;
    if line.len() > LONGEST {
        return None;
    }
    DELIMITERS.into_iter().find_map(|delimiter| {
        let cells = cells(bytes, line.clone(), delimiter);
        let is_head = (2..=COLUMNS_MAX).contains(&cells.len());
        let kinds = cells.iter().enumerate().filter(|_| is_head);
        let columns: Few<_> = kinds
            .filter_map(|(place, cell)| Some((place, cues::of_whole(&bytes[cell.clone()])?)))
            .collect();
        (!columns.is_empty()).then_some(Table {
            delimiter,
            cells: cells.len(),
            columns,
        })
    })
}

/// The cells of a line, without blanks and quotes at their edges; at most one more than a table has.
fn cells(bytes: &[u8], line: Range<usize>, delimiter: u8) -> Few<Range<usize>> {
    let mut start = line.start;
    let mut found = Few::new();
    while found.len() <= COLUMNS_MAX {
        let rest = &bytes[start..line.end];
        let end = memchr::memchr(delimiter, rest).map_or(line.end, |at| start + at);
        found.push(trimmed(bytes, start..end));
        if end == line.end {
            break;
        }
        start = end + 1;
    }
    found
}

fn trimmed(bytes: &[u8], cell: Range<usize>) -> Range<usize> {
    let is_edge = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`');
    let text = &bytes[cell.clone()];
    let lead = text.iter().take_while(|byte| is_edge(byte)).count();
    let tail = text[lead..]
        .iter()
        .rev()
        .take_while(|byte| is_edge(byte))
        .count();
    cell.start + lead..cell.end - tail
}

fn emit(page: &Page<'_>, table: &Table, row: &[Range<usize>], out: &mut Proposals<'_>) {
    for (place, kind) in &table.columns {
        let Some(cell) = row.get(*place).filter(|cell| !cell.is_empty()) else {
            continue;
        };
        if let Some(span) = value::of_cell(page, *kind, cell.clone()) {
            out.push(page, *kind, span, 0.85, "cue.column");
        }
    }
}
