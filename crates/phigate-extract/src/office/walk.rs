//! Walk over one XML part of an office file: all of its text, in the order in which it is read.

use std::collections::HashSet;
use std::ops::Range;

use phigate_types::Unread;

use super::vocabulary::{Family, Flow, character, family, flow, is_made, is_own};
use crate::collect::Page;
use crate::xml::{Element, Visit};

/// Open element.
struct Level {
    family: Family,
    flow: Flow,
    /// Bytes of the current stream at its start.
    start: usize,
}

/// Text of a part, while it is walked.
#[derive(Default)]
pub(super) struct Walk {
    /// Streams of text: the part's own, and one per open aside.
    streams: Vec<String>,
    /// Asides that follow the paragraph.
    asides: Vec<String>,
    background: String,
    seen: HashSet<String>,
    open: Vec<Level>,
    blocks: usize,
    cells: usize,
    is_foreign: bool,
}

impl Walk {
    /// Whether the vocabulary of the part is its author's own.
    pub(super) fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// Returns all of it.
    pub(super) fn finish(mut self) -> Page {
        self.end_asides();
        Page {
            content: self.streams.concat().trim().to_owned(),
            background: self.background,
        }
    }

    fn stream(&mut self) -> &mut String {
        if self.streams.is_empty() {
            self.streams.push(String::new());
        }
        let last = self.streams.len() - 1;
        &mut self.streams[last]
    }

    /// Ends a line, if there is one.
    fn end_line(&mut self) {
        let stream = self.stream();
        if !stream.is_empty() && !stream.ends_with('\n') {
            stream.push('\n');
        }
    }

    /// Adds a line to the background, once.
    pub(super) fn note(&mut self, line: &str) {
        let line = line.trim();
        if !line.is_empty() && self.seen.insert(line.to_owned()) {
            self.background.push_str(line);
            self.background.push('\n');
        }
    }

    /// Leaves out a line of the background that is given elsewhere.
    pub(super) fn leave_out(&mut self, line: &str) {
        self.seen.insert(line.trim().to_owned());
    }

    /// Puts the asides of a finished paragraph behind it.
    fn end_asides(&mut self) {
        for aside in std::mem::take(&mut self.asides) {
            self.end_line();
            self.stream().push_str(aside.trim_end());
            self.end_line();
        }
    }

    fn end_block(&mut self) {
        self.blocks -= 1;
        if self.cells > 0 {
            let stream = self.stream();
            if !stream.ends_with([' ', '\t', '\n']) {
                stream.push(' ');
            }
            return;
        }
        self.stream().push('\n');
        if self.blocks == 0 && self.streams.len() == 1 {
            self.end_asides();
        }
    }

    fn end_cell(&mut self) {
        self.cells -= 1;
        let stream = self.stream();
        stream.truncate(stream.trim_end_matches(' ').len());
        stream.push('\t');
    }

    fn end_row(&mut self) {
        let stream = self.stream();
        stream.truncate(stream.trim_end_matches(['\t', ' ']).len());
        stream.push('\n');
        if self.cells == 0 && self.streams.len() == 1 {
            self.end_asides();
        }
    }
}

impl Visit for Walk {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Unread> {
        let family = family(element.namespace);
        let flow = flow(family, element.local);
        // The first element is the part's own.
        self.is_foreign |= self.open.is_empty() && family == Family::Foreign;
        let parent = self.open.last().map_or(Flow::Join, |level| level.flow);
        let is_definition = element.local == "tab" && element.get("val").is_some();
        if !is_definition && let Some(text) = character(family, element) {
            self.stream().push_str(&text);
        }
        match flow {
            Flow::Block | Flow::TextBlock => {
                if parent != Flow::Cell && self.cells == 0 {
                    self.end_line();
                }
                self.blocks += 1;
            }
            Flow::Cell => self.cells += 1,
            Flow::Row => self.end_line(),
            Flow::Aside => {
                self.stream();
                self.streams.push(String::new());
            }
            Flow::Join | Flow::Text | Flow::Line => {}
        }
        let start = self.stream().len();
        self.open.push(Level {
            family,
            flow,
            start,
        });
        let line = values(family, element);
        self.note(&line);
        Ok(())
    }

    fn end(&mut self, _: &str, _: &str) -> Result<(), Unread> {
        let Some(level) = self.open.pop() else {
            return Err(Unread::Damaged);
        };
        match level.flow {
            Flow::Block | Flow::TextBlock => self.end_block(),
            Flow::Cell => self.end_cell(),
            Flow::Row => self.end_row(),
            Flow::Aside => {
                let aside = self.streams.pop().unwrap_or_default();
                if !aside.trim().is_empty() {
                    self.asides.push(aside);
                }
                if self.blocks == 0 && self.streams.len() == 1 {
                    self.end_asides();
                }
            }
            Flow::Line if self.stream().len() > level.start => self.end_line(),
            Flow::Join | Flow::Text | Flow::Line => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Unread> {
        let Some(level) = self.open.last() else {
            return Ok(());
        };
        let (flow, is_space, start) = (level.flow, text.trim().is_empty(), level.start);
        match flow {
            Flow::Text | Flow::TextBlock => self.stream().push_str(text),
            _ if is_space => {}
            Flow::Line if self.blocks > 0 && level.family != Family::Foreign => self.note(text),
            Flow::Line if self.stream().len() == start => {
                self.end_line();
                self.stream().push_str(text);
            }
            _ => self.stream().push_str(text),
        }
        Ok(())
    }

    fn aside(&mut self, text: &str, _: Range<usize>) -> Result<(), Unread> {
        self.note(text);
        Ok(())
    }
}

/// Returns the values of an element that are text, as a line. Those of foreign vocabularies have their names in front.
pub(super) fn values(family: Family, element: &Element<'_>) -> String {
    let mut line = String::new();
    for attribute in element.attributes {
        let value = attribute.value.trim();
        let is_left_out = if attribute.declares {
            is_own(value) || value.is_empty()
        } else {
            value.is_empty()
                || is_own(value) && !value.contains(' ')
                || is_made(family, element, attribute.local, value)
        };
        if is_left_out {
            continue;
        }
        if family == Family::Foreign {
            line.push_str(attribute.local);
            line.push_str(": ");
        }
        line.push_str(value);
        line.push(' ');
    }
    line
}
