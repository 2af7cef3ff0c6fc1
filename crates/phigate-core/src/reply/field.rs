//! Which parts of a reply are text of the model, and what each of them goes through.
//!
//! Function names, ids, log probabilities and signed blocks are no such text: nothing is ever restored in them.

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

/// Members that repeat a thought once it is complete, signed by the provider. They can be withheld, not changed.
const SIGNED: &[&str] = &["thinking_blocks"];

/// Members that repeat a thought while it is being thought, before it can be judged.
const SIGNED_AS_THEY_COME: &[&str] = &["reasoning_details"];

/// All texts of one reply.
pub(super) struct Fields {
    pub(super) rules: Arc<ReplyRules>,
    pub(super) tally: Tally,
    pub(super) heard: Heard,
    pipes: BTreeMap<FieldId, Pipe>,
    is_stream: bool,
    /// Choices in whose thinking new PHI was found.
    tainted_thoughts: BTreeSet<u64>,
    /// Text that must go out before the event that is being read.
    pub(super) before: Vec<(FieldId, String)>,
    /// Whether the event that is being read was changed.
    pub(super) is_changed: bool,
}

impl Fields {
    pub(super) fn new(rules: Arc<ReplyRules>, is_stream: bool) -> Self {
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
    pub(super) fn withholds(&self) -> bool {
        let scan = self.rules.scan.as_ref();
        scan.is_some_and(|scan| !matches!(scan.action, Replies::Off | Replies::Flag))
    }

    /// Whether a reply with new PHI is withheld.
    pub(super) fn blocks(&self) -> bool {
        let scan = self.rules.scan.as_ref();
        scan.is_some_and(|scan| scan.action == Replies::Block)
    }

    /// What the provider said, if it held new PHI.
    pub(super) fn heard(&self) -> Option<PhiText> {
        self.tally.has_new_phi().then(|| self.heard.to_json())
    }

    /// Takes the message of a choice, or what a stream adds to it.
    pub(super) fn take_message(&mut self, choice: u64, message: &mut Json<'_>) -> Result<(), Stop> {
        let Json::Object(members) = message else {
            return Ok(());
        };
        for (name, value) in members.iter_mut() {
            self.take_member(choice, name, value)?;
        }
        for (name, value) in members.iter_mut() {
            if SIGNED.contains(&name.as_ref()) {
                self.take_signed(choice, value)?;
            } else if SIGNED_AS_THEY_COME.contains(&name.as_ref()) && self.withholds() {
                self.withhold(value);
            }
        }
        Ok(())
    }

    fn take_member(&mut self, choice: u64, name: &str, value: &mut Json<'_>) -> Result<(), Stop> {
        let id = |part| FieldId { choice, part };
        match name {
            "content" => self.take_text(id(Part::Content), value),
            "refusal" => self.take_text(id(Part::Refusal), value),
            "reasoning_content" => self.take_text(id(Part::Reasoning("reasoning_content")), value),
            "reasoning" => self.take_text(id(Part::Reasoning("reasoning")), value),
            "audio" => match member(value, "transcript") {
                Some(transcript) => self.take_text(id(Part::Transcript), transcript),
                None => Ok(()),
            },
            "function_call" => self.take_arguments(id(Part::Function), value),
            "tool_calls" => self.take_calls(choice, value),
            _ => Ok(()),
        }
    }

    fn take_calls(&mut self, choice: u64, calls: &mut Json<'_>) -> Result<(), Stop> {
        let Json::List(calls) = calls else {
            return Ok(());
        };
        for (position, call) in calls.iter_mut().enumerate() {
            let number = match call.get("index") {
                Some(index) => index.as_u64().unwrap_or(0),
                None => position as u64,
            };
            let Json::Object(members) = call else {
                continue;
            };
            for (name, value) in members.iter_mut() {
                let part = match name.as_ref() {
                    "function" => Part::Arguments(number),
                    "custom" => Part::Input(number),
                    _ => continue,
                };
                self.take_arguments(FieldId { choice, part }, value)?;
            }
        }
        Ok(())
    }

    /// The arguments of a call. The name of the tool comes with their beginning, or before.
    fn take_arguments(&mut self, id: FieldId, call: &mut Json<'_>) -> Result<(), Stop> {
        if let Some(name) = call.text_of("name").filter(|name| !name.is_empty()) {
            self.heard.name(id, name);
        }
        let Json::Object(members) = call else {
            return Ok(());
        };
        for (name, value) in members.iter_mut() {
            if matches!(name.as_ref(), "arguments" | "input") {
                self.take_text(id, value)?;
            }
        }
        Ok(())
    }

    /// A text, or a list of parts with texts.
    fn take_text(&mut self, id: FieldId, value: &mut Json<'_>) -> Result<(), Stop> {
        match value {
            Json::Text(text) if !text.is_empty() => {
                self.end_thoughts_before(id)?;
                let mut out = String::with_capacity(text.len());
                let mut result = self.run(id, text, &mut out);
                if !self.is_stream && result.is_ok() {
                    let mut rest = Vec::new();
                    result = self.end(&[id], &mut rest);
                    out.extend(rest.into_iter().map(|(_, text)| text));
                }
                if result.is_err() {
                    // What is settled goes out; what follows it does not.
                    self.before.push((id, out));
                } else if out != **text {
                    *text = Cow::Owned(out);
                    self.is_changed = true;
                }
                result
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
                        }
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
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
                    Part::Arguments(_) | Part::Input(_) | Part::Function => {
                        rules.tools.contains(self.heard.name_of(id))
                    }
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

    /// Thinking is over when the answer begins: what is held of it goes out first.
    fn end_thoughts_before(&mut self, id: FieldId) -> Result<(), Stop> {
        if !self.is_stream || matches!(id.part, Part::Reasoning(_)) {
            return Ok(());
        }
        self.end_thoughts(id.choice)
    }

    fn end_thoughts(&mut self, choice: u64) -> Result<(), Stop> {
        let is_thought =
            |id: &FieldId| id.choice == choice && matches!(id.part, Part::Reasoning(_));
        let open: Vec<FieldId> = self.pipes.keys().copied().filter(is_thought).collect();
        let mut ended = Vec::new();
        let result = self.end(&open, &mut ended);
        self.before.append(&mut ended);
        result
    }

    /// A signed block repeats what was thought. Where that held new PHI, the block is withheld: it cannot be changed.
    fn take_signed(&mut self, choice: u64, block: &mut Json<'_>) -> Result<(), Stop> {
        self.end_thoughts(choice)?;
        if self.withholds() && self.tainted_thoughts.contains(&choice) {
            self.withhold(block);
        }
        Ok(())
    }

    /// Nothing of this may reach the caller.
    pub(super) fn withhold(&mut self, value: &mut Json<'_>) {
        if !matches!(value, Json::Null) {
            *value = Json::Null;
            self.is_changed = true;
        }
    }

    /// Ends the texts of a choice, or of all, and gives what they held.
    pub(super) fn finish(
        &mut self,
        choice: Option<u64>,
        out: &mut Vec<(FieldId, String)>,
    ) -> Result<(), Stop> {
        let is_wanted = |id: &FieldId| choice.is_none_or(|choice| id.choice == choice);
        let open: Vec<FieldId> = self.pipes.keys().copied().filter(is_wanted).collect();
        self.end(&open, out)
    }

    fn end(&mut self, ids: &[FieldId], out: &mut Vec<(FieldId, String)>) -> Result<(), Stop> {
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

/// How a text is written.
fn shape(rules: &ReplyRules, part: Part) -> Shape {
    match part {
        Part::Arguments(_) | Part::Function => Shape::Json,
        Part::Content if rules.content_is_json => Shape::Json,
        _ => Shape::Plain,
    }
}

/// A member of an object, to be changed.
pub(super) fn member<'j, 'a>(object: &'j mut Json<'a>, name: &str) -> Option<&'j mut Json<'a>> {
    let Json::Object(members) = object else {
        return None;
    };
    let found = members.iter_mut().find(|(key, _)| key == name);
    found.map(|(_, value)| value)
}
