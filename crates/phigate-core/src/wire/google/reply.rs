//! Translation of Google's answer into a chat completion.

use super::super::failure::unreadable;
use super::super::translate::completion::{Choice, completion, tool_call};
use super::super::{FailureKind, ProviderFailure, Reply, ReplyContext, ReplySummary, Usage};
use super::contents::CARRIER;
use super::{bare_name, failure_of};
use crate::json::Json;

/// Translates a complete answer.
pub(super) fn read(context: &ReplyContext, body: &[u8]) -> Result<Reply, ProviderFailure> {
    let response = Json::read(body).map_err(|_| unreadable())?;
    if let Some(error) = super::error_object(&response) {
        return Err(failure_of(error));
    }
    // A server that was not asked for events streams a list of partial answers.
    let responses = match &response {
        Json::List(items) => items.as_slice(),
        whole => std::slice::from_ref(whole),
    };
    let mut summary = ReplySummary::default();
    let mut usage = Usage::default();
    let (mut minted, mut choices) = (0, Vec::new());
    for response in responses {
        summary.served_model = served_model(response).or(summary.served_model);
        if let Some(metadata) = response.given("usageMetadata") {
            usage = read_usage(metadata);
        }
        for candidate in response
            .get("candidates")
            .map(Json::items)
            .unwrap_or_default()
        {
            read_candidate(context, candidate, &mut minted, &mut choices)?;
        }
    }
    if choices.is_empty() {
        if !responses.iter().any(is_blocked) {
            return Err(unreadable());
        }
        choices.push((Choice::default(), Some("SAFETY".to_owned())));
    }
    let mut finished = Vec::with_capacity(choices.len());
    for (mut choice, reason) in choices {
        choice.finish_reason =
            finish_reason(reason.as_deref(), !choice.calls.is_empty(), &mut summary)?;
        finished.push(choice);
    }
    summary.finish_reason = finished
        .first()
        .map(|choice| choice.finish_reason.to_owned());
    summary.usage = Some(usage);
    let model = summary.served_model.as_deref().unwrap_or(&context.model);
    Ok(Reply {
        body: completion(context, model, finished, &usage),
        summary,
    })
}

/// A choice and the provider's word for why it ended.
type Candidate = (Choice, Option<String>);

fn read_candidate(
    context: &ReplyContext,
    candidate: &Json<'_>,
    minted: &mut u64,
    choices: &mut Vec<Candidate>,
) -> Result<(), ProviderFailure> {
    let index = candidate.count_of("index");
    let position = choices
        .iter()
        .position(|(choice, _)| choice.index == index)
        .unwrap_or_else(|| {
            let choice = Choice {
                index,
                ..Choice::default()
            };
            choices.push((choice, None));
            choices.len() - 1
        });
    let (choice, reason) = &mut choices[position];
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
    choice.logprobs = logprobs(candidate).or(choice.logprobs.take());
    *reason = reason_name(candidate.get("finishReason"))
        .map(str::to_owned)
        .or(reason.take());
    Ok(())
}

/// Returns the parts of a candidate; empty if it has no content.
pub(super) fn parts_of<'b, 'a>(candidate: &'b Json<'a>) -> &'b [Json<'a>] {
    candidate
        .get("content")
        .and_then(|content| content.get("parts"))
        .map(Json::items)
        .unwrap_or_default()
}

/// Whether a part is reasoning and not part of the answer.
pub(super) fn is_thought(part: &Json<'_>) -> bool {
    part.get("thought").and_then(Json::as_bool).unwrap_or(false)
}

/// Whether the prompt was blocked, so that the response has no answer.
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

/// The id of a call. Most models give none; a new id, unique in the conversation, is then made.
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

/// The provider's finish reason. Some servers give it as a number.
pub(super) fn reason_name<'b>(reason: Option<&'b Json<'_>>) -> Option<&'b str> {
    match reason? {
        Json::Text(name) => Some(name),
        number => NUMBERED
            .get(usize::try_from(number.as_u64()?).ok()?)
            .copied(),
    }
}

/// The finish reason. A malformed tool call is a provider failure. Otherwise the caller, who asked for tools, would
/// take the silence for an answer.
pub(super) fn finish_reason(
    name: Option<&str>,
    has_calls: bool,
    summary: &mut ReplySummary,
) -> Result<&'static str, ProviderFailure> {
    match name.unwrap_or_default() {
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

/// The tokens used, in OpenAI's arithmetic: Google's candidates exclude thoughts. The total is always the provider's.
/// If it is missing, some count is missing too, and a sum of the other counts would look complete.
pub(super) fn read_usage(metadata: &Json<'_>) -> Usage {
    let count = |name: &str| metadata.count_of(name);
    let prompt_tokens = count("promptTokenCount").saturating_add(count("toolUsePromptTokenCount"));
    let completion_tokens =
        count("candidatesTokenCount").saturating_add(count("thoughtsTokenCount"));
    Usage {
        prompt_tokens,
        completion_tokens,
        total_tokens: count("totalTokenCount"),
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
