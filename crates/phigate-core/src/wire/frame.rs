//! Knowing a document again that is the same but for some texts.
//!
//! Nearly all chunks of a stream are alike: only what the model writes differs. One that was understood before need not
//! be read again as JSON, as long as everything around those texts is the same to the byte and they are plain.

use std::ops::Range;

/// What stands around some texts of a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Before the first text, between each and the next, after the last. Every text is in quotes, which are here.
    pieces: Vec<Vec<u8>>,
}

impl Frame {
    /// What stands around these texts, which were read from `data`. None where one of them was not read from there as
    /// it is, or where there are none.
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

    /// Where text number `wanted` stands in `data`, if that is the same document with other texts.
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

    /// Gives the place of every text, in order. None where `data` is another document.
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

/// Whether this is what a text is in JSON when nothing of it is escaped. That it is UTF-8 is known.
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
    fn a_text_that_does_not_stand_there_as_it_is_makes_no_frame() {
        assert_eq!(frame(r#"{"n":1}"#), None);
        assert_eq!(frame(r#"{"a":"x\ny"}"#), None);
        let elsewhere = String::from("one");
        assert_eq!(
            Frame::around(br#"{"a":"one"}"#, [elsewhere.as_str()].into_iter()),
            None
        );
    }
}
