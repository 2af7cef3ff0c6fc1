//! PDF: its pages, by two readers that must agree, and everything else in the file.

mod active;
mod cmap;
mod content;
mod encoding;
mod file;
mod filters;
mod font;
mod inline;
mod layout;
mod lexer;
mod object;
mod pictures;
mod roles;
mod second;
mod state;
mod strings;
mod tree;
mod walk;
mod xref;

use phigate_types::{Passage, Place, Stretch, Unread};

use content::Pages;
use file::File;

use crate::collect::Collector;

/// Text of all pages, with the beginning of each.
#[derive(Default)]
struct Text {
    text: String,
    stretches: Vec<Stretch>,
}

impl Text {
    fn add(&mut self, page: u32, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.stretches.push(Stretch {
            start: self.text.len(),
            place: Place::Page(page),
        });
        self.text.push_str(text.trim_end());
    }

    fn passage(self, background: bool) -> Option<Passage> {
        let Self { text, stretches } = self;
        (!stretches.is_empty()).then_some(Passage {
            text,
            stretches,
            background,
        })
    }
}

/// Reads a document.
pub(crate) fn read(bytes: &[u8], found: &mut Collector) -> Result<(), Unread> {
    let file = File::read(bytes)?;
    let pages = tree::pages(&file)?;
    let mut reader = Pages::new(&file);
    let (mut shown, mut seen, mut aside) = (Text::default(), Text::default(), Text::default());
    let (mut letters, mut has_layers, mut is_whole) = (Vec::new(), false, true);
    for (number, page) in (1..).zip(&pages) {
        let content = tree::content(&file, page.dict)?;
        let written = reader.page(&content, page.resources)?;
        let text = layout::text(&written.glyphs);
        is_whole &= !text.written.is_empty();
        shown.add(number, &text.written);
        seen.add(number, &text.seen.unwrap_or_default());
        let broken = layout::broken(&text.written);
        aside.add(number, &format!("{broken}{}", written.aside));
        has_layers |= written.has_layers;
        let all = written
            .glyphs
            .iter()
            .filter_map(|glyph| glyph.text.as_deref());
        letters.push(second::folded(&all.collect::<String>()));
    }
    let passages = [
        shown.passage(false),
        seen.passage(true),
        aside.passage(true),
    ];
    for passage in passages.into_iter().flatten() {
        found.add_passage(passage)?;
    }
    walk::all(&file, &pages, &mut reader, found)?;
    if !is_whole {
        return Err(Unread::NoText);
    }
    second::agree(bytes, &letters).map_err(|reason| {
        // The second reader leaves out what layers hide.
        if has_layers {
            Unread::HiddenText
        } else {
            reason
        }
    })
}
