//! XML: every event of a document in order, checked, without declared entities and without anything from outside.

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use phigate_types::Unread;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;

use crate::collect::Page;
use crate::{bounds, text};

/// The most attributes of an element.
const ATTRIBUTES: usize = 512;

/// Attribute of an element.
pub(crate) struct Attribute<'x> {
    pub(crate) local: &'x str,
    pub(crate) value: Cow<'x, str>,
    /// Whether it declares a namespace.
    pub(crate) declares: bool,
}

/// Element that begins.
pub(crate) struct Element<'x> {
    pub(crate) namespace: &'x str,
    pub(crate) local: &'x str,
    pub(crate) attributes: &'x [Attribute<'x>],
}

impl Element<'_> {
    /// Returns the value of an attribute.
    pub(crate) fn get(&self, local: &str) -> Option<&str> {
        let mut all = self.attributes.iter();
        all.find(|each| each.local == local && !each.declares)
            .map(|each| each.value.as_ref())
    }
}

/// Receiver of the events of a document.
pub(crate) trait Visit {
    /// Takes the start of an element.
    fn start(&mut self, element: &Element<'_>) -> Result<(), Unread>;
    /// Takes the end of an element.
    fn end(&mut self, namespace: &str, local: &str) -> Result<(), Unread>;
    /// Takes characters.
    fn text(&mut self, text: &str) -> Result<(), Unread>;
    /// Takes a comment, an instruction or a document type, and its place in the document.
    fn aside(&mut self, text: &str, place: Range<usize>) -> Result<(), Unread>;
}

/// Visitor of documents that are text as they are written.
#[derive(Default)]
struct Raw {
    asides: String,
    cuts: Vec<Range<usize>>,
}

impl Visit for Raw {
    fn start(&mut self, _: &Element<'_>) -> Result<(), Unread> {
        Ok(())
    }

    fn end(&mut self, _: &str, _: &str) -> Result<(), Unread> {
        Ok(())
    }

    fn text(&mut self, _: &str) -> Result<(), Unread> {
        Ok(())
    }

    fn aside(&mut self, text: &str, place: Range<usize>) -> Result<(), Unread> {
        self.asides.push_str(text.trim());
        self.asides.push('\n');
        self.cuts.push(place);
        Ok(())
    }
}

/// Returns a well-formed document as it is written, for the names of its elements are labels. Comments and instructions
/// are apart: in the middle of markup they would be taken for a part of it.
pub(crate) fn raw(source: &str) -> Result<Page, Unread> {
    let mut raw = Raw::default();
    visit(source, &mut raw)?;
    let mut content = String::with_capacity(source.len());
    let mut from = 0;
    for cut in raw.cuts {
        content.push_str(&source[from..cut.start]);
        from = cut.end;
    }
    content.push_str(&source[from..]);
    Ok(Page {
        content,
        background: raw.asides,
    })
}

/// Returns the text of a document, by its mark or its declaration.
pub(crate) fn decode(bytes: &[u8]) -> Result<String, Unread> {
    if let Some((encoding, rest)) = text::marked(bytes) {
        return text::decode(encoding, rest);
    }
    match bytes {
        [b'<', 0, ..] => return text::decode(UTF_16LE, bytes),
        [0, b'<', ..] => return text::decode(UTF_16BE, bytes),
        _ => {}
    }
    let head = &bytes[..bytes.len().min(200)];
    let declaration = head
        .starts_with(b"<?xml")
        .then(|| crate::sniff::after(head, b"encoding"));
    let label = declaration.flatten().map(|rest| {
        let mut parts = rest.split(|byte| matches!(byte, b'"' | b'\''));
        parts.nth(1).unwrap_or_default()
    });
    let encoding = label.map_or(Some(UTF_8), Encoding::for_label);
    match encoding {
        Some(encoding) if encoding.is_ascii_compatible() => text::decode(encoding, bytes),
        _ => Err(Unread::Damaged),
    }
}

/// Gives every event of a document to a visitor.
///
/// # Errors
///
/// [`Unread::Damaged`] if it is not well-formed, [`Unread::Limit`] if it declares entities or is nested too deeply.
pub(crate) fn visit(source: &str, visitor: &mut impl Visit) -> Result<(), Unread> {
    let mut reader = NsReader::from_str(source);
    reader.config_mut().check_comments = true;
    let (mut depth, mut roots) = (0usize, 0usize);
    loop {
        let from = offset(&reader)?;
        let event = reader.read_event().map_err(|_| Unread::Damaged)?;
        let place = from..offset(&reader)?;
        let is_outside = depth == 0;
        match event {
            Event::Start(start) => {
                depth += 1;
                roots += usize::from(is_outside);
                begin(&reader, &start, visitor)?;
            }
            Event::Empty(start) => {
                roots += usize::from(is_outside);
                begin(&reader, &start, visitor)?;
                let (namespace, local) = reader.resolver().resolve_element(start.name());
                visitor.end(uri(&namespace)?, local.as_ref())?;
            }
            Event::End(end) => {
                depth = depth.checked_sub(1).ok_or(Unread::Damaged)?;
                let (namespace, local) = reader.resolver().resolve_element(end.name());
                visitor.end(uri(&namespace)?, local.as_ref())?;
            }
            Event::Text(text) if is_outside => {
                let is_space = text.xml10_content().trim().is_empty();
                is_space.then_some(()).ok_or(Unread::Damaged)?;
            }
            Event::Text(text) => visitor.text(&text.xml10_content())?,
            Event::CData(text) => visitor.text(&text.xml10_content())?,
            Event::GeneralRef(reference) => {
                visitor.text(resolve(&reference)?.encode_utf8(&mut [0; 4]))?;
            }
            Event::Comment(text) => visitor.aside(&text.xml10_content(), place)?,
            Event::PI(instruction) => visitor.aside(&instruction.into_inner(), place)?,
            Event::DocType(doctype) => visitor.aside(allowed(&doctype.into_inner())?, place)?,
            Event::Decl(_) => {}
            Event::Eof => break,
        }
        if depth > bounds::DEPTH || roots > 1 {
            return Err(if roots > 1 {
                Unread::Damaged
            } else {
                Unread::Limit
            });
        }
    }
    if depth == 0 && roots == 1 {
        Ok(())
    } else {
        Err(Unread::Damaged)
    }
}

/// Returns the offset behind the last event.
fn offset(reader: &NsReader<&[u8]>) -> Result<usize, Unread> {
    usize::try_from(reader.buffer_position()).map_err(|_| Unread::Limit)
}

/// Resolves the names of an element, and gives it to the visitor.
fn begin<'x>(
    reader: &NsReader<&'x [u8]>,
    start: &BytesStart<'x>,
    visitor: &mut impl Visit,
) -> Result<(), Unread> {
    let (namespace, local) = reader.resolver().resolve_element(start.name());
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|_| Unread::Damaged)?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        attributes.push(Attribute {
            local: attribute.key.local_name().into_inner(),
            value: Cow::Owned(value.map_err(|_| Unread::Damaged)?.into_owned()),
            declares: attribute.key.as_namespace_binding().is_some(),
        });
        if attributes.len() > ATTRIBUTES {
            return Err(Unread::Limit);
        }
    }
    visitor.start(&Element {
        namespace: uri(&namespace)?,
        local: local.as_ref(),
        attributes: &attributes,
    })
}

/// Returns the address of a namespace.
fn uri<'n>(namespace: &ResolveResult<'n>) -> Result<&'n str, Unread> {
    match namespace {
        ResolveResult::Bound(namespace) => Ok(namespace.0),
        ResolveResult::Unbound => Ok(""),
        ResolveResult::Unknown(_) => Err(Unread::Damaged),
    }
}

/// Returns the character of a reference: numbers and the five names of XML.
fn resolve(reference: &BytesRef<'_>) -> Result<char, Unread> {
    let number = reference.resolve_char_ref().map_err(|_| Unread::Damaged)?;
    match (number, &*reference.xml10_content()) {
        (Some(character), _) => Ok(character),
        (None, "amp") => Ok('&'),
        (None, "lt") => Ok('<'),
        (None, "gt") => Ok('>'),
        (None, "quot") => Ok('"'),
        (None, "apos") => Ok('\''),
        (None, _) => Err(Unread::Limit),
    }
}

/// Returns a document type that declares nothing.
fn allowed(doctype: &str) -> Result<&str, Unread> {
    if doctype.contains('[') {
        Err(Unread::Limit)
    } else {
        Ok(doctype)
    }
}
