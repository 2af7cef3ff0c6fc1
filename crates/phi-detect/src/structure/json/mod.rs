//! JSON, whole or in pieces, also with single quotes and missing brackets. The reader is our own because people quote
//! JSON in pieces, which libraries refuse to read.
//!
//! A value's meaning comes from its key, from the key of the object round it
//! (`patient.id`), or from a neighbour that names it, as in FHIR:
//! `{"system": "http://hl7.org/fhir/sid/us-ssn", "value": "536228741"}`.

mod columns;
mod keys;
mod values;

use std::ops::Range;

use columns::{Item, List};
use keys::Role;

use super::Source;
use crate::budget::{self, Few, Memory, Way};
use crate::labels::{self, Meaning};
use crate::page::Field;

/// Reads every JSON-like piece of the text.
pub(super) fn read(source: &Source<'_>, found: &mut budget::List<Field>) {
    let (text, bytes) = (source.text, source.bytes());
    if memchr::memchr2(b'{', b'[', bytes).is_none() {
        return;
    }
    let memory = source.memory();
    let mut reader = Reader {
        text,
        bytes,
        found,
        open: Few::new(),
        is_patient: false,
        lists: memory.list(),
        scopes: memory.list(),
        memory,
    };
    reader.read_all(source.way());
    let (lists, scopes) = (reader.lists, reader.scopes);
    columns::settle(bytes, &lists, scopes, found);
}

/// An object or array that is not closed yet.
struct Open {
    is_object: bool,
    /// Key of the object or array.
    key: Option<Range<usize>>,
    /// The key of the member being read.
    member: Option<Range<usize>>,
    /// Meaning that a neighbouring member gives to `value`.
    hint: Option<Meaning>,
    /// Fields whose meaning is settled when the object closes.
    unsettled: budget::List<usize>,
    tells_of_a_person: bool,
    /// Whether a nested object is about a person.
    holds_a_person: bool,
    is_package: bool,
    /// Whether its keys are languages, and the value in Portuguese: `{"en": "Save", "pt": "Salvar"}`.
    is_translation: bool,
    portuguese: Option<usize>,
    /// Start of the object or array.
    start: usize,
    /// Items of an array, as long as it may be a row or the heads of one.
    items: budget::List<Item>,
    /// The value that names an object in a list: `{"name": "mrn"}`.
    named: Option<Range<usize>>,
    /// Whether its keys number the rows of a column: `{"ssn": {"0": "536228741"}}`.
    is_column: bool,
    /// Whether it directly contains an array that was kept.
    holds_list: bool,
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    found: &'a mut budget::List<Field>,
    open: Few<Open>,
    /// Whether the resource being read is a FHIR patient.
    is_patient: bool,
    /// Arrays that may be rows of a table, or its heads.
    lists: budget::List<List>,
    /// Spans of the objects and arrays directly around those lists.
    scopes: budget::List<Range<usize>>,
    memory: &'a Memory,
}

/// Deeper nesting is read as text.
const DEPTH_MAX: usize = 64;
/// Longer strings are prose: the rules read them, the key says nothing about them.
const VALUE_BYTES_MAX: usize = 200;

impl Reader<'_> {
    fn read_all(&mut self, mut way: Way<'_>) {
        let mut at = 0;
        while at < self.bytes.len() && way.goes_on(at) {
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
                unsettled: self.memory.list(),
                tells_of_a_person: false,
                holds_a_person: false,
                is_package: false,
                is_translation: false,
                portuguese: None,
                start: at,
                items: self.memory.list(),
                named: None,
                is_column: false,
                holds_list: false,
            });
        }
        at + 1
    }

    /// Settles the meanings that the members of the closing object left open.
    fn close(&mut self, at: usize) -> usize {
        let Some(mut closed) = self.open.pop() else {
            return at + 1;
        };
        let key = closed.key.clone();
        let role = key.clone().map(|key| Role::of(&self.bytes[key]));
        let role = role.unwrap_or_default();
        let meaning = closed
            .hint
            .or_else(|| self.meaning_of_whole(key.clone()?, closed.is_column));
        let portuguese = closed.portuguese.filter(|_| closed.is_translation);
        if let Some(field) = portuguese.and_then(|index| self.found.get_mut(index)) {
            field.meaning = None;
        }
        let is_about_a_person = closed.tells_of_a_person
            || closed.holds_a_person
            || closed.is_object
                && key
                    .clone()
                    .and_then(|key| labels::of_key(self.text.get(key)?))
                    .is_some_and(super::tells_of_a_person);
        let unsettled = closed.unsettled.take();
        let (rest, beside) = self.settle(unsettled, &closed, meaning, is_about_a_person);
        let is_part_of_outer = role.is(Role::GENERIC) || !closed.is_object || closed.is_column;
        if let Some(outer) = self.open.last_mut() {
            outer.is_package |= role.is(Role::OF_PACKAGE);
            if role.is(Role::DESCRIBING) {
                outer.hint = outer.hint.or(closed.hint);
            }
            // `{"text": "Date of birth", "answer": [{"valueDate": "1962-03-14"}]}`.
            if is_part_of_outer {
                outer.unsettled.extend(rest);
            }
            // The enclosing object may show that these are numbers of a record.
            outer.unsettled.extend(beside);
            outer.holds_a_person |= outer.is_object && is_about_a_person;
            if let Some(meaning) = meaning {
                outer.tells_of_a_person |= super::tells_of_a_person(meaning);
            }
            if !outer.is_object && outer.items.len() < columns::ITEMS_MAX {
                outer.items.push(Item::Named(closed.named.clone()));
            }
        }
        let is_string = closed.start.checked_sub(1).map(|before| self.bytes[before]) == Some(b'"');
        self.keep_list(closed, at, role.is(Role::COLUMNS));
        // The quote that ends a document in a string opens no other.
        at + 1 + usize::from(is_string && self.bytes.get(at + 1) == Some(&b'"'))
    }

    /// Gives the values of a closing object the meaning that it has for them. Returns those that an object round it may know
    /// better, and those that would be numbers of a record there.
    fn settle(
        &mut self,
        unsettled: budget::List<usize>,
        closed: &Open,
        meaning: Option<Meaning>,
        is_about_a_person: bool,
    ) -> (budget::List<usize>, budget::List<usize>) {
        let (mut rest, mut beside) = (self.memory.list(), self.memory.list());
        for index in unsettled {
            let Some(field) = self.found.get_mut(index) else {
                break;
            };
            if field.meaning.is_none() {
                field.meaning = meaning;
            } else if values::is_weak(field.meaning) {
                // `{"type": "MRN", "id": "482913"}`.
                field.meaning = closed.hint.or(field.meaning);
            }
            let is_of_person = match field.meaning {
                Some(Meaning::MrnBeside) => is_about_a_person,
                _ => closed.tells_of_a_person,
            };
            if is_of_person && !closed.is_package {
                field.meaning = super::in_person_record(field.meaning);
            }
            if field.meaning == Some(Meaning::MrnBeside) {
                beside.push(index);
            } else if values::is_weak(field.meaning) || field.meaning == Some(Meaning::NameMaybe) {
                rest.push(index);
            }
        }
        (rest, beside)
    }

    /// Keeps an array that may be a row of a table, or its heads.
    fn keep_list(&mut self, closed: Open, end: usize, is_marked: bool) {
        if closed.holds_list {
            self.scopes.push(closed.start..end);
        }
        if closed.is_object || closed.items.is_empty() || self.lists.len() >= columns::LISTS_MAX {
            return;
        }
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

    /// Reads a quoted string: a key if a colon follows, a value otherwise; or a nested document, whose quotes the view
    /// has freed.
    fn string(&mut self, at: usize, quote: u8) -> usize {
        let start = at + 1;
        if self.opens_document(start) {
            return start;
        }
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

    /// Whether the string that starts here is JSON itself: `"payload": "{"mrn": …`.
    fn opens_document(&self, start: usize) -> bool {
        let opens = |at: usize| matches!(self.bytes.get(at), Some(b'{' | b'['));
        let inner = skip_space(self.bytes, start + 1);
        opens(start) && (self.bytes.get(inner) == Some(&b'"') || opens(inner))
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

    /// Reads a word without quotes: a key if a colon follows, as in the objects of programs.
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
}

fn skip_space(bytes: &[u8], from: usize) -> usize {
    from + bytes[from.min(bytes.len())..]
        .iter()
        .take(16)
        .take_while(|byte| byte.is_ascii_whitespace())
        .count()
}
