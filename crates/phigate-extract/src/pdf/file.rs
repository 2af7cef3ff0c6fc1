//! A PDF as a file: every byte of it belongs to an object, a table or a comment.
//!
//! Objects that newer ones replaced, or to which nothing leads, are read like all others.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use phigate_types::Unread;

use super::filters;
use super::lexer::{Lexer, is_space};
use super::object::{Dict, Object};
use super::xref::{self, Section};
use crate::bounds;

/// The most objects of a file.
const OBJECTS: usize = 500_000;

/// The most filters of a stream.
const FILTERS: usize = 4;

/// Object of a file.
pub(super) struct Entry {
    pub(super) number: u32,
    generation: u16,
    /// Offset in the file; `None` inside another object.
    start: Option<usize>,
    /// Number of the stream that has it inside.
    within: u32,
    pub(super) object: Object,
    /// Bytes of its stream, of which the object is the dictionary.
    pub(super) stream: Option<Range<usize>>,
}

/// All objects of a file.
pub(super) struct File<'b> {
    bytes: &'b [u8],
    pub(super) entries: Vec<Entry>,
    /// Current object of each number.
    current: HashMap<u32, usize>,
    /// Trailers; the newest is first.
    pub(super) trailers: Vec<Dict>,
    /// Comments, and the object behind which they are.
    pub(super) comments: Vec<(u32, String)>,
    /// Streams whose content is accounted for.
    claimed: RefCell<BTreeSet<usize>>,
    expanded: Cell<usize>,
}

impl<'b> File<'b> {
    /// Reads a file.
    pub(super) fn read(bytes: &'b [u8]) -> Result<Self, Unread> {
        let mut file = Self {
            bytes,
            entries: Vec::new(),
            current: HashMap::new(),
            trailers: Vec::new(),
            comments: Vec::new(),
            claimed: RefCell::default(),
            expanded: Cell::new(0),
        };
        let (mut sections, start) = file.scan()?;
        file.number_sections(&mut sections)?;
        let chain = xref::chain(&mut sections, start)?;
        if chain.trailers.iter().any(|trailer| trailer.has("Encrypt")) {
            return Err(Unread::Encrypted);
        }
        file.unpack()?;
        file.resolve(&chain.places)?;
        file.trailers = chain.trailers;
        // Trailers to which the newest one does not lead hold text as well.
        file.trailers
            .extend(sections.into_values().map(|section| section.trailer));
        Ok(file)
    }

    /// Walks over all bytes. Returns the tables by offset, and the offset of the newest.
    fn scan(&mut self) -> Result<(HashMap<usize, Section>, usize), Unread> {
        let lengths = lengths(self.bytes);
        let mut lexer = Lexer::new(self.bytes, 0);
        lexer.at = header(self.bytes)?;
        let (mut sections, mut newest) = (HashMap::new(), None);
        loop {
            lexer.skip();
            self.comment(&mut lexer);
            let start = lexer.at;
            if start >= self.bytes.len() {
                break;
            }
            if let Some((number, generation)) = lexer.header() {
                let (object, stream) = body(&mut lexer, &lengths)?;
                self.add(Entry {
                    number,
                    generation,
                    start: Some(start),
                    within: 0,
                    object,
                    stream,
                })?;
            } else if lexer.take("xref") {
                sections.insert(start, xref::table(&mut lexer)?);
            } else if lexer.take("startxref") {
                let offset = lexer.number().ok_or(Unread::Damaged)?;
                newest = Some(usize::try_from(offset).map_err(|_| Unread::Damaged)?);
            } else {
                return Err(Unread::Damaged);
            }
        }
        Ok((sections, newest.ok_or(Unread::Damaged)?))
    }

    fn add(&mut self, entry: Entry) -> Result<(), Unread> {
        self.entries.push(entry);
        if self.entries.len() > OBJECTS {
            return Err(Unread::Limit);
        }
        Ok(())
    }

    /// Keeps the comments that were just read.
    fn comment(&mut self, lexer: &mut Lexer<'_>) {
        let comments = std::mem::take(&mut lexer.comments);
        let lines = comments.lines().filter(|line| *line != "%EOF");
        let kept: Vec<String> = lines.filter_map(readable).collect();
        if !kept.is_empty() {
            let number = self.entries.last().map_or(0, |entry| entry.number);
            self.comments.push((number, kept.join("\n")));
        }
    }

    /// Reads the tables that are streams.
    fn number_sections(&self, sections: &mut HashMap<usize, Section>) -> Result<(), Unread> {
        for (index, entry) in self.entries.iter().enumerate() {
            let (Some(start), Object::Dict(dict)) = (entry.start, &entry.object) else {
                continue;
            };
            if entry.stream.is_some() && dict.is("Type", "XRef") {
                if dict.has("Encrypt") {
                    return Err(Unread::Encrypted);
                }
                let section = xref::stream(dict, &self.decode(index)?)?;
                sections.insert(start, section);
                self.claim(index);
            }
        }
        Ok(())
    }

    /// Reads the objects inside of streams.
    fn unpack(&mut self) -> Result<(), Unread> {
        for index in 0..self.entries.len() {
            let Object::Dict(dict) = &self.entries[index].object else {
                continue;
            };
            if self.entries[index].stream.is_none() || !dict.is("Type", "ObjStm") {
                continue;
            }
            let size = |key: &str| dict.get_own(key.as_bytes()).and_then(Object::size);
            let (count, first) = (size("N"), size("First"));
            let (count, first) = count.zip(first).ok_or(Unread::Damaged)?;
            let within = self.entries[index].number;
            let bytes = self.decode(index)?;
            for (number, object) in packed(&bytes, count, first)? {
                self.add(Entry {
                    number,
                    generation: 0,
                    start: None,
                    within,
                    object,
                    stream: None,
                })?;
            }
            self.claim(index);
        }
        Ok(())
    }

    /// Finds the current object of each number.
    fn resolve(&mut self, places: &HashMap<u32, xref::Place>) -> Result<(), Unread> {
        let mut by_start = HashMap::new();
        let mut packed: HashMap<(u32, u32), usize> = HashMap::new();
        for (index, entry) in self.entries.iter().enumerate() {
            match entry.start {
                Some(start) => drop(by_start.insert(start, index)),
                // The newest stream of a number comes last.
                None => drop(packed.insert((entry.number, entry.within), index)),
            }
        }
        for (number, place) in places {
            let index = match place {
                xref::Place::Free => continue,
                xref::Place::At(offset) => {
                    let behind = self.bytes.get(*offset..).unwrap_or_default();
                    let spaces = behind.iter().take_while(|byte| is_space(**byte)).count();
                    by_start.get(&(offset + spaces)).copied()
                }
                xref::Place::In(within) => packed.get(&(*number, *within)).copied(),
            };
            let index = index.filter(|index| self.entries[*index].number == *number);
            self.current.insert(*number, index.ok_or(Unread::Damaged)?);
        }
        Ok(())
    }

    /// Returns an object, and its position if it is not written in place.
    pub(super) fn follow<'f>(&'f self, object: &'f Object) -> (&'f Object, Option<usize>) {
        let (mut object, mut index) = (object, None);
        for _ in 0..16 {
            let Object::Ref(number, generation) = object else {
                return (object, index);
            };
            index = self.current.get(number).copied();
            let entry = index.and_then(|index| self.entries.get(index));
            let Some(entry) = entry.filter(|entry| entry.generation == *generation) else {
                return (&Object::Null, None);
            };
            object = &entry.object;
        }
        (&Object::Null, None)
    }

    /// Returns a value of a dictionary, wherever it is written.
    pub(super) fn get<'f>(&'f self, dict: &'f Dict, key: &str) -> Option<&'f Object> {
        let object = self.follow(dict.get_own(key.as_bytes())?).0;
        (*object != Object::Null).then_some(object)
    }

    /// Returns a dictionary of a dictionary.
    pub(super) fn dict<'f>(&'f self, dict: &'f Dict, key: &str) -> Option<&'f Dict> {
        match self.get(dict, key)? {
            Object::Dict(dict) => Some(dict),
            _ => None,
        }
    }

    /// Returns an array of a dictionary.
    pub(super) fn array<'f>(&'f self, dict: &'f Dict, key: &str) -> Option<&'f [Object]> {
        match self.get(dict, key)? {
            Object::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the position of the stream that a value leads to, and its dictionary.
    pub(super) fn stream<'f>(&'f self, object: &'f Object) -> Option<(usize, &'f Dict)> {
        let (object, index) = self.follow(object);
        let index = index.filter(|index| self.entries[*index].stream.is_some())?;
        match object {
            Object::Dict(dict) => Some((index, dict)),
            _ => None,
        }
    }

    /// Notes that the content of a stream is accounted for.
    pub(super) fn claim(&self, index: usize) {
        self.claimed.borrow_mut().insert(index);
    }

    /// Whether the content of a stream is accounted for.
    pub(super) fn is_claimed(&self, index: usize) -> bool {
        self.claimed.borrow().contains(&index)
    }

    /// Returns the filters of a stream that are not undone, and its bytes.
    pub(super) fn pixels(&self, index: usize) -> Result<(Option<Vec<u8>>, Vec<u8>), Unread> {
        let entry = &self.entries[index];
        let (Object::Dict(dict), Some(range)) = (&entry.object, &entry.stream) else {
            return Err(Unread::Damaged);
        };
        if dict.has("F") {
            return Err(Unread::EmbeddedObject);
        }
        let raw = &self.bytes[range.clone()];
        let (filter, bytes) = self.undo(dict, raw)?;
        let expanded = self.expanded.get() + bytes.len();
        self.expanded.set(expanded);
        if expanded > bounds::EXPANDED {
            return Err(Unread::TooLarge);
        }
        Ok((filter, bytes))
    }

    /// Undoes the filters of a stream or an image in a page. Returns the one of images.
    pub(super) fn undo(
        &self,
        dict: &Dict,
        raw: &[u8],
    ) -> Result<(Option<Vec<u8>>, Vec<u8>), Unread> {
        let filters = self.get(dict, "Filter").or_else(|| self.get(dict, "F"));
        let names = listed(filters);
        let parameters = self
            .get(dict, "DecodeParms")
            .or_else(|| self.get(dict, "DP"));
        let parameters = listed(parameters);
        if names.len() > FILTERS {
            return Err(Unread::Limit);
        }
        let (most, mut bytes) = (filters::most(raw.len()), raw.to_vec());
        for (number, name) in names.iter().enumerate() {
            let Object::Name(name) = self.follow(name).0 else {
                return Err(Unread::Damaged);
            };
            if filters::is_image(name) {
                return if number + 1 == names.len() {
                    Ok((Some(name.clone()), bytes))
                } else {
                    Err(Unread::Damaged)
                };
            }
            let parameters = parameters.get(number).map(|each| self.follow(each).0);
            let none = Dict::default();
            let parameters = match parameters {
                Some(Object::Dict(parameters)) => parameters,
                _ => &none,
            };
            bytes = filters::decode(name, &bytes, parameters, most)?;
        }
        Ok((None, bytes))
    }

    /// Returns the content of a stream.
    pub(super) fn decode(&self, index: usize) -> Result<Vec<u8>, Unread> {
        match self.pixels(index)? {
            (None, bytes) => Ok(bytes),
            (Some(_), _) => Err(Unread::Damaged),
        }
    }

    /// Returns the number of the object at an offset.
    pub(super) fn number_at(&self, offset: Option<usize>) -> Option<u32> {
        let offset = offset?;
        let mut entries = self.entries.iter();
        entries
            .find(|entry| entry.start == Some(offset))
            .map(|entry| entry.number)
    }

    /// Length of the file, which is more than every offset.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// Returns the items of an array, or a value alone as an array of one.
fn listed(object: Option<&Object>) -> &[Object] {
    match object {
        Some(Object::Array(items)) => items,
        Some(Object::Null) | None => &[],
        Some(object) => std::slice::from_ref(object),
    }
}

/// Returns the offset behind the first line.
fn header(bytes: &[u8]) -> Result<usize, Unread> {
    let line = bytes
        .iter()
        .take_while(|byte| !b"\r\n".contains(byte))
        .count();
    let line = bytes.get(..line).ok_or(Unread::Damaged)?;
    let version = line.strip_prefix(b"%PDF-").unwrap_or_default();
    let is_version = version.len() >= 3
        && version.len() <= 8
        && version
            .iter()
            .all(|byte| byte.is_ascii_digit() || b". ".contains(byte));
    if is_version {
        Ok(line.len())
    } else {
        Err(Unread::Damaged)
    }
}

/// Returns what can be read of a comment. Behind the header is one of other bytes, by which programs see that the file is
/// not text.
fn readable(comment: &str) -> Option<String> {
    let text = comment.replace('\u{fffd}', " ");
    text.contains(|each: char| each.is_alphanumeric())
        .then_some(text)
}

/// Returns the objects that are a number alone, because a stream may have its length there.
fn lengths(bytes: &[u8]) -> HashMap<u32, Vec<usize>> {
    let mut lengths: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut from = 0;
    while let Some(found) = crate::sniff::position(&bytes[from..], b" obj") {
        let at = from + found;
        from = at + 4;
        // Two numbers are in front of it.
        let line = &bytes[at.saturating_sub(20)..at];
        let mut words = line
            .rsplit(|byte| is_space(*byte))
            .filter(|word| !word.is_empty());
        let number = words.nth(1).and_then(|word| std::str::from_utf8(word).ok());
        let mut lexer = Lexer::new(bytes, from);
        let length = lexer.number().filter(|_| lexer.take("endobj"));
        let length = length.and_then(|length| usize::try_from(length).ok());
        let number = number.and_then(|number| number.parse().ok());
        if let (Some(number), Some(length)) = (number, length) {
            lengths.entry(number).or_default().push(length);
        }
    }
    lengths
}

/// Reads what follows `obj`, to `endobj`.
fn body(
    lexer: &mut Lexer<'_>,
    lengths: &HashMap<u32, Vec<usize>>,
) -> Result<(Object, Option<Range<usize>>), Unread> {
    let object = lexer.object()?;
    let mut stream = None;
    if let Object::Dict(dict) = &object
        && lexer.take("stream")
    {
        match lexer.bytes.get(lexer.at..).unwrap_or_default() {
            [b'\r', b'\n', ..] => lexer.at += 2,
            [b'\n', ..] => lexer.at += 1,
            _ => return Err(Unread::Damaged),
        }
        let candidates = match dict.get_own(b"Length") {
            Some(Object::Ref(number, _)) => lengths.get(number).cloned().unwrap_or_default(),
            Some(length) => length.size().into_iter().collect(),
            None => Vec::new(),
        };
        let start = lexer.at;
        let ends = |length: &usize| {
            let end = start.checked_add(*length)?;
            (lexer.bytes.len() > end).then_some(end)?;
            let mut behind = Lexer::new(lexer.bytes, end);
            behind.take("endstream").then_some((end, behind.at))
        };
        let mut found = candidates.iter().filter_map(ends);
        let (end, behind) = found.next().ok_or(Unread::Damaged)?;
        if found.any(|(other, _)| other != end) {
            return Err(Unread::ReadersDisagree);
        }
        lexer.at = behind;
        stream = Some(start..end);
    }
    if lexer.take("endobj") {
        Ok((object, stream))
    } else {
        Err(Unread::Damaged)
    }
}

/// Reads the objects of an object stream, which follow each other without a gap.
fn packed(bytes: &[u8], count: usize, first: usize) -> Result<Vec<(u32, Object)>, Unread> {
    let mut heads = Lexer::new(bytes, 0);
    let mut list = Vec::new();
    for _ in 0..count {
        let mut number = || heads.number().and_then(|number| u32::try_from(number).ok());
        let (number, offset) = number().zip(number()).ok_or(Unread::Damaged)?;
        list.push((offset as usize + first, number));
        if list.len() > OBJECTS {
            return Err(Unread::Limit);
        }
    }
    heads.skip();
    if heads.at > first && count > 0 {
        return Err(Unread::Damaged);
    }
    list.sort_unstable();
    let mut body = Lexer::new(bytes, heads.at);
    let mut objects = Vec::with_capacity(list.len());
    for (offset, number) in list {
        body.skip();
        if body.at != offset {
            let is_space_between = bytes
                .get(offset..body.at)
                .is_some_and(|between| between.iter().all(|byte| is_space(*byte)));
            if !is_space_between {
                return Err(Unread::Damaged);
            }
        }
        objects.push((number, body.object()?));
    }
    body.skip();
    if body.at == bytes.len() && body.comments.trim().is_empty() {
        Ok(objects)
    } else {
        Err(Unread::Damaged)
    }
}
