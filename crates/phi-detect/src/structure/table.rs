//! Tables with a header line: CSV, tab- or semicolon-separated, Markdown, and columns set apart by spaces.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::Source;
use super::heads;
use crate::budget::{Few, List};
use crate::labels::Meaning;
use crate::page::Field;

/// Reads every table: a line of column heads and the lines below with as many cells.
pub(super) fn read(source: &Source<'_>, found: &mut List<Field>) {
    let bytes = source.bytes();
    let mut table: Option<Table> = None;
    let (mut start, mut way) = (0, source.way());
    while start < bytes.len() && way.goes_on(start) {
        let length = memchr::memchr(b'\n', &bytes[start..]).unwrap_or(bytes.len() - start);
        let mut line = start..start + length;
        let mut ends_string = false;
        if let Some(open) = &table {
            let string_end = open.string_end(bytes, line.clone());
            ends_string = string_end.is_some();
            line.end = string_end.unwrap_or_else(|| open.row_end(bytes, line.clone()));
        }
        start = line.end + 1;
        if let Some(open) = &table {
            let row = open.row(bytes, line.clone());
            let goes_on = !matches!(row, Row::Other);
            if let Row::Cells(cells) = row {
                open.emit(bytes, cells, found);
            }
            if ends_string || !goes_on {
                table = None;
            }
            if goes_on {
                continue;
            }
        }
        table = table.or_else(|| header(bytes, line));
    }
}

/// Separator between the cells of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Delimiter {
    Sign(u8),
    /// Two spaces or more.
    Spaces,
    /// One space or more, if neither heads nor values hold any.
    Blank,
}

/// A table whose header was read.
struct Table {
    delimiter: Delimiter,
    columns: Few<Option<Meaning>>,
    /// Span of each head on its line.
    heads: Few<Range<usize>>,
    /// The quote of the string that holds the table.
    quote: Option<u8>,
}

enum Row {
    Cells(Few<Range<usize>>),
    /// The line of dashes under a Markdown header.
    Rule,
    Other,
}

/// Longer lines are not table rows worth reading.
const LINE_BYTES_MAX: usize = 8192;

impl Table {
    /// Returns the end of the row that starts with this line: a quoted cell may go on over several lines.
    fn row_end(&self, bytes: &[u8], line: Range<usize>) -> usize {
        let quotes = |line: Range<usize>| memchr::memchr_iter(b'"', &bytes[line]).count();
        let is_open = matches!(self.delimiter, Delimiter::Sign(b',' | b';' | b'\t'))
            && quotes(line.clone()) % 2 == 1;
        if !is_open {
            return line.end;
        }
        let reach = bytes.len().min(line.start + LINE_BYTES_MAX);
        let mut is_open = true;
        let mut at = line.end;
        while let Some(step) = memchr::memchr2(b'"', b'\n', &bytes[at.min(reach)..reach]) {
            at += step + 1;
            match bytes[at - 1] {
                b'"' => is_open = !is_open,
                _ if !is_open => return at - 1,
                _ => {}
            }
        }
        if is_open { line.end } else { reach }
    }

    /// Returns the end of the string that holds the table, if it ends on this line (`| Roe | 482913 |"}`). That is at a
    /// quote which neither opens nor closes a cell.
    fn string_end(&self, bytes: &[u8], line: Range<usize>) -> Option<usize> {
        let Delimiter::Sign(sign) = self.delimiter else {
            return None;
        };
        let quote = self.quote.unwrap_or(b'"');
        let text = &bytes[line.start..line.end.min(line.start + LINE_BYTES_MAX)];
        let mut is_open = false;
        for at in memchr::memchr_iter(quote, text) {
            let opens_cell = at == 0 || text[at - 1] == sign;
            // `5'11",x` is a height; what goes on after a string are signs of data.
            let goes_on = matches!(
                text[at + 1..],
                [] | [b'}' | b']' | b')', ..] | [b',', b'"' | b' ', ..]
            );
            if is_open {
                is_open = false;
            } else if opens_cell && !(goes_on && self.quote.is_some()) && sign != b'|' {
                is_open = true;
            } else if goes_on {
                return Some(line.start + at);
            }
        }
        None
    }

    fn row(&self, bytes: &[u8], line: Range<usize>) -> Row {
        if line.len() > LINE_BYTES_MAX {
            return Row::Other;
        }
        let text = &bytes[line.clone()];
        if text.iter().any(|byte| matches!(byte, b'-' | b'='))
            && text
                .iter()
                .all(|byte| matches!(byte, b'-' | b'=' | b'|' | b':' | b' ' | b'+' | b'\r'))
        {
            return Row::Rule;
        }
        let cells = cells(bytes, line.clone(), self.delimiter);
        if cells.len() == self.columns.len() {
            Row::Cells(cells)
        } else if self.delimiter == Delimiter::Spaces && cells.len() >= 2 {
            Row::Cells(self.by_place(line.start, cells))
        } else if matches!(self.delimiter, Delimiter::Spaces | Delimiter::Blank) {
            self.words(bytes, line).map_or(Row::Other, Row::Cells)
        } else {
            Row::Other
        }
    }

    /// The words of a line, if there is one for each column; printed frames number their rows.
    fn words(&self, bytes: &[u8], line: Range<usize>) -> Option<Few<Range<usize>>> {
        let mut words = cells_by_spaces(bytes, line, 1);
        let is_numbered = words.len() == self.columns.len() + 1
            && bytes[words[0].clone()].iter().all(u8::is_ascii_digit);
        if is_numbered {
            words.remove(0);
        }
        (words.len() == self.columns.len()).then_some(words)
    }

    /// Returns the cells under each column if some are empty or the rows are numbered: each belongs to the column whose
    /// head is above it, or else to the column under which it starts.
    fn by_place(&self, line: usize, cells: Few<Range<usize>>) -> Few<Range<usize>> {
        let mut placed = vec![line..line; self.columns.len()];
        let mut left_over = Few::new();
        for cell in cells {
            let (start, end) = (cell.start - line, cell.end - line);
            let after = self.heads.partition_point(|head| head.start < end);
            match after.checked_sub(1) {
                Some(column) if self.heads[column].end > start => placed[column] = cell,
                _ => left_over.push(cell),
            }
        }
        for cell in left_over {
            // A number set flush right may start a little before its column.
            let offset = cell.start - line + 2;
            let after = self.heads.partition_point(|head| head.start <= offset);
            if let Some(column) = after.checked_sub(1)
                && placed[column].is_empty()
            {
                placed[column] = cell;
            }
        }
        placed
    }

    /// Whether a row says nothing of a person except one word in capitals in the column of names ("0840 | HOLD | - | -
    /// |").
    fn is_vacant(&self, bytes: &[u8], cells: &[Range<usize>]) -> bool {
        let (mut others, mut is_word) = (0, false);
        for (cell, meaning) in cells.iter().zip(&self.columns) {
            let value = bytes[cell.clone()].trim_ascii();
            match meaning {
                Some(Meaning::Name) => {
                    is_word |= !value.is_empty() && value.iter().all(u8::is_ascii_uppercase);
                }
                Some(meaning) if super::tells_of_a_person(*meaning) => {
                    others += 1;
                    if !matches!(value, b"" | b"-" | b"--") {
                        return false;
                    }
                }
                _ => {}
            }
        }
        is_word && others >= 2
    }

    fn emit(&self, bytes: &[u8], cells: Few<Range<usize>>, found: &mut List<Field>) {
        let is_vacant = self.is_vacant(bytes, &cells);
        for (span, &meaning) in cells.into_iter().zip(&self.columns) {
            let meaning = meaning.filter(|&meaning| meaning != Meaning::Name || !is_vacant);
            // Spaces part columns less surely than signs do: what no head explains is left to the rules for prose.
            if meaning.is_some() || matches!(self.delimiter, Delimiter::Sign(_)) {
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
    match inside_string(bytes, line.clone()) {
        Some((inner, quote)) => header_of(bytes, inner).map(|table| Table {
            quote: Some(quote),
            ..table
        }),
        None => header_of(bytes, line),
    }
}

/// Returns the part of a line in a string that is still open at a separator, and its quote (`{"content":
/// "mrn,name,dob`).
fn inside_string(bytes: &[u8], line: Range<usize>) -> Option<(Range<usize>, u8)> {
    let text = &bytes[line.clone()];
    let holds_separator = |string: &Range<usize>| {
        let mut inner = text[string.clone()].iter();
        inner.any(|byte| matches!(byte, b',' | b'\t' | b'|' | b';'))
    };
    let (open, _) = strings(text).find(|(_, is_closed)| !is_closed)?;
    // A head in quotes may hold a separator: `"last, first",dob`.
    let mut before = strings(text).take_while(|(_, is_closed)| *is_closed);
    let is_first = !before.any(|(string, _)| holds_separator(&string));
    (is_first && holds_separator(&open))
        .then(|| (line.start + open.start..line.end, text[open.start - 1]))
}

/// Returns the content of each string of a line, and whether the string is closed.
fn strings(text: &[u8]) -> impl Iterator<Item = (Range<usize>, bool)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let quote = at + memchr::memchr2(b'"', b'\'', text.get(at..)?)?;
            at = quote + 1;
            if opens_string(text, quote) {
                let length = memchr::memchr(text[quote], &text[at..]);
                let string = at..length.map_or(text.len(), |length| at + length);
                at = string.end + 1;
                return Some((string, length.is_some()));
            }
        }
    })
}

/// Whether a quote opens a string rather than being an apostrophe or the mark of inches.
fn opens_string(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| text[before]);
    before.is_none_or(|byte| {
        matches!(
            byte,
            b' ' | b':' | b'(' | b'[' | b'=' | b'{' | b',' | b'\t' | b'"'
        )
    })
}

/// Gap between the columns of a line without signs.
static GAP: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"  "));

fn header_of(bytes: &[u8], line: Range<usize>) -> Option<Table> {
    let text = &bytes[line.clone()];
    let (count, sign) = commonest_sign(text)?;
    // Sentences have longer pieces between their commas.
    let by_sign = (count > 0 && text.len() / (count + 1) <= 32)
        .then(|| header_by(bytes, line.clone(), Delimiter::Sign(sign)))
        .flatten();
    // Heads have neither colons nor numbers; most lines with gaps in them do.
    let has_columns = || {
        let is_head = |byte: &u8| *byte != b':' && !byte.is_ascii_digit();
        GAP.find(text).is_some() && text.iter().all(is_head)
    };
    by_sign
        .or_else(|| {
            has_columns()
                .then(|| header_by(bytes, line.clone(), Delimiter::Spaces))
                .flatten()
        })
        .or_else(|| header_of_words(bytes, line))
}

/// Returns the separator that a line has most of, and its count.
fn commonest_sign(text: &[u8]) -> Option<(usize, u8)> {
    let count = |sign: u8| (memchr::memchr_iter(sign, text).count(), sign);
    // Most lines have commas only.
    if memchr::memchr3(b'\t', b'|', b';', text).is_none() {
        return Some(count(b','));
    }
    let counts = b",\t|;".map(count).into_iter();
    counts.max_by_key(|(count, _)| *count)
}

/// Longer lines of words are prose.
const WORD_HEADS_MAX: usize = 12;

/// Reads a line of single words each of which is a label, two of them personal (`mrn dob ssn`).
fn header_of_words(bytes: &[u8], line: Range<usize>) -> Option<Table> {
    let text = &bytes[line.clone()];
    let is_plain = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b' ' | b'_' | b'\r');
    if text.len() > 120 || !text.iter().all(is_plain) {
        return None;
    }
    let words = cells_by_spaces(bytes, line.clone(), 1);
    let is_personal = |word: &&Range<usize>| heads::personal(&bytes[(*word).clone()]).is_some();
    let fits = (2..=WORD_HEADS_MAX).contains(&words.len())
        && words.iter().filter(is_personal).count() >= 2
        && words
            .iter()
            .all(|word| heads::is_label(&bytes[word.clone()]));
    fits.then(|| header_by(bytes, line, Delimiter::Blank))
        .flatten()
}

fn header_by(bytes: &[u8], line: Range<usize>, delimiter: Delimiter) -> Option<Table> {
    let is_head = |cell: &Range<usize>| cell.len() <= 40 && is_head_like(&bytes[cell.clone()]);
    let cells = match delimiter {
        // Rows of data are not heads, and mostly one of their first cells shows it.
        Delimiter::Sign(sign) => {
            let cells = cells_by_sign(bytes, line.clone(), sign).enumerate();
            let heads = cells.map(|(place, cell)| (place == 0 || is_head(&cell)).then_some(cell));
            heads.collect::<Option<Few<_>>>()?
        }
        Delimiter::Spaces | Delimiter::Blank => {
            let cells = cells(bytes, line.clone(), delimiter);
            cells.iter().skip(1).all(is_head).then_some(cells)?
        }
    };
    if cells.len() < 2 {
        return None;
    }
    let heads = cells
        .iter()
        .map(|cell| cell.start - line.start..cell.end - line.start)
        .collect();
    let columns = heads::meanings(cells.into_iter().map(|cell| head(bytes, cell)))?;
    Some(Table {
        delimiter,
        columns,
        heads,
        quote: None,
    })
}

/// Whether a cell can be a column head: a few words, no sentence.
fn is_head_like(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    let words = cell
        .split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty())
        .count();
    // "Geb.", "Tel.": a word cut short.
    let is_cut = words == 1 && cell.len() <= 8;
    !cell.is_empty()
        && words <= 4
        && (is_cut || !cell.ends_with(b"."))
        && !cell
            .iter()
            .any(|byte| matches!(byte, b'?' | b'!' | b'=' | b':' | b'{' | b'}'))
}

/// Returns a column head; prose before the first head ("Here is the file: name") is cut off.
fn head(bytes: &[u8], cell: Range<usize>) -> &str {
    let text = std::str::from_utf8(&bytes[super::trimmed(bytes, cell)]).unwrap_or_default();
    text.rsplit(": ").next().unwrap_or(text)
}

/// The cells of a line.
fn cells(bytes: &[u8], line: Range<usize>, delimiter: Delimiter) -> Few<Range<usize>> {
    match delimiter {
        Delimiter::Sign(sign) => cells_by_sign(bytes, line, sign).collect(),
        Delimiter::Spaces => cells_by_spaces(bytes, line, 2),
        Delimiter::Blank => cells_by_spaces(bytes, line, 1),
    }
}

/// The pieces of a line with at least this many spaces between them.
fn cells_by_spaces(bytes: &[u8], line: Range<usize>, least: usize) -> Few<Range<usize>> {
    let mut cells: Few<Range<usize>> = Few::new();
    for at in line.filter(|&at| !bytes[at].is_ascii_whitespace()) {
        match cells.last_mut() {
            Some(cell) if at - cell.end < least => cell.end = at + 1,
            _ => cells.push(at..at + 1),
        }
    }
    cells
}

/// The cells of a line with a sign between them; quoted cells may hold it.
fn cells_by_sign(
    bytes: &[u8],
    line: Range<usize>,
    delimiter: u8,
) -> impl Iterator<Item = Range<usize>> {
    let mut start = line.start;
    let mut end = line.end;
    if delimiter == b'|' {
        // Markdown has bars at both ends.
        let inner = super::trimmed(bytes, line.clone());
        start = inner.start + usize::from(bytes.get(inner.start) == Some(&b'|'));
        end = inner.end - usize::from(inner.end > start && bytes[inner.end - 1] == b'|');
    }
    let mut is_over = false;
    std::iter::from_fn(move || {
        if is_over {
            return None;
        }
        let mut in_quotes = false;
        let ends_cell = |&byte: &u8| {
            in_quotes ^= byte == b'"';
            byte == delimiter && !in_quotes
        };
        let rest = bytes.get(start..end).unwrap_or_default();
        let length = rest.iter().position(ends_cell);
        is_over = length.is_none();
        let cell = start..length.map_or(end, |length| start + length);
        start = cell.end + 1;
        Some(cell)
    })
}
