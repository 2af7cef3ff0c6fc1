//! Translation of Converse's answer into a chat completion.

use super::super::anthropic::{CARRIER, hidden_thought, thought};
use super::super::failure::unreadable;
use super::super::translate::completion::{Choice, completion, tool_call};
use super::super::{ProviderFailure, Reply, ReplyContext, ReplySummary, Usage};
use crate::json::Json;

/// Translates a complete answer.
pub(super) fn read(context: &ReplyContext, body: &[u8]) -> Result<Reply, ProviderFailure> {
    let answer = Json::read(body).map_err(|_| unreadable())?;
    let message = answer
        .get("output")
        .and_then(|output| output.get("message"));
    let Some(Json::List(blocks)) = message.and_then(|message| message.get("content")) else {
        return Err(unreadable());
    };
    let (mut choice, has_answer) = read_blocks(context, blocks)?;
    let mut summary = ReplySummary::default();
    let is_answer = has_answer && choice.calls.is_empty();
    choice.finish_reason = finish_reason(answer.text_of("stopReason"), is_answer, &mut summary)?;
    let usage = read_usage(answer.get("usage"));
    summary.finish_reason = Some(choice.finish_reason.to_owned());
    summary.usage = Some(usage);
    Ok(Reply {
        body: completion(context, &context.model, vec![choice], &usage),
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
        if let Some(text) = block.text_of("text") {
            choice.text.push_str(text);
        } else if let Some(reasoning) = block.given("reasoningContent") {
            let (text, thought) = read_reasoning(reasoning);
            choice.reasoning.push_str(text);
            thoughts.extend(thought);
        } else if let Some(cited) = block.given("citationsContent") {
            let parts = cited.get("content").map(Json::items).unwrap_or_default();
            for text in parts.iter().filter_map(|part| part.text_of("text")) {
                choice.text.push_str(text);
            }
        } else if let Some(call) = block.given("toolUse").filter(|call| is_for_caller(call)) {
            let (id, name) = call
                .text_of("toolUseId")
                .zip(call.text_of("name"))
                .ok_or_else(unreadable)?;
            let input = call
                .given("input")
                .map_or_else(|| "{}".to_owned(), Json::to_json_text);
            if context.expectation.answer_tool.as_deref() == Some(name) {
                has_answer = true;
                choice.text.push_str(&input);
            } else {
                choice.calls.push(tool_call(id.to_owned(), name, input));
            }
        }
    }
    if !thoughts.is_empty() {
        choice.carrier = Some((CARRIER, Json::List(thoughts)));
    }
    Ok((choice, has_answer))
}

/// Whether the caller runs this tool. Calls of server-side tools are not shown to the caller.
pub(super) fn is_for_caller(call: &Json<'_>) -> bool {
    call.text_of("type") != Some("server_tool_use")
}

/// A thought as text, and as it travels through the caller and back. A thought without a signature need not return.
fn read_reasoning<'b>(reasoning: &'b Json<'_>) -> (&'b str, Option<Json<'static>>) {
    if let Some(text) = reasoning.given("reasoningText") {
        let words = text.text_of("text").unwrap_or_default();
        let signature = text.text_of("signature");
        return (words, signature.map(|signature| thought(words, signature)));
    }
    ("", reasoning.text_of("redactedContent").map(hidden_thought))
}

/// The finish reason for a stop reason. `is_answer`: the only tool called was the answer tool.
pub(super) fn finish_reason(
    stop: Option<&str>,
    is_answer: bool,
    summary: &mut ReplySummary,
) -> Result<&'static str, ProviderFailure> {
    Ok(match stop.unwrap_or_default() {
        "end_turn" | "stop_sequence" => "stop",
        "max_tokens" | "model_context_window_exceeded" => "length",
        "tool_use" if is_answer => "stop",
        "tool_use" => "tool_calls",
        "guardrail_intervened" | "content_filtered" => "content_filter",
        // Malformed model output is not an answer, even in part.
        "malformed_model_output" | "malformed_tool_use" => return Err(unreadable()),
        _ => {
            summary.has_unknown_stop_reason = true;
            "stop"
        }
    })
}

/// Tokens in OpenAI's arithmetic. Bedrock's input count excludes cached tokens.
pub(super) fn read_usage(usage: Option<&Json<'_>>) -> Usage {
    let count = |name: &str| usage.map_or(0, |usage| usage.count_of(name));
    let (read, written) = (
        count("cacheReadInputTokens"),
        count("cacheWriteInputTokens"),
    );
    let prompt_tokens = count("inputTokens")
        .saturating_add(read)
        .saturating_add(written);
    let completion_tokens = count("outputTokens");
    Usage {
        prompt_tokens,
        completion_tokens,
        total_tokens: prompt_tokens.saturating_add(completion_tokens),
        cached_tokens: read,
        cache_write_tokens: written,
        reasoning_tokens: 0,
    }
}
