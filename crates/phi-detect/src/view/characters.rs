//! Goes over the text character by character: look-alikes, escapes, control codes, hidden and turned text.

use super::edit::Layer;
use super::{escape, fold, signs};
use crate::budget::{self, Budget};
use crate::bytes64;

/// Returns the text with every character as it looks; `None` if all look like what they are.
pub(super) fn layer(text: &str, budget: &Budget<'_>) -> Option<Layer> {
    let first = first_disguise(text.as_bytes(), budget)?;
    let mut builder = Builder {
        source: text,
        layer: Layer::for_text(budget.memory(), text),
    };
    builder.build(first, budget);
    Some(builder.layer)
}

/// Returns the offset of the first byte that belongs to a disguise. A percent sign or an ampersand alone does not.
fn first_disguise(bytes: &[u8], budget: &Budget<'_>) -> Option<usize> {
    let has_control = bytes
        .iter()
        .fold(false, |found, &byte| found | is_control(byte));
    if !bytes.is_ascii() || has_control {
        return starts(bytes).next();
    }
    let mut nothing = String::new();
    budget::through(Some(budget), memchr::memchr3_iter(b'&', b'%', b'\\', bytes))
        .find(|&at| escape::read(bytes, at, &mut nothing).is_some())
}

fn is_control(byte: u8) -> bool {
    (byte < 0x20 || byte == 0x7f) && !matches!(byte, b'\t' | b'\n' | b'\r')
}

/// Whether a disguise can start at this plain byte.
fn is_trigger(byte: u8) -> bool {
    matches!(byte, b'&' | b'%' | b'\\') || is_control(byte)
}

/// Returns the offsets at which a disguise can start: at such bytes, and at those outside ASCII.
fn starts(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let is_start = |byte| byte >= 0x80 || is_trigger(byte);
    bytes64::places(bytes, is_start)
}

/// Writes the layer piece by piece.
struct Builder<'a> {
    source: &'a str,
    layer: Layer,
}

impl Builder<'_> {
    fn build(&mut self, first: usize, budget: &Budget<'_>) {
        let bytes = self.source.as_bytes();
        let mut at = 0;
        let starts = starts(bytes).skip_while(|&start| start < first);
        for start in budget::through(Some(budget), starts) {
            // What was read last may reach beyond.
            if start < at {
                continue;
            }
            self.layer.copy(self.source, at..start);
            at = if bytes[start] >= 0x80 {
                self.character(start)
            } else {
                self.escape(start)
            };
        }
        self.layer.copy(self.source, at..bytes.len());
    }

    /// Reads one character outside ASCII.
    fn character(&mut self, at: usize) -> usize {
        let Some(c) = self.source[at..].chars().next() else {
            return self.source.len();
        };
        let end = at + c.len_utf8();
        if c == fold::RIGHT_TO_LEFT_OVERRIDE {
            return self.reversed(at, end);
        }
        if let Some(run_end) = fold::hidden_run(&self.source[at..]) {
            return self.hidden(at, at + run_end);
        }
        if self.is_damaged_letter(c, end) {
            self.layer.copy(self.source, at..end);
            return end;
        }
        let mut buffer = String::new();
        match fold::fold(c, &mut buffer) {
            fold::Fold::Keep => self.layer.copy(self.source, at..end),
            fold::Fold::Drop => {}
            fold::Fold::Attach => self.layer.attach(end),
            fold::Fold::Replace => self.layer.replace(at..end, &buffer),
        }
        end
    }

    /// Whether a sign of sums or money is inside a word, put there by a scanner or a wrong coding (`SU£TE`).
    fn is_damaged_letter(&self, c: char, end: usize) -> bool {
        let is_odd = matches!(signs::other_sign(c), Some('$' | '^'));
        let is_letter = |c: Option<char>| c.is_some_and(char::is_alphabetic);
        is_odd
            && signs::sign(c).is_none()
            && is_letter(self.layer.text().chars().next_back())
            && (c == '°' || is_letter(self.source[end..].chars().next()))
    }

    /// Writes out text hidden in invisible characters.
    fn hidden(&mut self, start: usize, end: usize) -> usize {
        let mut at = start;
        for c in self.source[start..end].chars() {
            let next = at + c.len_utf8();
            if let Some(shown) = fold::hidden_character(c) {
                self.layer.replace(at..next, shown.encode_utf8(&mut [0; 4]));
            }
            at = next;
        }
        end
    }

    /// Reads a stretch shown from right to left: one piece, since its order is turned round.
    fn reversed(&mut self, start: usize, inner: usize) -> usize {
        let length = self.source[inner..]
            .char_indices()
            .take(256)
            .take_while(|(_, c)| !fold::ends_override(*c))
            .last()
            .map_or(0, |(at, c)| at + c.len_utf8());
        let mut shown = String::new();
        for c in self.source[inner..inner + length].chars().rev() {
            if fold::fold(c, &mut shown) == fold::Fold::Keep {
                shown.push(c);
            }
        }
        self.layer.replace(start..inner + length, &shown);
        inner + length
    }

    /// Reads an entity, percent code, backslash escape, colour or control character.
    fn escape(&mut self, at: usize) -> usize {
        let bytes = self.source.as_bytes();
        let mut buffer = String::new();
        match escape::read(bytes, at, &mut buffer) {
            Some(end) => {
                let mut shown = String::new();
                for c in buffer.chars() {
                    let is_kept = self.is_damaged_letter(c, end);
                    if is_kept || fold::fold(c, &mut shown) == fold::Fold::Keep {
                        shown.push(c);
                    }
                }
                self.layer.note_decoded();
                self.layer.replace(at..end, &shown);
                end
            }
            None if is_control(bytes[at]) => at + escape::control_length(&bytes[at..]),
            None => {
                self.layer.copy(self.source, at..at + 1);
                at + 1
            }
        }
    }
}
