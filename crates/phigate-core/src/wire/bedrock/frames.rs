//! The frames of a binary stream: `application/vnd.amazon.eventstream`.
//!
//! A frame is a prelude (its length, the length of its headers, a checksum of both), headers, a payload and a checksum
//! of everything. The prelude is checked as soon as it has arrived. Otherwise a wrong length would make the reader wait
//! for bytes that never come.

use aws_smithy_eventstream::frame::read_message_from;
use aws_smithy_types::event_stream::Message;

/// The sizes of a prelude and of an empty frame.
const PRELUDE_BYTES: usize = 12;
const FRAME_BYTES_MIN: usize = 16;

/// Collects bytes until a frame is complete.
pub(super) struct FrameReader {
    pending: Vec<u8>,
    bytes_max: usize,
}

/// One frame, with its payload.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// An event of this kind, with JSON.
    Event(String, Vec<u8>),
    /// An exception of this kind.
    Exception(String),
    /// An error without an exception type.
    Error,
}

/// The bytes are not frames, or a frame is too large. Holds nothing, because content must not travel in errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadFrame;

impl FrameReader {
    /// Accepts frames up to this size.
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            pending: Vec::new(),
            bytes_max,
        }
    }

    /// Takes bytes from the front of `input` until a frame is complete.
    pub(super) fn next_frame(&mut self, input: &mut &[u8]) -> Result<Option<Frame>, BadFrame> {
        self.take(input, PRELUDE_BYTES);
        if self.pending.len() < PRELUDE_BYTES {
            return Ok(None);
        }
        let length = self.checked_length()?;
        self.take(input, length);
        if self.pending.len() < length {
            return Ok(None);
        }
        let message = read_message_from(self.pending.as_slice()).map_err(|_| BadFrame)?;
        self.pending.clear();
        frame_of(&message).map(Some)
    }

    fn take(&mut self, input: &mut &[u8], up_to: usize) {
        let wanted = up_to.saturating_sub(self.pending.len()).min(input.len());
        let (taken, rest) = input.split_at(wanted);
        self.pending.extend_from_slice(taken);
        *input = rest;
    }

    /// The frame's length according to its prelude.
    fn checked_length(&self) -> Result<usize, BadFrame> {
        let number = |at: usize| -> Option<u32> {
            let bytes = self.pending.get(at..at + 4)?;
            bytes.try_into().ok().map(u32::from_be_bytes)
        };
        let (length, headers, checksum) = number(0)
            .zip(number(4))
            .zip(number(8))
            .map(|((length, headers), checksum)| (length, headers, checksum))
            .ok_or(BadFrame)?;
        let (length, headers) = (length as usize, headers as usize);
        let fits = length <= self.bytes_max && headers.saturating_add(FRAME_BYTES_MIN) <= length;
        if fits && crc32fast::hash(&self.pending[..8]) == checksum {
            Ok(length)
        } else {
            Err(BadFrame)
        }
    }
}

fn frame_of(message: &Message) -> Result<Frame, BadFrame> {
    let header = |name: &str| {
        let header = message
            .headers()
            .iter()
            .find(|header| header.name().as_str() == name)?;
        let text = header.value().as_string().ok()?;
        Some(text.as_str().to_owned())
    };
    match header(":message-type").as_deref() {
        Some("event") => {
            let kind = header(":event-type").ok_or(BadFrame)?;
            Ok(Frame::Event(kind, message.payload().to_vec()))
        }
        Some("exception") => Ok(Frame::Exception(header(":exception-type").ok_or(BadFrame)?)),
        Some("error") => Ok(Frame::Error),
        _ => Err(BadFrame),
    }
}

/// The frames of a stream in pieces, for the fuzzer; `None` if the bytes are not frames.
#[cfg(debug_assertions)]
pub fn event_stream_frames(pieces: &[&[u8]]) -> Option<Vec<String>> {
    let (mut reader, mut frames) = (FrameReader::new(1 << 20), Vec::new());
    for piece in pieces {
        let mut input = *piece;
        while let Some(frame) = reader.next_frame(&mut input).ok()? {
            frames.push(format!("{frame:?}"));
        }
    }
    Some(frames)
}
