//! Parts of a PDF that act, or that are other documents.

use phigate_types::Unread;

use super::file::File;
use super::object::Dict;

/// Actions that run something, or send or fetch data.
const ACTIONS: &[&[u8]] = &[
    b"JavaScript",
    b"Launch",
    b"SubmitForm",
    b"ImportData",
    b"Rendition",
    b"RichMediaExecute",
    b"GoTo3DView",
    b"Movie",
    b"Sound",
];

/// Annotations that hold something else than text.
const OBJECTS: &[&[u8]] = &[
    b"RichMedia",
    b"Movie",
    b"Sound",
    b"Screen",
    b"3D",
    b"PRC",
    b"U3D",
];

/// Checks a dictionary.
///
/// # Errors
///
/// The reason why a document with it is not read.
pub(super) fn check(file: &File<'_>, dict: &Dict) -> Result<(), Unread> {
    let action = dict.name("S").unwrap_or_default();
    let subtype = dict.name("Subtype").unwrap_or_default();
    if ACTIONS.contains(&action) || dict.has("JS") {
        return Err(Unread::ActiveContent);
    }
    if OBJECTS.contains(&subtype) || file.get(dict, "XFA").is_some() || dict.has("Collection") {
        return Err(Unread::EmbeddedObject);
    }
    if dict.is("Subtype", "PS") || dict.is("Subtype2", "PS") {
        return Err(Unread::ActiveContent);
    }
    if dict.is("Type", "Encrypt") {
        return Err(Unread::Encrypted);
    }
    Ok(())
}
