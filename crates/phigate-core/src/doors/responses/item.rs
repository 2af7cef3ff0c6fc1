//! The texts of a response's items, wherever an item is given as a whole.

use std::collections::HashMap;

use crate::json::Json;
use crate::reply::{FieldId, Fields, Part, Stop, member};

/// Texts that were dealt with. A stream gives each of them several times, in pieces and as a whole, and they must be
/// the same each time.
#[derive(Default)]
pub(super) struct Known(HashMap<(Part, String), String>);

impl Known {
    /// Remembers the result for a text.
    pub(super) fn add(&mut self, part: Part, written: String, treated: String) {
        self.0.insert((part, written), treated);
    }

    /// Takes a text that is complete, as it was dealt with before if it was.
    pub(super) fn take(
        &mut self,
        fields: &mut Fields,
        id: FieldId,
        value: &mut Json<'_>,
    ) -> Result<(), Stop> {
        let Json::Text(text) = value else {
            return Ok(());
        };
        if text.is_empty() {
            return Ok(());
        }
        let key = (id.part, text.clone().into_owned());
        if let Some(treated) = self.0.get(&key) {
            if *treated != key.1 {
                *value = Json::text(treated.clone());
                fields.is_changed = true;
            }
            return Ok(());
        }
        fields.take_complete(id, value)?;
        let treated = value.as_text().unwrap_or_default().to_owned();
        self.0.insert(key, treated);
        Ok(())
    }
}

/// Members of a response that hold no text, or that repeat what the provider was asked to do.
const OF_RESPONSE: &[&str] = &[
    // Alphabetical.
    "background",
    "error",
    "incomplete_details",
    "instructions",
    "metadata",
    "object",
    "output",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "text",
    "tool_choice",
    "tools",
    "truncation",
    "usage",
    "user",
];

/// All items of a response.
pub(super) fn take_response(
    fields: &mut Fields,
    known: &mut Known,
    response: &mut Json<'_>,
) -> Result<(), Stop> {
    if let Some(Json::List(items)) = member(response, "output") {
        for (index, item) in items.iter_mut().enumerate() {
            take_item(fields, known, index as u64, item)?;
        }
    }
    fields.take_unknown(0, response, OF_RESPONSE)
}

/// One item.
pub(super) fn take_item(
    fields: &mut Fields,
    known: &mut Known,
    index: u64,
    item: &mut Json<'_>,
) -> Result<(), Stop> {
    name_call(fields, index, item);
    let kind = item.text_of("type").unwrap_or_default().to_owned();
    let Json::Object(members) = item else {
        return Ok(());
    };
    for (name, value) in members.iter_mut() {
        let part = match (kind.as_str(), name.as_ref()) {
            (_, "arguments") => Part::Arguments,
            ("custom_tool_call", "input") | ("code_interpreter_call", "code") => Part::Input,
            ("message" | "reasoning", "content" | "summary") => {
                take_parts(fields, known, index, name == "summary", value)?;
                continue;
            }
            (_, "encrypted_content" | "id" | "type" | "status" | "name" | "call_id" | "role") => {
                continue;
            }
            ("message" | "reasoning" | "function_call" | "custom_tool_call", _) => {
                fields.take_beside(index, value)?;
                continue;
            }
            // What the provider's own tools sent and found.
            _ => {
                fields.take_leaves(index, value)?;
                continue;
            }
        };
        known.take(fields, FieldId::new(index, part), value)?;
    }
    Ok(())
}

/// Remembers the name of the tool that an item calls.
pub(super) fn name_call(fields: &mut Fields, index: u64, item: &Json<'_>) {
    let Some(name) = item.text_of("name") else {
        return;
    };
    for part in [Part::Arguments, Part::Input] {
        let id = FieldId::new(index, part);
        if fields.heard.name_of(id).is_empty() {
            fields.heard.name(id, name);
        }
    }
}

fn take_parts(
    fields: &mut Fields,
    known: &mut Known,
    index: u64,
    is_summary: bool,
    parts: &mut Json<'_>,
) -> Result<(), Stop> {
    if let Json::List(parts) = parts {
        for (number, part) in parts.iter_mut().enumerate() {
            take_part(fields, known, (index, number as u64), is_summary, part)?;
        }
    }
    Ok(())
}

/// One part of an item.
pub(super) fn take_part(
    fields: &mut Fields,
    known: &mut Known,
    (index, number): (u64, u64),
    is_summary: bool,
    part: &mut Json<'_>,
) -> Result<(), Stop> {
    let found = fields.tally.findings();
    let is_thought = part.text_of("type") == Some("reasoning_text");
    let Json::Object(members) = part else {
        return Ok(());
    };
    for (name, value) in members.iter_mut() {
        let kind = match name.as_ref() {
            "text" if is_summary => Part::Reasoning(SUMMARY),
            "text" if is_thought => Part::Reasoning(REASONING),
            "text" => Part::Content,
            "refusal" => Part::Refusal,
            "annotations" => {
                fields.take_leaves(index, value)?;
                continue;
            }
            "type" | "logprobs" => continue,
            _ => {
                fields.take_beside(index, value)?;
                continue;
            }
        };
        known.take(fields, FieldId::numbered(index, kind, number), value)?;
    }
    // Log probabilities spell the text that was found.
    if fields.withholds()
        && (fields.is_streamed() || fields.tally.findings() > found)
        && let Some(logprobs) = member(part, "logprobs")
    {
        empty(fields, logprobs);
    }
    Ok(())
}

/// Replaces a list that must not be disclosed with an empty one.
pub(super) fn empty(fields: &mut Fields, list: &mut Json<'_>) {
    if !list.items().is_empty() {
        *list = Json::List(Vec::new());
        fields.is_changed = true;
    }
}

/// Names of thinking aloud.
pub(super) const SUMMARY: &str = "summary";
pub(super) const REASONING: &str = "reasoning";
