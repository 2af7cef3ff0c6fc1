//! Documents inside a request: where they are, their bytes, and the text that was read of them.

use std::sync::Arc;

use phigate_types::{DocumentText, NoText, Unread};

use crate::json::{Document, Kind, NodeId, Value};

use super::binary;
use super::form::{Form, outermost};

/// Document inside a request.
#[derive(Clone, Copy)]
pub struct Inline<'d> {
    /// The part of a message that is the document.
    pub part: Value<'d>,
    /// The string that holds its bytes.
    payload: Value<'d>,
}

impl Inline<'_> {
    /// Returns the bytes of the document.
    ///
    /// # Errors
    ///
    /// [`Unread::Damaged`] if two programs could decode it differently.
    pub fn bytes(&self) -> Result<Vec<u8>, Unread> {
        decoded(&self.payload.text()).ok_or(Unread::Damaged)
    }
}

/// Returns the documents of a request, in order: parts that cannot be scanned as they are, and hold the bytes of a
/// document and nothing else that is not text.
pub fn inline_documents<'d>(form: &dyn Form, document: &'d Document) -> Vec<Inline<'d>> {
    let parts = outermost(form, document).into_iter();
    let inline = parts.filter_map(|(part, _)| {
        let payload = form.document(&part)?;
        (payload.kind() == Kind::String).then_some(Inline { part, payload })
    });
    inline.collect()
}

/// Whether an object has only members of these names, apart from those that are null.
pub(crate) fn has_only(object: &Value<'_>, names: &[&str]) -> bool {
    let is_known = |value: Value<'_>| {
        let key = value.key().and_then(|key| key.string());
        key.is_some_and(|key| names.contains(&key.as_ref()))
    };
    object.kind() == Kind::Object
        && object
            .values()
            .all(|value| value.kind() == Kind::Null || is_known(value))
}

/// The base64 of a `data:` URL of base64, or of a text without a URL; `None` for every other URL.
pub(crate) fn base64_of(text: &str) -> Option<&str> {
    let Some(rest) = url(text) else {
        return Some(text);
    };
    let (head, body) = rest.split_once(',')?;
    let coding = head.rsplit(';').next().filter(|_| head.contains(';'))?;
    coding.eq_ignore_ascii_case("base64").then_some(body)
}

/// Returns the text after `data:`.
fn url(text: &str) -> Option<&str> {
    let scheme = text.get(..5)?;
    let rest = text.get(5..)?;
    scheme.eq_ignore_ascii_case("data:").then_some(rest)
}

/// Returns the bytes of a `data:` URL, or of base64; `None` if they are not exactly one sequence.
fn decoded(text: &str) -> Option<Vec<u8>> {
    match base64_of(text) {
        Some(base64) => from_base64(base64),
        None => from_percent(url(text)?.split_once(',')?.1),
    }
}

/// Decodes base64 strictly: one alphabet, and nothing after its end. Lines may be wrapped, and padding may be missing.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let letters: Vec<u8> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    let end = letters.iter().position(|byte| *byte == b'=');
    let (letters, padding) = letters.split_at(end.unwrap_or(letters.len()));
    let has = |signs: &[u8]| letters.iter().any(|letter| signs.contains(letter));
    let is_padded = padding.is_empty() || (letters.len() + padding.len()).is_multiple_of(4);
    let is_whole = letters.len() % 4 != 1 && padding.len() <= 2;
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
    let is_strict = padding.iter().all(|byte| *byte == b'=')
        && letters.iter().all(is_letter)
        && !(has(b"+/") && has(b"-_"));
    (is_padded && is_whole && is_strict).then(|| super::coded::from_base64(letters))
}

/// Decodes percent signs.
fn from_percent(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => {
                let mut digit = || char::from(bytes.next()?).to_digit(16);
                u8::try_from(digit()? << 4 | digit()?).ok()?
            }
            plain => plain,
        });
    }
    Some(out)
}

/// A document of a request, and its text.
#[derive(Debug, Clone)]
pub(crate) struct ReadDocument {
    part: NodeId,
    payload: NodeId,
    /// Text of the document, or the reason why there is none.
    pub(crate) text: Result<Arc<DocumentText>, NoText>,
}

impl ReadDocument {
    /// The part of a message that is the document.
    pub(crate) fn part(&self) -> NodeId {
        self.part
    }

    /// The string that holds its bytes.
    pub(crate) fn payload(&self) -> NodeId {
        self.payload
    }
}

/// Documents of a request that were read, in order.
#[derive(Debug, Clone, Default)]
pub struct ReadDocuments(Arc<Vec<ReadDocument>>);

impl ReadDocuments {
    /// Combines the documents of a request with their texts. Documents without a text are left out.
    pub(super) fn new(
        form: &dyn Form,
        document: &Document,
        texts: Vec<Result<DocumentText, NoText>>,
    ) -> Self {
        let texts = texts.into_iter().map(|text| {
            let text = text?;
            // A file in the text of a document is as unreadable there as in any other text.
            let holds_file = |text: &str| binary::holds_file(text, false);
            match text.passages.iter().any(|one| holds_file(&one.text)) {
                true => Err(NoText::Unread(Unread::EmbeddedObject)),
                false => Ok(Arc::new(text)),
            }
        });
        Self::of(form, document, texts)
    }

    fn of(
        form: &dyn Form,
        document: &Document,
        texts: impl Iterator<Item = Result<Arc<DocumentText>, NoText>>,
    ) -> Self {
        let inline = inline_documents(form, document).into_iter();
        let read = inline.zip(texts).map(|(inline, text)| ReadDocument {
            part: inline.part.id(),
            payload: inline.payload.id(),
            text,
        });
        Self(Arc::new(read.collect()))
    }

    /// The documents that remain in a request in which some became text.
    pub(crate) fn without(&self, gone: &[NodeId], form: &dyn Form, document: &Document) -> Self {
        let left = self.0.iter().filter(|one| !gone.contains(&one.part));
        Self::of(form, document, left.map(|one| one.text.clone()))
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ReadDocument> {
        self.0.iter()
    }

    /// The document that is this part.
    pub(crate) fn of_part(&self, part: NodeId) -> Option<&ReadDocument> {
        let found = self.0.binary_search_by_key(&part, |one| one.part);
        found.ok().and_then(|at| self.0.get(at))
    }

    /// Whether a string holds the bytes of a document. Its text is scanned instead; of one that could not be read, the
    /// part counts as unscannable.
    pub(crate) fn is_payload(&self, node: NodeId) -> bool {
        let found = self.0.binary_search_by_key(&node, |one| one.payload);
        found.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payload_is_decoded_in_one_way_only() {
        for (text, wanted) in [
            ("data:application/pdf;base64,YWI=", Some("ab")),
            ("DATA:a/b;charset=utf-8;BASE64,YWI=", Some("ab")),
            ("data:;base64,YWI", Some("ab")),
            ("YWI=", Some("ab")),
            ("YW\nI=", Some("ab")),
            ("data:text/plain,a%20b", Some("a b")),
            ("data:text/plain,a b", Some("a b")),
            ("data:a/b;base64,YWI=!!!", None),
            ("data:a/b;base64,YWI=YWI=", None),
            ("data:a/b;base64,+_+_", None),
            ("data:a/b;base64,####", None),
            ("data:a/b;base64,YWI%3D", None),
            ("data:a/b;base64,YWIxY", None),
            ("data:a/b", None),
            ("data:text/plain,a%2", None),
            ("https://example.org/a.pdf", None),
        ] {
            assert_eq!(
                decoded(text).as_deref(),
                wanted.map(str::as_bytes),
                "{text}"
            );
        }
    }
}
