//! Shared parts of the doors that take texts, or token ids, instead of conversations.

use phigate_types::ErrorCode;

use crate::json::{Document, Kind, NodeId, Value};
use crate::request::check::{Checked, required, wrong_type};
use crate::request::{Place, RequestError, RequestLimits, is_parameter};

/// A text, several, or the ids of tokens.
pub(super) fn check(root: &Value<'_>, name: &str, limits: &RequestLimits) -> Checked {
    let given = required(root, name, name)?;
    match given.kind() {
        Kind::String => return Ok(()),
        Kind::Array => {}
        _ => return Err(wrong_type(name, "a string or an array")),
    }
    let are_ids = given.values().all(|item| item.kind() == Kind::Number);
    if !are_ids && given.values().nth(limits.messages_max).is_some() {
        let message = format!("{name} holds more than {} entries", limits.messages_max);
        return Err(RequestError::field(ErrorCode::InvalidValue, name, message));
    }
    for (index, item) in given.values().enumerate() {
        if !matches!(item.kind(), Kind::String | Kind::Number | Kind::Array) {
            let at = format_args!("{name}[{index}]");
            return Err(wrong_type(at, "a string, a token or an array of tokens"));
        }
    }
    Ok(())
}

/// Ids of tokens are text that only the provider can read.
pub(super) fn token_ids<'d>(document: &'d Document, name: &str) -> Vec<(Value<'d>, &'static str)> {
    let given = document.root().get(name);
    let given = given.filter(|given| given.kind() == Kind::Array);
    let is_token = |item: Value<'_>| matches!(item.kind(), Kind::Number | Kind::Array);
    let holds_tokens = given.filter(|given| given.values().any(is_token));
    holds_tokens
        .iter()
        .map(|given| (*given, "token_ids"))
        .collect()
}

/// The model selects the provider; all else is text.
pub(super) fn place(value: &Value<'_>) -> Option<Place> {
    Some(if is_parameter(value, "model") {
        Place::Structure
    } else {
        Place::Text
    })
}

/// The first text.
pub(super) fn opening(document: &Document, name: &str) -> String {
    let given = document.root().get(name);
    let first = given.and_then(|given| match given.kind() {
        Kind::Array => given.values().next(),
        _ => Some(given),
    });
    let text = first.and_then(|first| first.string());
    text.unwrap_or_default().into_owned()
}

/// Returns no results, because no function returned any of the text.
pub(super) fn no_results() -> Vec<(NodeId, String)> {
    Vec::new()
}
