//! Whether a body is a Responses request.

use std::fmt::Arguments;

use phigate_types::ErrorCode;

use crate::json::{Kind, Value};
use crate::request::check::{Checked, of_kind, optional, tools, whole_number_from_one, wrong_type};
use crate::request::{RequestError, RequestLimits};

pub(super) fn request(root: &Value<'_>, limits: &RequestLimits) -> Checked {
    if let Some(input) = root.get("input").filter(|it| it.kind() != Kind::Null) {
        items(&input, limits)?;
    }
    for name in ["temperature", "top_p"] {
        optional(root, name, Kind::Number, "a number")?;
    }
    whole_number_from_one(root, "max_output_tokens")?;
    for name in ["stream", "store", "background", "parallel_tool_calls"] {
        optional(root, name, Kind::Bool, "a boolean")?;
    }
    for name in ["metadata", "prompt", "reasoning", "text"] {
        optional(root, name, Kind::Object, "an object")?;
    }
    optional(root, "previous_response_id", Kind::String, "a string")?;
    tools(root, limits)
}

/// A text, or items of any type: those that are new are the provider's business.
fn items(input: &Value<'_>, limits: &RequestLimits) -> Checked {
    match input.kind() {
        Kind::String => return Ok(()),
        Kind::Array => {}
        _ => return Err(wrong_type("input", "a string or an array of items")),
    }
    for (index, item) in input.values().enumerate() {
        if index >= limits.messages_max {
            let message = format!("input holds more than {} items", limits.messages_max);
            return Err(RequestError::field(
                ErrorCode::InvalidValue,
                "input",
                message,
            ));
        }
        let at = format_args!("input[{index}]");
        of_kind(&item, Kind::Object, at, "an object")?;
        for name in ["content", "output"] {
            if let Some(parts) = item.get(name) {
                few_parts(&parts, format_args!("{at}.{name}"), limits)?;
            }
        }
    }
    Ok(())
}

fn few_parts(parts: &Value<'_>, at: Arguments<'_>, limits: &RequestLimits) -> Checked {
    let is_list = parts.kind() == Kind::Array;
    if is_list && parts.values().nth(limits.parts_max).is_some() {
        let message = format!("{at} holds more than {} parts", limits.parts_max);
        return Err(RequestError::field(
            ErrorCode::InvalidValue,
            at.to_string(),
            message,
        ));
    }
    Ok(())
}
