//! JSON as a tree for translation: object keys keep their order and numbers keep their text.
//!
//! Tool arguments and schemas pass through translation unchanged. Strings without escapes are borrowed, so that a
//! picture of several megabytes is not copied.

mod write;

pub(crate) use write::write_escaped;

use std::borrow::Cow;

use super::read::{self, Tolerance};
use super::string::resolved;
use super::{Bounds, Kind, Node, Value};

/// Limit on the nesting of documents from providers and of those inside strings. Deeper ones are not readable.
const DEPTH_MAX: usize = 128;

/// One JSON value.
#[derive(Clone, PartialEq)]
pub(crate) enum Json<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// The digits as written.
    Number(Cow<'a, str>),
    /// The decoded text.
    Text(Cow<'a, str>),
    /// An array.
    List(Vec<Json<'a>>),
    /// An object, in the order written.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// Error: the document is not JSON, or nests too deep. Empty, because content must not travel in errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotJson;

impl<'a> Json<'a> {
    /// A value of a document that was read strictly.
    pub(crate) fn of(value: &Value<'a>) -> Self {
        build(
            &value.document.text,
            &value.document.nodes,
            value.id.0 as usize,
        )
    }

    /// Reads what a provider wrote. It is passed on, so it must mean the same to every reader: of a repeated key one
    /// reader takes the first value and another the last.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, NotJson> {
        let text = std::str::from_utf8(bytes).map_err(|_| NotJson)?;
        Self::read_embedded(text)
    }

    /// Reads a document inside a string.
    pub(crate) fn read_embedded(text: &'a str) -> Result<Self, NotJson> {
        let tolerance = Tolerance { odd_values: true };
        let bounds = Bounds {
            depth_max: DEPTH_MAX,
            values_max: usize::MAX,
        };
        let nodes = read::read(text, bounds, tolerance).map_err(|_| NotJson)?;
        Ok(build(text, &nodes, 0))
    }

    /// The value without borrows.
    pub(crate) fn into_owned(self) -> Json<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(value),
            Self::Number(digits) => Json::Number(owned(digits)),
            Self::Text(text) => Json::Text(owned(text)),
            Self::List(items) => Json::List(items.into_iter().map(Json::into_owned).collect()),
            Self::Object(members) => {
                let members = members.into_iter();
                Json::Object(
                    members
                        .map(|(key, value)| (owned(key), value.into_owned()))
                        .collect(),
                )
            }
        }
    }

    /// An object with these members.
    pub(crate) fn object<const N: usize>(members: [(&'static str, Json<'a>); N]) -> Self {
        Self::Object(
            members
                .into_iter()
                .map(|(key, value)| (Cow::Borrowed(key), value))
                .collect(),
        )
    }

    /// A text value.
    pub(crate) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    /// Adds a member to an object; other values are left alone.
    pub(crate) fn insert(&mut self, key: &'static str, value: Json<'a>) {
        if let Self::Object(members) = self {
            members.push((Cow::Borrowed(key), value));
        }
    }

    /// The member of an object, if it is there.
    pub(crate) fn get(&self, key: &str) -> Option<&Json<'a>> {
        self.members()
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// The member of an object, unless it is absent or null.
    pub(crate) fn given(&self, key: &str) -> Option<&Json<'a>> {
        self.get(key).filter(|value| !matches!(value, Self::Null))
    }

    /// The members of an object; empty for other values.
    pub(crate) fn members(&self) -> &[(Cow<'a, str>, Json<'a>)] {
        if let Self::Object(members) = self {
            members
        } else {
            &[]
        }
    }

    /// The items of an array; empty for other values.
    pub(crate) fn items(&self) -> &[Json<'a>] {
        if let Self::List(items) = self {
            items
        } else {
            &[]
        }
    }

    /// The text, if this is text.
    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }

    /// The truth value, if this is a boolean.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self {
            Some(*value)
        } else {
            None
        }
    }

    /// The number as a float, if this is a number.
    pub(crate) fn as_f64(&self) -> Option<f64> {
        if let Self::Number(digits) = self {
            digits.parse().ok()
        } else {
            None
        }
    }

    /// The number as a count, if this is a count (a float without fraction is).
    pub(crate) fn as_u64(&self) -> Option<u64> {
        let Self::Number(digits) = self else {
            return None;
        };
        digits.parse().ok().or_else(|| {
            let value: f64 = digits.parse().ok()?;
            let is_whole = value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&value);
            is_whole.then_some(value as u64)
        })
    }

    /// The text of a member.
    pub(crate) fn text_of(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Json::as_text)
    }

    /// The count in a member; zero if it is missing or not a count.
    pub(crate) fn count_of(&self, key: &str) -> u64 {
        self.get(key).and_then(Json::as_u64).unwrap_or(0)
    }

    /// Whether this is an object.
    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }
}

impl From<u64> for Json<'_> {
    fn from(value: u64) -> Self {
        Self::Number(Cow::Owned(value.to_string()))
    }
}

impl From<bool> for Json<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

/// The tree of the node at this index. The reader's depth limit bounds the recursion.
fn build<'a>(text: &'a str, nodes: &[Node], at: usize) -> Json<'a> {
    let node = &nodes[at];
    let raw = &text[node.span.clone()];
    let string = |node: &Node| {
        let inner = &text[node.span.start + 1..node.span.end - 1];
        resolved(inner, node.escaped)
    };
    match node.kind {
        Kind::Null => Json::Null,
        Kind::Bool => Json::Bool(raw == "true"),
        Kind::Number => Json::Number(Cow::Borrowed(raw)),
        Kind::String => Json::Text(string(node)),
        Kind::Array => {
            let mut items = Vec::new();
            let mut next = at + 1;
            while next < node.end as usize {
                items.push(build(text, nodes, next));
                next = nodes[next].end as usize;
            }
            Json::List(items)
        }
        Kind::Object => {
            let mut members = Vec::new();
            let mut next = at + 1;
            while next < node.end as usize {
                let key = string(&nodes[next]);
                members.push((key, build(text, nodes, next + 1)));
                next = nodes[next + 1].end as usize;
            }
            Json::Object(members)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_round_trips_unchanged() {
        for text in [
            r#"{"z":1.50,"a":[1e9,-0.0,12345678901234567890123],"m":{"k":null,"t":true,"f":false}}"#,
            r#""naïve 漢字 \"quoted\" \\ \n\u0001""#,
            "[]",
            "{}",
        ] {
            assert_eq!(
                Json::read(text.as_bytes())
                    .ok()
                    .map(|value| value.to_json_text())
                    .as_deref(),
                Some(text)
            );
        }
    }

    #[test]
    fn invalid_json_is_refused() {
        for text in [
            "",
            "{",
            "[1,]",
            "01",
            "1.",
            "-",
            "\"a",
            "\"\\",
            "\"\\x\"",
            "\"\\u12\"",
            "nul",
            "1 2",
            "\"\n\"",
            "{\"a\" 1}",
            "+1",
        ] {
            assert!(Json::read(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Json::read("[".repeat(100_000).as_bytes()).is_err());
    }

    #[test]
    fn escapes_are_decoded_and_lone_surrogates_replaced() {
        for (text, decoded) in [
            (r#""\ud83d\ude00\/""#, "😀/"),
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""\ud83dx""#, "\u{fffd}x"),
            (r#""\u00e9\t""#, "é\t"),
        ] {
            assert_eq!(
                Json::read(text.as_bytes())
                    .ok()
                    .as_ref()
                    .and_then(Json::as_text),
                Some(decoded),
                "{text}"
            );
        }
    }

    #[test]
    fn duplicate_keys_are_found_at_any_depth() {
        let twice = r#"{"a":[{"b":1,"\u0062":2}]}"#;
        assert!(Json::read_embedded(twice).is_err());
        assert!(Json::read(twice.as_bytes()).is_err());
        assert!(Json::read_embedded(r#"{"a":{"a":1},"b":{"a":1}}"#).is_ok());
    }
}
