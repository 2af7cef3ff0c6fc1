//! OpenAI's formats: callers write them already, so requests need no translation.
//!
//! Replies are passed back byte for byte, but checked: an answer of the wrong form, an error inside a stream and a
//! stream without its end are failures.

mod stream;

use phigate_types::ProviderKind;

use super::failure::{error_object, known_param, unreadable};
use super::parameters::Parameter;
use super::relay::{Relay, relay};
use super::request::is_plain_identifier;
use super::{
    Call, FailureKind, Header, Probe, ProviderFailure, Refusal, Reply, ReplyContext, ReplySummary,
    StreamTranslator, Translated, Treatment, Usage, WireFormat,
};
use crate::json::Json;

pub(crate) use stream::ChunkWatch;

const HEADERS: &[Header] = &[("content-type", "application/json")];

/// The code of Azure's content filter.
const FILTERED: &str = "content_filter";

/// The list of models.
const PROBE: Probe = Probe {
    path: &["v1", "models"],
    headers: &[],
};

/// The format.
pub(super) struct OpenAi;

impl WireFormat for OpenAi {
    fn family(&self) -> ProviderKind {
        ProviderKind::OpenAi
    }

    fn serves(&self, model: &str) -> bool {
        let is_family = ["gpt-", "chatgpt-", "o1", "o3", "o4", "text-embedding-"]
            .iter()
            .any(|prefix| model.starts_with(prefix));
        let tuned = model
            .strip_prefix("ft:")
            .filter(|base| base.starts_with("gpt-"));
        // Fine-tuned models are written `ft:base:organisation:name:id`.
        (is_family && is_plain_identifier(model))
            || tuned.is_some_and(|base| is_plain_identifier(&base.replace(':', "-")))
    }

    fn default_aliases(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn listed_models(&self) -> &'static [&'static str] {
        &[
            "gpt-4",
            "gpt-4-turbo",
            "gpt-4o",
            "gpt-3.5-turbo",
            "gpt-5.2",
            "gpt-4o-mini",
            "gpt-4.1",
            "gpt-4.1-mini",
            "gpt-4.1-nano",
            "gpt-5",
            "gpt-5-mini",
            "gpt-5-nano",
            "gpt-5.4",
            "gpt-5.4-mini",
            "o3",
            "o3-mini",
            "o4-mini",
        ]
    }

    fn probe(&self) -> Option<Probe> {
        Some(PROBE)
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn translate(&self, call: &Call<'_>) -> Result<Translated, Refusal> {
        relay(call, self.family(), HEADERS).unwrap_or_else(|| Err(Refusal::not_here()))
    }

    fn read_reply(&self, _context: &ReplyContext, body: &[u8]) -> Result<Reply, ProviderFailure> {
        Ok(Reply {
            body: body.to_vec(),
            summary: read_completion(body)?,
        })
    }

    fn read_failure(&self, status: u16, retry_after: Option<&str>, body: &[u8]) -> ProviderFailure {
        let failure = ProviderFailure::from_status(status, retry_after);
        let Ok(document) = Json::read(body) else {
            return failure;
        };
        let mut failure = failure.with_message(error_message(&document));
        let code = error_object(&document).and_then(|error| error.text_of("code"));
        if status == 400 && code == Some(FILTERED) {
            failure.kind = FailureKind::Filtered;
        }
        failure.param = error_object(&document)
            .and_then(|error| known_param(error.text_of("param")?, PARAMETERS));
        failure
    }

    fn open_stream(&self, context: &ReplyContext) -> Box<dyn StreamTranslator + Send> {
        Box::new(Relay::new(context, Box::new(ChunkWatch::default())))
    }
}

/// The message of an error document: `{"error": {"message"}}`, or `{"error": "text"}` from some compatible servers.
fn error_message<'a>(document: &'a Json<'_>) -> Option<&'a str> {
    let error = error_object(document)?;
    error.text_of("message").or_else(|| error.as_text())
}

/// Reads the summary of a complete answer.
pub(crate) fn read_completion(body: &[u8]) -> Result<ReplySummary, ProviderFailure> {
    let completion = Json::read(body).map_err(|_| unreadable())?;
    let is_completion = matches!(completion.get("choices"), Some(Json::List(_)));
    if !is_completion || completion.given("error").is_some() {
        return Err(unreadable());
    }
    let mut summary = ReplySummary::default();
    watch(&completion, &mut summary);
    Ok(summary)
}

/// Notes model, finish reason and usage of a completion or chunk.
fn watch(completion: &Json<'_>, summary: &mut ReplySummary) {
    let known = summary.served_model.as_deref();
    if let Some(model) = completion
        .text_of("model")
        .filter(|model| !model.is_empty() && Some(*model) != known)
    {
        summary.served_model = Some(model.to_owned());
    }
    for choice in completion
        .get("choices")
        .map(Json::items)
        .unwrap_or_default()
    {
        if let Some(reason) = choice
            .text_of("finish_reason")
            .filter(|_| choice.count_of("index") == 0)
        {
            summary.finish_reason = Some(reason.to_owned());
        }
    }
    if let Some(usage) = completion.given("usage") {
        let detail =
            |group: &str, name: &str| usage.get(group).map_or(0, |details| details.count_of(name));
        summary.usage = Some(Usage {
            prompt_tokens: usage.count_of("prompt_tokens"),
            completion_tokens: usage.count_of("completion_tokens"),
            total_tokens: usage.count_of("total_tokens"),
            cached_tokens: detail("prompt_tokens_details", "cached_tokens"),
            cache_write_tokens: detail("prompt_tokens_details", "cache_write_tokens"),
            reasoning_tokens: detail("completion_tokens_details", "reasoning_tokens"),
        });
    }
}

const fn forwarded(name: &'static str, example: &'static str) -> Parameter {
    Parameter {
        name,
        treatment: Treatment::Forwarded,
        neutral: &[],
        note: "as it came",
        example,
    }
}

static PARAMETERS: &[Parameter] = &[
    // OpenAI's order; the model comes first because an alias may replace it.
    Parameter {
        name: "model",
        treatment: Treatment::Mapped,
        neutral: &[],
        note: "as it came, unless the account has an alias or the provider has another name for it",
        example: "\"gpt-4o\"",
    },
    forwarded("messages", r#"[{"role":"user","content":"Hello"}]"#),
    forwarded("audio", r#"{"voice":"alloy","format":"mp3"}"#),
    forwarded("frequency_penalty", "0.5"),
    forwarded("function_call", "\"auto\""),
    forwarded("functions", r#"[{"name":"get_time"}]"#),
    forwarded("logit_bias", r#"{"50256":-100}"#),
    forwarded("logprobs", "true"),
    forwarded("max_completion_tokens", "100"),
    forwarded("max_tokens", "100"),
    forwarded("metadata", r#"{"case":"7"}"#),
    forwarded("modalities", r#"["text"]"#),
    forwarded("moderation", "{}"),
    forwarded("n", "2"),
    forwarded("parallel_tool_calls", "false"),
    forwarded("prediction", r#"{"type":"content","content":"Hello"}"#),
    forwarded("presence_penalty", "0.5"),
    forwarded("prompt_cache_key", "\"a\""),
    forwarded("prompt_cache_options", "{}"),
    forwarded("prompt_cache_retention", "\"24h\""),
    forwarded("reasoning_effort", "\"low\""),
    forwarded("response_format", r#"{"type":"json_object"}"#),
    forwarded("safety_identifier", "\"a\""),
    forwarded("seed", "7"),
    forwarded("service_tier", "\"default\""),
    forwarded("stop", "\"END\""),
    forwarded("store", "false"),
    forwarded("stream", "true"),
    forwarded("stream_options", r#"{"include_usage":true}"#),
    forwarded("temperature", "0.5"),
    forwarded("tool_choice", "\"auto\""),
    forwarded(
        "tools",
        r#"[{"type":"function","function":{"name":"get_time"}}]"#,
    ),
    forwarded("top_logprobs", "2"),
    forwarded("top_p", "0.9"),
    forwarded("user", "\"a\""),
    forwarded("verbosity", "\"low\""),
    forwarded("web_search_options", "{}"),
];
