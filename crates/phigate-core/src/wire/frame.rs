//! Knowing a document again that is the same but for some texts.
//!
//! Nearly all chunks of a stream are alike: only what the model writes differs. One that was understood before need not
//! be read again as JSON, as long as everything around those texts is the same to the byte and they are plain.

/// What stands around some texts of a document.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// Before the first text, between each and the next, after the last. Every text is in quotes, which are here.
    pieces: Vec<Vec<u8>>,
}

impl Frame {
    /// What stands around these texts, which were read from `data`. None where one of them was not read from there as
    /// it is, or where there are none.
    pub(super) fn around<'a>(data: &[u8], texts: impl Iterator<Item = &'a str>) -> Option<Self> {
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
    pub(super) fn fits(&self, data: &[u8]) -> bool {
        let Some((first, others)) = self.pieces.split_first() else {
            return false;
        };
        let Some(mut rest) = data.strip_prefix(first.as_slice()) else {
            return false;
        };
        for piece in others {
            let end = memchr::memchr(b'"', rest).unwrap_or(rest.len());
            let (text, behind) = rest.split_at(end);
            match behind.strip_prefix(piece.as_slice()) {
                Some(behind) if is_plain(text) => rest = behind,
                _ => return false,
            }
        }
        rest.is_empty()
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
