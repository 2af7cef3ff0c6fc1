//! Understanding Anthropic's own answers as they go by.

use crate::json::Json;
use crate::wire::anthropic::{Counts, failure_of, finish_reason};
use crate::wire::relay::{Flow, Watch};
use crate::wire::sse::SseEvent;
use crate::wire::{ProviderFailure, ReplySummary, Usage, unreadable};

/// Reads the summary of a complete message.
pub(super) fn read_message(body: &[u8]) -> Result<ReplySummary, ProviderFailure> {
    let message = Json::read(body).map_err(|_| unreadable())?;
    if let Some(error) = message.given("error") {
        return Err(failure_of(error));
    }
    if !matches!(message.get("content"), Some(Json::List(_))) {
        return Err(unreadable());
    }
    let mut watch = MessageWatch::default();
    watch.message(&message);
    watch.stop(&message);
    Ok(watch.summary)
}

/// Reads the summary of a token count.
pub(super) fn read_count(body: &[u8]) -> Result<ReplySummary, ProviderFailure> {
    let count = Json::read(body).map_err(|_| unreadable())?;
    let tokens = count.get("input_tokens").and_then(Json::as_u64);
    let tokens = tokens.ok_or_else(unreadable)?;
    Ok(ReplySummary {
        usage: Some(Usage {
            prompt_tokens: tokens,
            total_tokens: tokens,
            ..Usage::default()
        }),
        ..ReplySummary::default()
    })
}

/// Understands the events of a message, up to its `message_stop`.
#[derive(Default)]
pub(super) struct MessageWatch {
    counts: Counts,
    summary: ReplySummary,
}

impl MessageWatch {
    fn message(&mut self, message: &Json<'_>) {
        let model = message.text_of("model").filter(|model| !model.is_empty());
        if let Some(model) = model {
            self.summary.served_model = Some(model.to_owned());
        }
        self.count(message.get("usage"));
    }

    fn stop(&mut self, delta: &Json<'_>) {
        if let Some(reason) = delta.text_of("stop_reason") {
            let reason = finish_reason(Some(reason), false, &mut self.summary);
            self.summary.finish_reason = Some(reason.to_owned());
        }
    }

    fn count(&mut self, usage: Option<&Json<'_>>) {
        self.counts.read(usage);
        self.summary.usage = Some(self.counts.usage());
    }
}

impl Watch for MessageWatch {
    fn event(&mut self, event: &SseEvent) -> Result<Flow, ProviderFailure> {
        let data = event.data.as_deref().unwrap_or_default();
        let data = Json::read(data).map_err(|_| unreadable())?;
        if let Some(error) = data.given("error") {
            // Its text may quote the prompt, so the event itself is not passed on.
            return Err(failure_of(error));
        }
        match data.text_of("type").ok_or_else(unreadable)? {
            "error" => return Err(unreadable()),
            "message_start" => {
                if let Some(message) = data.get("message") {
                    self.message(message);
                }
            }
            "message_delta" => {
                if let Some(delta) = data.get("delta") {
                    self.stop(delta);
                }
                self.count(data.get("usage"));
            }
            "message_stop" => return Ok(Flow::Last),
            _ => {}
        }
        Ok(Flow::Pass)
    }

    fn summary(&self) -> &ReplySummary {
        &self.summary
    }
}
