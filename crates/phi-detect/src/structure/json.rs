//! JSON, whole or in pieces, also with single quotes and missing brackets.
//!
//! A value's meaning comes from its key, from the key of the object round it
//! (`patient.id`), or from a neighbour that names it, as in FHIR:
//! `{"system": "http://hl7.org/fhir/sid/us-ssn", "value": "536228741"}`.

use std::ops::Range;

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
    };
    reader.read_all();
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
}

struct Reader<'a> {
    bytes: &'a [u8],
    found: &'a mut Vec<Field>,
    open: Vec<Open>,
    /// Whether the resource being read is a FHIR patient.
    is_patient: bool,
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
            });
        }
        at + 1
    }

    /// Settles what the members of the closing object could not tell by themselves.
    fn close(&mut self, at: usize) -> usize {
        let Some(closed) = self.open.pop() else {
            return at + 1;
        };
        let by_key = || self.meaning_of_whole(closed.key.clone()?);
        let meaning = closed.hint.or_else(by_key);
        for index in closed.unsettled {
            let field = &mut self.found[index];
            if field.meaning.is_none() {
                field.meaning = meaning;
            } else if field.meaning == Some(Meaning::OtherId) {
                // `{"type": "MRN", "id": "482913"}`.
                field.meaning = closed.hint.or(field.meaning);
            }
            if closed.tells_of_a_person {
                field.meaning = super::in_person_record(field.meaning);
            }
        }
        let key = closed.key.map(|key| self.bytes[key].to_ascii_lowercase());
        let describes_outer = matches!(key.as_deref(), Some(b"type" | b"coding" | b"code"));
        if describes_outer
            && closed.hint.is_some()
            && let Some(outer) = self.open.last_mut()
        {
            outer.hint = outer.hint.or(closed.hint);
        }
        at + 1
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
        let hint = is_naming_key(name).then(|| hint_of(value)).flatten();
        let meaning = self.meaning_of(name, outer.clone());
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
        let is_open = matches!(meaning, None | Some(Meaning::OtherId)) && is_generic_key(name);
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
        self.found.push(Field::new(span, meaning));
    }

    /// What the key of an object says about the one value in it: `"mrn": {"value": "482913"}`.
    fn meaning_of_whole(&self, key: Range<usize>) -> Option<Meaning> {
        let name = std::str::from_utf8(&self.bytes[key]).ok();
        let meaning = labels::of_key(name.filter(|name| name.len() <= 64)?)?;
        let is_of_one_value = super::tells_of_a_person(meaning)
            && !matches!(meaning, Meaning::Name | Meaning::Address);
        is_of_one_value.then_some(meaning)
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

/// Keys whose value says what the neighbouring `value` is.
fn is_naming_key(name: &[u8]) -> bool {
    matches!(
        name,
        b"system"
            | b"code"
            | b"display"
            | b"text"
            | b"type"
            | b"use"
            | b"label"
            | b"field"
            | b"key"
            | b"question"
            | b"title"
            | b"name"
            | b"column"
            | b"attribute"
            | b"fieldName"
            | b"field_name"
    )
}

/// Keys that say nothing by themselves.
fn is_generic_key(name: &[u8]) -> bool {
    matches!(
        name,
        b"value"
            | b"val"
            | b"answer"
            | b"text"
            | b"content"
            | b"data"
            | b"response"
            | b"valueString"
            | b"valueDate"
            | b"extension"
            | b"id"
            | b"number"
    )
}

/// What a system, a type code or a label says about its neighbour.
fn hint_of(value: &[u8]) -> Option<Meaning> {
    let text = std::str::from_utf8(value)
        .ok()
        .filter(|text| text.len() <= 120)?;
    // HL7 table 0203, identifier types, and FHIR contact point systems.
    let by_code = match text {
        "MR" | "MRN" | "PI" | "PT" => Some(Meaning::Mrn),
        "SS" | "SB" => Some(Meaning::Ssn),
        "MC" => Some(Meaning::Medicare),
        "DL" | "PPN" | "MA" | "MB" | "NI" | "NPI" | "PRN" | "AN" | "VN" | "SN" | "SNO" | "TAX" => {
            Some(Meaning::OtherId)
        }
        "phone" | "fax" | "pager" | "sms" => Some(Meaning::Phone),
        "email" => Some(Meaning::Email),
        _ => None,
    };
    if by_code.is_some() {
        return by_code;
    }
    // "http://hl7.org/fhir/sid/us-ssn", "urn:oid:2.16.840.1.113883.4.1".
    let last = text.rsplit(['/', ':']).next().unwrap_or(text);
    match last {
        "us-ssn" | "2.16.840.1.113883.4.1" => Some(Meaning::Ssn),
        "us-mbi" | "us-medicare" | "2.16.840.1.113883.4.572" | "2.16.840.1.113883.4.927" => {
            Some(Meaning::Medicare)
        }
        "us-npi" | "2.16.840.1.113883.4.6" => Some(Meaning::OtherId),
        // "https://hospital.example/ids/mrn".
        _ if text.contains("://") || text.starts_with("urn:") => labels::of_whole_key(last)
            .filter(|meaning| matches!(meaning, Meaning::Mrn | Meaning::Ssn | Meaning::Medicare)),
        _ => labels::of_whole_key(text).filter(|meaning| {
            !matches!(
                meaning,
                Meaning::NameMaybe | Meaning::City | Meaning::PhoneMaybe
            )
        }),
    }
}

fn skip_space(bytes: &[u8], from: usize) -> usize {
    from + bytes[from.min(bytes.len())..]
        .iter()
        .take(16)
        .take_while(|byte| byte.is_ascii_whitespace())
        .count()
}
