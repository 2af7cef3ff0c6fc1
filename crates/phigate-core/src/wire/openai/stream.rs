//! Passing an OpenAI stream on, event by event, byte for byte.

use super::super::failure::unreadable;
use super::super::sse::{SseEvent, SseReader};
use super::super::{FailureKind, ProviderFailure, ReplyContext, ReplySummary, StreamTranslator};
use super::watch;
use crate::json::Json;

/// Relays whole events and watches what they say.
pub(super) struct Relay {
    reader: SseReader,
    summary: ReplySummary,
    is_done: bool,
}

impl Relay {
    pub(super) fn new(context: &ReplyContext) -> Self {
        Self {
            reader: SseReader::new(context.event_bytes_max),
            summary: ReplySummary::default(),
            is_done: false,
        }
    }
}

impl StreamTranslator for Relay {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        let mut input = bytes;
        while !self.is_done {
            let Some(event) = self
                .reader
                .next_event(&mut input)
                .map_err(|_| unreadable())?
            else {
                break;
            };
            self.relay(&event, out)?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        if !self.is_done
            && let Some(event) = self.reader.finish()
        {
            let before = out.len();
            self.relay(&event, out)?;
            if out.len() > before {
                out.extend_from_slice(b"\n\n");
            }
        }
        if self.is_done {
            Ok(())
        } else {
            Err(ProviderFailure::new(FailureKind::CutStream))
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn summary(&self) -> &ReplySummary {
        &self.summary
    }
}

impl Relay {
    fn relay(&mut self, event: &SseEvent, out: &mut Vec<u8>) -> Result<(), ProviderFailure> {
        let text = std::str::from_utf8(&event.raw).map_err(|_| unreadable())?;
        match event.data.as_deref() {
            None if is_comment(text) => {}
            None => return Ok(()),
            Some(b"[DONE]") => self.is_done = true,
            Some(data) => {
                let chunk = Json::read(data).map_err(|_| unreadable())?;
                // An error's text may quote the prompt, so the event itself is not passed on.
                if event.name == b"error" || chunk.given("error").is_some() {
                    return Err(unreadable());
                }
                if !chunk.is_object() {
                    return Err(unreadable());
                }
                watch(&chunk, &mut self.summary);
            }
        }
        out.extend_from_slice(&event.raw);
        Ok(())
    }
}

/// Comments keep connections alive, so they are passed on. Other lines without data mean nothing to anybody.
fn is_comment(text: &str) -> bool {
    text.split(['\r', '\n'])
        .all(|line| line.is_empty() || line.starts_with(':'))
}
