//! Content that a text scanner cannot judge: attachments, references to them, and content of an unknown type.

use std::borrow::Cow;

use phigate_types::{NoText, Unscannable};

use crate::json::{Document, Kind, NodeId, Value};

use super::binary;
use super::form::{Form, outermost};
use super::inline::ReadDocuments;
use super::path::path;
use super::place::Place;

/// The parts that cannot be scanned.
pub fn unscannable(form: &dyn Form, document: &Document) -> Vec<Unscannable> {
    let named = |(node, kind)| Unscannable {
        path: path(&document.value(node)),
        kind: Cow::Borrowed(kind),
    };
    opaque_nodes(form, document, &ReadDocuments::default())
        .into_iter()
        .map(named)
        .collect()
}

/// The outermost nodes that cannot be scanned, and what they are. A document that was read is not one of them, and one
/// that could not be read is named by the reason.
pub(crate) fn opaque_nodes(
    form: &dyn Form,
    document: &Document,
    read: &ReadDocuments,
) -> Vec<(NodeId, &'static str)> {
    let mut parts = outermost(form, document);
    parts.retain_mut(|(part, kind)| match read.of_part(part.id()) {
        Some(one) => match one.text {
            Ok(_) => false,
            Err(NoText::Unread(reason)) => {
                *kind = reason.code();
                true
            }
            Err(NoText::NoReader) => true,
        },
        None => true,
    });
    // Only content outside all other parts is named, so the part that begins last before a value is the one that may
    // hold it.
    let is_in_a_part = |value: &Value<'_>| {
        let before = parts.partition_point(|(part, _)| part.id() <= value.id());
        before > 0 && parts[before - 1].0.nodes().contains(&value.id())
    };
    let strings = document
        .nodes()
        .filter(|value| value.kind() == Kind::String && !value.is_key());
    let files = strings.filter_map(|value| {
        let text = value.string()?;
        let place = form
            .place(&value)
            .filter(|_| !read.is_payload(value.id()))?;
        let holds_file = binary::holds_file(&text, place == Place::Opaque);
        (holds_file && !is_in_a_part(&value)).then_some((value.id(), "data_uri"))
    });
    let files: Vec<_> = files.collect();
    let mut found: Vec<_> = parts
        .iter()
        .map(|(part, kind)| (part.id(), *kind))
        .collect();
    found.extend(files);
    found
}
