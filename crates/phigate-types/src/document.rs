//! Text of a document, and the place of each stretch of it.
//!
//! The process that reads documents writes these values, and the gateway scans them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Place in a document. Sheets and parts are numbers into [`DocumentText`], because their names are the document's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// A text file as a whole.
    Whole,
    /// A page, counted from 1.
    Page(u32),
    /// An object of a PDF that has no page.
    Object(u32),
    /// A part of an office file.
    Part(u32),
    /// A cell of a sheet: row and column counted from 0.
    Cell {
        /// Sheet.
        sheet: u32,
        /// Row.
        row: u32,
        /// Column.
        column: u32,
    },
}

/// First byte of a stretch, and its place. The stretch ends at the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    /// Offset in bytes.
    pub start: usize,
    /// Place.
    pub place: Place,
}

/// Text that is scanned as one.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// The text.
    pub text: String,
    /// Stretches by offset; the first begins at 0.
    pub stretches: Vec<Stretch>,
    /// Whether it is behind the visible text, such as names of styles. Such text is scanned, and
    /// given on only if something in it was changed.
    pub background: bool,
}

impl Passage {
    /// Creates a passage of one place.
    pub fn at(place: Place, text: String) -> Self {
        Self {
            text,
            stretches: vec![Stretch { start: 0, place }],
            background: false,
        }
    }

    /// Returns the stretch that has the byte at an offset.
    pub fn stretch(&self, offset: usize) -> Option<Stretch> {
        let after = self.stretches.partition_point(|each| each.start <= offset);
        self.stretches.get(after.checked_sub(1)?).copied()
    }
}

impl fmt::Debug for Passage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Passage({} bytes)", self.text.len())
    }
}

/// All text of a document.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentText {
    /// Passages in reading order, those of the background last.
    pub passages: Vec<Passage>,
    /// Names of sheets. They may hold PHI.
    pub sheets: Vec<String>,
    /// Names of parts. They may hold PHI.
    pub parts: Vec<String>,
}

impl fmt::Debug for DocumentText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "DocumentText({} passages)", self.passages.len())
    }
}

impl DocumentText {
    /// Returns the name of the sheet or part of a place.
    pub fn name(&self, place: Place) -> Option<&str> {
        match place {
            Place::Part(number) => self.parts.get(number as usize),
            Place::Cell { sheet, .. } => self.sheets.get(sheet as usize),
            Place::Whole | Place::Page(_) | Place::Object(_) => None,
        }
        .map(String::as_str)
    }

    /// Returns what follows `file` in the path of a finding. A name that may not be shown is replaced by its position,
    /// counted from 0.
    pub fn path(&self, place: Place, shows_name: bool) -> String {
        let named = |number: u32| match self.name(place) {
            Some(name) if shows_name => name.to_owned(),
            _ => format!("{{{number}}}"),
        };
        match place {
            Place::Whole => String::new(),
            Place::Page(page) => format!("#page={page}"),
            Place::Object(number) => format!("#object={number}"),
            Place::Part(number) => format!("#part={}", named(number)),
            Place::Cell { sheet, row, column } => {
                let row = u64::from(row) + 1;
                format!("#sheet={}!{}{row}", named(sheet), letters(column))
            }
        }
    }
}

/// Returns the letters of a column, such as `AB`.
fn letters(column: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = u64::from(column) + 1;
    while rest > 0 {
        let digit = u8::try_from((rest - 1) % 26).unwrap_or_default();
        letters.push(char::from(b'A' + digit));
        rest = (rest - 1) / 26;
    }
    letters.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_written_as_paths() {
        let document = DocumentText {
            passages: Vec::new(),
            sheets: vec!["Doses".into()],
            parts: vec!["word/comments.xml".into()],
        };
        let cell = |row, column| Place::Cell {
            sheet: 0,
            row,
            column,
        };
        for (place, path) in [
            (Place::Whole, ""),
            (Place::Page(3), "#page=3"),
            (Place::Object(12), "#object=12"),
            (Place::Part(0), "#part=word/comments.xml"),
            (cell(6, 1), "#sheet=Doses!B7"),
            (cell(0, 26), "#sheet=Doses!AA1"),
            (cell(1_048_575, 16_383), "#sheet=Doses!XFD1048576"),
        ] {
            assert_eq!(document.path(place, true), path);
        }
        assert_eq!(document.path(cell(6, 1), false), "#sheet={0}!B7");
        assert_eq!(document.path(Place::Part(0), false), "#part={0}");
    }

    #[test]
    fn stretch_is_found_by_offset() {
        let mut passage = Passage::at(Place::Page(1), "one two".into());
        passage.stretches.push(Stretch {
            start: 4,
            place: Place::Page(2),
        });
        let page = |offset| passage.stretch(offset).map(|stretch| stretch.place);
        assert_eq!([page(0), page(3)], [Some(Place::Page(1)); 2]);
        assert_eq!([page(4), page(6)], [Some(Place::Page(2)); 2]);
        assert!(!format!("{passage:?}").contains("one"));
    }
}
