//! From Google's answer to a chat completion.

use super::super::failure::unreadable;
use super::super::translate::completion::{Choice, completion, tool_call};
use super::super::tree::Json;
use super::super::{FailureKind, ProviderFailure, Reply, ReplyContext, ReplySummary, Usage};
use super::contents::CARRIER;
use super::{bare_name, failure_of};

/// Translates a complete answer.
pub(super) fn read(context: &ReplyContext, body: &[u8]) -> Result<Reply, ProviderFailure> {
    let response = Json::read_bytes(body).map_err(|_| unreadable())?;
    if let Some(error) = super::error_object(&response) {
        return Err(failure_of(error));
    }
    let mut summary = ReplySummary {
        served_model: served_model(&response),
        ..ReplySummary::default()
    };
    let mut minted = 0;
    let mut choices = Vec::new();
    for candidate in response
        .get("candidates")
        .map(Json::items)
        .unwrap_or_default()
    {
        choices.push(read_candidate(
            context,
            candidate,
            &mut minted,
            &mut summary,
        )?);
    }
    if choices.is_empty() {
        if !is_blocked(&response) {
            return Err(unreadable());
        }
        choices.push(Choice {
            finish_reason: "content_filter",
            ..Choice::default()
        });
    }
    let usage = usage(response.get("usageMetadata"));
    summary.finish_reason = choices
        .first()
        .map(|choice| choice.finish_reason.to_owned());
    summary.usage = Some(usage);
    let model = summary.served_model.as_deref().unwrap_or(&context.model);
    Ok(Reply {
        body: completion(context, model, choices, &usage),
        summary,
    })
}

fn read_candidate(
    context: &ReplyContext,
    candidate: &Json<'_>,
    minted: &mut u64,
    summary: &mut ReplySummary,
) -> Result<Choice, ProviderFailure> {
    let mut choice = Choice {
        index: candidate.count_of("index"),
        ..Choice::default()
    };
    for part in parts_of(candidate) {
        let signature = part.text_of("thoughtSignature");
        if let Some(function) = part.given("functionCall") {
            let name = function.text_of("name").ok_or_else(unreadable)?;
            let arguments = function
                .given("args")
                .map_or_else(|| "{}".to_owned(), Json::to_json_text);
            choice.calls.push(signed_call(
                call_id(context, function, minted),
                name,
                arguments,
                signature,
            ));
            continue;
        }
        let text = part.text_of("text").unwrap_or_default();
        if is_thought(part) {
            choice.reasoning.push_str(text);
            continue;
        }
        choice.text.push_str(text);
        if let Some(signature) = signature {
            choice.carrier = Some((CARRIER, signature_json(signature)));
        }
    }
    choice.logprobs = logprobs(candidate);
    choice.finish_reason = finish_reason(
        candidate.get("finishReason"),
        !choice.calls.is_empty(),
        summary,
    )?;
    Ok(choice)
}

/// The parts of a candidate; none when it has no content.
pub(super) fn parts_of<'b, 'a>(candidate: &'b Json<'a>) -> &'b [Json<'a>] {
    candidate
        .get("content")
        .and_then(|content| content.get("parts"))
        .map(Json::items)
        .unwrap_or_default()
}

/// Whether a part is something the model thought, not something it said.
pub(super) fn is_thought(part: &Json<'_>) -> bool {
    part.get("thought").and_then(Json::as_bool).unwrap_or(false)
}

/// Whether the prompt was blocked, so that there is no answer.
pub(super) fn is_blocked(response: &Json<'_>) -> bool {
    response
        .get("promptFeedback")
        .and_then(|feedback| feedback.given("blockReason"))
        .is_some()
}

/// The model that answered.
pub(super) fn served_model(response: &Json<'_>) -> Option<String> {
    response
        .text_of("modelVersion")
        .map(bare_name)
        .filter(|model| !model.is_empty())
        .map(str::to_owned)
}

/// The id of a call. Most models give none, and then one is made that no other call of the conversation has.
pub(super) fn call_id(context: &ReplyContext, function: &Json<'_>, minted: &mut u64) -> String {
    if let Some(id) = function.text_of("id").filter(|id| !id.is_empty()) {
        return id.to_owned();
    }
    *minted += 1;
    let completion = context
        .completion_id
        .strip_prefix("chatcmpl-")
        .unwrap_or(&context.completion_id);
    format!("call_{completion}_{minted}")
}

/// A tool call, with the signature of the thought that led to it.
pub(super) fn signed_call(
    id: String,
    name: &str,
    arguments: String,
    signature: Option<&str>,
) -> Json<'static> {
    let mut call = tool_call(id, name, arguments);
    if let Some(signature) = signature {
        call.insert(CARRIER, signature_json(signature));
    }
    call
}

/// A signature as it travels through the caller and back.
pub(super) fn signature_json(signature: &str) -> Json<'static> {
    Json::object([(
        "google",
        Json::object([("thought_signature", Json::text(signature.to_owned()))]),
    )])
}

/// The finish reason, which some servers give as a number. A botched tool call is a failure of the provider: the
/// caller asked for tools, and would take the silence for an answer.
pub(super) fn finish_reason(
    reason: Option<&Json<'_>>,
    has_calls: bool,
    summary: &mut ReplySummary,
) -> Result<&'static str, ProviderFailure> {
    let name = match reason {
        Some(Json::Text(name)) => name.as_ref(),
        Some(number) => number
            .as_u64()
            .and_then(|number| NUMBERED.get(usize::try_from(number).ok()?))
            .copied()
            .unwrap_or_default(),
        None => "",
    };
    match name {
        "STOP" if has_calls => Ok("tool_calls"),
        "STOP" | "OTHER" | "NO_IMAGE" | "IMAGE_OTHER" => Ok("stop"),
        "MAX_TOKENS" => Ok("length"),
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => Ok("content_filter"),
        "MALFORMED_FUNCTION_CALL"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MALFORMED_RESPONSE"
        | "MISSING_THOUGHT_SIGNATURE" => Err(ProviderFailure::new(FailureKind::Error)),
        _ => {
            summary.has_unknown_stop_reason = true;
            Ok(if has_calls { "tool_calls" } else { "stop" })
        }
    }
}

const NUMBERED: &[&str] = &[
    // In the order of the provider's numbers, from 0.
    "FINISH_REASON_UNSPECIFIED",
    "STOP",
    "MAX_TOKENS",
    "SAFETY",
    "RECITATION",
    "OTHER",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MALFORMED_FUNCTION_CALL",
    "IMAGE_SAFETY",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
];

/// The tokens used, in OpenAI's arithmetic: thoughts are not part of the candidates there.
pub(super) fn usage(metadata: Option<&Json<'_>>) -> Usage {
    let count = |name: &str| metadata.map_or(0, |metadata| metadata.count_of(name));
    let prompt_tokens = count("promptTokenCount").saturating_add(count("toolUsePromptTokenCount"));
    let completion_tokens =
        count("candidatesTokenCount").saturating_add(count("thoughtsTokenCount"));
    Usage {
        prompt_tokens,
        completion_tokens,
        total_tokens: prompt_tokens.saturating_add(completion_tokens),
        cached_tokens: count("cachedContentTokenCount"),
        cache_write_tokens: 0,
        reasoning_tokens: count("thoughtsTokenCount"),
    }
}

/// The probabilities of the words, if they were asked for.
pub(super) fn logprobs(candidate: &Json<'_>) -> Option<Json<'static>> {
    let result = candidate.given("logprobsResult")?;
    let tops = result
        .get("topCandidates")
        .map(Json::items)
        .unwrap_or_default();
    let chosen = result
        .get("chosenCandidates")
        .map(Json::items)
        .unwrap_or_default();
    let content = chosen.iter().enumerate().map(|(position, token)| {
        let others = tops
            .get(position)
            .and_then(|top| top.get("candidates"))
            .map(Json::items)
            .unwrap_or_default();
        let mut json = token_json(token);
        json.insert(
            "top_logprobs",
            Json::List(others.iter().map(token_json).collect()),
        );
        json
    });
    Some(Json::object([
        ("content", Json::List(content.collect())),
        ("refusal", Json::Null),
    ]))
}

fn token_json(token: &Json<'_>) -> Json<'static> {
    let text = token.text_of("token").unwrap_or_default().to_owned();
    let bytes = text.bytes().map(|byte| u64::from(byte).into()).collect();
    let logprob = token
        .get("logProbability")
        .filter(|value| value.as_f64().is_some())
        .map_or_else(|| "0".to_owned(), Json::to_json_text);
    Json::object([
        ("token", Json::text(text)),
        ("logprob", Json::Number(logprob.into())),
        ("bytes", Json::List(bytes)),
    ])
}
