//! Server-sent events, read from any cut of the bytes.
//!
//! Lines may end in LF, CRLF or CR. The reader never looks ahead, so the output does not depend on how the network
//! cuts the bytes. The size of an event is bounded, because a hostile provider could send an endless one. Written here,
//! because events are passed on byte for byte and libraries do not keep the bytes.

/// One event.
#[derive(PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// Value of the `event:` line, empty if there was none.
    pub(crate) name: Vec<u8>,
    /// The `data:` lines, joined by LF; `None` if there was none (a comment or a ping).
    pub(crate) data: Option<Vec<u8>>,
    /// The bytes of the event unchanged, blank line included.
    pub(crate) raw: Vec<u8>,
}

/// An event was larger than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventTooLarge;

/// Capacity reserved for an event before its size is known.
const RESERVED_BYTES_MAX: usize = 512;

/// Collects events from pieces of a stream.
pub(crate) struct SseReader {
    event_bytes_max: usize,
    raw: Vec<u8>,
    line_from: usize,
    name: Vec<u8>,
    data: Option<Vec<u8>>,
    last_was_cr: bool,
    is_past_start: bool,
}

impl SseReader {
    /// A reader of events of this many bytes at most.
    pub(crate) fn new(event_bytes_max: usize) -> Self {
        Self {
            event_bytes_max,
            raw: Vec::new(),
            line_from: 0,
            name: Vec::new(),
            data: None,
            last_was_cr: false,
            is_past_start: false,
        }
    }

    /// Takes bytes from the front of `input` until an event is complete. `None`: the input was consumed.
    pub(crate) fn next_event(
        &mut self,
        input: &mut &[u8],
    ) -> Result<Option<SseEvent>, EventTooLarge> {
        if self.raw.capacity() == 0 {
            // Most events come whole.
            self.raw.reserve(input.len().min(RESERVED_BYTES_MAX));
        }
        loop {
            self.swallow_line_feed_after_carriage_return(input);
            let Some(end) = memchr::memchr2(b'\n', b'\r', input) else {
                self.raw.extend_from_slice(input);
                *input = &[];
                return if self.raw.len() > self.event_bytes_max {
                    Err(EventTooLarge)
                } else {
                    Ok(None)
                };
            };
            let line_to = self.raw.len() + end;
            self.raw.extend_from_slice(&input[..=end]);
            self.last_was_cr = input[end] == b'\r';
            *input = &input[end + 1..];
            if self.raw.len() > self.event_bytes_max {
                return Err(EventTooLarge);
            }
            let is_blank = line_to == self.line_from;
            self.take_line(line_to);
            if is_blank {
                return Ok(Some(self.take_event()));
            }
        }
    }

    /// The event left over if the stream ended without a last blank line.
    pub(crate) fn finish(&mut self) -> Option<SseEvent> {
        if self.raw.is_empty() {
            return None;
        }
        let line_to = self.raw.len();
        self.take_line(line_to);
        Some(self.take_event())
    }

    fn swallow_line_feed_after_carriage_return(&mut self, input: &mut &[u8]) {
        if self.last_was_cr && !input.is_empty() {
            self.last_was_cr = false;
            if input[0] == b'\n' {
                self.raw.push(b'\n');
                self.line_from = self.raw.len();
                *input = &input[1..];
            }
        }
    }

    fn take_line(&mut self, line_to: usize) {
        let mut line = &self.raw[self.line_from..line_to];
        if !self.is_past_start {
            self.is_past_start = true;
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            b"event" => self.name = value.to_vec(),
            _ => {}
        }
        self.line_from = self.raw.len();
    }

    fn take_event(&mut self) -> SseEvent {
        self.line_from = 0;
        SseEvent {
            name: std::mem::take(&mut self.name),
            data: self.data.take(),
            raw: std::mem::take(&mut self.raw),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(pieces: &[&[u8]]) -> Result<Vec<(String, Option<String>)>, EventTooLarge> {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let (mut reader, mut events, mut raw) = (SseReader::new(1 << 20), Vec::new(), Vec::new());
        for piece in pieces {
            let mut input = *piece;
            while let Some(event) = reader.next_event(&mut input)? {
                raw.extend_from_slice(&event.raw);
                events.push((text(event.name), event.data.map(text)));
            }
        }
        if let Some(event) = reader.finish() {
            raw.extend_from_slice(&event.raw);
            events.push((text(event.name), event.data.map(text)));
        }
        assert_eq!(raw, pieces.concat(), "every byte belongs to one event");
        Ok(events
            .into_iter()
            .filter(|event| event.1.is_some() || !event.0.is_empty())
            .collect())
    }

    #[test]
    fn every_line_end_and_comment_is_read() {
        let expected = vec![
            (String::new(), Some("a\nb".to_owned())),
            ("ping".to_owned(), Some("é".to_owned())),
        ];
        for end in ["\n", "\r\n", "\r"] {
            let text = "\u{feff}data: a|data:b||: keep-alive||id: 7|event: ping|data: é||"
                .replace('|', end);
            assert_eq!(read(&[text.as_bytes()]), Ok(expected.clone()), "{end:?}");
            assert_eq!(
                read(&[text.trim_end_matches(['\r', '\n']).as_bytes()]),
                Ok(expected.clone()),
                "{end:?}"
            );
        }
    }

    #[test]
    fn oversized_event_is_refused() {
        let piece = vec![b'x'; 64 * 1024];
        let pieces: Vec<&[u8]> = std::iter::repeat_n(piece.as_slice(), 20).collect();
        let mut reader = SseReader::new(1 << 20);
        let result: Result<Vec<_>, _> = pieces
            .into_iter()
            .map(|mut input| reader.next_event(&mut input))
            .collect();
        assert!(result.is_err());
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_events(text in "(data: ?|event: x|:c|é|\n|\r|\r\n|\n\n){0,40}", cuts in proptest::collection::vec(0usize..200, 0..8)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let (mut pieces, mut from) = (Vec::new(), 0);
            for cut in cuts.into_iter().chain([bytes.len()]) {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            prop_assert_eq!(read(&pieces), read(&[bytes]));
        }
    }
}
