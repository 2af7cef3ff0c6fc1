//! Strings with resolved escapes, and the mapping back to the bytes as written.

use std::borrow::Cow;
use std::ops::Range;

/// A string's content. Offsets in it can be mapped back to the document.
#[derive(Clone)]
pub struct Decoded<'t> {
    text: Cow<'t, str>,
    /// Offset of the content in the document.
    start: usize,
    /// Offsets after each escape: in the content and as written, in order.
    steps: Vec<(usize, usize)>,
}

impl<'t> Decoded<'t> {
    /// Resolves the escapes of `raw`, which the reader has checked.
    pub(super) fn new(raw: &'t str, start: usize, escaped: bool) -> Self {
        let mut steps = Vec::new();
        let text = resolved_with(raw, escaped, |content, written| {
            steps.push((content, written));
        });
        Self { text, start, steps }
    }

    /// The content. It may hold PHI.
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// The range of the document in which this range of the content is written.
    pub fn span_in_document(&self, span: Range<usize>) -> Range<usize> {
        self.start + self.written(span.start)..self.start + self.written(span.end)
    }

    fn written(&self, offset: usize) -> usize {
        match self
            .steps
            .partition_point(|&(content, _)| content <= offset)
        {
            0 => offset,
            after => {
                let (content, written) = self.steps[after - 1];
                written + (offset - content)
            }
        }
    }
}

/// The content of `raw`, without the mapping back.
pub(super) fn resolved(raw: &str, escaped: bool) -> Cow<'_, str> {
    resolved_with(raw, escaped, |_, _| {})
}

/// Resolves escapes, and passes the start and the end of each to `step`, so that offsets map to whole escapes.
fn resolved_with(raw: &str, escaped: bool, mut step: impl FnMut(usize, usize)) -> Cow<'_, str> {
    if !escaped {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    let mut position = 0;
    while let Some(distance) = memchr::memchr(b'\\', &raw.as_bytes()[position..]) {
        text.push_str(&raw[position..position + distance]);
        position += distance;
        step(text.len(), position);
        let (character, length) = resolve(&raw[position..]);
        text.push(character);
        position += length;
        step(text.len(), position);
    }
    text.push_str(&raw[position..]);
    Cow::Owned(text)
}

/// The character of the escape at the start of `raw`, and the escape's length.
fn resolve(raw: &str) -> (char, usize) {
    let unit = |at: usize| {
        raw.get(at..at + 4)
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .unwrap_or(0xFFFD)
    };
    match raw.as_bytes().get(1) {
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'n') => ('\n', 2),
        Some(b'r') => ('\r', 2),
        Some(b't') => ('\t', 2),
        Some(b'u') => match unit(2) {
            high @ 0xD800..=0xDBFF if raw[6..].starts_with("\\u") => match unit(8) {
                low @ 0xDC00..=0xDFFF => {
                    let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                    (
                        char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                        12,
                    )
                }
                _ => (char::REPLACEMENT_CHARACTER, 6),
            },
            // A lone surrogate is not a character.
            code => (
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                6,
            ),
        },
        Some(&plain) => (char::from(plain), 2),
        None => ('\\', 1),
    }
}
