//! Text from the provider, kept for the record in case it held PHI.

use std::collections::BTreeMap;

use super::field_id::FieldId;
use crate::json::Json;
use crate::text::PhiText;

/// Bytes of a reply that are kept for the record.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// Bytes of a tool's name that are read.
const NAME_BYTES_MAX: usize = 256;

/// The texts of a reply as the provider wrote them, up to a limit, and the names of the tools it calls.
#[derive(Default)]
pub(crate) struct Heard {
    texts: BTreeMap<FieldId, String>,
    names: BTreeMap<FieldId, String>,
    bytes: usize,
}

impl Heard {
    /// More of a text.
    pub(super) fn text(&mut self, id: FieldId, text: &str) {
        let mut room = KEPT_BYTES_MAX.saturating_sub(self.bytes).min(text.len());
        while !text.is_char_boundary(room) {
            room -= 1;
        }
        if room > 0 {
            self.bytes += room;
            self.texts.entry(id).or_default().push_str(&text[..room]);
        }
    }

    /// More of a tool's name.
    pub(crate) fn name(&mut self, id: FieldId, name: &str) {
        let known = self.names.entry(id).or_default();
        if known.len() + name.len() <= NAME_BYTES_MAX {
            known.push_str(name);
        }
    }

    /// The name of the tool that a text is for.
    pub(crate) fn name_of(&self, id: FieldId) -> &str {
        self.names.get(&id).map_or("", String::as_str)
    }

    /// Number of tools named; each name is one more thing to remember.
    pub(super) fn names(&self) -> usize {
        self.names.len()
    }

    /// Returns all texts, as one JSON document.
    pub(super) fn to_json(&self) -> PhiText {
        let texts = self.texts.iter().map(|(id, text)| {
            let mut entry = Json::object([
                ("choice", id.choice.into()),
                ("part", Json::text(id.part.name())),
            ]);
            if let Some(name) = self.names.get(id) {
                entry.insert("tool", Json::text(name.as_str()));
            }
            entry.insert("text", Json::text(text.as_str()));
            entry
        });
        PhiText::new(Json::List(texts.collect()).to_json_text())
    }
}
