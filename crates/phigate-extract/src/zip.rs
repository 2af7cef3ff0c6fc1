//! ZIP archives, read strictly: each byte of the file belongs to exactly one entry, and both lists of entries agree.
//!
//! Readers of lenient archives differ in which entry they take, and in what they skip. A document that they could read
//! differently is refused.

use flate2::{Decompress, FlushDecompress, Status};
use phigate_types::Unread;

use crate::bounds;

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const DESCRIPTOR: u32 = 0x0807_4b50;

const END_SIZE: usize = 22;
const CENTRAL_SIZE: usize = 46;
const LOCAL_SIZE: usize = 30;

/// Extra fields without text: times, owners, padding, and the mark of Java archives.
const EXTRAS: &[u16] = &[0x000a, 0x5455, 0x5855, 0x7855, 0x7875, 0xa220, 0xcafe];

/// File of an archive.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) body: Vec<u8>,
}

/// Row of the central list.
struct Row<'b> {
    name: &'b [u8],
    flags: u16,
    method: u16,
    crc: u32,
    packed: usize,
    size: usize,
    offset: usize,
}

/// Little-endian numbers at an offset.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn slice(&self, at: usize, length: usize) -> Result<&'b [u8], Unread> {
        let end = at.checked_add(length).ok_or(Unread::Damaged)?;
        self.0.get(at..end).ok_or(Unread::Damaged)
    }

    fn half(&self, at: usize) -> Result<u16, Unread> {
        let bytes = self.slice(at, 2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn word(&self, at: usize) -> Result<u32, Unread> {
        let bytes = self.slice(at, 4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn size(&self, at: usize) -> Result<usize, Unread> {
        usize::try_from(self.word(at)?).map_err(|_| Unread::Damaged)
    }
}

/// Returns the files of an archive, in their order.
pub(crate) fn read(bytes: &[u8]) -> Result<Vec<Entry>, Unread> {
    let all = Bytes(bytes);
    let end = bytes.len().checked_sub(END_SIZE).ok_or(Unread::Damaged)?;
    let (count, start) = (all.half(end + 10)?, all.size(end + 16)?);
    let is_whole = all.word(end)? == END
        && all.word(end + 4)? == 0
        && all.half(end + 8)? == count
        && start.checked_add(all.size(end + 12)?) == Some(end)
        && all.half(end + 20)? == 0;
    if !is_whole {
        return Err(Unread::Damaged);
    }
    let mut rows = rows(&all, start, end, usize::from(count))?;
    rows.sort_by_key(|row| row.offset);
    are_bounded(&rows)?;
    let mut entries = Vec::with_capacity(rows.len());
    let mut next = 0;
    for row in &rows {
        if row.offset != next {
            return Err(Unread::Damaged);
        }
        let (entry, end) = entry(&all, row)?;
        entries.push(entry);
        next = end;
    }
    if next != start {
        return Err(Unread::Damaged);
    }
    have_distinct_names(&entries)?;
    Ok(entries)
}

fn rows<'b>(
    all: &Bytes<'b>,
    start: usize,
    end: usize,
    count: usize,
) -> Result<Vec<Row<'b>>, Unread> {
    if count > bounds::PARTS {
        return Err(Unread::Limit);
    }
    let mut rows = Vec::with_capacity(count);
    let mut at = start;
    for _ in 0..count {
        if all.word(at)? != CENTRAL {
            return Err(Unread::Damaged);
        }
        let (name, extra, comment) = (all.half(at + 28)?, all.half(at + 30)?, all.half(at + 32)?);
        let extra_at = at + CENTRAL_SIZE + usize::from(name);
        is_plain_extra(all.slice(extra_at, usize::from(extra))?)?;
        let row = Row {
            name: all.slice(at + CENTRAL_SIZE, usize::from(name))?,
            flags: all.half(at + 8)?,
            method: all.half(at + 10)?,
            crc: all.word(at + 16)?,
            packed: all.size(at + 20)?,
            size: all.size(at + 24)?,
            offset: all.size(at + 42)?,
        };
        // Strong encryption hides the names too.
        if row.flags & 0x2041 != 0 {
            return Err(Unread::Encrypted);
        }
        if comment != 0 || all.half(at + 34)? != 0 {
            return Err(Unread::Damaged);
        }
        rows.push(row);
        at = extra_at + usize::from(extra);
    }
    if at == end {
        Ok(rows)
    } else {
        Err(Unread::Damaged)
    }
}

/// Checks sizes before anything is expanded.
fn are_bounded(rows: &[Row<'_>]) -> Result<(), Unread> {
    let mut all = 0usize;
    for row in rows {
        all = all.saturating_add(row.size);
        let is_bomb = row.size > bounds::RATIO_FROM && row.size / bounds::RATIO > row.packed;
        if is_bomb || all > bounds::EXPANDED {
            return Err(Unread::TooLarge);
        }
    }
    Ok(())
}

/// Reads an entry; returns it and the offset behind it.
fn entry(all: &Bytes<'_>, row: &Row<'_>) -> Result<(Entry, usize), Unread> {
    let at = row.offset;
    let (name, extra) = (all.half(at + 26)?, all.half(at + 28)?);
    let extra_at = at + LOCAL_SIZE + usize::from(name);
    let has_descriptor = row.flags & 8 != 0;
    let sizes = (all.word(at + 14)?, all.size(at + 18)?, all.size(at + 22)?);
    let agrees = all.word(at)? == LOCAL
        && all.half(at + 6)? == row.flags
        && all.half(at + 8)? == row.method
        && all.slice(at + LOCAL_SIZE, usize::from(name))? == row.name
        && (sizes == (row.crc, row.packed, row.size) || has_descriptor && sizes == (0, 0, 0));
    if !agrees {
        return Err(Unread::ReadersDisagree);
    }
    is_plain_extra(all.slice(extra_at, usize::from(extra))?)?;
    let body_at = extra_at + usize::from(extra);
    let body = expand(all.slice(body_at, row.packed)?, row)?;
    let mut end = body_at + row.packed;
    if has_descriptor {
        end += descriptor(all, end, row)?;
    }
    let entry = Entry {
        name: name_of(row.name)?,
        body,
    };
    Ok((entry, end))
}

/// Returns the size of the descriptor behind an entry, which repeats its sizes.
fn descriptor(all: &Bytes<'_>, at: usize, row: &Row<'_>) -> Result<usize, Unread> {
    let mark = if all.word(at)? == DESCRIPTOR { 4 } else { 0 };
    let at = at + mark;
    if (all.word(at)?, all.size(at + 4)?, all.size(at + 8)?) == (row.crc, row.packed, row.size) {
        Ok(mark + 12)
    } else {
        Err(Unread::Damaged)
    }
}

fn expand(packed: &[u8], row: &Row<'_>) -> Result<Vec<u8>, Unread> {
    let body = match row.method {
        0 => packed.to_vec(),
        8 => inflate(packed, row.size)?,
        _ => return Err(Unread::Damaged),
    };
    if body.len() == row.size && crc32fast::hash(&body) == row.crc {
        Ok(body)
    } else {
        Err(Unread::Damaged)
    }
}

/// Expands a raw deflate stream that fills its bytes and gives exactly `size` bytes.
fn inflate(packed: &[u8], size: usize) -> Result<Vec<u8>, Unread> {
    // A byte more: a stream that goes on is noticed, and one that is over may say so.
    let mut body = Vec::with_capacity(size + 1);
    let mut stream = Decompress::new(false);
    let status = stream.decompress_vec(packed, &mut body, FlushDecompress::Finish);
    let is_whole = matches!(status, Ok(Status::StreamEnd))
        && usize::try_from(stream.total_in()) == Ok(packed.len());
    if is_whole {
        Ok(body)
    } else {
        Err(Unread::Damaged)
    }
}

/// Checks that extra fields have no room for text.
fn is_plain_extra(mut extra: &[u8]) -> Result<(), Unread> {
    while !extra.is_empty() {
        let field = Bytes(extra);
        let (id, length) = (field.half(0)?, usize::from(field.half(2)?));
        let value = field.slice(4, length)?;
        let is_padding = id == 0xa220 && value.iter().skip(4).all(|byte| *byte == 0);
        if !EXTRAS.contains(&id) || length > 64 && !is_padding {
            return Err(Unread::Damaged);
        }
        extra = &extra[4 + length..];
    }
    Ok(())
}

/// Returns the name of an entry, if it is a plain relative path.
fn name_of(name: &[u8]) -> Result<String, Unread> {
    let name = std::str::from_utf8(name).map_err(|_| Unread::Damaged)?;
    let is_plain = !name.starts_with('/')
        && !name.contains(|each: char| each.is_control() || each == '\\')
        && name.split('/').all(|step| step != ".." && step != ".");
    if is_plain {
        Ok(name.to_owned())
    } else {
        Err(Unread::Damaged)
    }
}

/// Checks that no two names are the same, also for readers that ignore case.
fn have_distinct_names(entries: &[Entry]) -> Result<(), Unread> {
    let mut names: Vec<String> = entries
        .iter()
        .map(|each| each.name.to_lowercase())
        .collect();
    names.sort_unstable();
    let is_distinct = names.windows(2).all(|pair| pair[0] != pair[1]);
    if is_distinct {
        Ok(())
    } else {
        Err(Unread::ReadersDisagree)
    }
}
