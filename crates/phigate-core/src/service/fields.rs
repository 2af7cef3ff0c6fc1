//! Reading the fields of a body. Errors name the field and never quote it.

use std::fmt::Display;

use phigate_types::ErrorCode;

use crate::json::{Bounds, Document, Kind, Value};
use crate::request::RequestError;

/// A body that is a JSON object.
pub fn object(body: Vec<u8>, bounds: Bounds) -> Result<Document, RequestError> {
    let document = Document::parse(body, bounds)?;
    if document.root().kind() == Kind::Object {
        return Ok(document);
    }
    Err(RequestError {
        code: ErrorCode::InvalidType,
        param: None,
        message: "the body must be a JSON object".into(),
    })
}

/// A member that is present and not null.
pub(super) fn given<'d>(object: &Value<'d>, name: &str) -> Option<Value<'d>> {
    object.get(name).filter(|value| value.kind() != Kind::Null)
}

/// Refuses a value of another kind. `words` names the expected kind in the error.
pub(super) fn of_kind(
    value: &Value<'_>,
    kind: Kind,
    at: impl Display,
    words: &str,
) -> Result<(), RequestError> {
    if value.kind() == kind {
        return Ok(());
    }
    Err(wrong_type(at, words))
}

/// Refuses a value that is not a list of strings.
pub(super) fn strings(list: &Value<'_>, at: &str) -> Result<(), RequestError> {
    of_kind(list, Kind::Array, at, "an array of strings")?;
    for (index, item) in list.values().enumerate() {
        of_kind(
            &item,
            Kind::String,
            format_args!("{at}[{index}]"),
            "a string",
        )?;
    }
    Ok(())
}

/// A value of the wrong type.
pub(super) fn wrong_type(at: impl Display, words: &str) -> RequestError {
    let message = format!("{at} must be {words}");
    RequestError::field(ErrorCode::InvalidType, at.to_string(), message)
}

/// A value that is not allowed.
pub(super) fn wrong_value(at: impl Display, words: &str) -> RequestError {
    let message = format!("{at} {words}");
    RequestError::field(ErrorCode::InvalidValue, at.to_string(), message)
}

/// A field that is missing.
pub(super) fn missing(at: &str) -> RequestError {
    RequestError::field(
        ErrorCode::MissingRequiredParameter,
        at,
        format!("{at} is required"),
    )
}
