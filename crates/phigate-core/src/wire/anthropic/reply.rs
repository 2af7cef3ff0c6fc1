//! Translation of Anthropic's answer into a chat completion.

use super::super::failure::unreadable;
use super::super::translate::completion::{Choice, completion, tool_call};
use super::super::{ProviderFailure, Reply, ReplyContext, ReplySummary, Usage};
use super::conversation::CARRIER;
use super::failure_of;
use crate::json::Json;

/// Translates a complete answer.
pub(super) fn read(context: &ReplyContext, body: &[u8]) -> Result<Reply, ProviderFailure> {
    let message = Json::read(body).map_err(|_| unreadable())?;
    if let Some(error) = message.given("error") {
        return Err(failure_of(error));
    }
    let Some(Json::List(blocks)) = message.get("content") else {
        return Err(unreadable());
    };
    let (mut choice, has_answer) = read_blocks(context, blocks)?;
    let mut summary = ReplySummary {
        served_model: message.text_of("model").map(str::to_owned),
        ..ReplySummary::default()
    };
    let stop = message.text_of("stop_reason");
    choice.finish_reason = finish_reason(stop, has_answer && choice.calls.is_empty(), &mut summary);
    if stop == Some("refusal") {
        let text = std::mem::take(&mut choice.text);
        choice.refusal = Some(if text.is_empty() {
            explanation(&message)
        } else {
            text
        });
    }
    let mut counts = Counts::default();
    counts.read(message.get("usage"));
    let usage = counts.usage();
    summary.finish_reason = Some(choice.finish_reason.to_owned());
    summary.usage = Some(usage);
    let model = summary.served_model.as_deref().unwrap_or(&context.model);
    Ok(Reply {
        body: completion(context, model, vec![choice], &usage),
        summary,
    })
}

/// Reads the content blocks. The flag is set if one of them was the answer in the form of a tool call.
fn read_blocks(
    context: &ReplyContext,
    blocks: &[Json<'_>],
) -> Result<(Choice, bool), ProviderFailure> {
    let mut choice = Choice::default();
    let (mut thoughts, mut has_answer) = (Vec::new(), false);
    for block in blocks {
        match block.text_of("type").unwrap_or_default() {
            "text" => choice
                .text
                .push_str(block.text_of("text").unwrap_or_default()),
            "thinking" => {
                choice
                    .reasoning
                    .push_str(block.text_of("thinking").unwrap_or_default());
                thoughts.push(thought(
                    block.text_of("thinking").unwrap_or_default(),
                    block.text_of("signature").unwrap_or_default(),
                ));
            }
            "redacted_thinking" => {
                thoughts.push(hidden_thought(block.text_of("data").unwrap_or_default()));
            }
            "tool_use" => {
                let (id, name) = block
                    .text_of("id")
                    .zip(block.text_of("name"))
                    .ok_or_else(unreadable)?;
                let input = block
                    .given("input")
                    .map_or_else(|| "{}".to_owned(), Json::to_json_text);
                if context.expectation.answer_tool.as_deref() == Some(name) {
                    has_answer = true;
                    choice.text.push_str(&input);
                } else {
                    choice.calls.push(tool_call(id.to_owned(), name, input));
                }
            }
            // Blocks of server-side tools hold nothing for this caller.
            _ => {}
        }
    }
    if !thoughts.is_empty() {
        choice.carrier = Some((CARRIER, Json::List(thoughts)));
    }
    Ok((choice, has_answer))
}

/// The finish reason for a stop reason. `is_answer`: the only tool called was the answer tool.
pub(crate) fn finish_reason(
    stop: Option<&str>,
    is_answer: bool,
    summary: &mut ReplySummary,
) -> &'static str {
    match stop.unwrap_or_default() {
        "end_turn" | "stop_sequence" | "pause_turn" | "compaction" => "stop",
        "max_tokens" | "model_context_window_exceeded" => "length",
        "tool_use" if is_answer => "stop",
        "tool_use" => "tool_calls",
        "refusal" => "content_filter",
        _ => {
            summary.has_unknown_stop_reason = true;
            "stop"
        }
    }
}

/// The reason for a refusal, in the provider's words or in ours.
pub(super) fn explanation(message: &Json<'_>) -> String {
    let told = message
        .given("stop_details")
        .and_then(|details| details.text_of("explanation"))
        .filter(|text| !text.is_empty());
    told.unwrap_or("The model refused to answer.").to_owned()
}

/// A thought as it travels through the caller and back.
pub(in super::super) fn thought(thinking: &str, signature: &str) -> Json<'static> {
    Json::object([
        ("type", Json::text("thinking")),
        ("thinking", Json::text(thinking.to_owned())),
        ("signature", Json::text(signature.to_owned())),
    ])
}

/// A thought that only the provider can read.
pub(in super::super) fn hidden_thought(data: &str) -> Json<'static> {
    Json::object([
        ("type", Json::text("redacted_thinking")),
        ("data", Json::text(data.to_owned())),
    ])
}

/// Anthropic's token counts. Its input count excludes cached tokens.
#[derive(Default)]
pub(crate) struct Counts {
    input: u64,
    cache_read: u64,
    cache_write: u64,
    output: u64,
    thinking: u64,
}

impl Counts {
    /// Reads the counts that are present. They are totals: a later one replaces an earlier one.
    pub(crate) fn read(&mut self, usage: Option<&Json<'_>>) {
        let Some(usage) = usage else {
            return;
        };
        let take = |name: &str, count: &mut u64| {
            if let Some(value) = usage.get(name).and_then(Json::as_u64) {
                *count = value;
            }
        };
        take("input_tokens", &mut self.input);
        take("cache_read_input_tokens", &mut self.cache_read);
        take("cache_creation_input_tokens", &mut self.cache_write);
        take("output_tokens", &mut self.output);
        if let Some(details) = usage.given("output_tokens_details") {
            self.thinking = details.count_of("thinking_tokens");
        }
    }

    /// The counts in OpenAI's arithmetic.
    pub(crate) fn usage(&self) -> Usage {
        let prompt_tokens = self
            .input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write);
        Usage {
            prompt_tokens,
            completion_tokens: self.output,
            total_tokens: prompt_tokens.saturating_add(self.output),
            cached_tokens: self.cache_read,
            cache_write_tokens: self.cache_write,
            reasoning_tokens: self.thinking,
        }
    }
}
