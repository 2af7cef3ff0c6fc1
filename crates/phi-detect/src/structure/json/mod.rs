//! JSON, whole or in pieces, also with single quotes and missing brackets.
//!
//! A value's meaning comes from its key, from the key of the object round it
//! (`patient.id`), or from a neighbour that names it, as in FHIR:
//! `{"system": "http://hl7.org/fhir/sid/us-ssn", "value": "536228741"}`.

mod columns;
mod keys;

use std::ops::Range;

use columns::{Item, List};
use keys::{hint_of, is_columns_key, is_date_part, is_generic_key, is_index, is_naming_key};

use super::dicom;
use crate::labels::{self, Meaning};
use crate::page::Field;

/// Reads every JSON-like piece of the text.
pub(super) fn read(bytes: &[u8], found: &mut Vec<Field>) {
    if memchr::memchr2(b'{', b'[', bytes).is_none() {
        return;
    }
    let mut reader = Reader {
        bytes,
        found,
        open: Vec::new(),
        is_patient: false,
        lists: Vec::new(),
        scopes: Vec::new(),
    };
    reader.read_all();
    let (lists, scopes) = (reader.lists, reader.scopes);
    columns::settle(bytes, &lists, scopes, found);
}

/// An object or array that is not closed yet.
struct Open {
    is_object: bool,
    /// The key under which it stands.
    key: Option<Range<usize>>,
    /// The key of the member being read.
    member: Option<Range<usize>>,
    /// What a neighbouring member says about `value`.
    hint: Option<Meaning>,
    /// Fields whose meaning is settled when the object closes.
    unsettled: Vec<usize>,
    tells_of_a_person: bool,
    /// Where it opens.
    start: usize,
    /// What stands in an array, as long as it may be a row or the heads of one.
    items: Vec<Item>,
    /// The value that names an object among others: `{"name": "mrn"}`.
    named: Option<Range<usize>>,
    /// Whether its keys number the rows of a column: `{"ssn": {"0": "536228741"}}`.
    is_column: bool,
    /// Whether an array that was kept stands right in it.
    holds_list: bool,
}

struct Reader<'a> {
    bytes: &'a [u8],
    found: &'a mut Vec<Field>,
    open: Vec<Open>,
    /// Whether the resource being read is a FHIR patient.
    is_patient: bool,
    /// Arrays that may be rows of a table, or its heads.
    lists: Vec<List>,
    /// Where the objects and arrays right round those start and end.
    scopes: Vec<Range<usize>>,
}

/// Deeper nesting is read as text.
const DEPTH_MAX: usize = 64;
/// Longer strings are prose: the rules read them, the key says nothing about them.
const VALUE_BYTES_MAX: usize = 200;

impl Reader<'_> {
    fn read_all(&mut self) {
        let mut at = 0;
        while at < self.bytes.len() {
            at = match self.bytes[at] {
                b'{' => self.open(at, true),
                b'[' => self.open(at, false),
                b'}' | b']' => self.close(at),
                b'"' if !self.open.is_empty() => self.string(at, b'"'),
                b'\'' if !self.open.is_empty() && self.may_quote(at) => self.string(at, b'\''),
                b',' => {
                    if let Some(open) = self.open.last_mut().filter(|open| open.is_object) {
                        open.member = None;
                    }
                    at + 1
                }
                b'0'..=b'9' | b'-' if self.expects_value(at) => self.number(at),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' if self.in_object() => self.bare_word(at),
                _ => at + 1,
            };
        }
        while !self.open.is_empty() {
            self.close(self.bytes.len());
        }
    }

    fn open(&mut self, at: usize, is_object: bool) -> usize {
        if self.open.len() < DEPTH_MAX {
            let key = self.open.last().and_then(|outer| {
                if outer.is_object {
                    outer.member.clone()
                } else {
                    outer.key.clone()
                }
            });
            self.open.push(Open {
                is_object,
                key,
                member: None,
                hint: None,
                unsettled: Vec::new(),
                tells_of_a_person: false,
                start: at,
                items: Vec::new(),
                named: None,
                is_column: false,
                holds_list: false,
            });
        }
        at + 1
    }

    /// Settles what the members of the closing object could not tell by themselves.
    fn close(&mut self, at: usize) -> usize {
        let Some(mut closed) = self.open.pop() else {
            return at + 1;
        };
        let key = closed.key.clone().map(|key| &self.bytes[key]);
        let meaning = closed
            .hint
            .or_else(|| self.meaning_of_whole(key?, closed.is_column));
        let mut rest = Vec::new();
        for index in std::mem::take(&mut closed.unsettled) {
            let field = &mut self.found[index];
            if field.meaning.is_none() {
                field.meaning = meaning;
            } else if is_weak(field.meaning) {
                // `{"type": "MRN", "id": "482913"}`.
                field.meaning = closed.hint.or(field.meaning);
            }
            if closed.tells_of_a_person {
                field.meaning = super::in_person_record(field.meaning);
            }
            if is_weak(field.meaning) || field.meaning == Some(Meaning::NameMaybe) {
                rest.push(index);
            }
        }
        let describes_outer = key.is_some_and(|key| {
            matches!(
                key.to_ascii_lowercase().as_slice(),
                b"type" | b"coding" | b"code"
            )
        });
        let is_part_of_outer =
            key.is_some_and(is_generic_key) || !closed.is_object || closed.is_column;
        if let Some(outer) = self.open.last_mut() {
            if describes_outer {
                outer.hint = outer.hint.or(closed.hint);
            }
            // `{"text": "Date of birth", "answer": [{"valueDate": "1962-03-14"}]}`.
            if is_part_of_outer {
                outer.unsettled.extend(rest);
            }
            if let Some(meaning) = meaning {
                outer.tells_of_a_person |= super::tells_of_a_person(meaning);
            }
            if !outer.is_object && outer.items.len() < columns::ITEMS_MAX {
                outer.items.push(Item::Named(closed.named.clone()));
            }
        }
        self.keep_list(closed, at);
        at + 1
    }

    /// Keeps an array that may be a row of a table, or its heads.
    fn keep_list(&mut self, closed: Open, end: usize) {
        if closed.holds_list {
            self.scopes.push(closed.start..end);
        }
        if closed.is_object || closed.items.is_empty() || self.lists.len() >= columns::LISTS_MAX {
            return;
        }
        let is_marked = closed
            .key
            .is_some_and(|key| is_columns_key(&self.bytes[key]));
        if let Some(outer) = self.open.last_mut() {
            outer.holds_list = true;
        }
        self.lists.push(List {
            span: closed.start..end,
            around: self.open.last().map_or(0, |outer| outer.start),
            items: closed.items,
            is_marked,
        });
    }

    /// A quoted string: a key if a colon follows, a value otherwise.
    fn string(&mut self, at: usize, quote: u8) -> usize {
        let start = at + 1;
        let Some(length) = memchr::memchr3(quote, b'\n', b'\\', &self.bytes[start..]) else {
            return self.bytes.len();
        };
        let mut end = start + length;
        while end < self.bytes.len() && self.bytes[end] != quote {
            let is_escape = self.bytes[end] == b'\\';
            end += 1 + usize::from(is_escape);
        }
        let end = end.min(self.bytes.len());
        let after = skip_space(self.bytes, end + 1);
        let in_object = self.open.last().is_some_and(|open| open.is_object);
        if in_object && self.bytes.get(after) == Some(&b':') {
            if let Some(open) = self.open.last_mut() {
                open.member = Some(start..end);
            }
            return after + 1;
        }
        self.value(start..end);
        end + 1
    }

    /// Whether a single quote opens a string rather than being an apostrophe.
    fn may_quote(&self, at: usize) -> bool {
        let before = self.bytes[..at]
            .iter()
            .rev()
            .take(8)
            .find(|byte| !byte.is_ascii_whitespace());
        matches!(before, Some(b'{' | b'[' | b',' | b':'))
    }

    fn expects_value(&self, at: usize) -> bool {
        let before = self.bytes[..at]
            .iter()
            .rev()
            .take(8)
            .find(|byte| !byte.is_ascii_whitespace());
        match self.open.last() {
            Some(open) if open.is_object => open.member.is_some() && before == Some(&b':'),
            Some(_) => matches!(before, Some(b'[' | b',')),
            None => false,
        }
    }

    fn in_object(&self) -> bool {
        self.open.last().is_some_and(|open| open.is_object)
    }

    /// A word without quotes: a key if a colon follows, as in the objects of programs.
    fn bare_word(&mut self, at: usize) -> usize {
        let length = self.bytes[at..]
            .iter()
            .take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_')
            .count();
        let end = at + length;
        let after = skip_space(self.bytes, end);
        if self.bytes.get(after) == Some(&b':')
            && self.may_quote(at)
            && let Some(open) = self.open.last_mut()
        {
            open.member = Some(at..end);
        }
        end.max(at + 1)
    }

    fn number(&mut self, at: usize) -> usize {
        let length = self.bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+'))
            .count();
        self.value(at..at + length);
        at + length
    }

    fn value(&mut self, span: Range<usize>) {
        let Some(open) = self.open.last() else {
            return;
        };
        let key = if open.is_object {
            open.member.clone()
        } else {
            open.key.clone()
        };
        let Some(key) = key else {
            self.note_item(span, None);
            return;
        };
        let outer = if open.is_object {
            open.key.clone()
        } else {
            // An array stands under a key of the object round it, and that under another.
            let above = self.open.len().checked_sub(2);
            above.and_then(|above| self.open[above].key.clone())
        };
        let name = &self.bytes[key];
        let value = &self.bytes[span.clone()];
        if name == b"resourceType" {
            self.is_patient = value == b"Patient";
        }
        let is_naming = is_naming_key(name);
        let hint = is_naming.then(|| hint_of(value)).flatten();
        let meaning = self.meaning_of(name, outer.clone());
        let is_part = self.is_part_of_birth(name, outer.clone(), value, meaning);
        let is_identifier = outer.is_some_and(|outer| &self.bytes[outer] == b"identifier");
        let fallback =
            (self.is_patient && is_identifier && name == b"value").then_some(Meaning::Mrn);
        let is_prose = span.len() > VALUE_BYTES_MAX;
        let index = self.found.len();
        let open = self.open.last_mut().expect("checked above");
        open.hint = open.hint.or(hint);
        if let Some(meaning) = meaning {
            open.tells_of_a_person |= super::tells_of_a_person(meaning);
        }
        open.is_column |= open.is_object && is_index(name);
        if is_naming && open.named.is_none() {
            open.named = Some(span.clone());
        }
        let is_open = is_weak(meaning) && is_generic_key(name);
        if is_open || meaning == Some(Meaning::NameMaybe) {
            open.unsettled.push(index);
            if open.hint.is_none() {
                open.hint = fallback;
            }
        }
        let meaning = if is_prose || hint.is_some() {
            None
        } else {
            meaning
        };
        if is_part {
            let part = Field::settled(span.clone(), Some(Meaning::Dob));
            self.found.push(part);
        } else {
            self.found.push(Field::new(span.clone(), meaning));
        }
        self.note_item(span, Some(index));
    }

    /// Remembers a value of an array by its place.
    fn note_item(&mut self, span: Range<usize>, field: Option<usize>) {
        let array = self.open.last_mut().filter(|open| !open.is_object);
        if let Some(array) = array.filter(|array| array.items.len() < columns::ITEMS_MAX) {
            array.items.push(Item::Value { span, field });
        }
    }

    /// Whether a value is the year, month or day of a birth: `{"dob": {"year": 1962}}`, `{"dob": [1962, 3, 14]}`.
    fn is_part_of_birth(
        &self,
        name: &[u8],
        outer: Option<Range<usize>>,
        value: &[u8],
        meaning: Option<Meaning>,
    ) -> bool {
        let is_of_birth = |meaning| matches!(meaning, Some(Meaning::Dob | Meaning::Born));
        let in_list = !self.in_object() && is_of_birth(meaning);
        let in_parts = is_date_part(name)
            && outer.is_some_and(|outer| {
                let outer = std::str::from_utf8(&self.bytes[outer]).unwrap_or_default();
                outer.len() <= 64 && is_of_birth(labels::of_key(outer))
            });
        let is_part = in_parts || keys::is_part_of_birth(name);
        value.len() <= 9 && (in_list && value.len() <= 4 || is_part)
    }

    /// What the key of an object says about the one value in it: `"mrn": {"value": "482913"}`.
    fn meaning_of_whole(&self, key: &[u8], is_column: bool) -> Option<Meaning> {
        if let Some(meaning) = dicom::of_key(key) {
            return Some(meaning);
        }
        let name = std::str::from_utf8(key).ok();
        let meaning = labels::of_key(name.filter(|name| name.len() <= 64)?)?;
        let is_of_one_value = super::tells_of_a_person(meaning)
            && !matches!(meaning, Meaning::Name | Meaning::Address);
        (is_of_one_value || is_column).then_some(meaning)
    }

    /// What a key means: with the key of the object round it, then by itself.
    fn meaning_of(&self, name: &[u8], outer: Option<Range<usize>>) -> Option<Meaning> {
        let name = std::str::from_utf8(name).ok()?;
        if name.len() > 64 {
            return None;
        }
        let outer = outer
            .and_then(|outer| std::str::from_utf8(&self.bytes[outer]).ok())
            .filter(|outer| outer.len() <= 64);
        labels::of_nested_key(outer, name)
    }
}

/// Whether a key says too little about its value for a neighbour to be wrong: `id`, `text`, `valueDate`.
fn is_weak(meaning: Option<Meaning>) -> bool {
    matches!(
        meaning,
        None | Some(
            Meaning::OtherId(_) | Meaning::OtherDate | Meaning::PhoneMaybe | Meaning::Thing
        )
    )
}

fn skip_space(bytes: &[u8], from: usize) -> usize {
    from + bytes[from.min(bytes.len())..]
        .iter()
        .take(16)
        .take_while(|byte| byte.is_ascii_whitespace())
        .count()
}
