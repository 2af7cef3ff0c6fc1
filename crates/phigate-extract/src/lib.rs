//! All text of a document, or the reason why it cannot be read.
//!
//! [`extract`] is a pure function: bytes in, text and places out. It opens nothing, follows no link and resolves no
//! entity. The type follows from the content, never from a name. A document is read by principle, not by a list of
//! places: every part is text, or part of the format itself, or makes the document unreadable.

mod bounds;
mod collect;
mod html;
mod image;
mod kind;
mod mail;
mod office;
mod pdf;
mod rtf;
mod sniff;
mod text;
mod xml;
mod zip;

use phigate_types::{DocumentText, Place, Unread};

use collect::Collector;
use kind::Kind;

/// Whether bytes are UTF-8 text of no other format.
pub fn is_plain(bytes: &[u8]) -> bool {
    kind::is_plain(bytes)
}

/// Returns all text of a document.
///
/// # Errors
///
/// The reason why the document cannot be read as a whole.
pub fn extract(bytes: &[u8]) -> Result<DocumentText, Unread> {
    let mut found = Collector::default();
    match kind::of(bytes)? {
        Kind::Text => found.add(Place::Whole, text::plain(bytes)?)?,
        Kind::Xml => found.add_page(Place::Whole, xml::raw(&xml::decode(bytes)?)?)?,
        Kind::Html => found.add_page(Place::Whole, html::read(&text::web(bytes)?)?)?,
        Kind::Rtf => found.add(Place::Whole, rtf::read(bytes)?)?,
        Kind::Mail => found.add(Place::Whole, mail::read(bytes)?)?,
        Kind::Office => office::read(bytes, &mut found)?,
        Kind::Pdf => pdf::read(bytes, &mut found)?,
    }
    Ok(found.finish())
}
