//! Texts of a reply that come whole: tool input as JSON, and text beside the answer, such as quotations.

use std::borrow::Cow;

use super::Stop;
use super::field::Fields;
use super::field_id::{FieldId, Part};
use crate::json::Json;

/// Members that are words of the protocol, addresses, or for the provider only.
const NO_TEXT: &[&str] = &[
    "call_id",
    "container_id",
    "data",
    "encrypted_content",
    "encrypted_index",
    "file_id",
    "id",
    "item_id",
    "media_type",
    "model",
    "name",
    "role",
    "server_label",
    "server_name",
    "signature",
    "status",
    "tool_use_id",
    "type",
    "url",
];

impl Fields {
    /// Takes a text that is complete, in a stream too.
    pub(crate) fn take_complete(&mut self, id: FieldId, value: &mut Json<'_>) -> Result<(), Stop> {
        let Json::Text(text) = value else {
            return Ok(());
        };
        let (result, treated) = self.treat_complete(id, text);
        result?;
        if treated != **text {
            *text = Cow::Owned(treated);
            self.is_changed = true;
        }
        Ok(())
    }

    /// Takes a value that is the input of a tool, as the JSON that it is.
    pub(crate) fn take_json(&mut self, id: FieldId, value: &mut Json<'_>) -> Result<(), Stop> {
        if !matches!(value, Json::Object(_) | Json::List(_)) {
            return self.take_complete(id, value);
        }
        let written = value.to_json_text();
        let (result, treated) = self.treat_complete(id, &written);
        result?;
        if treated != written {
            let changed = Json::read_embedded(&treated).map_err(|_| Stop::Unreadable)?;
            *value = changed.into_owned();
            self.is_changed = true;
        }
        Ok(())
    }

    /// Takes every text of a value but words of the protocol.
    pub(crate) fn take_leaves(&mut self, choice: u64, value: &mut Json<'_>) -> Result<(), Stop> {
        self.take_leaves_of(FieldId::new(choice, Part::Other), value)
    }

    /// Looks for PHI beside the answer: in titles of sources, and in members that the door does not know.
    pub(crate) fn take_beside(&mut self, choice: u64, value: &mut Json<'_>) -> Result<(), Stop> {
        if self.rules.scan.is_none() {
            return Ok(());
        }
        self.take_leaves_of(FieldId::new(choice, Part::Beside), value)
    }

    /// Looks for PHI in the members of an object that the door does not know.
    pub(crate) fn take_unknown(
        &mut self,
        choice: u64,
        object: &mut Json<'_>,
        known: &[&str],
    ) -> Result<(), Stop> {
        let Json::Object(members) = object else {
            return Ok(());
        };
        members
            .iter_mut()
            .filter(|(name, _)| {
                !known.contains(&name.as_ref()) && !NO_TEXT.contains(&name.as_ref())
            })
            .try_for_each(|(_, value)| self.take_beside(choice, value))
    }

    fn take_leaves_of(&mut self, id: FieldId, value: &mut Json<'_>) -> Result<(), Stop> {
        match value {
            Json::Text(_) => self.take_complete(id, value),
            Json::List(items) => items
                .iter_mut()
                .try_for_each(|item| self.take_leaves_of(id, item)),
            Json::Object(members) => members
                .iter_mut()
                .filter(|(name, _)| !NO_TEXT.contains(&name.as_ref()))
                .try_for_each(|(_, value)| self.take_leaves_of(id, value)),
            Json::Null | Json::Bool(_) | Json::Number(_) => Ok(()),
        }
    }
}
