//! Office files: DOCX, XLSX, PPTX and ODT, by one walk over all parts of the archive.

mod cells;
mod formats;
mod package;
mod sheet;
mod vocabulary;
mod walk;
mod workbook;

use phigate_types::{Place, Unread};

use crate::collect::{Collector, Page};
use crate::sniff::{Magic, has, magic};
use crate::zip::{self, Entry};
use crate::{html, image, text, xml};

use package::{Format, Package};
use walk::Walk;

/// Reads an office file.
pub(crate) fn read(bytes: &[u8], found: &mut Collector) -> Result<(), Unread> {
    let entries = zip::read(bytes)?;
    let package = Package::of(&entries)?;
    found.name_parts(entries.iter().map(|entry| entry.name.clone()).collect());
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|number| package.rank(&entries[*number].name));
    let mut done = Vec::new();
    if package.format == Format::Sheets {
        done = workbook::read(&entries, &package, found)?;
    }
    for number in order {
        let entry = &entries[number];
        let place = Place::Part(u32::try_from(number).map_err(|_| Unread::Limit)?);
        if !package.is_usual(&entry.name) {
            found.add_background(place, entry.name.clone())?;
        }
        if !done.contains(&number) {
            let mut page = part(&package, entry)?;
            if package.is_background(&entry.name) {
                let content = std::mem::take(&mut page.content);
                found.add_background(place, content)?;
            }
            found.add_page(place, page)?;
        }
    }
    Ok(())
}

/// Reads a part by its content.
fn part(package: &Package, entry: &Entry) -> Result<Page, Unread> {
    let bytes = &entry.body;
    if bytes.is_empty() {
        return Ok(Page::default());
    }
    match magic(bytes) {
        Some(Magic::Image) if package.is_preview(&entry.name) && image::is_preview(bytes) => {
            return Ok(Page::default());
        }
        Some(Magic::Image) => return image::check(bytes).map(|()| Page::default()),
        Some(Magic::Zip) if !has(bytes, b"[Content_Types].xml") && !has(bytes, b"mimetype") => {
            return Err(Unread::NestedArchive);
        }
        Some(Magic::Archive) => return Err(Unread::NestedArchive),
        Some(Magic::Zip | Magic::Compound | Magic::Pdf) => return Err(Unread::EmbeddedObject),
        None => {}
    }
    if is_markup(bytes) {
        return match document(bytes) {
            Err(Unread::Damaged) if package.may_be_loose(&entry.name) => {
                html::read(&text::web(bytes)?)
            }
            page => page,
        };
    }
    if package.is_printer_settings(&entry.name) {
        let background = text::runs(bytes);
        return Ok(Page {
            content: String::new(),
            background,
        });
    }
    let content = text::plain(bytes).map_err(|_| Unread::EmbeddedObject)?;
    Ok(Page {
        content,
        background: String::new(),
    })
}

/// Whether bytes begin as XML or HTML.
fn is_markup(bytes: &[u8]) -> bool {
    let rest = text::marked(bytes).map_or(bytes, |(_, rest)| rest);
    let mut first = rest
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace() && **byte != 0);
    first.next() == Some(&b'<')
}

/// Reads an XML part. A vocabulary of the author's own is text as it is written: its names are labels.
fn document(bytes: &[u8]) -> Result<Page, Unread> {
    let source = xml::decode(bytes)?;
    let mut walk = Walk::default();
    xml::visit(&source, &mut walk)?;
    if walk.is_foreign() {
        return xml::raw(&source);
    }
    Ok(walk.finish())
}
