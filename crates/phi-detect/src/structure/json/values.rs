//! Meanings that a value of JSON gets from the keys round it and from its place in an array.

use std::ops::Range;

use super::columns::{self, Item};
use super::keys::{self, Role, hint_of, is_index};
use super::{Open, Reader, VALUE_BYTES_MAX};
use crate::labels::{self, Meaning};
use crate::page::Field;
use crate::structure::{dicom, tells_of_a_person};

/// Longest part of a date ("September").
const PART_BYTES_MAX: usize = 9;

impl Open {
    /// Takes note of what a key says about its neighbours; `field` is the one that its value becomes.
    fn note_key(&mut self, name: &[u8], role: Role, field: usize) {
        if !self.is_object {
            return;
        }
        self.is_column |= is_index(name);
        self.is_translation |= role.is(Role::LANGUAGE);
        if name == b"pt" {
            self.portuguese = Some(field);
        }
    }
}

impl Reader<'_> {
    pub(super) fn value(&mut self, span: Range<usize>) {
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
        let outer = self.outer_key();
        let name = &self.bytes[key.clone()];
        let value = &self.bytes[span.clone()];
        if name == b"resourceType" {
            self.is_patient = value == b"Patient";
        }
        let role = Role::of(name);
        let is_naming = role.is(Role::NAMING);
        let hint = is_naming
            .then(|| hint_of(self.text.get(span.clone())?))
            .flatten();
        let meaning = self.meaning_of(key, outer.clone());
        let is_part = self.is_part_of_birth(name, role, outer.clone(), value, meaning);
        let is_identifier = outer.is_some_and(|outer| &self.bytes[outer] == b"identifier");
        let fallback =
            (self.is_patient && is_identifier && name == b"value").then_some(Meaning::Mrn);
        // What goes on over lines may hold a table or a message.
        let has_lines = is_weak(meaning) && memchr::memchr(b'\n', value).is_some();
        let is_prose = span.len() > VALUE_BYTES_MAX;
        let index = self.found.len();
        let open = self.open.last_mut().expect("checked above");
        open.hint = open.hint.or(hint);
        if let Some(meaning) = meaning {
            open.tells_of_a_person |= tells_of_a_person(meaning);
        }
        open.note_key(name, role, index);
        if is_naming && open.named.is_none() {
            open.named = Some(span.clone());
        }
        if has_lines || is_prose && meaning.is_none() {
            self.note_item(span, None);
            return;
        }
        let is_open = is_weak(meaning) && role.is(Role::GENERIC);
        if is_open || matches!(meaning, Some(Meaning::NameMaybe | Meaning::MrnBeside)) {
            open.unsettled.push(index);
            if open.hint.is_none() {
                open.hint = fallback;
            }
        }
        let meaning = meaning.filter(|_| !is_prose && hint.is_none());
        self.found.push(match is_part {
            true => Field::settled(span.clone(), Some(Meaning::Dob)),
            false => Field::new(span.clone(), meaning),
        });
        self.note_item(span, Some(index));
    }

    /// Returns the key above the one that a value belongs to.
    fn outer_key(&self) -> Option<Range<usize>> {
        let open = self.open.last()?;
        if open.is_object {
            return open.key.clone();
        }
        // An array belongs to a key of the object round it, and that object to another key.
        let above = self.open.len().checked_sub(2)?;
        self.open[above].key.clone()
    }

    /// Remembers a value of an array by its place.
    pub(super) fn note_item(&mut self, span: Range<usize>, field: Option<usize>) {
        let array = self.open.last_mut().filter(|open| !open.is_object);
        if let Some(array) = array.filter(|array| array.items.len() < columns::ITEMS_MAX) {
            array.items.push(Item::Value { span, field });
        }
    }

    /// Whether a value is the year, month or day of a birth: `{"dob": {"year": 1962}}`, `{"dob": [1962, 3, 14]}`.
    fn is_part_of_birth(
        &self,
        name: &[u8],
        role: Role,
        outer: Option<Range<usize>>,
        value: &[u8],
        meaning: Option<Meaning>,
    ) -> bool {
        if value.len() > PART_BYTES_MAX {
            return false;
        }
        let is_of_birth = |meaning| matches!(meaning, Some(Meaning::Dob | Meaning::Born));
        let in_list = !self.in_object() && is_of_birth(meaning);
        let in_parts = role.is(Role::DATE_PART)
            && outer.is_some_and(|outer| {
                let outer = self.text.get(outer).unwrap_or_default();
                outer.len() <= 64 && is_of_birth(labels::of_key(outer))
            });
        let is_part = in_parts || keys::is_part_of_birth(name);
        in_list && value.len() <= 4 || is_part
    }

    /// Returns the meaning that the key of an object gives to the one value in it (`"mrn": {"value": "482913"}`).
    pub(super) fn meaning_of_whole(&self, key: Range<usize>, is_column: bool) -> Option<Meaning> {
        if let Some(meaning) = dicom::of_key(&self.bytes[key.clone()]) {
            return Some(meaning);
        }
        let name = self.text.get(key);
        let meaning = labels::of_key(name.filter(|name| name.len() <= 64)?)?;
        let is_of_one_value =
            tells_of_a_person(meaning) && !matches!(meaning, Meaning::Name | Meaning::Address);
        (is_of_one_value || is_column).then_some(meaning)
    }

    /// Returns the meaning of a key: with the key of the object round it, then by itself.
    fn meaning_of(&self, key: Range<usize>, outer: Option<Range<usize>>) -> Option<Meaning> {
        let name = self.text.get(key).filter(|name| name.len() <= 64)?;
        let outer = outer
            .and_then(|outer| self.text.get(outer))
            .filter(|outer| outer.len() <= 64);
        let part_of_name = keys::is_part_of_name(name).then_some(Meaning::NameMaybe);
        labels::of_nested_key(outer, name).or(part_of_name)
    }
}

/// Whether a key says too little about its value for a neighbour to be wrong: `id`, `text`, `valueDate`.
pub(super) fn is_weak(meaning: Option<Meaning>) -> bool {
    matches!(
        meaning,
        None | Some(
            Meaning::OtherId(_) | Meaning::OtherDate | Meaning::PhoneMaybe | Meaning::Thing
        )
    )
}
