//! Treatment of each request parameter on the way to Google.

use super::super::parameters::{Parameter, Treatment, row};
use Treatment::{Dropped, Mapped, MappedOrNamed, Refused};

#[rustfmt::skip]
pub(super) static PARAMETERS: &[Parameter] = &[
    // Alphabetical after the two that every request has; one row per parameter.
    row("model", Mapped, &[], "in the address, after the account's aliases", r#""gemini-2.5-flash""#),
    row("messages", MappedOrNamed, &[], "`contents`; system content is prepended to the first user message; what a message says beyond role, content and tool calls is left out and named", r#"[{"role":"user","content":"Hello"}]"#),
    row("audio", Refused, &[], "audio output is not supported", r#"{"voice":"alloy","format":"mp3"}"#),
    row("frequency_penalty", Mapped, &[], "`frequencyPenalty`", "0.5"),
    row("function_call", Refused, &[], "write `tool_choice` instead", r#""auto""#),
    row("functions", Refused, &[], "write `tools` instead", r#"[{"name":"get_time"}]"#),
    row("logit_bias", Refused, &["{}"], "the provider cannot weight individual tokens", r#"{"50256":-100}"#),
    row("logprobs", Mapped, &["false"], "`responseLogprobs`", "true"),
    row("max_completion_tokens", Mapped, &[], "`maxOutputTokens`; wins over `max_tokens`", "100"),
    row("max_tokens", Mapped, &[], "`maxOutputTokens`", "100"),
    row("metadata", Dropped, &["{}"], "the provider has no such field", r#"{"case":"7"}"#),
    row("modalities", Refused, &[r#"["text"]"#], "only text output is supported", r#"["text","audio"]"#),
    row("moderation", Dropped, &["{}"], "the provider has no such setting", r#"{"level":"low"}"#),
    row("n", Mapped, &["1"], "`candidateCount`; more than 8 is refused", "2"),
    row("parallel_tool_calls", Dropped, &["true"], "the provider has no such switch", "false"),
    row("prediction", Dropped, &[], "the provider has no such setting", r#"{"type":"content","content":"Hello"}"#),
    row("presence_penalty", Mapped, &[], "`presencePenalty`", "0.5"),
    row("prompt_cache_key", Dropped, &[], "the provider caches automatically", r#""a""#),
    row("prompt_cache_options", Dropped, &["{}"], "as above", r#"{"mode":"auto"}"#),
    row("prompt_cache_retention", Dropped, &[], "as above", r#""24h""#),
    row("reasoning_effort", MappedOrNamed, &[], "`thinkingConfig`, as a budget of tokens or a level, as the model wants it", r#""low""#),
    row("response_format", Mapped, &[r#"{"type":"text"}"#], "`responseMimeType`, with `responseJsonSchema` or, for older models, `responseSchema`", r#"{"type":"json_object"}"#),
    row("safety_identifier", Dropped, &[], "the provider has no such field", r#""a""#),
    row("seed", MappedOrNamed, &[], "`seed`; left out when it does not fit 32 bits", "7"),
    row("service_tier", Dropped, &[r#""auto""#, r#""default""#], "the tiers mean something else there", r#""flex""#),
    row("stop", Mapped, &["[]"], "`stopSequences`, always a list of at most five", r#""END""#),
    row("store", Refused, &["false"], "the provider must not keep the conversation", "true"),
    row("stream", Mapped, &["false"], "the method in the address", "true"),
    row("stream_options", MappedOrNamed, &["{}"], "`include_usage` adds the usage chunk; other options are left out", r#"{"include_usage":true}"#),
    row("temperature", Mapped, &[], "`temperature`", "0.5"),
    row("tool_choice", Mapped, &[], "`toolConfig.functionCallingConfig`", r#""auto""#),
    row("tools", MappedOrNamed, &["[]"], "`functionDeclarations`; `strict` is left out; older models get the part of the schema that they understand", r#"[{"type":"function","function":{"name":"get_time"}}]"#),
    row("top_logprobs", MappedOrNamed, &["0"], "`logprobs`; more than 5 becomes 5", "2"),
    row("top_p", Mapped, &[], "`topP`", "0.9"),
    row("user", Dropped, &[], "the provider has no such field", r#""a""#),
    row("verbosity", Dropped, &[], "the provider has no such setting", r#""low""#),
    row("web_search_options", Refused, &[], "a search would send content to third parties", "{}"),
];
