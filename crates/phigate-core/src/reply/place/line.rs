//! Lines, as far as a Markdown renderer ends markup with them.
//!
//! A renderer passes blocks of HTML on as they are, and escapes what follows them. A tag that such a block leaves open
//! is closed by nothing in the text after it.

use super::line_end::LineEnd;
use super::markup::Names;

/// State of the current line.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Whether nothing but blanks and the marks of lists and quotations has gone by.
    is_lead: bool,
    is_blank: bool,
    has_marker: bool,
    indent: usize,
    /// Backticks or tildes that begin the line.
    fence: u8,
    /// The indent of the block of HTML around, if there is one.
    html_indent: Option<usize>,
    /// Whether a block went by that ends by its own rule: a comment, a script, preformatted text.
    has_odd_block: bool,
}

impl Line {
    pub(super) fn new() -> Self {
        Self {
            is_lead: true,
            is_blank: true,
            has_marker: false,
            indent: 0,
            fence: 0,
            html_indent: None,
            has_odd_block: false,
        }
    }

    /// Takes the next character.
    pub(super) fn step(&mut self, character: char, previous: char) -> LineEnd {
        match character {
            // LF after CR: the line has already ended.
            '\n' if previous == '\r' => LineEnd::default(),
            '\n' | '\r' => self.end(),
            _ if self.is_lead => self.step_lead(character),
            _ => LineEnd::default(),
        }
    }

    /// Whether the mark of a code block just became complete.
    pub(super) fn is_fence(&self) -> bool {
        self.is_lead && self.fence == 3
    }

    pub(super) fn step_over_value(&mut self) {
        (self.is_lead, self.is_blank) = (false, false);
    }

    /// Looks for blocks with special rules.
    pub(super) fn note_block(&mut self, names: &Names) {
        const ODD: &[&[u8]] = &[b"<!", b"<?", b"<pre", b"<script", b"<style", b"<textarea"];
        if names.is_after(b"!?eta") && ODD.iter().any(|odd| names.ends_with(odd)) {
            self.has_odd_block = true;
        }
    }

    fn end(&mut self) -> LineEnd {
        let (was_blank, has_marker) = (self.is_blank, self.has_marker);
        let was_html = self.html_indent.is_some();
        let (html_indent, has_odd_block) = (self.html_indent, self.has_odd_block);
        *self = Self {
            html_indent: html_indent.filter(|_| !was_blank),
            has_odd_block,
            ..Self::new()
        };
        let is_in_list = was_html && has_marker;
        LineEnd {
            is_blank: was_blank,
            cuts_tags: has_odd_block || is_in_list || (was_html && was_blank),
            cuts_texts: !was_html || has_marker || was_blank,
        }
    }

    fn step_lead(&mut self, character: char) -> LineEnd {
        match character {
            ' ' => self.indent += 1,
            '\t' => self.indent += 4,
            '`' | '~' => {
                self.is_blank = false;
                self.fence = self.fence.saturating_add(1);
                return LineEnd::default();
            }
            '>' | '-' | '*' | '+' | '.' | ')' | '0'..='9' => {
                self.has_marker = true;
                return self.begin_text(true);
            }
            _ => {
                let end = self.begin_text(false);
                if character == '<' {
                    self.html_indent.get_or_insert(self.indent);
                }
                return end;
            }
        }
        LineEnd::default()
    }

    /// The first character of a line that is not a blank. A line further to the left than the block ends it.
    fn begin_text(&mut self, is_lead: bool) -> LineEnd {
        let ends_html =
            self.is_blank && self.html_indent.is_some_and(|indent| self.indent < indent);
        (self.is_lead, self.is_blank) = (is_lead, false);
        LineEnd {
            is_blank: false,
            cuts_tags: ends_html,
            cuts_texts: ends_html,
        }
    }
}
