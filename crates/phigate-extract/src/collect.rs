//! The text found so far, within the limit on all of it.

use phigate_types::{DocumentText, Passage, Place, Unread};

use crate::bounds;

/// Text of a page or part: what is read there, and what is behind it.
#[derive(Default)]
pub(crate) struct Page {
    /// Visible text, in reading order.
    pub(crate) content: String,
    /// Values of attributes and the like, one per line.
    pub(crate) background: String,
}

/// The text found so far.
#[derive(Default)]
pub(crate) struct Collector {
    found: DocumentText,
    background: Vec<Passage>,
    size: usize,
}

impl Collector {
    /// Adds content of one place.
    pub(crate) fn add(&mut self, place: Place, text: String) -> Result<(), Unread> {
        self.add_passage(Passage::at(place, text))
    }

    /// Adds content of several places.
    pub(crate) fn add_passage(&mut self, passage: Passage) -> Result<(), Unread> {
        self.size += passage.text.len();
        if self.size > bounds::TEXT {
            return Err(Unread::TooLarge);
        }
        if passage.text.trim().is_empty() {
            return Ok(());
        }
        let passages = if passage.background {
            &mut self.background
        } else {
            &mut self.found.passages
        };
        passages.push(passage);
        Ok(())
    }

    /// Adds text that no reader of the document sees.
    pub(crate) fn add_background(&mut self, place: Place, text: String) -> Result<(), Unread> {
        let mut passage = Passage::at(place, text);
        passage.background = true;
        self.add_passage(passage)
    }

    /// Adds a page or part.
    pub(crate) fn add_page(&mut self, place: Place, page: Page) -> Result<(), Unread> {
        self.add(place, page.content)?;
        self.add_background(place, page.background)
    }

    /// Adds the names of parts. Places are positions among them.
    pub(crate) fn name_parts(&mut self, names: Vec<String>) {
        self.found.parts = names;
    }

    /// Adds the names of sheets.
    pub(crate) fn name_sheets(&mut self, names: Vec<String>) {
        self.found.sheets = names;
    }

    /// Returns all of it.
    pub(crate) fn finish(mut self) -> DocumentText {
        self.found.passages.append(&mut self.background);
        self.found
    }
}
