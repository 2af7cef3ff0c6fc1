//! Whether a body is a Messages request.

use std::fmt::Arguments;

use phigate_types::ErrorCode;

use crate::json::{Kind, Value};
use crate::request::check::{
    Checked, missing, of_kind, optional, required, strings, tools, whole_number_from_one,
    wrong_type,
};
use crate::request::{RequestError, RequestLimits};

const ROLES: &[&str] = &["user", "assistant", "system"];

pub(super) fn request(root: &Value<'_>, limits: &RequestLimits, has_answer: bool) -> Checked {
    messages(&required(root, "messages", "messages")?, limits)?;
    if has_answer && root.get("max_tokens").is_none() {
        return Err(missing("max_tokens"));
    }
    whole_number_from_one(root, "max_tokens")?;
    for name in ["temperature", "top_p", "top_k"] {
        optional(root, name, Kind::Number, "a number")?;
    }
    optional(root, "stream", Kind::Bool, "a boolean")?;
    for name in ["metadata", "thinking", "tool_choice"] {
        optional(root, name, Kind::Object, "an object")?;
    }
    if let Some(system) = root.get("system").filter(|it| it.kind() != Kind::Null) {
        content(&system, format_args!("system"), limits)?;
    }
    strings(root, "stop_sequences")?;
    tools(root, limits)
}

fn messages(messages: &Value<'_>, limits: &RequestLimits) -> Checked {
    of_kind(messages, Kind::Array, "messages", "an array")?;
    let wrong = |message: String| RequestError::field(ErrorCode::InvalidValue, "messages", message);
    if messages.values().next().is_none() {
        return Err(wrong("messages must not be empty".into()));
    }
    for (index, message) in messages.values().enumerate() {
        if index >= limits.messages_max {
            let most = limits.messages_max;
            return Err(wrong(format!("messages holds more than {most} entries")));
        }
        let at = format_args!("messages[{index}]");
        of_kind(&message, Kind::Object, at, "an object")?;
        let role_at = format_args!("{at}.role");
        let role = required(&message, "role", role_at)?;
        of_kind(&role, Kind::String, role_at, "a string")?;
        if !role.string().is_some_and(|role| ROLES.contains(&&*role)) {
            let message = format!("{role_at} must be user or assistant");
            return Err(RequestError::field(
                ErrorCode::InvalidValue,
                role_at.to_string(),
                message,
            ));
        }
        let content_at = format_args!("{at}.content");
        content(
            &required(&message, "content", content_at)?,
            content_at,
            limits,
        )?;
    }
    Ok(())
}

/// A text, or blocks of any type: those that are new are the provider's business.
fn content(content: &Value<'_>, at: Arguments<'_>, limits: &RequestLimits) -> Checked {
    match content.kind() {
        Kind::String => return Ok(()),
        Kind::Array => {}
        _ => return Err(wrong_type(at, "a string or an array of blocks")),
    }
    for (index, block) in content.values().enumerate() {
        if index >= limits.parts_max {
            let message = format!("{at} holds more than {} blocks", limits.parts_max);
            return Err(RequestError::field(
                ErrorCode::InvalidValue,
                at.to_string(),
                message,
            ));
        }
        let block_at = format_args!("{at}[{index}]");
        of_kind(&block, Kind::Object, block_at, "an object")?;
        let type_at = format_args!("{block_at}.type");
        let kind = required(&block, "type", type_at)?;
        of_kind(&kind, Kind::String, type_at, "a string")?;
    }
    Ok(())
}
