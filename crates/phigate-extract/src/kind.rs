//! Types of documents, by content.

use encoding_rs::UTF_16BE;
use phigate_types::Unread;

use crate::sniff::{Magic, has, magic};
use crate::{mail, text, xml};

/// Type of a document that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Text, CSV, JSON and every other text without a known format.
    Text,
    Xml,
    Html,
    Rtf,
    Mail,
    /// DOCX, XLSX, PPTX and ODT.
    Office,
    Pdf,
}

/// Bytes of the beginning that are looked at.
const WITHIN: usize = 1024;

/// Names of the first tag of a page.
const PAGE_TAGS: &[&str] = &[
    "<!doctype html",
    "<html",
    "<head",
    "<body",
    "<div",
    "<p>",
    "<table",
    "<span",
    "<meta",
    "<title",
    "<style",
    "<script",
];

/// Returns the type of a document.
///
/// # Errors
///
/// The reason why a document of its type is not read.
pub(crate) fn of(bytes: &[u8]) -> Result<Kind, Unread> {
    match magic(bytes) {
        Some(Magic::Zip) => return Ok(Kind::Office),
        Some(Magic::Pdf) => return Ok(Kind::Pdf),
        Some(Magic::Compound) if is_encrypted_office(bytes) => return Err(Unread::Encrypted),
        Some(_) => return Err(Unread::UnknownType),
        None => {}
    }
    if bytes.starts_with(b"{\\rtf") {
        return Ok(Kind::Rtf);
    }
    let head = start(bytes);
    if head.starts_with("<?xml") {
        return Ok(if head.contains("<html") {
            Kind::Html
        } else {
            Kind::Xml
        });
    }
    if head.starts_with("<!--") && PAGE_TAGS.iter().any(|tag| head.contains(tag))
        || PAGE_TAGS.iter().any(|tag| head.starts_with(tag))
    {
        return Ok(Kind::Html);
    }
    if head.starts_with('<') && is_xml(bytes) {
        return Ok(Kind::Xml);
    }
    // A text that begins like JSON and breaks off is a damaged file.
    if begins_as_json(&head) && !is_json(bytes) {
        return Err(Unread::Damaged);
    }
    Ok(if mail::is_mail(bytes) {
        Kind::Mail
    } else {
        Kind::Text
    })
}

/// Whether bytes are XML without a declaration, also such as is not read.
fn is_xml(bytes: &[u8]) -> bool {
    let page = xml::decode(bytes).and_then(|source| xml::raw(&source));
    !matches!(page, Err(Unread::Damaged))
}

/// Whether bytes are UTF-8 text that is not a document of another type, without a look at more than their beginning.
pub(crate) fn is_plain(bytes: &[u8]) -> bool {
    let head = start(bytes);
    magic(bytes).is_none()
        && !head.starts_with(['<', '\u{feff}'])
        && !bytes.starts_with(b"{\\rtf")
        && !begins_as_json(&head)
        && !mail::is_mail(bytes)
        && !bytes.contains(&0)
        && std::str::from_utf8(bytes).is_ok()
}

/// Whether the beginning of a text is one of JSON.
fn begins_as_json(head: &str) -> bool {
    let starts = ["{\"", "[{", "[\""];
    starts.iter().any(|start| head.starts_with(start))
}

/// Whether bytes are JSON, or lines of JSON.
fn is_json(bytes: &[u8]) -> bool {
    let Ok(text) = text::plain(bytes) else {
        return false;
    };
    let mut values = serde_json::Deserializer::from_str(&text).into_iter::<serde::de::IgnoredAny>();
    values.all(|value| value.is_ok())
}

/// Returns the beginning as lower-case text, without white space and marks in front of it.
fn start(bytes: &[u8]) -> String {
    let wide = || {
        let (encoding, rest) = text::marked(bytes)?;
        let mut cut = rest.len().min(2 * WITHIN);
        cut -= cut % 2;
        Some(
            encoding
                .decode_without_bom_handling(&rest[..cut])
                .0
                .into_owned(),
        )
    };
    let narrow = || match bytes {
        [0, b'<', ..] => UTF_16BE
            .decode_without_bom_handling(&bytes[..bytes.len().min(256)])
            .0
            .into_owned(),
        [b'<', 0, ..] => bytes
            .iter()
            .take(256)
            .step_by(2)
            .map(|byte| char::from(*byte))
            .collect(),
        _ => String::from_utf8_lossy(&bytes[..bytes.len().min(WITHIN)]).into_owned(),
    };
    let text = wide().unwrap_or_else(narrow);
    text.trim_start().to_lowercase()
}

/// Whether a compound file has an encrypted office file inside.
fn is_encrypted_office(bytes: &[u8]) -> bool {
    let name: Vec<u8> = "EncryptedPackage"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    has(bytes, &name)
}
