//! Workbooks: which parts are sheets, their names, and their tables.

use std::ops::Range;

use phigate_types::{Passage, Place, Stretch, Unread};

use super::cells::{Cell, table};
use super::formats::Formats;
use super::package::{Package, rows};
use super::sheet::{Sheet, Strings};
use super::walk::Walk;
use crate::collect::{Collector, Page};
use crate::xml::{self, Element, Visit};
use crate::zip::Entry;

/// Main part of a workbook.
#[derive(Default)]
struct Main {
    /// Names and relation ids of the sheets.
    sheets: Vec<(String, String)>,
    from_1904: bool,
    rest: Walk,
}

impl Visit for Main {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Unread> {
        match element.local {
            "sheet" => {
                let (name, id) = (element.get("name"), element.get("id"));
                let (name, id) = name.zip(id).ok_or(Unread::Damaged)?;
                self.sheets.push((name.to_owned(), id.to_owned()));
                // The sheet name becomes the heading of the table.
                self.rest.leave_out(name);
            }
            "workbookPr" => self.from_1904 = matches!(element.get("date1904"), Some("1" | "true")),
            _ => {}
        }
        self.rest.start(element)
    }

    fn end(&mut self, namespace: &str, local: &str) -> Result<(), Unread> {
        self.rest.end(namespace, local)
    }

    fn text(&mut self, text: &str) -> Result<(), Unread> {
        self.rest.text(text)
    }

    fn aside(&mut self, text: &str, place: Range<usize>) -> Result<(), Unread> {
        self.rest.aside(text, place)
    }
}

/// Parts of a workbook, by position among the entries.
struct Parts<'e> {
    entries: &'e [Entry],
    folder: &'e str,
}

impl Parts<'_> {
    /// Returns the position of a part that a relation of the main part leads to.
    fn find(&self, target: &str) -> Option<usize> {
        let name = match target.strip_prefix('/') {
            Some(absolute) => absolute.to_owned(),
            None => format!("{}{target}", self.folder),
        };
        self.entries.iter().position(|entry| entry.name == name)
    }
}

/// Strings, formats and dates that the sheets share.
struct Shared {
    strings: Strings,
    formats: Formats,
    from_1904: bool,
}

/// Reads main part, strings and sheets of a workbook; returns their positions.
pub(super) fn read(
    entries: &[Entry],
    package: &Package,
    found: &mut Collector,
) -> Result<Vec<usize>, Unread> {
    let main_name = package.main();
    let folder = main_name.rfind('/').map_or("", |at| &main_name[..=at]);
    let parts = Parts { entries, folder };
    let mut named = entries.iter();
    let at = named.position(|entry| entry.name == main_name);
    let at = at.ok_or(Unread::Damaged)?;
    let mut main = Main::default();
    xml::visit(&xml::decode(&entries[at].body)?, &mut main)?;
    let relations = parts.find(&format!("_rels/{}.rels", &main_name[folder.len()..]));
    let relations = rows(&entries[relations.ok_or(Unread::Damaged)?].body)?;
    let of_kind = |end: &str| {
        let row = relations.iter().find(|row| row.kind.ends_with(end));
        row.and_then(|row| parts.find(&row.target))
    };
    let mut shared = Shared {
        strings: Strings::default(),
        formats: Formats::default(),
        from_1904: main.from_1904,
    };
    let mut done = vec![at];
    if let Some(at) = of_kind("/styles") {
        shared.formats = Formats::of(&entries[at].body)?;
    }
    let strings_at = of_kind("/sharedStrings");
    if let Some(at) = strings_at {
        xml::visit(&xml::decode(&entries[at].body)?, &mut shared.strings)?;
        done.push(at);
    }
    let names = main.sheets.iter().map(|(name, _)| name.clone());
    found.name_sheets(names.collect());
    for (number, (name, id)) in main.sheets.iter().enumerate() {
        let relation = relations.iter().find(|row| row.id == *id);
        let part = relation.and_then(|row| parts.find(&row.target));
        let part = part.ok_or(Unread::Damaged)?;
        // Two sheets may not share a part.
        if done.contains(&part) {
            return Err(Unread::ReadersDisagree);
        }
        done.push(part);
        let title = (place(at)?, name.as_str());
        sheet((number, title), (part, &entries[part]), &mut shared, found)?;
    }
    found.add_page(place(at)?, main.rest.finish())?;
    if let Some(at) = strings_at {
        found.add_page(place(at)?, unused(shared.strings))?;
    }
    Ok(done)
}

/// Reads a sheet.
fn sheet(
    (number, title): (usize, (Place, &str)),
    (part, entry): (usize, &Entry),
    shared: &mut Shared,
    found: &mut Collector,
) -> Result<(), Unread> {
    let mut sheet = Sheet::new(&mut shared.strings, &shared.formats, shared.from_1904);
    xml::visit(&xml::decode(&entry.body)?, &mut sheet)?;
    let (cells, formulas, rest) = (sheet.cells, sheet.formulas, sheet.rest.finish());
    let number = position(number)?;
    found.add_passage(table(number, title, cells)?)?;
    found.add_passage(lines(number, formulas))?;
    found.add_page(place(part)?, rest)
}

fn position(number: usize) -> Result<u32, Unread> {
    u32::try_from(number).map_err(|_| Unread::Limit)
}

fn place(part: usize) -> Result<Place, Unread> {
    position(part).map(Place::Part)
}

/// Returns formulas as lines in the background.
fn lines(sheet: u32, cells: Vec<Cell>) -> Passage {
    let mut passage = Passage {
        text: String::new(),
        stretches: Vec::new(),
        background: true,
    };
    for Cell { row, column, text } in cells {
        let place = Place::Cell { sheet, row, column };
        passage.stretches.push(Stretch {
            start: passage.text.len(),
            place,
        });
        passage.text.push_str(&text);
        passage.text.push('\n');
    }
    passage
}

/// Returns the strings that no cell shows.
fn unused(mut strings: Strings) -> Page {
    strings.is_used.resize(strings.texts.len(), false);
    let texts = strings.texts.iter().zip(&strings.is_used);
    for (text, _) in texts.filter(|(_, is_used)| !**is_used) {
        strings.rest.note(text);
    }
    strings.rest.finish()
}
