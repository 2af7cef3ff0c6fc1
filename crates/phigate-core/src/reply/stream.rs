//! A streamed reply, between a family's translator and the caller: bytes in, bytes out.
//!
//! Unchanged text goes on byte for byte. Held text is flushed before its text ends.

use std::sync::Arc;

use super::field::Fields;
use super::walk::Walk;
use super::{ReplyRules, Stop, Tally};
use crate::text::PhiText;
use crate::wire::sse::SseReader;

/// Deals with a stream in the caller's format. The same output comes from any cut of the input.
pub struct ReplyStream {
    reader: SseReader,
    fields: Fields,
    walk: Box<dyn Walk>,
}

impl ReplyStream {
    /// A stage for the reply to one request. Events come from a translator, so their size was checked before; they
    /// may be a little larger after translation.
    pub(crate) fn new(rules: Arc<ReplyRules>, walk: Box<dyn Walk>, event_bytes_max: usize) -> Self {
        Self {
            reader: SseReader::new(event_bytes_max.saturating_mul(4)),
            fields: Fields::new(rules, true),
            walk,
        }
    }

    /// Takes bytes as they come and appends what the caller may see now. After an error nothing more may be pushed;
    /// what `out` holds by then may still be sent.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Stop> {
        let mut input = bytes;
        while let Some(event) = self
            .reader
            .next_event(&mut input)
            .map_err(|_| Stop::Unreadable)?
        {
            if event.data.is_none() {
                out.extend_from_slice(&event.raw);
            } else {
                self.walk.event(&mut self.fields, &event, out)?;
            }
        }
        Ok(())
    }

    /// The stream broke off: what was held is judged and given out.
    pub fn break_off(&mut self, out: &mut Vec<u8>) -> Result<(), Stop> {
        self.walk.break_off(&mut self.fields, out)
    }

    /// The number that an event of ours would have now, in formats that number them.
    pub fn next_number(&self) -> Option<u64> {
        self.walk.next_number()
    }

    /// Returns the counts of findings and replacements so far.
    pub fn tally(&self) -> &Tally {
        &self.fields.tally
    }

    /// Returns the provider's text, if it held new PHI.
    pub fn heard(&self) -> Option<PhiText> {
        self.fields.heard()
    }
}
