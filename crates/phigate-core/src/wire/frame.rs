//! Recognises documents that differ only in some texts.
//!
//! Nearly all chunks of a stream are alike: only the model's words differ. A chunk need not be parsed as JSON again if
//! everything around those texts equals an earlier chunk byte for byte and the texts have no escapes.

use std::ops::Range;

/// The bytes around some texts of a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The bytes before the first text, between neighbouring texts, and after the last. They include the quotes of
    /// every text.
    pieces: Vec<Vec<u8>>,
}

impl Frame {
    /// The bytes around these texts, which borrow from `data`. `None` if a text does not borrow from `data`, or if
    /// there are no texts.
    pub(crate) fn around<'a>(data: &[u8], texts: impl Iterator<Item = &'a str>) -> Option<Self> {
        let place = |text: &str| {
            let start = text.as_ptr().addr().checked_sub(data.as_ptr().addr())?;
            let end = start + text.len();
            let is_quoted =
                data.get(start.checked_sub(1)?) == Some(&b'"') && data.get(end) == Some(&b'"');
            is_quoted.then_some((start, end))
        };
        let mut places: Vec<(usize, usize)> = texts.map(place).collect::<Option<_>>()?;
        places.sort_unstable();
        let mut pieces = Vec::with_capacity(places.len() + 1);
        let mut from = 0;
        for (start, end) in places {
            pieces.push(data.get(from..start)?.to_vec());
            from = end;
        }
        pieces.push(data.get(from..)?.to_vec());
        (pieces.len() > 1).then_some(Self { pieces })
    }

    /// Whether `data` is the same document with other texts.
    pub(crate) fn fits(&self, data: &[u8]) -> bool {
        self.each_text(data, |_| {}).is_some()
    }

    /// The range of text number `wanted` in `data`; `None` if `data` does not fit.
    pub(crate) fn place_of(&self, wanted: usize, data: &[u8]) -> Option<Range<usize>> {
        let (mut number, mut found) = (0, None);
        self.each_text(data, |place| {
            if number == wanted {
                found = Some(place);
            }
            number += 1;
        })?;
        found
    }

    /// Passes the range of every text to `give`, in order. `None` if `data` does not fit.
    fn each_text(&self, data: &[u8], mut give: impl FnMut(Range<usize>)) -> Option<()> {
        let (first, others) = self.pieces.split_first()?;
        data.strip_prefix(first.as_slice())?;
        let mut at = first.len();
        for piece in others {
            let rest = &data[at..];
            let end = memchr::memchr(b'"', rest)?;
            let (text, behind) = rest.split_at(end);
            if !is_plain(text) || !behind.starts_with(piece) {
                return None;
            }
            give(at..at + end);
            at += end + piece.len();
        }
        (at == data.len()).then_some(())
    }
}

/// Whether this is a JSON string without escapes. The bytes are known to be UTF-8.
fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|byte| *byte >= b' ' && *byte != b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;

    fn frame(data: &str) -> Option<Frame> {
        let json = Json::read(data.as_bytes()).unwrap();
        let texts = ["a", "b"].into_iter().filter_map(|name| json.text_of(name));
        Frame::around(data.as_bytes(), texts)
    }

    #[test]
    fn only_the_texts_may_differ() {
        let known = frame(r#"{"n":1,"a":"one","b":"two","e":null}"#).unwrap();
        for (other, fits) in [
            (r#"{"n":1,"a":"","b":"déjà vu","e":null}"#, true),
            (r#"{"n":1,"a":"one","b":"two","e":null}"#, true),
            (r#"{"n":2,"a":"one","b":"two","e":null}"#, false),
            (r#"{"n":1,"a":"one","b":"two","e":{}}"#, false),
            (r#"{"n":1,"a":"one","b":"two","e":null} "#, false),
            (r#"{"n":1,"a":"o\"ne","b":"two","e":null}"#, false),
            (r#"{"n":1,"a":"o\\","b":"two","e":null}"#, false),
            (r#"{"n":1,"a":"x","error":"y","b":"two","e":null}"#, false),
            (r#"{"n":1,"a":"one","b":"two","#, false),
            (r#"{"n":1,"a":"one"#, false),
            ("", false),
        ] {
            assert_eq!(known.fits(other.as_bytes()), fits, "{other}");
        }
        assert!(!known.fits(b"{\"n\":1,\"a\":\"one\n\",\"b\":\"two\",\"e\":null}"));
        let other = r#"{"n":1,"a":"","b":"déjà vu","e":null}"#;
        let text = |wanted| known.place_of(wanted, other.as_bytes());
        assert_eq!(text(0).map(|place| &other[place]), Some(""));
        assert_eq!(text(1).map(|place| &other[place]), Some("déjà vu"));
        assert_eq!(text(2), None);
    }

    #[test]
    fn text_outside_the_data_gives_no_frame() {
        assert_eq!(frame(r#"{"n":1}"#), None);
        assert_eq!(frame(r#"{"a":"x\ny"}"#), None);
        let elsewhere = String::from("one");
        assert_eq!(
            Frame::around(br#"{"a":"one"}"#, [elsewhere.as_str()].into_iter()),
            None
        );
    }
}
