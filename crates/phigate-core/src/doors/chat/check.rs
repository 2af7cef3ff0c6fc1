//! Whether a body is a chat-completion request.

use std::fmt::Arguments;

use phigate_types::ErrorCode;

use crate::json::{Kind, Value};
use crate::request::check::{
    Checked, missing, number_between, of_kind, optional, required, strings, tools,
    whole_number_from_one, wrong_type,
};
use crate::request::{RequestError, RequestLimits};

const ROLES: &[&str] = &[
    "system",
    "developer",
    "user",
    "assistant",
    "tool",
    "function",
];

pub(super) fn request(root: &Value<'_>, limits: &RequestLimits) -> Checked {
    messages(&required(root, "messages", "messages")?, limits)?;
    for (name, low, high) in [("temperature", 0.0, 2.0), ("top_p", 0.0, 1.0)] {
        number_between(root, name, low, high)?;
    }
    for name in ["max_tokens", "max_completion_tokens", "n"] {
        whole_number_from_one(root, name)?;
    }
    for name in ["stream", "logprobs", "parallel_tool_calls"] {
        optional(root, name, Kind::Bool, "a boolean")?;
    }
    for name in ["stream_options", "response_format"] {
        optional(root, name, Kind::Object, "an object")?;
    }
    if let Some(options) = root.get("stream_options")
        && let Some(flag) = options.get("include_usage")
    {
        of_kind(
            &flag,
            Kind::Bool,
            "stream_options.include_usage",
            "a boolean",
        )?;
    }
    strings(root, "stop")?;
    tools(root, limits)
}

fn messages(messages: &Value<'_>, limits: &RequestLimits) -> Checked {
    of_kind(messages, Kind::Array, "messages", "an array")?;
    let mut count = 0;
    for (index, message) in messages.values().enumerate() {
        if index >= limits.messages_max {
            let message = format!("messages holds more than {} entries", limits.messages_max);
            return Err(RequestError::field(
                ErrorCode::InvalidValue,
                "messages",
                message,
            ));
        }
        let at = format_args!("messages[{index}]");
        of_kind(&message, Kind::Object, at, "an object")?;
        one_message(&message, at, limits)?;
        count += 1;
    }
    if count == 0 {
        return Err(RequestError::field(
            ErrorCode::InvalidValue,
            "messages",
            "messages must not be empty",
        ));
    }
    Ok(())
}

fn one_message(message: &Value<'_>, at: Arguments<'_>, limits: &RequestLimits) -> Checked {
    let role_at = format_args!("{at}.role");
    let role = required(message, "role", role_at)?;
    of_kind(&role, Kind::String, role_at, "a string")?;
    let role = role.string().unwrap_or_default();
    if !ROLES.contains(&role.as_ref()) {
        let message = format!("{role_at} must be one of system, developer, user, assistant, tool");
        return Err(RequestError::field(
            ErrorCode::InvalidValue,
            role_at.to_string(),
            message,
        ));
    }
    if role == "tool" {
        let id_at = format_args!("{at}.tool_call_id");
        of_kind(
            &required(message, "tool_call_id", id_at)?,
            Kind::String,
            id_at,
            "a string",
        )?;
    }
    if role == "assistant" {
        tool_calls(message, at)?;
    }
    content(message, &role, at, limits)
}

/// Checks a turn's content. An assistant's turn may hold no content if another member says what it did.
fn content(message: &Value<'_>, role: &str, at: Arguments<'_>, limits: &RequestLimits) -> Checked {
    let content_at = format_args!("{at}.content");
    let says_something_else = ["tool_calls", "function_call", "refusal", "audio"]
        .iter()
        .any(|name| {
            message
                .get(name)
                .is_some_and(|value| value.kind() != Kind::Null)
        });
    let may_be_null = (role == "assistant" && says_something_else) || role == "function";
    let Some(content) = message.get("content") else {
        return if may_be_null {
            Ok(())
        } else {
            Err(missing(content_at))
        };
    };
    match content.kind() {
        Kind::String => Ok(()),
        Kind::Null if may_be_null || role == "assistant" => Ok(()),
        Kind::Array => parts(&content, content_at, limits),
        _ => Err(wrong_type(content_at, "a string or an array of parts")),
    }
}

fn parts(content: &Value<'_>, at: Arguments<'_>, limits: &RequestLimits) -> Checked {
    let mut count = 0;
    for (index, part) in content.values().enumerate() {
        if index >= limits.parts_max {
            let message = format!("{at} holds more than {} parts", limits.parts_max);
            return Err(RequestError::field(
                ErrorCode::InvalidValue,
                at.to_string(),
                message,
            ));
        }
        let part_at = format_args!("{at}[{index}]");
        of_kind(&part, Kind::Object, part_at, "an object")?;
        let type_at = format_args!("{part_at}.type");
        let part_type = required(&part, "type", type_at)?;
        of_kind(&part_type, Kind::String, type_at, "a string")?;
        if part_type.string().is_some_and(|name| name == "text") {
            let text_at = format_args!("{part_at}.text");
            of_kind(
                &required(&part, "text", text_at)?,
                Kind::String,
                text_at,
                "a string",
            )?;
        }
        count += 1;
    }
    if count == 0 {
        return Err(RequestError::field(
            ErrorCode::InvalidValue,
            at.to_string(),
            format!("{at} must not be empty"),
        ));
    }
    Ok(())
}

fn tool_calls(message: &Value<'_>, at: Arguments<'_>) -> Checked {
    let calls_at = format_args!("{at}.tool_calls");
    let Some(calls) = message
        .get("tool_calls")
        .filter(|calls| calls.kind() != Kind::Null)
    else {
        return Ok(());
    };
    of_kind(&calls, Kind::Array, calls_at, "an array")?;
    for (index, call) in calls.values().enumerate() {
        let call_at = format_args!("{calls_at}[{index}]");
        of_kind(&call, Kind::Object, call_at, "an object")?;
        let Some(function) = call.get("function") else {
            continue;
        };
        let function_at = format_args!("{call_at}.function");
        of_kind(&function, Kind::Object, function_at, "an object")?;
        for name in ["name", "arguments"] {
            let field_at = format_args!("{function_at}.{name}");
            of_kind(
                &required(&function, name, field_at)?,
                Kind::String,
                field_at,
                "a string",
            )?;
        }
    }
    Ok(())
}
