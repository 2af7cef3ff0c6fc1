//! Elements of office formats: the flow of their text, and the values that belong to the format.
//!
//! An element that is not known here is text on a separate line, and a value that is not known here is text: the lists
//! say how to join texts and what to leave out, never what to read.

use crate::xml::Element;

/// Vocabulary of an element, by its namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Word,
    Drawing,
    Formula,
    Sheet,
    /// OpenDocument: paragraphs.
    Writer,
    /// OpenDocument: tables.
    Grid,
    /// OpenDocument: documents and annotations.
    Document,
    /// OpenDocument: frames.
    Frame,
    /// Any other vocabulary of an office format.
    Other,
    /// A vocabulary of the document's author.
    Foreign,
}

/// Namespaces of the formats themselves, by their beginnings.
const OWN: &[&str] = &[
    "http://schemas.openxmlformats.org/",
    "http://schemas.microsoft.com/office/",
    "http://purl.oclc.org/ooxml/",
    "http://purl.org/dc/",
    "http://www.w3.org/",
    "http://openoffice.org/",
    "http://docs.oasis-open.org/ns/office/",
    "urn:oasis:names:tc:opendocument:",
    "urn:schemas-microsoft-com:",
    "urn:org:documentfoundation:names:",
];

/// Vocabularies whose texts flow, by the ends of their namespaces.
const FLOWING: &[(&str, Family)] = &[
    ("/wordprocessingml/2006/main", Family::Word),
    ("/ooxml/wordprocessingml/main", Family::Word),
    ("/drawingml/2006/main", Family::Drawing),
    ("/ooxml/drawingml/main", Family::Drawing),
    ("/officeDocument/2006/math", Family::Formula),
    ("/spreadsheetml/2006/main", Family::Sheet),
    ("/ooxml/spreadsheetml/main", Family::Sheet),
    (":opendocument:xmlns:text:1.0", Family::Writer),
    (":opendocument:xmlns:table:1.0", Family::Grid),
    (":opendocument:xmlns:office:1.0", Family::Document),
    (":opendocument:xmlns:drawing:1.0", Family::Frame),
];

/// Returns the vocabulary of a namespace.
pub(super) fn family(namespace: &str) -> Family {
    let flowing = FLOWING.iter().find(|(end, _)| namespace.ends_with(end));
    match flowing {
        Some((_, family)) => *family,
        None if is_own(namespace) => Family::Other,
        None => Family::Foreign,
    }
}

/// Whether a namespace belongs to an office format.
pub(super) fn is_own(namespace: &str) -> bool {
    OWN.iter().any(|start| namespace.starts_with(start))
}

/// Flow of an element's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// Joined with what is around it; spaces alone are layout of the XML.
    Join,
    /// Joined with what is around it, spaces too.
    Text,
    /// A paragraph.
    Block,
    /// A paragraph that holds text directly.
    TextBlock,
    /// A cell of a table.
    Cell,
    /// A row of a table.
    Row,
    /// Out of the paragraph in which it is anchored: notes, annotations, text boxes.
    Aside,
    /// A separate line, in the background if a paragraph is around it.
    Line,
}

/// Returns the flow of an element.
pub(super) fn flow(family: Family, local: &str) -> Flow {
    match (family, local) {
        (Family::Word, "t" | "delText" | "instrText" | "delInstrText")
        | (Family::Drawing | Family::Formula | Family::Sheet, "t") => Flow::Text,
        (Family::Word | Family::Drawing, "p") | (Family::Sheet, "si" | "is" | "text" | "rPh") => {
            Flow::Block
        }
        (Family::Word | Family::Drawing, "tc")
        | (Family::Grid, "table-cell" | "covered-table-cell") => Flow::Cell,
        (Family::Word | Family::Drawing, "tr") | (Family::Grid, "table-row") => Flow::Row,
        (Family::Word, "txbxContent")
        | (Family::Writer, "note" | "tracked-changes")
        | (Family::Document, "annotation")
        | (Family::Frame, _) => Flow::Aside,
        (Family::Writer, "p" | "h") => Flow::TextBlock,
        (Family::Writer, _) => Flow::Text,
        (Family::Sheet, "r")
        | (Family::Word | Family::Drawing | Family::Formula | Family::Grid | Family::Document, _) => {
            Flow::Join
        }
        (Family::Sheet | Family::Other | Family::Foreign, _) => Flow::Line,
    }
}

/// Returns the characters for which an element is written.
pub(super) fn character(family: Family, element: &Element<'_>) -> Option<String> {
    let text = match (family, element.local) {
        (Family::Word | Family::Drawing, "br")
        | (Family::Word, "cr")
        | (Family::Writer, "line-break") => "\n",
        (Family::Word, "tab" | "ptab") | (Family::Writer, "tab") => "\t",
        (Family::Word, "noBreakHyphen") => "-",
        (Family::Word, "softHyphen") => "\u{ad}",
        (Family::Word, "sym") => {
            let code = u32::from_str_radix(element.get("char")?, 16).ok()?;
            // Symbol fonts repeat ASCII in the private area.
            let code = if (0xf020..=0xf0ff).contains(&code) {
                code - 0xf000
            } else {
                code
            };
            return char::from_u32(code).map(String::from);
        }
        (Family::Writer, "s") => {
            let count = element.get("c").and_then(|count| count.parse().ok());
            return Some(" ".repeat(count.unwrap_or(1usize).min(100)));
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// Attributes with numbers or marks that the program makes: ids, revisions and coordinates.
const MADE: &[&str] = &[
    "cx",
    "cy",
    "durableId",
    "id",
    "ilvl",
    "paraId",
    "spid",
    "textId",
    "uid",
    "x",
    "y",
];

/// Elements whose `val` is such a number.
const MADE_ELEMENTS: &[&str] = &[
    "abstractNumId",
    "colId",
    "creationId",
    "docId",
    "id",
    "modId",
    "nsid",
    "numId",
    "rowId",
    "tmpl",
];

/// Elements and attributes that name fonts or themes.
const FONTS: &[&str] = &[
    "altName",
    "ascii",
    "cs",
    "eastAsia",
    "font-charset",
    "font-family",
    "font-family-asian",
    "font-family-complex",
    "font-name",
    "font-name-asian",
    "font-name-complex",
    "hAnsi",
    "typeface",
];
const FONT_ELEMENTS: &[&str] = &[
    "altName",
    "clrScheme",
    "fmtScheme",
    "font",
    "fontScheme",
    "mathFont",
    "font-face",
    "name",
    "rFont",
    "theme",
];

/// Whether a value is part of the format: a keyword, a small number, an id, or the name of a font or theme.
pub(super) fn is_made(family: Family, element: &Element<'_>, attribute: &str, value: &str) -> bool {
    if family == Family::Foreign {
        return false;
    }
    let is_number = value
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        && value.len() <= 11;
    if is_keyword(value) || is_small_number(value) || is_guid(value) {
        return true;
    }
    let of_element = attribute == "val" && MADE_ELEMENTS.contains(&element.local);
    let is_id = MADE.contains(&attribute)
        || of_element
        || attribute.starts_with("rsid")
        || element.local.starts_with("rsid");
    if is_id && is_number {
        return true;
    }
    let is_pattern = attribute == "formatCode" && is_number_pattern(value);
    if is_pattern || is_colour(element.local, attribute, value) {
        return true;
    }
    let is_reference = family == Family::Sheet
        && matches!(
            attribute,
            "r" | "ref" | "sqref" | "activeCell" | "topLeftCell"
        );
    if is_reference && value.len() <= 24 {
        return true;
    }
    let of_font = FONTS.contains(&attribute)
        || FONT_ELEMENTS.contains(&element.local)
            && matches!(attribute, "name" | "val")
            && is_font_name(family, element.local);
    of_font && !value.contains(|each: char| each.is_ascii_digit())
}

/// Whether an element with a name is a font or theme there; elsewhere `name` is text.
fn is_font_name(family: Family, local: &str) -> bool {
    match family {
        Family::Word => matches!(local, "font" | "altName"),
        Family::Sheet => matches!(local, "name" | "rFont"),
        Family::Drawing => local.ends_with("Scheme") || local == "theme",
        Family::Formula => local == "mathFont",
        _ => local == "font-face",
    }
}

/// Whether a value is a word of the format, such as `left`, `nextPage` or `rId12`.
fn is_keyword(value: &str) -> bool {
    let letters = value.trim_end_matches(|each: char| each.is_ascii_digit());
    value.len() - letters.len() <= 3
        && letters.starts_with(|each: char| each.is_ascii_lowercase())
        && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Whether a value is a number of at most seven digits, perhaps with a fraction and a unit.
fn is_small_number(value: &str) -> bool {
    let value = value.strip_prefix(['-', '+']).unwrap_or(value);
    let number = value.trim_end_matches(|each: char| each.is_ascii_lowercase() || each == '%');
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    value.len() - number.len() <= 3
        && whole.len() <= 7
        && is_digits(whole)
        && is_digits(fraction)
        && (fraction.len() < 5 || whole.len() < 3)
}

/// Whether a number format has no text: no quoted words, and no digits but placeholders and bounds such as `9999999`.
fn is_number_pattern(code: &str) -> bool {
    !code.contains(|each: char| matches!(each, '1'..='8' | '"'))
}

/// Whether a value is a colour, such as `4F81BD`.
fn is_colour(element: &str, attribute: &str, value: &str) -> bool {
    let names_colour = |name: &str| {
        let name = name.to_ascii_lowercase();
        ["color", "clr", "rgb"]
            .iter()
            .any(|word| name.contains(word))
            || name == "fill"
    };
    let digits = value.strip_prefix('#').unwrap_or(value);
    matches!(digits.len(), 6 | 8)
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        && (names_colour(attribute) || attribute == "val" && names_colour(element))
}

/// Whether a value is a GUID in braces.
fn is_guid(value: &str) -> bool {
    let inner = value
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    inner.is_some_and(|inner| {
        inner.len() == 36
            && inner
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
    })
}
