//! The walk over Anthropic's messages, whole and in events.
//!
//! Thoughts that the provider signs come back to it: they are scanned, and values that were masked stay masked in them.
//! In a stream the signature comes last, so that the beginning of the block says whether there will be one: those who
//! sign have a place for it there. Thoughts without a signature are texts like any other.

use std::collections::BTreeSet;

use crate::json::Json;
use crate::reply::{FieldId, Fields, KnownEvent, Part, Stop, Walk, member};
use crate::wire::sse::SseEvent;

/// Thinking without a signature.
const UNSIGNED: Part = Part::Reasoning("thinking");

/// Members of a message that hold no text.
const OF_MESSAGE: &[&str] = &[
    // Alphabetical.
    "content",
    "stop_reason",
    "stop_sequence",
    "usage",
];

/// Members of an event that its walk takes.
const OF_EVENT: &[&str] = &["content_block", "delta", "message", "usage"];

/// Members of a delta that its walk takes.
const OF_DELTA: &[&str] = &["partial_json", "text", "thinking"];

/// Members of a block that its walk takes.
const OF_BLOCK: &[&str] = &["citations", "input", "text", "thinking"];

/// Walks over one message.
#[derive(Default)]
pub(super) struct MessageWalk {
    /// Blocks of thinking without a signature.
    unsigned: BTreeSet<u64>,
    /// The last event, if it added to one text.
    known: Option<KnownEvent>,
}

impl Walk for MessageWalk {
    fn reply(&mut self, fields: &mut Fields, reply: &mut Json<'_>) -> Result<(), Stop> {
        let Some(Json::List(blocks)) = member(reply, "content") else {
            return Err(Stop::Unreadable);
        };
        for (index, block) in blocks.iter_mut().enumerate() {
            take_block(fields, index as u64, block)?;
        }
        fields.take_unknown(0, reply, OF_MESSAGE)
    }

    fn event(
        &mut self,
        fields: &mut Fields,
        event: &SseEvent,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let known = self.known.as_ref();
        if let Some(taken) = known.and_then(|known| known.take(fields, event, &write_deltas, out)) {
            return taken;
        }
        let bytes = event.data.as_deref().unwrap_or_default();
        let mut data = Json::read(bytes).map_err(|_| Stop::Unreadable)?;
        let only = self.only_text(&data);
        self.known = only.and_then(|(id, text)| KnownEvent::new(bytes, id, text, None));
        fields.is_changed = false;
        let result = self.take_event(fields, &mut data);
        let before = std::mem::take(&mut fields.before);
        write_deltas(before, out);
        result?;
        if !fields.is_changed {
            out.extend_from_slice(&event.raw);
        } else if !is_empty_delta(&data) {
            write_event(&data, out);
        }
        Ok(())
    }

    fn break_off(&mut self, fields: &mut Fields, out: &mut Vec<u8>) -> Result<(), Stop> {
        let mut rest = Vec::new();
        let result = fields.finish(None, &mut rest);
        write_deltas(rest, out);
        result
    }
}

impl MessageWalk {
    fn take_event(&mut self, fields: &mut Fields, data: &mut Json<'_>) -> Result<(), Stop> {
        let index = data.count_of("index");
        fields.take_unknown(index, data, OF_EVENT)?;
        match data.text_of("type").unwrap_or_default() {
            "content_block_start" => match member(data, "content_block") {
                Some(block) => self.start_block(fields, index, block),
                None => Ok(()),
            },
            "content_block_delta" => match member(data, "delta") {
                Some(delta) => self.take_delta(fields, index, delta),
                None => Ok(()),
            },
            // Held text is flushed before the word that the block, or the message, is finished.
            "content_block_stop" => flush(fields, Some(index)),
            "message_delta" | "message_stop" => {
                flush(fields, None)?;
                match member(data, "delta") {
                    Some(delta) => fields.take_unknown(0, delta, OF_MESSAGE),
                    None => Ok(()),
                }
            }
            "message_start" => match member(data, "message") {
                Some(message) => fields.take_unknown(0, message, OF_MESSAGE),
                None => Ok(()),
            },
            _ => OF_EVENT
                .iter()
                .try_for_each(|name| match member(data, name) {
                    Some(value) => fields.take_beside(index, value),
                    None => Ok(()),
                }),
        }
    }

    /// Starts a block. A block that comes in pieces is empty here; every other block is complete.
    fn start_block(
        &mut self,
        fields: &mut Fields,
        index: u64,
        block: &mut Json<'_>,
    ) -> Result<(), Stop> {
        let (part, name) = match block.text_of("type").unwrap_or_default() {
            "text" => (Part::Content, "text"),
            "thinking" if block.get("signature").is_none() => {
                self.unsigned.insert(index);
                (UNSIGNED, "thinking")
            }
            "thinking" => (Part::Signed, "thinking"),
            "redacted_thinking" => return Ok(()),
            _ if block.get("input").is_some() => {
                fields.take_unknown(index, block, OF_BLOCK)?;
                let id = call_of(fields, index, block);
                return match member(block, "input") {
                    Some(Json::Object(members)) if members.is_empty() => Ok(()),
                    Some(input) => fields.take_json(id, input),
                    None => Ok(()),
                };
            }
            _ => return fields.take_leaves(index, block),
        };
        fields.take_unknown(index, block, OF_BLOCK)?;
        match member(block, name) {
            Some(text) => fields.take_text(FieldId::new(index, part), text),
            None => Ok(()),
        }
    }

    fn take_delta(
        &self,
        fields: &mut Fields,
        index: u64,
        delta: &mut Json<'_>,
    ) -> Result<(), Stop> {
        let kind = delta.text_of("type").unwrap_or_default();
        if kind == "signature_delta" {
            return flush(fields, Some(index));
        }
        let Some((name, id)) = self.text_of_delta(index, kind) else {
            return fields.take_leaves(index, delta);
        };
        fields.take_unknown(index, delta, OF_DELTA)?;
        match member(delta, name) {
            Some(text) => fields.take_text(id, text),
            None => Ok(()),
        }
    }

    /// The member of a delta that is text, and what it adds to.
    fn text_of_delta(&self, index: u64, kind: &str) -> Option<(&'static str, FieldId)> {
        let (_, name, part) = DELTAS.iter().find(|row| row.0 == kind)?;
        let part = match part {
            Part::Signed if self.unsigned.contains(&index) => UNSIGNED,
            part => *part,
        };
        Some((name, FieldId::new(index, part)))
    }

    /// The text of a delta that says nothing else, and what it adds to.
    fn only_text<'j>(&self, data: &'j Json<'_>) -> Option<(FieldId, &'j str)> {
        let delta = data.get("delta")?;
        let is_delta = data.text_of("type") == Some("content_block_delta");
        let (name, id) = self.text_of_delta(data.count_of("index"), delta.text_of("type")?)?;
        let text = delta.text_of(name).filter(|text| !text.is_empty())?;
        let is_only = data.members().len() == 3 && delta.members().len() == 2;
        (is_delta && is_only).then_some((id, text))
    }
}

/// A complete block.
fn take_block(fields: &mut Fields, index: u64, block: &mut Json<'_>) -> Result<(), Stop> {
    match block.text_of("type").unwrap_or_default() {
        "redacted_thinking" => Ok(()),
        "thinking" => {
            let signature = block.text_of("signature").unwrap_or_default();
            let part = match signature {
                "" => UNSIGNED,
                _ => Part::Signed,
            };
            fields.take_unknown(index, block, OF_BLOCK)?;
            match member(block, "thinking") {
                Some(text) => fields.take_complete(FieldId::new(index, part), text),
                None => Ok(()),
            }
        }
        "text" => {
            if let Some(text) = member(block, "text") {
                fields.take_complete(FieldId::new(index, Part::Content), text)?;
            }
            fields.take_unknown(index, block, OF_BLOCK)?;
            match member(block, "citations") {
                Some(citations) => fields.take_leaves(index, citations),
                None => Ok(()),
            }
        }
        _ if block.get("input").is_some() => {
            fields.take_unknown(index, block, OF_BLOCK)?;
            let id = call_of(fields, index, block);
            match member(block, "input") {
                Some(input) => fields.take_json(id, input),
                None => Ok(()),
            }
        }
        _ => fields.take_leaves(index, block),
    }
}

/// The input of a call, whose tool is named in its block.
fn call_of(fields: &mut Fields, index: u64, block: &Json<'_>) -> FieldId {
    let id = FieldId::new(index, Part::Arguments);
    if let Some(name) = block.text_of("name") {
        fields.heard.name(id, name);
    }
    id
}

/// Deltas that add to a text: type, member, and which text.
const DELTAS: &[(&str, &str, Part)] = &[
    ("text_delta", "text", Part::Content),
    ("thinking_delta", "thinking", Part::Signed),
    ("thinking_delta", "thinking", UNSIGNED),
    ("input_json_delta", "partial_json", Part::Arguments),
];

fn flush(fields: &mut Fields, index: Option<u64>) -> Result<(), Stop> {
    let mut rest = Vec::new();
    let result = fields.finish(index, &mut rest);
    fields.before.append(&mut rest);
    result
}

/// Writes each text as a separate event.
fn write_deltas(texts: Vec<(FieldId, String)>, out: &mut Vec<u8>) {
    for (id, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        let Some((kind, name, _)) = DELTAS.iter().find(|row| row.2 == id.part) else {
            continue;
        };
        let delta = Json::object([("type", Json::text(*kind)), (*name, Json::text(text))]);
        let event = Json::object([
            ("type", Json::text("content_block_delta")),
            ("index", id.choice.into()),
            ("delta", delta),
        ]);
        write_event(&event, out);
    }
}

/// Whether all of a delta is held back, and its event says nothing else.
fn is_empty_delta(data: &Json<'_>) -> bool {
    let is_delta = data.text_of("type") == Some("content_block_delta") && data.members().len() <= 3;
    let delta = data.get("delta").filter(|_| is_delta);
    delta.is_some_and(|delta| {
        if delta.members().len() > 2 {
            return false;
        }
        let row = DELTAS
            .iter()
            .find(|row| delta.text_of("type") == Some(row.0));
        row.is_some_and(|(_, name, _)| delta.text_of(name) == Some(""))
    })
}

fn write_event(data: &Json<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(data.text_of("type").unwrap_or_default().as_bytes());
    out.extend_from_slice(b"\ndata: ");
    data.write(out);
    out.extend_from_slice(b"\n\n");
}
