//! JSON as it was written: object keys keep their order and numbers keep their text.
//!
//! Tool arguments and schemas pass through translation. `serde_json::Value` would sort their keys and round their
//! numbers, so the formats read and write this tree instead. Unescaped strings are borrowed, so that a picture of
//! several megabytes is not copied on its way through.

mod read;

use read::Reader;
use std::borrow::Cow;

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

/// The document is not JSON, or nests too deep. Holds nothing, because content must not travel in errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotJson;

impl<'a> Json<'a> {
    /// Reads a whole document.
    pub(crate) fn read(text: &'a str) -> Result<Self, NotJson> {
        let mut reader = Reader { text, position: 0 };
        let value = reader.value(0)?;
        reader.skip_space();
        if reader.position == text.len() {
            Ok(value)
        } else {
            Err(NotJson)
        }
    }

    /// Reads a whole document from bytes, which must be UTF-8.
    pub(crate) fn read_bytes(bytes: &'a [u8]) -> Result<Self, NotJson> {
        Self::read(std::str::from_utf8(bytes).map_err(|_| NotJson)?)
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

    /// The members of an object; none for other values.
    pub(crate) fn members(&self) -> &[(Cow<'a, str>, Json<'a>)] {
        if let Self::Object(members) = self {
            members
        } else {
            &[]
        }
    }

    /// The items of an array; none for other values.
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

    /// The truth value, if this is one.
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

    /// The number as a count, if this is one (a float without fraction counts).
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

    /// The count in a member, zero when it is missing or something else.
    pub(crate) fn count_of(&self, key: &str) -> u64 {
        self.get(key).and_then(Json::as_u64).unwrap_or(0)
    }

    /// Whether this is an object.
    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Whether some object inside has the same key twice, so that two readers may understand it differently.
    pub(crate) fn is_ambiguous(&self) -> bool {
        match self {
            Self::Object(members) => {
                let mut keys: Vec<&str> = members.iter().map(|(key, _)| key.as_ref()).collect();
                keys.sort_unstable();
                keys.windows(2).any(|pair| pair[0] == pair[1])
                    || members.iter().any(|(_, value)| value.is_ambiguous())
            }
            Self::List(items) => items.iter().any(Json::is_ambiguous),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) => false,
        }
    }

    /// Writes the value without spaces.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(true) => out.extend_from_slice(b"true"),
            Self::Bool(false) => out.extend_from_slice(b"false"),
            Self::Number(digits) => out.extend_from_slice(digits.as_bytes()),
            Self::Text(text) => write_text(text, out),
            Self::List(items) => {
                out.push(b'[');
                for (position, item) in items.iter().enumerate() {
                    if position > 0 {
                        out.push(b',');
                    }
                    item.write(out);
                }
                out.push(b']');
            }
            Self::Object(members) => {
                out.push(b'{');
                for (position, (key, value)) in members.iter().enumerate() {
                    if position > 0 {
                        out.push(b',');
                    }
                    write_text(key, out);
                    out.push(b':');
                    value.write(out);
                }
                out.push(b'}');
            }
        }
    }

    /// The value as bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    /// The value as text.
    pub(crate) fn to_json_text(&self) -> String {
        String::from_utf8(self.to_bytes())
            .expect("the writer copies UTF-8 strings and ASCII punctuation only")
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

/// The byte range of a top-level member's value, for splicing it.
pub(crate) fn span_of_member(text: &str, wanted: &str) -> Option<std::ops::Range<usize>> {
    let mut reader = Reader { text, position: 0 };
    reader.skip_space();
    reader.expect(b'{').ok()?;
    loop {
        reader.skip_space();
        let key = reader.string().ok()?;
        reader.skip_space();
        reader.expect(b':').ok()?;
        reader.skip_space();
        let start = reader.position;
        reader.value(1).ok()?;
        if key == wanted {
            return Some(start..reader.position);
        }
        reader.skip_space();
        reader.expect(b',').ok()?;
    }
}

/// Writes a JSON string.
pub(crate) fn write_text(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut plain_from = 0;
    for (position, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[plain_from..position]);
        plain_from = position + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
    }
    out.extend_from_slice(&bytes[plain_from..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_written_as_it_was_read() {
        for text in [
            r#"{"z":1.50,"a":[1e9,-0.0,12345678901234567890123],"m":{"k":null,"t":true,"f":false}}"#,
            r#""naïve 漢字 \"quoted\" \\ \n\u0001""#,
            "[]",
            "{}",
        ] {
            assert_eq!(
                Json::read(text)
                    .ok()
                    .map(|value| value.to_json_text())
                    .as_deref(),
                Some(text)
            );
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
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
            assert!(Json::read(text).is_err(), "{text}");
        }
        assert!(Json::read(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn escapes_are_decoded_and_half_pairs_are_replaced() {
        for (text, decoded) in [
            (r#""\ud83d\ude00\/""#, "😀/"),
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""\ud83dx""#, "\u{fffd}x"),
            (r#""\u00e9\t""#, "é\t"),
        ] {
            assert_eq!(
                Json::read(text).ok().as_ref().and_then(Json::as_text),
                Some(decoded),
                "{text}"
            );
        }
    }

    #[test]
    fn a_member_is_found_by_its_bytes() {
        let text = r#" { "a" : {"model":1}, "model" : "gpt-4" , "b":2}"#;
        let span = span_of_member(text, "model").expect("the member is there");
        assert_eq!(&text[span], "\"gpt-4\"");
        assert_eq!(span_of_member(text, "c"), None);
    }

    #[test]
    fn repeated_keys_are_noticed_at_any_depth() {
        let is_ambiguous = |text| Json::read(text).is_ok_and(|value| value.is_ambiguous());
        assert!(is_ambiguous(r#"{"a":[{"b":1,"\u0062":2}]}"#));
        assert!(!is_ambiguous(r#"{"a":{"a":1},"b":{"a":1}}"#));
    }
}
