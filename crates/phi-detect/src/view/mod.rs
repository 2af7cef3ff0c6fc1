//! The text as a reader takes it: disguise removed, with a map back to the original.
//!
//! Full-width and other digits become plain digits, look-alike letters Latin ones,
//! unusual dashes and spaces the usual ones; invisible characters vanish; entities,
//! percent codes and backslash escapes are decoded. Rules read the view, findings
//! are reported in the original, so what is masked is what was written.

mod escape;
mod fold;

use std::borrow::Cow;
use std::ops::Range;

/// A text without disguise.
pub(crate) struct View<'a> {
    source: &'a str,
    text: Cow<'a, str>,
    /// In order of position; empty when the text is its own view.
    pieces: Vec<Piece>,
}

/// A stretch of the view and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    view: usize,
    source: usize,
    source_end: usize,
    /// Byte by byte the same, so that positions inside can be told apart.
    is_copy: bool,
}

impl<'a> View<'a> {
    /// The view of a text. Plain text is not copied.
    pub(crate) fn new(source: &'a str) -> Self {
        match first_disguise(source.as_bytes()) {
            None => View {
                source,
                text: Cow::Borrowed(source),
                pieces: Vec::new(),
            },
            Some(first) => Builder::new(source).build(first),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Where a span of the view stands in the original, widened to whole characters.
    pub(crate) fn to_source(&self, span: &Range<usize>) -> Range<usize> {
        let (mut start, mut end) = if self.pieces.is_empty() {
            (span.start, span.end)
        } else {
            let first = self.piece_at(span.start);
            let last = self.piece_at(span.end.saturating_sub(1));
            let start = if first.is_copy {
                first.source + (span.start - first.view)
            } else {
                first.source
            };
            let end = if last.is_copy {
                last.source + (span.end - last.view)
            } else {
                last.source_end
            };
            (start, end)
        };
        start = start.min(self.source.len());
        end = end.clamp(start, self.source.len());
        while !self.source.is_char_boundary(start) {
            start -= 1;
        }
        while !self.source.is_char_boundary(end) {
            end += 1;
        }
        start..end
    }

    fn piece_at(&self, at: usize) -> Piece {
        let next = self.pieces.partition_point(|piece| piece.view <= at);
        self.pieces[next.saturating_sub(1)]
    }
}

/// The first byte that belongs to a disguise. A percent sign or an ampersand alone is none.
fn first_disguise(bytes: &[u8]) -> Option<usize> {
    let has_control = bytes
        .iter()
        .fold(false, |found, &byte| found | is_control(byte));
    if !bytes.is_ascii() || has_control {
        return bytes
            .iter()
            .position(|&byte| byte >= 0x80 || is_trigger(byte));
    }
    let mut nothing = String::new();
    memchr::memchr3_iter(b'&', b'%', b'\\', bytes)
        .find(|&at| escape::read(bytes, at, &mut nothing).is_some())
        .into_iter()
        .chain(
            memchr::memchr_iter(b'<', bytes)
                .find(|&at| escape::read(bytes, at, &mut nothing).is_some()),
        )
        .min()
}

fn is_control(byte: u8) -> bool {
    (byte < 0x20 || byte == 0x7f) && !matches!(byte, b'\t' | b'\n' | b'\r')
}

/// Plain bytes at which a disguise can start.
fn is_trigger(byte: u8) -> bool {
    matches!(byte, b'&' | b'%' | b'\\' | b'<') || is_control(byte)
}

/// Writes the view piece by piece.
struct Builder<'a> {
    source: &'a str,
    text: String,
    pieces: Vec<Piece>,
}

impl<'a> Builder<'a> {
    fn new(source: &'a str) -> Self {
        Builder {
            source,
            text: String::with_capacity(source.len()),
            pieces: Vec::new(),
        }
    }

    fn build(mut self, first: usize) -> View<'a> {
        let bytes = self.source.as_bytes();
        self.copy(0..first);
        let mut at = first;
        while at < bytes.len() {
            let byte = bytes[at];
            if byte >= 0x80 {
                at = self.character(at);
            } else if is_trigger(byte) {
                at = self.escape(at);
            } else {
                let length = bytes[at..]
                    .iter()
                    .take_while(|&&byte| byte < 0x80 && !is_trigger(byte))
                    .count();
                self.copy(at..at + length);
                at += length;
            }
        }
        View {
            source: self.source,
            text: Cow::Owned(self.text),
            pieces: self.pieces,
        }
    }

    fn copy(&mut self, span: Range<usize>) {
        if span.is_empty() {
            return;
        }
        let goes_on = self
            .pieces
            .last()
            .is_some_and(|last| last.is_copy && last.source_end == span.start);
        if goes_on {
            if let Some(last) = self.pieces.last_mut() {
                last.source_end = span.end;
            }
        } else {
            self.pieces.push(Piece {
                view: self.text.len(),
                source: span.start,
                source_end: span.end,
                is_copy: true,
            });
        }
        self.text.push_str(&self.source[span]);
    }

    fn replace(&mut self, span: Range<usize>, with: &str) {
        if with.is_empty() {
            return;
        }
        self.pieces.push(Piece {
            view: self.text.len(),
            source: span.start,
            source_end: span.end,
            is_copy: false,
        });
        self.text.push_str(with);
    }

    /// Puts a mark that belongs to the character before it into that character's piece.
    fn attach(&mut self, end: usize) {
        let Some(last) = self.pieces.last_mut() else {
            return;
        };
        if !last.is_copy {
            last.source_end = end;
            return;
        }
        let Some(c) = self.text.chars().next_back() else {
            return;
        };
        let start = last.source_end - c.len_utf8();
        last.source_end = start;
        if last.source == start {
            self.pieces.pop();
        }
        self.pieces.push(Piece {
            view: self.text.len() - c.len_utf8(),
            source: start,
            source_end: end,
            is_copy: false,
        });
    }

    /// One character outside ASCII.
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
        let mut buffer = String::new();
        match fold::fold(c, &mut buffer) {
            fold::Fold::Keep => self.copy(at..end),
            fold::Fold::Drop => {}
            fold::Fold::Attach => self.attach(end),
            fold::Fold::Replace => self.replace(at..end, &buffer),
        }
        end
    }

    /// Text hidden in characters that nobody sees, written out.
    fn hidden(&mut self, start: usize, end: usize) -> usize {
        let mut at = start;
        for c in self.source[start..end].chars() {
            let next = at + c.len_utf8();
            if let Some(shown) = fold::hidden_character(c) {
                let mut buffer = [0; 4];
                self.replace(at..next, shown.encode_utf8(&mut buffer));
            }
            at = next;
        }
        end
    }

    /// A stretch shown from right to left: one piece, since its order is turned round.
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
        self.replace(start..inner + length, &shown);
        inner + length
    }

    /// An entity, percent code, backslash escape, tag or control character.
    fn escape(&mut self, at: usize) -> usize {
        let mut buffer = String::new();
        match escape::read(self.source.as_bytes(), at, &mut buffer) {
            Some(end) => {
                let mut shown = String::new();
                for c in buffer.chars() {
                    if c.is_ascii() || fold::fold(c, &mut shown) == fold::Fold::Keep {
                        shown.push(c);
                    }
                }
                self.replace(at..end, &shown);
                end
            }
            None if is_control(self.source.as_bytes()[at]) => at + 1,
            None => {
                self.copy(at..at + 1);
                at + 1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &str) {
        assert_eq!(View::new(source).text(), expected, "{source:?}");
    }

    #[test]
    fn digits_letters_and_signs_of_all_kinds_become_plain() {
        check("５３６‑２２–８７４１", "536-22-8741");
        check("𝟓𝟑𝟔-๒๒-८७४१", "536-22-8741");
        check("5\u{200d}3\u{feff}6\u{34f}-22", "536-22");
        check("5\u{301}3\u{336}6", "536");
        check("Ѕосіаl Ѕесurіtу", "Social Security");
        check("maria＠example．org", "maria@example.org");
        check("206·555·0142", "206.555.0142");
        check("536\u{a0}22\u{3000}8741", "536 22 8741");
        check("José Peña", "Jose Pena");
        check("5\u{8}36\u{1f}-22", "536-22");
    }

    #[test]
    fn escapes_are_decoded() {
        check("&#x35;&#51;6&hyphen;22", "536-22");
        check("536%2D22%2d8741 and 50% of 20", "536-22-8741 and 50% of 20");
        check(r"\u0035\u0033\u0036-22", "536-22");
        check(r#"{\"ssn\":\"536\"}"#, r#"{"ssn":"536"}"#);
        check("536<b>-</b>22", "536-22");
        check("p<0.05 & n>3", "p<0.05 & n>3");
    }

    #[test]
    fn hidden_and_turned_text_is_read() {
        check("Hi.\u{e0053}\u{e0053}\u{e004e}", "Hi.SSN");
        check("\u{202e}1478-22-635\u{202c}, ok", "536-22-8741, ok");
    }

    #[test]
    fn spans_come_back_to_the_original() {
        let source = "SSN ５３６-22-8741\u{301}, José";
        let view = View::new(source);
        let at = view.text().find("536").expect("the view has the digits");
        let original = view.to_source(&(at..at + 11));
        assert_eq!(&source[original], "５３６-22-8741\u{301}");
        let at = view.text().find("Jose").expect("the view has the name");
        assert_eq!(&source[view.to_source(&(at..at + 4))], "José");
    }

    #[test]
    fn plain_text_is_its_own_view() {
        assert!(matches!(
            View::new("SSN 536-22-8741").text,
            Cow::Borrowed(_)
        ));
    }
}
