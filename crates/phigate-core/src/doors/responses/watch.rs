//! Understanding OpenAI's responses as they go by.

use crate::json::Json;
use crate::reply::member;
use crate::wire::relay::{Flow, Watch};
use crate::wire::sse::SseEvent;
use crate::wire::{FailureKind, ProviderFailure, ReplySummary, Usage, unreadable};

/// Reads the summary of a complete response.
pub(super) fn read_response(body: &[u8]) -> Result<ReplySummary, ProviderFailure> {
    let response = Json::read(body).map_err(|_| unreadable())?;
    let has_output = matches!(response.get("output"), Some(Json::List(_)));
    // An error's text may quote the prompt, so an answer with one is not passed on.
    if !has_output || response.given("error").is_some() {
        return Err(unreadable());
    }
    let mut summary = ReplySummary::default();
    note(&response, &mut summary);
    Ok(summary)
}

/// Understands the events of a response, up to the one that ends it.
#[derive(Default)]
pub(super) struct ResponseWatch {
    summary: ReplySummary,
}

impl Watch for ResponseWatch {
    fn event(&mut self, event: &SseEvent) -> Result<Flow, ProviderFailure> {
        let data = event.data.as_deref().unwrap_or_default();
        if data == b"[DONE]" {
            return Ok(Flow::Skip);
        }
        let mut data = Json::read(data).map_err(|_| unreadable())?;
        if data.given("error").is_some() {
            return Err(unreadable());
        }
        let kind = data.text_of("type").ok_or_else(unreadable)?;
        if kind == "error" {
            return Err(unreadable());
        }
        let number = data.get("sequence_number").and_then(Json::as_u64);
        self.summary.next_number = number.map(|number| number.saturating_add(1));
        if let Some(response) = data.get("response") {
            note(response, &mut self.summary);
        }
        match kind {
            "response.completed" | "response.incomplete" => Ok(Flow::Last),
            "response.failed" => {
                self.summary.failure = Some(FailureKind::Error);
                Ok(Flow::LastAs(without_words(&mut data)))
            }
            _ => Ok(Flow::Pass),
        }
    }

    fn summary(&self) -> &ReplySummary {
        &self.summary
    }
}

/// The event of a failure, with our words in place of the provider's: those may quote the prompt.
fn without_words(data: &mut Json<'_>) -> Vec<u8> {
    let error = member(data, "response").and_then(|response| member(response, "error"));
    if let Some(message) = error.and_then(|error| member(error, "message")) {
        *message = Json::text(FailureKind::Error.message());
    }
    let mut event = b"event: response.failed\ndata: ".to_vec();
    data.write(&mut event);
    event.extend_from_slice(b"\n\n");
    event
}

/// Notes what a response says about model, end and usage.
fn note(response: &Json<'_>, summary: &mut ReplySummary) {
    let model = response.text_of("model").filter(|model| !model.is_empty());
    if let Some(model) = model {
        summary.served_model = Some(model.to_owned());
    }
    if let Some(reason) = finish_reason(response) {
        summary.finish_reason = Some(reason.to_owned());
    }
    if let Some(usage) = response.given("usage") {
        let detail =
            |group: &str, name: &str| usage.get(group).map_or(0, |details| details.count_of(name));
        summary.usage = Some(Usage {
            prompt_tokens: usage.count_of("input_tokens"),
            completion_tokens: usage.count_of("output_tokens"),
            total_tokens: usage.count_of("total_tokens"),
            cached_tokens: detail("input_tokens_details", "cached_tokens"),
            cache_write_tokens: 0,
            reasoning_tokens: detail("output_tokens_details", "reasoning_tokens"),
        });
    }
}

/// Returns the reason that a response ended, in the words of chat completions; `None` while it goes on.
fn finish_reason(response: &Json<'_>) -> Option<&'static str> {
    let is_call = |item: &Json<'_>| {
        let kind = item.text_of("type");
        matches!(kind, Some("function_call" | "custom_tool_call"))
    };
    match response.text_of("status")? {
        "completed" => {
            let output = response.get("output").map(Json::items).unwrap_or_default();
            let has_call = output.iter().any(is_call);
            Some(if has_call { "tool_calls" } else { "stop" })
        }
        "incomplete" => {
            let details = response.get("incomplete_details");
            let reason = details.and_then(|details| details.text_of("reason"));
            Some(match reason {
                Some("content_filter") => "content_filter",
                _ => "length",
            })
        }
        _ => None,
    }
}
