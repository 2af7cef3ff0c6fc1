//! The texts of a reply, and what each of them goes through. Which parts of a reply are texts is the door's business.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use phigate_types::Replies;

use super::field_id::{FieldId, Part};
use super::heard::Heard;
use super::pipe::{Pipe, Shared};
use super::reader::Shape;
use super::{ReplyRules, Stop, Tally};
use crate::json::Json;
use crate::text::PhiText;

/// Texts of one reply beyond which it is not a reply.
const FIELDS_MAX: usize = 4096;

/// All texts of one reply.
pub(crate) struct Fields {
    pub(crate) rules: Arc<ReplyRules>,
    pub(crate) tally: Tally,
    pub(crate) heard: Heard,
    pipes: BTreeMap<FieldId, Pipe>,
    is_stream: bool,
    /// Choices in whose thinking new PHI was found.
    pub(crate) tainted_thoughts: BTreeSet<u64>,
    /// Text that must go out before the event that is being read.
    pub(crate) before: Vec<(FieldId, String)>,
    /// Whether the event that is being read was changed.
    pub(crate) is_changed: bool,
}

impl Fields {
    pub(crate) fn new(rules: Arc<ReplyRules>, is_stream: bool) -> Self {
        Self {
            rules,
            tally: Tally::default(),
            heard: Heard::default(),
            pipes: BTreeMap::new(),
            is_stream,
            tainted_thoughts: BTreeSet::new(),
            before: Vec::new(),
            is_changed: false,
        }
    }

    /// Whether new PHI may not reach the caller.
    pub(crate) fn withholds(&self) -> bool {
        let scan = self.rules.scan.as_ref();
        scan.is_some_and(|scan| !matches!(scan.action, Replies::Off | Replies::Flag))
    }

    /// Whether the reply comes in pieces, so that nothing is known of what follows.
    pub(crate) fn is_streamed(&self) -> bool {
        self.is_stream
    }

    /// Whether a reply with new PHI is withheld.
    pub(crate) fn blocks(&self) -> bool {
        let scan = self.rules.scan.as_ref();
        scan.is_some_and(|scan| scan.action == Replies::Block)
    }

    /// Returns the provider's text, if it held new PHI.
    pub(crate) fn heard(&self) -> Option<PhiText> {
        self.tally.has_new_phi().then(|| self.heard.to_json())
    }

    /// A text, or a list of parts with texts.
    pub(crate) fn take_text(&mut self, id: FieldId, value: &mut Json<'_>) -> Result<(), Stop> {
        match value {
            Json::Text(text) if !text.is_empty() => {
                if let Some(changed) = self.take_piece(id, text)? {
                    *text = Cow::Owned(changed);
                    self.is_changed = true;
                }
                Ok(())
            }
            Json::List(parts) => {
                for part in parts.iter_mut() {
                    let Json::Object(members) = part else {
                        continue;
                    };
                    for (name, value) in members.iter_mut() {
                        let is_text = matches!(name.as_ref(), "text" | "refusal");
                        if is_text && matches!(value, Json::Text(_)) {
                            self.take_text(id, value)?;
                        } else if name != "type" {
                            self.take_beside(id.choice, value)?;
                        }
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Rewrites a text, or its next piece; `None` if unchanged.
    pub(crate) fn take_piece(&mut self, id: FieldId, text: &str) -> Result<Option<String>, Stop> {
        self.end_thoughts_before(id)?;
        let mut out = String::with_capacity(text.len());
        let mut result = self.run(id, text, &mut out);
        if !self.is_stream && result.is_ok() {
            let mut rest = Vec::new();
            result = self.end(&[id], &mut rest);
            out.extend(rest.into_iter().map(|(_, text)| text));
        }
        if let Err(stop) = result {
            // The settled text is written; the rest is not.
            self.before.push((id, out));
            return Err(stop);
        }
        Ok((out != text).then_some(out))
    }

    /// Rewrites a complete text. No state is kept, so that the next text of the same name begins anew.
    pub(super) fn treat_complete(&mut self, id: FieldId, text: &str) -> (Result<(), Stop>, String) {
        let mut out = String::with_capacity(text.len());
        let mut result = self.run(id, text, &mut out);
        if result.is_ok() {
            let mut rest = Vec::new();
            result = self.end(&[id], &mut rest);
            out.extend(rest.into_iter().map(|(_, text)| text));
        }
        self.pipes.remove(&id);
        (result, out)
    }

    fn run(&mut self, id: FieldId, text: &str, out: &mut String) -> Result<(), Stop> {
        if self.rules.scan.is_some() {
            self.heard.text(id, text);
        }
        let found = self.tally.findings();
        let (rules, is_stream) = (&self.rules, self.is_stream);
        if self.pipes.len().max(self.heard.names()) >= FIELDS_MAX && !self.pipes.contains_key(&id) {
            return Err(Stop::Unreadable);
        }
        let pipe = match self.pipes.entry(id) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let restores = match id.part {
                    Part::Arguments | Part::Input | Part::Function => {
                        rules.tools.contains(self.heard.name_of(id))
                    }
                    Part::Signed | Part::Beside => false,
                    _ => true,
                };
                entry.insert(Pipe::new(rules, shape(rules, id.part), restores))
            }
        };
        let tally = &mut self.tally;
        let mut shared = Shared {
            rules,
            tally,
            is_stream,
        };
        let result = pipe.push(&mut shared, text, out);
        self.note_taint(id, found);
        result
    }

    fn note_taint(&mut self, id: FieldId, found_before: u64) {
        let is_thought = matches!(id.part, Part::Reasoning(_));
        if is_thought && self.tally.findings() > found_before {
            self.tainted_thoughts.insert(id.choice);
        }
    }

    /// Flushes the thinking before the answer begins.
    fn end_thoughts_before(&mut self, id: FieldId) -> Result<(), Stop> {
        if !self.is_stream || matches!(id.part, Part::Reasoning(_)) {
            return Ok(());
        }
        self.end_thoughts(id.choice)
    }

    /// Flushes the held part of a choice's thinking.
    pub(crate) fn end_thoughts(&mut self, choice: u64) -> Result<(), Stop> {
        let is_thought =
            |id: &FieldId| id.choice == choice && matches!(id.part, Part::Reasoning(_));
        let open: Vec<FieldId> = self.pipes.keys().copied().filter(is_thought).collect();
        let mut ended = Vec::new();
        let result = self.end(&open, &mut ended);
        self.before.append(&mut ended);
        result
    }

    /// Withholds a value from the caller.
    pub(crate) fn withhold(&mut self, value: &mut Json<'_>) {
        if !matches!(value, Json::Null) {
            *value = Json::Null;
            self.is_changed = true;
        }
    }

    /// Ends the texts of a choice, or of all, and gives what they held.
    pub(crate) fn finish(
        &mut self,
        choice: Option<u64>,
        out: &mut Vec<(FieldId, String)>,
    ) -> Result<(), Stop> {
        let is_wanted = |id: &FieldId| choice.is_none_or(|choice| id.choice == choice);
        let open: Vec<FieldId> = self.pipes.keys().copied().filter(is_wanted).collect();
        self.end(&open, out)
    }

    /// Ends these texts, and gives what they held.
    pub(crate) fn end(
        &mut self,
        ids: &[FieldId],
        out: &mut Vec<(FieldId, String)>,
    ) -> Result<(), Stop> {
        for &id in ids {
            let Some(pipe) = self.pipes.get_mut(&id) else {
                continue;
            };
            let found = self.tally.findings();
            let mut rest = String::new();
            let mut shared = Shared {
                rules: &self.rules,
                tally: &mut self.tally,
                is_stream: self.is_stream,
            };
            let result = pipe.finish(&mut shared, &mut rest);
            self.note_taint(id, found);
            if !rest.is_empty() {
                out.push((id, rest));
            }
            result?;
        }
        Ok(())
    }
}

/// Returns the format of a text.
fn shape(rules: &ReplyRules, part: Part) -> Shape {
    match part {
        Part::Arguments | Part::Function => Shape::Json,
        Part::Content if rules.content_is_json => Shape::Json,
        _ => Shape::Plain,
    }
}

/// A member of an object, to be changed.
pub(crate) fn member<'j, 'a>(object: &'j mut Json<'a>, name: &str) -> Option<&'j mut Json<'a>> {
    let Json::Object(members) = object else {
        return None;
    };
    let found = members.iter_mut().find(|(key, _)| key == name);
    found.map(|(_, value)| value)
}
