//! Uses of streams that do not say themselves what they are.

use std::collections::HashMap;

use super::file::File;
use super::object::{Dict, Object};

/// Use of a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Program of a font.
    Font,
    /// Map of a font.
    Map,
    /// Profile of colours.
    Profile,
    /// Numbers without text.
    Numbers,
    /// Drawing of a character.
    Drawing,
    /// XML about the document.
    Metadata,
    /// File inside of the document.
    Attachment,
    /// Image.
    Image,
    /// Operators of a form or pattern.
    Form,
    /// Words of a program that computes colours.
    Function,
}

/// Returns the uses of streams by what leads to them.
pub(super) fn by_reference(file: &File<'_>) -> HashMap<u32, Role> {
    let mut roles = HashMap::new();
    for object in file.entries.iter().map(|entry| &entry.object) {
        visit(file, object, &mut roles);
        if let Object::Dict(dict) = object
            && dict.has("Linearized")
            && let Some([offset, ..]) = file.array(dict, "H")
        {
            roles.extend(
                file.number_at(offset.size())
                    .map(|number| (number, Role::Numbers)),
            );
        }
    }
    roles
}

fn visit(file: &File<'_>, object: &Object, roles: &mut HashMap<u32, Role>) {
    match object {
        Object::Array(items) => {
            if let [Object::Name(kind), Object::Ref(number, _)] = items.as_slice()
                && kind == b"ICCBased"
            {
                roles.insert(*number, Role::Profile);
            }
            items.iter().for_each(|item| visit(file, item, roles));
        }
        Object::Dict(dict) => {
            for (key, value) in dict.iter() {
                let role = match key {
                    b"FontFile" | b"FontFile2" | b"FontFile3" => Some(Role::Font),
                    b"ToUnicode" | b"Encoding" => Some(Role::Map),
                    b"CIDToGIDMap" | b"CIDSet" => Some(Role::Numbers),
                    b"DestOutputProfile" => Some(Role::Profile),
                    b"Metadata" => Some(Role::Metadata),
                    _ => None,
                };
                match (value, role) {
                    (Object::Ref(number, _), Some(role)) => drop(roles.insert(*number, role)),
                    _ => visit(file, value, roles),
                }
            }
            if dict.is("Subtype", "Type3") {
                for (_, drawing) in file
                    .dict(dict, "CharProcs")
                    .into_iter()
                    .flat_map(Dict::iter)
                {
                    if let Object::Ref(number, _) = drawing {
                        roles.insert(*number, Role::Drawing);
                    }
                }
            }
        }
        _ => {}
    }
}

/// Returns the use of a stream by its dictionary.
pub(super) fn by_shape(file: &File<'_>, dict: &Dict) -> Option<Role> {
    let number = |key: &str| file.get(dict, key).and_then(Object::integer);
    match (dict.name("Type"), dict.name("Subtype")) {
        (Some(b"EmbeddedFile"), _) => Some(Role::Attachment),
        (Some(b"Metadata"), _) | (_, Some(b"XML")) => Some(Role::Metadata),
        (_, Some(b"Image")) => Some(Role::Image),
        (_, Some(b"Form")) => Some(Role::Form),
        (Some(b"CMap"), _) => Some(Role::Map),
        _ if dict.has("Width") && dict.has("Height") => Some(Role::Image),
        _ if number("PatternType") == Some(1) => Some(Role::Form),
        _ if number("FunctionType") == Some(4) => Some(Role::Function),
        _ if number("FunctionType") == Some(0) || dict.has("ShadingType") => Some(Role::Numbers),
        _ => None,
    }
}
