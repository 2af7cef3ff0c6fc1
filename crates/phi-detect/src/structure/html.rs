//! Tables, definition lists and form labels of HTML, and the tables of office documents in XML:
//! a head gives its cells their meaning.

use std::ops::Range;

use super::Source;
use super::heads;
use crate::budget::{Few, List};
use crate::labels::Meaning;
use crate::page::Field;

/// Reads every table and list of definitions.
pub(super) fn read(source: &Source<'_>, found: &mut List<Field>) {
    let bytes = source.bytes();
    let mut reader = Reader {
        bytes,
        found,
        columns: None,
        row: Few::new(),
        open: None,
    };
    for at in source.through(memchr::memchr_iter(b'<', bytes)) {
        reader.tag(at);
    }
    reader.end_row();
}

/// Kind of cell that a tag opens.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Head of a value: `<th>`, `<dt>`, `<label>`.
    Head,
    /// Value cell: `<td>`, `<dd>`.
    Value,
}

struct Cell {
    kind: Kind,
    span: Range<usize>,
}

struct Reader<'a> {
    bytes: &'a [u8],
    found: &'a mut List<Field>,
    /// The columns of the table being read.
    columns: Option<Few<Option<Meaning>>>,
    row: Few<Cell>,
    /// The cell being read, and its start.
    open: Option<(Kind, usize)>,
}

/// Longer tags are not read.
const TAG_BYTES_MAX: usize = 1024;
/// Tables are not wider.
const CELLS_MAX: usize = 512;
/// Largest distance from a label to its value.
const LABEL_REACH_BYTES: usize = 160;
/// Longer cells are prose.
const CELL_BYTES_MAX: usize = 200;

impl Reader<'_> {
    fn tag(&mut self, at: usize) {
        let rest = &self.bytes[at + 1..self.bytes.len().min(at + 12)];
        let is_end = rest.first() == Some(&b'/');
        let name = &rest[usize::from(is_end)..];
        let name = name.strip_prefix(b"w:").unwrap_or(name);
        let length = name
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        let name = name[..length].to_ascii_lowercase();
        let kind = match name.as_slice() {
            b"th" | b"dt" | b"label" => Kind::Head,
            b"td" | b"dd" | b"tc" | b"cell" => Kind::Value,
            b"tr" | b"dl" | b"table" | b"row" | b"tbl" => {
                self.end_cell(at);
                self.end_row();
                if matches!(name.as_slice(), b"table" | b"tbl") {
                    self.columns = None;
                }
                return;
            }
            _ => return,
        };
        self.end_cell(at);
        if name == b"label" && is_end {
            self.labelled(at);
        }
        if name == b"dt" && !is_end {
            self.end_row();
        }
        let reach = self.bytes.len().min(at + TAG_BYTES_MAX);
        let close = memchr::memchr(b'>', &self.bytes[at..reach]);
        if let (false, Some(close)) = (is_end, close) {
            self.open = Some((kind, at + close + 1));
        }
    }

    fn end_cell(&mut self, at: usize) {
        if let Some((kind, start)) = self.open.take()
            && self.row.len() < CELLS_MAX
        {
            let span = without_tags(self.bytes, start.min(at)..at);
            self.row.push(Cell { kind, span });
        }
    }

    /// Reads the value after the label of a form: text, or the value of a tag.
    fn labelled(&mut self, end_tag: usize) {
        let Some(label) = self.row.pop() else {
            return;
        };
        let meaning = heads::personal(&self.bytes[label.span]);
        let reach = self.bytes.len().min(end_tag + LABEL_REACH_BYTES);
        let after = &self.bytes[end_tag..reach];
        if meaning.is_none() {
            return;
        }
        let attribute = memchr::memmem::find(after, b" value=\"").map(|at| at + 8);
        let text = memchr::memchr_iter(b'>', after)
            .map(|close| reach - after[close + 1..].trim_ascii_start().len() - end_tag)
            .find(|&at| after.get(at).is_some_and(|&byte| byte != b'<'));
        let Some(start) = attribute.into_iter().chain(text).min() else {
            return;
        };
        if memchr::memmem::find(&after[..start], b"<label").is_none() {
            let start = end_tag + start;
            let rest = &self.bytes[start..self.bytes.len().min(start + CELL_BYTES_MAX)];
            let length = memchr::memchr2(b'<', b'"', rest).unwrap_or(0);
            self.push(super::trimmed(self.bytes, start..start + length), meaning);
        }
    }

    fn end_row(&mut self) {
        let row = std::mem::take(&mut self.row);
        if row.len() < 2 && !(row.len() == 1 && self.columns.is_some()) {
            self.columns = self.heads(&row).or(self.columns.take());
            return;
        }
        let columns = self.columns.take();
        if let Some(columns) = columns.filter(|columns| columns.len() == row.len()) {
            for (cell, &meaning) in row.iter().zip(&columns) {
                self.push(cell.span.clone(), meaning);
            }
            self.columns = Some(columns);
            return;
        }
        self.columns = self.heads(&row);
        if self.columns.is_none() {
            self.pairs(&row);
        }
    }

    /// The meanings of a row of heads.
    fn heads(&self, row: &[Cell]) -> Option<Few<Option<Meaning>>> {
        let is_marked = !row.is_empty() && row.iter().all(|cell| cell.kind == Kind::Head);
        let heads = row.iter().map(|cell| {
            let text = std::str::from_utf8(&self.bytes[cell.span.clone()]);
            text.unwrap_or_default()
        });
        if is_marked {
            heads::meanings_of_marked(heads)
        } else {
            heads::meanings(heads)
        }
    }

    /// Reads a label and its value beside each other (`<th>MRN</th><td>482913</td>`).
    fn pairs(&mut self, row: &[Cell]) {
        for pair in row.windows(2) {
            let meaning = heads::personal(&self.bytes[pair[0].span.clone()]);
            let value = pair[1].span.clone();
            if meaning.is_some() && heads::personal(&self.bytes[value.clone()]).is_none() {
                self.push(value, meaning);
            }
        }
    }

    fn push(&mut self, span: Range<usize>, meaning: Option<Meaning>) {
        if span.len() <= CELL_BYTES_MAX {
            self.found.push(Field::new(span, meaning));
        }
    }
}

/// Returns the content of a cell without the tags and blanks at its ends.
fn without_tags(bytes: &[u8], span: Range<usize>) -> Range<usize> {
    let mut span = super::trimmed(bytes, span);
    while bytes.get(span.start) == Some(&b'<') && !span.is_empty() {
        let length = memchr::memchr(b'>', &bytes[span.clone()]);
        let Some(length) = length else { break };
        span = super::trimmed(bytes, span.start + length + 1..span.end);
    }
    while span.end > span.start && bytes[span.end - 1] == b'>' {
        let Some(start) = memchr::memrchr(b'<', &bytes[span.clone()]) else {
            break;
        };
        span = super::trimmed(bytes, span.start..span.start + start);
    }
    span
}
