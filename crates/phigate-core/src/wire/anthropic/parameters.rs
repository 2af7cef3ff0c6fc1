//! Treatment of each request parameter on the way to Anthropic.

use super::super::parameters::{Parameter, Treatment, row};
use Treatment::{Dropped, Mapped, MappedOrNamed, Refused};

#[rustfmt::skip]
pub(super) static PARAMETERS: &[Parameter] = &[
    // Alphabetical after the two that every request has; one row per parameter.
    row("model", Mapped, &[], "`model`, after the account's aliases", r#""claude-sonnet-4-5""#),
    row("messages", MappedOrNamed, &[], "`messages` and `system`; what a message says beyond role, content and tool calls is left out and named", r#"[{"role":"user","content":"Hello"}]"#),
    row("audio", Refused, &[], "this provider has no audio output", r#"{"voice":"alloy","format":"mp3"}"#),
    row("frequency_penalty", Dropped, &["0"], "the provider has no such setting", "0.5"),
    row("function_call", Refused, &[], "write `tool_choice` instead", r#""auto""#),
    row("functions", Refused, &[], "write `tools` instead", r#"[{"name":"get_time"}]"#),
    row("logit_bias", Refused, &["{}"], "the provider cannot weight individual tokens", r#"{"50256":-100}"#),
    row("logprobs", Refused, &["false"], "the provider gives no probabilities", "true"),
    row("max_completion_tokens", Mapped, &[], "`max_tokens`; wins over the caller's `max_tokens`", "100"),
    row("max_tokens", Mapped, &[], "`max_tokens`; a default for each model when absent", "100"),
    row("metadata", Dropped, &["{}"], "means something else there", r#"{"case":"7"}"#),
    row("modalities", Refused, &[r#"["text"]"#], "this provider answers only in text", r#"["text","audio"]"#),
    row("moderation", Dropped, &["{}"], "the provider has no such setting", r#"{"level":"low"}"#),
    row("n", Refused, &["1"], "the provider gives one answer per request", "2"),
    row("parallel_tool_calls", Mapped, &["true"], "`tool_choice.disable_parallel_tool_use`, inverted", "false"),
    row("prediction", Dropped, &[], "the provider has no such setting", r#"{"type":"content","content":"Hello"}"#),
    row("presence_penalty", Dropped, &["0"], "the provider has no such setting", "0.5"),
    row("prompt_cache_key", Dropped, &[], "parts can be marked with `cache_control` or `prompt_cache_breakpoint`", r#""a""#),
    row("prompt_cache_options", Dropped, &["{}"], "as above", r#"{"mode":"auto"}"#),
    row("prompt_cache_retention", Dropped, &[], "as above", r#""24h""#),
    row("reasoning_effort", MappedOrNamed, &[], "`thinking` and `output_config.effort`, or a budget of tokens, as the model wants it", r#""low""#),
    row("response_format", Mapped, &[r#"{"type":"text"}"#], "`output_config.format`; for older models a tool that must be called, whose input becomes the answer (`json_object` is refused for these)", r#"{"type":"json_object"}"#),
    row("safety_identifier", MappedOrNamed, &[], "as `user`, if that is absent", r#""a""#),
    row("seed", Dropped, &[], "the provider has no such setting", "7"),
    row("service_tier", Dropped, &[r#""auto""#, r#""default""#], "the tiers mean something else there", r#""flex""#),
    row("stop", Mapped, &["[]"], "`stop_sequences`, always a list; an entry of only spaces is refused", r#""END""#),
    row("store", Refused, &["false"], "the provider must not keep the conversation", "true"),
    row("stream", Mapped, &["false"], "`stream`", "true"),
    row("stream_options", MappedOrNamed, &["{}"], "`include_usage` adds the usage chunk; other options are left out", r#"{"include_usage":true}"#),
    row("temperature", MappedOrNamed, &[], "`temperature`; above 1 becomes 1; left out for models that refuse it, or while they think", "0.5"),
    row("tool_choice", MappedOrNamed, &[], "`tool_choice`; models that cannot be forced choose freely", r#""auto""#),
    row("tools", MappedOrNamed, &["[]"], "`tools`; `strict` where the model knows it", r#"[{"type":"function","function":{"name":"get_time"}}]"#),
    row("top_logprobs", Refused, &["0"], "the provider gives no probabilities", "2"),
    row("top_p", MappedOrNamed, &[], "`top_p`; left out for models that refuse it, or refuse it beside `temperature`", "0.9"),
    row("user", Mapped, &[], "`metadata.user_id`, as a keyed hash, never as it is", r#""a""#),
    row("verbosity", Dropped, &[], "the provider has no such setting", r#""low""#),
    row("web_search_options", Refused, &[], "a search would send content to third parties", "{}"),
];
