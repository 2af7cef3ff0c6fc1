//! Tables of a PDF that say where its objects are.

use std::collections::HashMap;

use phigate_types::Unread;

use super::lexer::{Lexer, is_space};
use super::object::{Dict, Object};

/// Place of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The number is not used.
    Free,
    /// Offset in the file.
    At(usize),
    /// Number of the stream that has it inside.
    In(u32),
}

/// A table, and the trailer behind it.
pub(super) struct Section {
    places: Vec<(u32, Place)>,
    pub(super) trailer: Dict,
}

/// Tables from the newest to the oldest.
#[derive(Default)]
pub(super) struct Chain {
    pub(super) places: HashMap<u32, Place>,
    pub(super) trailers: Vec<Dict>,
}

/// The most numbers of a table.
const NUMBERS: u64 = 1_000_000;

/// Reads a table of text, behind its first word.
pub(super) fn table(lexer: &mut Lexer<'_>) -> Result<Section, Unread> {
    let mut places = Vec::new();
    while !lexer.take("trailer") {
        let mut number = || lexer.number().ok_or(Unread::Damaged);
        let (first, count) = (number()?, number()?);
        if first > NUMBERS || count > NUMBERS {
            return Err(Unread::Limit);
        }
        for number in first..first + count {
            let offset = lexer.number().ok_or(Unread::Damaged)?;
            lexer.number().ok_or(Unread::Damaged)?;
            let place = if lexer.take("n") {
                Place::At(usize::try_from(offset).map_err(|_| Unread::Damaged)?)
            } else if lexer.take("f") {
                Place::Free
            } else {
                return Err(Unread::Damaged);
            };
            places.push((u32::try_from(number).map_err(|_| Unread::Limit)?, place));
        }
    }
    match lexer.object()? {
        Object::Dict(trailer) => Ok(Section { places, trailer }),
        _ => Err(Unread::Damaged),
    }
}

/// Reads a table that is a stream.
pub(super) fn stream(dict: &Dict, bytes: &[u8]) -> Result<Section, Unread> {
    let sizes = |key: &str| match dict.get_own(key.as_bytes()) {
        Some(Object::Array(items)) => items.iter().map(Object::size).collect::<Option<Vec<_>>>(),
        _ => None,
    };
    let widths = sizes("W").ok_or(Unread::Damaged)?;
    let [kind, second, third] = widths[..] else {
        return Err(Unread::Damaged);
    };
    if kind > 1 || second > 8 || third > 8 || kind + second + third == 0 {
        return Err(Unread::Damaged);
    }
    let size = dict
        .get_own(b"Size")
        .and_then(Object::size)
        .ok_or(Unread::Damaged)?;
    let index = sizes("Index").unwrap_or_else(|| vec![0, size]);
    let mut rows = bytes.chunks_exact(kind + second + third);
    let mut places = Vec::new();
    for range in index.chunks(2) {
        let [first, count] = range else {
            return Err(Unread::Damaged);
        };
        for number in *first..first.checked_add(*count).ok_or(Unread::Damaged)? {
            let row = rows.next().ok_or(Unread::Damaged)?;
            let number = u32::try_from(number).map_err(|_| Unread::Limit)?;
            let field = value(&row[kind..kind + second]);
            let place = match row[..kind].first().copied().unwrap_or(1) {
                0 => Place::Free,
                1 => Place::At(usize::try_from(field).map_err(|_| Unread::Damaged)?),
                2 => Place::In(u32::try_from(field).map_err(|_| Unread::Damaged)?),
                _ => return Err(Unread::Damaged),
            };
            places.push((number, place));
        }
    }
    let is_whole = rows.next().is_none() && rows.remainder().iter().all(|byte| is_space(*byte));
    if is_whole {
        let trailer = dict.clone();
        Ok(Section { places, trailer })
    } else {
        Err(Unread::Damaged)
    }
}

fn value(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Follows the tables from the newest on.
pub(super) fn chain(
    sections: &mut HashMap<usize, Section>,
    newest: usize,
) -> Result<Chain, Unread> {
    let mut chain = Chain::default();
    let mut next = vec![newest];
    while let Some(offset) = next.pop() {
        // A table that is missing, or that leads back to itself.
        let section = sections.remove(&offset).ok_or(Unread::Damaged)?;
        for (number, place) in section.places {
            chain.places.entry(number).or_insert(place);
        }
        // A table of both kinds comes before the older ones.
        for key in [b"Prev".as_slice(), b"XRefStm"] {
            if let Some(value) = section.trailer.get_own(key) {
                next.push(value.size().ok_or(Unread::Damaged)?);
            }
        }
        chain.trailers.push(section.trailer);
    }
    Ok(chain)
}
