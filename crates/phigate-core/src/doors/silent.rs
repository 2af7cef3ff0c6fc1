//! Doors whose replies hold no text of a model, and never stream.

use crate::json::Json;
use crate::reply::{Fields, Stop, Walk};
use crate::wire::relay::{Flow, Watch};
use crate::wire::sse::SseEvent;
use crate::wire::{ProviderFailure, ReplySummary, unreadable};

/// Finds nothing to change, and takes no stream for an answer.
#[derive(Default)]
pub(super) struct Silent {
    summary: ReplySummary,
}

impl Watch for Silent {
    fn event(&mut self, _event: &SseEvent) -> Result<Flow, ProviderFailure> {
        Err(unreadable())
    }

    fn summary(&self) -> &ReplySummary {
        &self.summary
    }
}

impl Walk for Silent {
    fn reply(&mut self, fields: &mut Fields, reply: &mut Json<'_>) -> Result<(), Stop> {
        fields.take_unknown(0, reply, &["data", "object", "usage"])
    }

    fn event(&mut self, _: &mut Fields, _: &SseEvent, _: &mut Vec<u8>) -> Result<(), Stop> {
        Err(Stop::Unreadable)
    }

    fn break_off(&mut self, _fields: &mut Fields, _out: &mut Vec<u8>) -> Result<(), Stop> {
        Ok(())
    }
}
