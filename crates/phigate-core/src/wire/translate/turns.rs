//! Turns of a conversation, for providers with turns made of blocks.

use super::draft::Draft;
use crate::json::Json;

/// A role and its blocks.
pub(in super::super) type Turn<'b> = (&'static str, Vec<Json<'b>>);

/// Collects turns. Adjacent messages of one role become one turn: roles must alternate, and the results of parallel
/// calls must come together.
#[derive(Default)]
pub(in super::super) struct Turns<'b> {
    pub(in super::super) list: Vec<Turn<'b>>,
}

impl<'b> Turns<'b> {
    /// Continues the last turn or begins another.
    pub(in super::super) fn add(&mut self, role: &'static str, blocks: Vec<Json<'b>>) {
        if blocks.is_empty() {
            return;
        }
        match self.list.last_mut() {
            Some((last, turn)) if *last == role => turn.extend(blocks),
            _ => self.list.push((role, blocks)),
        }
    }

    /// The turns as messages.
    pub(in super::super) fn into_messages(mut self, draft: &Draft<'_>) -> Vec<Json<'b>> {
        trim_last_assistant(draft, &mut self.list);
        let message = |(role, blocks): Turn<'b>| {
            Json::object([("role", Json::text(role)), ("content", Json::List(blocks))])
        };
        self.list.into_iter().map(message).collect()
    }
}

/// Trims the assistant's last turn: providers continue it, and refuse one that ends in spaces.
fn trim_last_assistant(draft: &Draft<'_>, turns: &mut [Turn<'_>]) {
    let Some(("assistant", blocks)) = turns.last_mut() else {
        return;
    };
    let Some(Json::Object(members)) = blocks.last_mut() else {
        return;
    };
    if let Some((_, Json::Text(text))) = members.iter_mut().find(|(name, _)| name == "text") {
        let trimmed = text.trim_end().len();
        if trimmed < text.len() {
            draft.adjust("messages");
            text.to_mut().truncate(trimmed);
        }
    }
}
