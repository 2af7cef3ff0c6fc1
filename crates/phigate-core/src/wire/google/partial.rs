//! Arguments of a call that arrive in pieces, each with the path of its value.
//!
//! Google sends these only when asked to. The gateway never asks, but an intermediate server may.

use crate::json::Json;
use std::borrow::Cow;

/// The longest path, in bytes. It bounds the depth of the arguments.
const PATH_BYTES_MAX: usize = 512;

/// Partially received arguments.
pub(super) struct PartialArguments {
    root: Json<'static>,
    /// The path of a text that continues in the next piece.
    open: Option<String>,
}

impl PartialArguments {
    /// Starts with the arguments that are already known.
    pub(super) fn new(known: Option<&Json<'_>>) -> Self {
        let root = known
            .filter(|value| value.is_object())
            .map_or_else(|| Json::object([]), to_owned);
        Self { root, open: None }
    }

    /// Adds a piece. `None` if the piece is malformed.
    pub(super) fn add(&mut self, piece: &Json<'_>) -> Option<()> {
        let path = piece
            .text_of("jsonPath")
            .filter(|path| path.len() <= PATH_BYTES_MAX)?;
        let value = ["stringValue", "numberValue", "boolValue"]
            .into_iter()
            .find_map(|name| piece.get(name))
            .map_or(Json::Null, to_owned);
        let continues = self.open.as_deref() == Some(path);
        let slot = slot(&mut self.root, path.strip_prefix('$')?)?;
        match (slot, value) {
            (Json::Text(text), Json::Text(more)) if continues => text.to_mut().push_str(&more),
            (slot, value) => *slot = value,
        }
        self.open = piece
            .get("willContinue")
            .and_then(Json::as_bool)
            .unwrap_or(false)
            .then(|| path.to_owned());
        Some(())
    }

    /// The arguments as JSON text.
    pub(super) fn finish(&self) -> String {
        self.root.to_json_text()
    }
}

/// The place that a path such as `.a.b[0]['c']` names, made if it is not there.
fn slot<'t>(place: &'t mut Json<'static>, path: &str) -> Option<&'t mut Json<'static>> {
    if path.is_empty() {
        return Some(place);
    }
    if let Some((number, rest)) = path
        .strip_prefix('[')
        .and_then(|inner| inner.split_once(']'))
        .and_then(|(index, rest)| Some((index.parse::<usize>().ok()?, rest)))
    {
        if !matches!(place, Json::List(_)) {
            *place = Json::List(Vec::new());
        }
        let Json::List(items) = place else {
            return None;
        };
        // Items come in order. A gap could have any size, so it is refused.
        if number == items.len() {
            items.push(Json::Null);
        }
        return slot(items.get_mut(number)?, rest);
    }
    let (key, rest) = match path.strip_prefix("['") {
        Some(quoted) => quoted.split_once("']")?,
        None => {
            let named = path.strip_prefix('.')?;
            named.split_at(named.find(['.', '[']).unwrap_or(named.len()))
        }
    };
    if !place.is_object() {
        *place = Json::object([]);
    }
    let Json::Object(members) = place else {
        return None;
    };
    let position = members
        .iter()
        .position(|(name, _)| name == key)
        .unwrap_or_else(|| {
            members.push((Cow::Owned(key.to_owned()), Json::Null));
            members.len() - 1
        });
    slot(&mut members[position].1, rest)
}

fn to_owned(value: &Json<'_>) -> Json<'static> {
    match value {
        Json::Null => Json::Null,
        Json::Bool(value) => Json::Bool(*value),
        Json::Number(digits) => Json::Number(Cow::Owned(digits.to_string())),
        Json::Text(text) => Json::Text(Cow::Owned(text.to_string())),
        Json::List(items) => Json::List(items.iter().map(to_owned).collect()),
        Json::Object(members) => Json::Object(
            members
                .iter()
                .map(|(key, value)| (Cow::Owned(key.to_string()), to_owned(value)))
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_one_object() {
        let mut arguments = PartialArguments::new(None);
        for piece in [
            r#"{"jsonPath":"$.city","stringValue":"San","willContinue":true}"#,
            r#"{"jsonPath":"$.city","stringValue":" Rafael"}"#,
            r#"{"jsonPath":"$.days[0].n","numberValue":1.50}"#,
            r#"{"jsonPath":"$.days[1]['is dry']","boolValue":true}"#,
            r#"{"jsonPath":"$.none","nullValue":"NULL_VALUE"}"#,
        ] {
            assert!(
                arguments
                    .add(&Json::read(piece.as_bytes()).expect("the row is JSON"))
                    .is_some(),
                "{piece}"
            );
        }
        assert_eq!(
            arguments.finish(),
            r#"{"city":"San Rafael","days":[{"n":1.50},{"is dry":true}],"none":null}"#
        );
        let deep = format!(r#"{{"jsonPath":"${}"}}"#, ".a".repeat(100_000));
        for piece in [
            deep.as_str(),
            r#"{"jsonPath":"city"}"#,
            r#"{"jsonPath":"$.list[999999999]"}"#,
            "{}",
        ] {
            assert!(
                arguments
                    .add(&Json::read(piece.as_bytes()).expect("the row is JSON"))
                    .is_none(),
                "{piece}"
            );
        }
    }
}
