//! Members of a chat completion's message that are text of the model.
//!
//! Function names, ids, log probabilities and signed blocks are not such text: nothing is ever restored in them.

use crate::json::Json;
use crate::reply::{FieldId, Fields, Part, Stop, member};

/// Members that repeat a thought once it is complete, signed by the provider. They can be withheld, not changed.
const SIGNED: &[&str] = &["thinking_blocks"];

/// Members that repeat a thought while it is being thought, before it can be judged.
const SIGNED_AS_THEY_COME: &[&str] = &["reasoning_details"];

/// Members that are text of the model, or no text.
const KNOWN: &[&str] = &[
    // Alphabetical.
    "audio",
    "content",
    "function_call",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "refusal",
    "role",
    "thinking_blocks",
    "tool_calls",
];

/// Takes the message of a choice, or what a stream adds to it.
pub(super) fn take_message(
    fields: &mut Fields,
    choice: u64,
    message: &mut Json<'_>,
) -> Result<(), Stop> {
    let Json::Object(members) = message else {
        return Ok(());
    };
    for (name, value) in members.iter_mut() {
        take_member(fields, choice, name, value)?;
    }
    for (name, value) in members.iter_mut() {
        if SIGNED.contains(&name.as_ref()) {
            take_signed(fields, choice, value)?;
        } else if SIGNED_AS_THEY_COME.contains(&name.as_ref()) && fields.withholds() {
            fields.withhold(value);
        }
    }
    fields.take_unknown(choice, message, KNOWN)
}

fn take_member(
    fields: &mut Fields,
    choice: u64,
    name: &str,
    value: &mut Json<'_>,
) -> Result<(), Stop> {
    let id = |part| FieldId::new(choice, part);
    match name {
        "content" => fields.take_text(id(Part::Content), value),
        "refusal" => fields.take_text(id(Part::Refusal), value),
        "reasoning_content" => fields.take_text(id(Part::Reasoning("reasoning_content")), value),
        "reasoning" => fields.take_text(id(Part::Reasoning("reasoning")), value),
        "audio" => match member(value, "transcript") {
            Some(transcript) => fields.take_text(id(Part::Transcript), transcript),
            None => Ok(()),
        },
        "function_call" => take_arguments(fields, id(Part::Function), value),
        "tool_calls" => take_calls(fields, choice, value),
        _ => Ok(()),
    }
}

fn take_calls(fields: &mut Fields, choice: u64, calls: &mut Json<'_>) -> Result<(), Stop> {
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
                "function" => Part::Arguments,
                "custom" => Part::Input,
                _ => continue,
            };
            take_arguments(fields, FieldId::numbered(choice, part, number), value)?;
        }
    }
    Ok(())
}

/// The arguments of a call. The name of the tool comes with their beginning, or before.
fn take_arguments(fields: &mut Fields, id: FieldId, call: &mut Json<'_>) -> Result<(), Stop> {
    if let Some(name) = call.text_of("name").filter(|name| !name.is_empty()) {
        fields.heard.name(id, name);
    }
    let Json::Object(members) = call else {
        return Ok(());
    };
    for (name, value) in members.iter_mut() {
        if matches!(name.as_ref(), "arguments" | "input") {
            fields.take_text(id, value)?;
        }
    }
    Ok(())
}

/// Withholds a signed block if it repeats new PHI: it cannot be changed.
fn take_signed(fields: &mut Fields, choice: u64, block: &mut Json<'_>) -> Result<(), Stop> {
    fields.end_thoughts(choice)?;
    if fields.withholds() && fields.tainted_thoughts.contains(&choice) {
        fields.withhold(block);
    }
    Ok(())
}
