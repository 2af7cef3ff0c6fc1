//! A text made from another one, piece by piece, with the way back.

use std::ops::Range;

/// A stretch of a text that is shown as something else, or not at all.
pub(super) struct Edit {
    pub(super) span: Range<usize>,
    pub(super) shown: Option<char>,
}

impl Edit {
    /// Nobody sees this stretch.
    pub(super) fn drop(span: Range<usize>) -> Self {
        Edit { span, shown: None }
    }

    /// This stretch looks like one character.
    pub(super) fn show(span: Range<usize>, shown: char) -> Self {
        Edit {
            span,
            shown: Some(shown),
        }
    }
}

/// A text and where each stretch of it stands in the text below.
pub(super) struct Layer {
    text: String,
    /// In order of position.
    pieces: Vec<Piece>,
    has_decoded: bool,
}

/// A stretch of a layer and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    here: usize,
    below: usize,
    below_end: usize,
    /// Byte by byte the same, so that positions inside can be told apart.
    is_copy: bool,
}

impl Layer {
    pub(super) fn for_text(text: &str) -> Self {
        Layer {
            text: String::with_capacity(text.len()),
            pieces: Vec::new(),
            has_decoded: false,
        }
    }

    /// The text with these edits, in any order; of two that overlap the first counts. None where there are none.
    pub(super) fn with_edits(text: &str, mut edits: Vec<Edit>) -> Option<Self> {
        if edits.is_empty() {
            return None;
        }
        edits.sort_by_key(|edit| edit.span.start);
        let mut layer = Layer::for_text(text);
        let mut from = 0;
        for edit in edits {
            if edit.span.start < from {
                continue;
            }
            layer.copy(text, from..edit.span.start);
            if let Some(shown) = edit.shown {
                layer.replace(edit.span.clone(), shown.encode_utf8(&mut [0; 4]));
            }
            from = edit.span.end;
        }
        layer.copy(text, from..text.len());
        Some(layer)
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether something was decoded, so that what came out may be coded again.
    pub(super) fn has_decoded(&self) -> bool {
        self.has_decoded
    }

    pub(super) fn note_decoded(&mut self) {
        self.has_decoded = true;
    }

    /// Appends a stretch of the text below as it is.
    pub(super) fn copy(&mut self, below: &str, span: Range<usize>) {
        if span.is_empty() {
            return;
        }
        let last = self.pieces.last_mut();
        match last.filter(|last| last.is_copy && last.below_end == span.start) {
            Some(last) => last.below_end = span.end,
            None => self.pieces.push(Piece {
                here: self.text.len(),
                below: span.start,
                below_end: span.end,
                is_copy: true,
            }),
        }
        self.text.push_str(&below[span]);
    }

    /// Appends what a stretch of the text below looks like.
    pub(super) fn replace(&mut self, span: Range<usize>, shown: &str) {
        if shown.is_empty() {
            return;
        }
        self.pieces.push(Piece {
            here: self.text.len(),
            below: span.start,
            below_end: span.end,
            is_copy: false,
        });
        self.text.push_str(shown);
    }

    /// Puts a mark that belongs to the character before it into that character's piece.
    pub(super) fn attach(&mut self, end: usize) {
        let Some(last) = self.pieces.last_mut() else {
            return;
        };
        if !last.is_copy {
            last.below_end = end;
            return;
        }
        let Some(c) = self.text.chars().next_back() else {
            return;
        };
        let start = last.below_end - c.len_utf8();
        last.below_end = start;
        if last.below == start {
            self.pieces.pop();
        }
        self.pieces.push(Piece {
            here: self.text.len() - c.len_utf8(),
            below: start,
            below_end: end,
            is_copy: false,
        });
    }

    /// Where a span stands in the text below.
    pub(super) fn to_below(&self, span: &Range<usize>) -> Range<usize> {
        let Some(first) = self.piece_at(span.start) else {
            return 0..0;
        };
        let last = self.piece_at(span.end.saturating_sub(1)).unwrap_or(first);
        let start = if first.is_copy {
            first.below + (span.start - first.here)
        } else {
            first.below
        };
        let end = if last.is_copy {
            last.below + (span.end - last.here)
        } else {
            last.below_end
        };
        start..end
    }

    fn piece_at(&self, at: usize) -> Option<Piece> {
        let next = self.pieces.partition_point(|piece| piece.here <= at);
        self.pieces.get(next.saturating_sub(1)).copied()
    }
}
