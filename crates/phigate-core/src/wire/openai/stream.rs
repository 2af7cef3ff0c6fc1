//! Watching a stream of chat completion chunks, or of completions, go by.

use super::super::failure::unreadable;
use super::super::relay::{Flow, Watch};
use super::super::sse::SseEvent;
use super::super::{ProviderFailure, ReplySummary};
use super::watch;
use crate::json::Json;

/// Understands chunks, up to the `[DONE]` after them.
#[derive(Default)]
pub(crate) struct ChunkWatch {
    summary: ReplySummary,
}

impl Watch for ChunkWatch {
    fn event(&mut self, event: &SseEvent) -> Result<Flow, ProviderFailure> {
        let data = event.data.as_deref().unwrap_or_default();
        if data == b"[DONE]" {
            return Ok(Flow::Last);
        }
        let chunk = Json::read(data).map_err(|_| unreadable())?;
        // An error's text may quote the prompt, so the event itself is not passed on.
        if event.name == b"error" || chunk.given("error").is_some() || !chunk.is_object() {
            return Err(unreadable());
        }
        watch(&chunk, &mut self.summary);
        Ok(Flow::Pass)
    }

    fn summary(&self) -> &ReplySummary {
        &self.summary
    }
}
