//! A text made from another one, piece by piece, with the way back.

use std::ops::Range;

use crate::budget::{Hold, List, Memory};

/// A stretch of a text that is shown as something else, or not at all.
pub(super) struct Edit {
    pub(super) span: Range<usize>,
    pub(super) shown: Option<char>,
}

impl Edit {
    /// Makes an edit that drops this invisible stretch.
    pub(super) fn drop(span: Range<usize>) -> Self {
        Edit { span, shown: None }
    }

    /// Makes an edit that shows this stretch as one character.
    pub(super) fn show(span: Range<usize>, shown: char) -> Self {
        Edit {
            span,
            shown: Some(shown),
        }
    }
}

/// A text, with the place of each stretch of it in the text below.
pub(super) struct Layer {
    text: String,
    /// Counts the memory of the text.
    hold: Hold,
    /// Whether there was no room for more: the layer ends there.
    is_full: bool,
    /// Pieces in order of position.
    pieces: List<Piece>,
    has_decoded: bool,
}

/// A stretch of a layer and its place in the text below.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    here: u32,
    below: u32,
    below_end: u32,
    /// Whether the stretch is byte by byte the original, so that positions inside map exactly.
    is_copy: bool,
}

impl Layer {
    /// Makes an empty layer over a text. Without room for it, it stays empty.
    pub(super) fn for_text(memory: &Memory, text: &str) -> Self {
        let mut hold = memory.nothing();
        let is_full = !hold.grow(text.len());
        Layer {
            text: String::with_capacity(if is_full { 0 } else { text.len() }),
            hold,
            is_full,
            pieces: memory.list(),
            has_decoded: false,
        }
    }

    /// Returns the text with these edits, in any order; of two that overlap the first counts. `None` if there are no
    /// edits.
    pub(super) fn with_edits(text: &str, mut edits: List<Edit>) -> Option<Self> {
        if edits.is_empty() {
            return None;
        }
        edits.sort_by_key(|edit| edit.span.start);
        let mut layer = Layer::for_text(edits.memory(), text);
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
        let has_room = self.has_room_for(span.len());
        let last = self.pieces.last_mut();
        match last.filter(|last| last.is_copy && last.below_end as usize == span.start) {
            Some(last) if has_room => {
                last.below_end = span.end as u32;
                self.text.push_str(&below[span]);
            }
            _ => self.append(span.clone(), &below[span], true),
        }
    }

    /// Appends what a stretch of the text below looks like.
    pub(super) fn replace(&mut self, span: Range<usize>, shown: &str) {
        if !shown.is_empty() {
            self.append(span, shown, false);
        }
    }

    /// Appends a piece and its text. Without room for both, the layer ends.
    fn append(&mut self, span: Range<usize>, shown: &str, is_copy: bool) {
        if !self.has_room_for(shown.len()) {
            return;
        }
        self.pieces.push(Piece {
            here: self.text.len() as u32,
            below: span.start as u32,
            below_end: span.end as u32,
            is_copy,
        });
        self.text.push_str(shown);
    }

    /// Makes room for one more piece of this size, if there is any.
    fn has_room_for(&mut self, bytes: usize) -> bool {
        let free = self.text.capacity() - self.text.len();
        if !self.is_full && free < bytes {
            let more = bytes.max(self.text.capacity() / 4);
            self.is_full = !self.hold.grow(more);
            if !self.is_full {
                self.text.reserve_exact(more);
            }
        }
        self.is_full |= !self.pieces.reserve(1);
        !self.is_full
    }

    /// Puts a mark that belongs to the character before it into that character's piece.
    pub(super) fn attach(&mut self, end: usize) {
        let end = end as u32;
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
        let start = last.below_end - c.len_utf8() as u32;
        last.below_end = start;
        if last.below == start {
            self.pieces.pop();
        }
        self.pieces.push(Piece {
            here: (self.text.len() - c.len_utf8()) as u32,
            below: start,
            below_end: end,
            is_copy: false,
        });
    }

    /// Returns the place of a span in the text below.
    pub(super) fn to_below(&self, span: &Range<usize>) -> Range<usize> {
        let Some(first) = self.piece_at(span.start) else {
            return 0..0;
        };
        let last = self.piece_at(span.end.saturating_sub(1)).unwrap_or(first);
        let start = first.below as usize
            + if first.is_copy {
                span.start - first.here as usize
            } else {
                0
            };
        let end = if last.is_copy {
            last.below as usize + (span.end - last.here as usize)
        } else {
            last.below_end as usize
        };
        start..end
    }

    fn piece_at(&self, at: usize) -> Option<Piece> {
        let next = self
            .pieces
            .partition_point(|piece| piece.here as usize <= at);
        self.pieces.get(next.saturating_sub(1)).copied()
    }
}
