//! Dumps of bytes with their offsets, as `xxd` and `hexdump -C` print them.
//!
//! The text column shows what the bytes say, but cut at every line; the bytes themselves do not.

use std::ops::Range;

use crate::Finding;
use crate::budget::{Few, List, Memory, Text, Way};
use crate::candidate::Candidate;
use crate::page::Page;

/// A line of a dump.
struct Line {
    /// Span from its first byte to the end of its text column.
    span: Range<usize>,
    /// Start of the line's offset to the end of its bytes.
    figures: Range<usize>,
    /// Start of its bytes among those of the dump.
    from: usize,
}

/// Lines of a dump that follow each other.
pub(crate) struct Dump {
    lines: List<Line>,
    bytes: List<u8>,
}

impl Dump {
    fn new(memory: &Memory) -> Self {
        Dump {
            lines: memory.list(),
            bytes: memory.list(),
        }
    }

    /// Returns the span from the first to the last of its lines.
    pub(crate) fn span(&self) -> Range<usize> {
        let start = self.lines.first().map_or(0, |line| line.span.start);
        let end = self.lines.last().map_or(0, |line| line.span.end);
        start..end
    }

    /// Returns the bytes as text, if most of them are characters.
    fn text(&self) -> Option<String> {
        let is_shown = |byte: &u8| matches!(byte, 0x20..=0x7e | b'\t' | b'\n' | b'\r');
        let shown = self.bytes.iter().filter(|byte| is_shown(byte)).count();
        (shown * 20 >= self.bytes.len() * 17).then(|| {
            let as_shown = |byte: &u8| {
                if is_shown(byte) {
                    char::from(*byte)
                } else {
                    ' '
                }
            };
            self.bytes.iter().map(as_shown).collect()
        })
    }

    /// The lines that hold these bytes, whole: their text column shows the same.
    fn lines_of(&self, bytes: &Range<usize>) -> Range<usize> {
        let line_of = |at: usize| self.lines.partition_point(|line| line.from <= at).max(1) - 1;
        let (first, last) = (line_of(bytes.start), line_of(bytes.end.saturating_sub(1)));
        self.lines[first].span.start..self.lines[last].span.end
    }
}

/// Scans what the dumps of the page say.
pub(super) fn find(
    page: &Page<'_>,
    scan: &dyn Fn(&str) -> List<Finding>,
    candidates: &mut List<Candidate>,
) {
    let dumps = dumps(page.bytes(), page.way(), page.memory());
    drop_figures(&dumps, candidates);
    for dump in dumps {
        let Some(text) = dump.text().and_then(|text| Text::of(page.memory(), text)) else {
            continue;
        };
        candidates.extend(scan(&text).into_iter().map(|finding| Candidate {
            kind: finding.kind,
            span: dump.lines_of(&finding.span),
            score: finding.score,
            rule: "encoded",
        }));
    }
}

/// Drops candidates that are only a piece of the offsets and bytes: these are not numbers of a person.
fn drop_figures(dumps: &List<Dump>, candidates: &mut List<Candidate>) {
    let lines = dumps.iter().flat_map(|dump| &dump.lines);
    let lines = candidates.memory().collect(lines);
    candidates.retain(|one| {
        let next = lines.partition_point(|line| line.figures.start <= one.span.start);
        next == 0 || lines[next - 1].figures.end <= one.span.start
    });
}

/// Finds every dump in the text.
pub(crate) fn dumps(bytes: &[u8], mut way: Way<'_>, memory: &Memory) -> List<Dump> {
    let mut found = memory.list();
    let mut open = Dump::new(memory);
    let mut start = 0;
    while start < bytes.len() && way.goes_on(start) {
        let length = memchr::memchr(b'\n', &bytes[start..]).unwrap_or(bytes.len() - start);
        let before = open.bytes.len();
        match read_line(bytes, start..start + length, &mut open.bytes) {
            Some((span, figures)) => open.lines.push(Line {
                span,
                figures,
                from: before,
            }),
            None if !open.lines.is_empty() => {
                found.push(std::mem::replace(&mut open, Dump::new(memory)));
            }
            None => {}
        }
        start += length + 1;
    }
    if !open.lines.is_empty() {
        found.push(open);
    }
    found
}

/// A dump has at most this many bytes on a line.
const LINE_BYTES_MAX: usize = 32;

/// Appends the bytes of a line; returns its span without the offset, and that of its figures. `None` if the line is not
/// part of a dump.
fn read_line(
    bytes: &[u8],
    line: Range<usize>,
    found: &mut List<u8>,
) -> Option<(Range<usize>, Range<usize>)> {
    let text = &bytes[line.clone()];
    let first = text.first()?;
    if !first.is_ascii_hexdigit() && *first != b' ' || text.len() > 200 {
        return None;
    }
    let indent = text.iter().take_while(|&&byte| byte == b' ').count();
    let offset = indent + hex_digits(&text[indent..]);
    let colon = usize::from(text.get(offset) == Some(&b':'));
    let has_offset = matches!(offset - indent, 4..=16) && (colon == 1 || offset - indent >= 6);
    if !has_offset {
        return None;
    }
    let start = offset + colon;
    let mut groups = Few::new();
    let mut at = start;
    loop {
        let gap = text[at..]
            .iter()
            .take(3)
            .take_while(|&&byte| byte == b' ')
            .count();
        let is_middle = groups.len() == 8 && gap == 2;
        let is_gap = gap == 1 || is_middle || groups.is_empty() && gap > 0;
        let digits = hex_digits(text.get(at + gap..).unwrap_or_default());
        let fits = matches!(digits, 2 | 4 | 8) && groups.len() + digits / 2 <= LINE_BYTES_MAX;
        if !is_gap || !fits {
            break;
        }
        at += gap;
        groups.extend(
            text[at..at + digits]
                .chunks_exact(2)
                .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()),
        );
        at += digits;
    }
    // What follows is the text column, or nothing.
    let ends = text[at..].iter().all(u8::is_ascii_whitespace) || text[at..].starts_with(b"  ");
    if !ends || groups.len() < 2 {
        return None;
    }
    found.extend(groups);
    let figures = line.start + indent..line.start + at;
    Some((line.start + start..line.end, figures))
}

fn hex_digits(text: &[u8]) -> usize {
    text.iter()
        .take(17)
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count()
}
