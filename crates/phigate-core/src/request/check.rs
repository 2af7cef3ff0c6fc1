//! Checks that all formats share. Errors name the field and never quote it.
//!
//! Nearly every field is right, so a field's name is put together only for an error about it.

use std::fmt::Display;

use phigate_types::ErrorCode;

use crate::json::{Kind, Value};

use super::{RequestError, RequestLimits};

pub(crate) type Checked = Result<(), RequestError>;

/// A body is an object that names a model, in every format.
pub(super) fn body(root: &Value<'_>, limits: &RequestLimits) -> Checked {
    if root.kind() != Kind::Object {
        return Err(RequestError {
            code: ErrorCode::InvalidType,
            param: None,
            message: "the body must be a JSON object".into(),
        });
    }
    if root.values().nth(limits.fields_max).is_some() {
        return Err(RequestError {
            code: ErrorCode::InvalidValue,
            param: None,
            message: format!("the body has more than {} fields", limits.fields_max),
        });
    }
    let model = required(root, "model", "model")?;
    of_kind(&model, Kind::String, "model", "a string")?;
    Ok(())
}

/// The tools offered to the model.
pub(crate) fn tools(root: &Value<'_>, limits: &RequestLimits) -> Checked {
    optional(root, "tools", Kind::Array, "an array")?;
    let Some(tools) = root
        .get("tools")
        .filter(|tools| tools.kind() == Kind::Array)
    else {
        return Ok(());
    };
    for (index, tool) in tools.values().enumerate() {
        if index >= limits.tools_max {
            let message = format!("tools holds more than {} entries", limits.tools_max);
            return Err(RequestError::field(
                ErrorCode::InvalidValue,
                "tools",
                message,
            ));
        }
        of_kind(
            &tool,
            Kind::Object,
            format_args!("tools[{index}]"),
            "an object",
        )?;
    }
    Ok(())
}

/// A string, or a list of strings.
pub(crate) fn strings(root: &Value<'_>, name: &str) -> Checked {
    let Some(value) = root.get(name) else {
        return Ok(());
    };
    match value.kind() {
        Kind::String | Kind::Null => Ok(()),
        Kind::Array => {
            for (index, item) in value.values().enumerate() {
                of_kind(
                    &item,
                    Kind::String,
                    format_args!("{name}[{index}]"),
                    "a string",
                )?;
            }
            Ok(())
        }
        _ => Err(wrong_type(name, "a string or an array of strings")),
    }
}

pub(crate) fn number_between(root: &Value<'_>, name: &str, low: f64, high: f64) -> Checked {
    optional(root, name, Kind::Number, "a number")?;
    match root.get(name).and_then(|value| value.number()) {
        Some(number) if !(low..=high).contains(&number) => Err(RequestError::field(
            ErrorCode::InvalidValue,
            name,
            format!("{name} must be between {low} and {high}"),
        )),
        _ => Ok(()),
    }
}

pub(crate) fn whole_number_from_one(root: &Value<'_>, name: &str) -> Checked {
    optional(root, name, Kind::Number, "an integer")?;
    let Some(number) = root.get(name).and_then(|value| value.number()) else {
        return Ok(());
    };
    if number.fract() != 0.0 {
        return Err(wrong_type(name, "an integer"));
    }
    if number < 1.0 {
        return Err(RequestError::field(
            ErrorCode::InvalidValue,
            name,
            format!("{name} must be at least 1"),
        ));
    }
    Ok(())
}

pub(crate) fn required<'d>(
    object: &Value<'d>,
    name: &str,
    at: impl Display,
) -> Result<Value<'d>, RequestError> {
    object.get(name).ok_or_else(|| missing(at))
}

/// Optional fields may also be null, as the OpenAI API has it.
pub(crate) fn optional(object: &Value<'_>, name: &str, kind: Kind, what: &str) -> Checked {
    match object.get(name) {
        Some(value) if value.kind() != Kind::Null => of_kind(&value, kind, name, what),
        _ => Ok(()),
    }
}

pub(crate) fn of_kind(value: &Value<'_>, kind: Kind, at: impl Display, what: &str) -> Checked {
    if value.kind() == kind {
        Ok(())
    } else {
        Err(wrong_type(at, what))
    }
}

pub(crate) fn wrong_type(at: impl Display, what: &str) -> RequestError {
    RequestError::field(
        ErrorCode::InvalidType,
        at.to_string(),
        format!("{at} must be {what}"),
    )
}

pub(crate) fn missing(at: impl Display) -> RequestError {
    RequestError::field(
        ErrorCode::MissingRequiredParameter,
        at.to_string(),
        format!("{at} is required"),
    )
}
