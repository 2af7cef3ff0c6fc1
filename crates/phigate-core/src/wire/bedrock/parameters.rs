//! Treatment of each request parameter on the way to Bedrock.

use super::super::parameters::{Parameter, Treatment, row};
use Treatment::{Dropped, Mapped, MappedOrNamed, Refused};

#[rustfmt::skip]
pub(super) static PARAMETERS: &[Parameter] = &[
    // Alphabetical after the two that every request has; one row per parameter.
    row("model", Mapped, &[], "the path, as one escaped segment, after the provider's own name for it", r#""us.anthropic.claude-sonnet-4-5-20250929-v1:0""#),
    row("messages", MappedOrNamed, &[], "`messages` and `system`; what a message says beyond role, content and tool calls is left out and named", r#"[{"role":"user","content":"Hello"}]"#),
    row("audio", Refused, &[], "this provider has no audio output", r#"{"voice":"alloy","format":"mp3"}"#),
    row("frequency_penalty", Dropped, &["0"], "the provider has no such setting", "0.5"),
    row("function_call", Refused, &[], "write `tool_choice` instead", r#""auto""#),
    row("functions", Refused, &[], "write `tools` instead", r#"[{"name":"get_time"}]"#),
    row("logit_bias", Refused, &["{}"], "the provider cannot weight individual tokens", r#"{"50256":-100}"#),
    row("logprobs", Refused, &["false"], "the provider gives no probabilities", "true"),
    row("max_completion_tokens", Mapped, &[], "`inferenceConfig.maxTokens`; wins over `max_tokens`", "100"),
    row("max_tokens", Mapped, &[], "`inferenceConfig.maxTokens`; the model's own limit when absent", "100"),
    row("metadata", Dropped, &["{}"], "it would appear in the logs of the provider's account", r#"{"case":"7"}"#),
    row("modalities", Refused, &[r#"["text"]"#], "this provider answers only in text", r#"["text","audio"]"#),
    row("moderation", Dropped, &["{}"], "the provider has no such setting", r#"{"level":"low"}"#),
    row("n", Refused, &["1"], "the provider gives one answer per request", "2"),
    row("parallel_tool_calls", MappedOrNamed, &["true"], "`tool_choice.disable_parallel_tool_use` of Claude models, inverted; left out for others", "false"),
    row("prediction", Dropped, &[], "the provider has no such setting", r#"{"type":"content","content":"Hello"}"#),
    row("presence_penalty", Dropped, &["0"], "the provider has no such setting", "0.5"),
    row("prompt_cache_key", Dropped, &[], "parts can be marked with `cache_control` or `prompt_cache_breakpoint`", r#""a""#),
    row("prompt_cache_options", Dropped, &["{}"], "as above", r#"{"mode":"auto"}"#),
    row("prompt_cache_retention", Dropped, &[], "as above", r#""24h""#),
    row("reasoning_effort", MappedOrNamed, &[], "`thinking` and `outputConfig.effort` of Claude models (older ones take a budget of tokens instead, and it is named), `reasoning_effort` of OpenAI's open models, `reasoningConfig` of Nova 2; left out for others", r#""low""#),
    row("response_format", MappedOrNamed, &[r#"{"type":"text"}"#], "`outputConfig.textFormat`; for older models a tool that must be called, whose input becomes the answer; left out where neither is possible", r#"{"type":"json_object"}"#),
    row("safety_identifier", Dropped, &[], "the provider has no such setting", r#""a""#),
    row("seed", Dropped, &[], "the provider has no such setting", "7"),
    row("service_tier", Dropped, &[r#""auto""#, r#""default""#], "the tiers mean something else there", r#""flex""#),
    row("stop", Mapped, &["[]"], "`inferenceConfig.stopSequences`, always a list; an empty entry is refused, for Claude models also one of only spaces", r#""END""#),
    row("store", Refused, &["false"], "the provider must not keep the conversation", "true"),
    row("stream", Mapped, &["false"], "the path: `converse-stream`", "true"),
    row("stream_options", MappedOrNamed, &["{}"], "`include_usage` adds the usage chunk; other options are left out", r#"{"include_usage":true}"#),
    row("temperature", MappedOrNamed, &[], "`inferenceConfig.temperature`; above 1 becomes 1; left out for models that refuse it, or while they think", "0.5"),
    row("tool_choice", MappedOrNamed, &[], "`toolConfig.toolChoice`; `none` leaves the tools out, or is Claude's own `tool_choice` where the conversation has calls; models that cannot be forced choose freely", r#""auto""#),
    row("tools", MappedOrNamed, &["[]"], "`toolConfig.tools`; `strict` where the model knows it", r#"[{"type":"function","function":{"name":"get_time"}}]"#),
    row("top_logprobs", Refused, &["0"], "the provider gives no probabilities", "2"),
    row("top_p", MappedOrNamed, &[], "`inferenceConfig.topP`; left out for models that refuse it, or refuse it beside `temperature`", "0.9"),
    row("user", Dropped, &[], "the provider has no such setting", r#""a""#),
    row("verbosity", Dropped, &[], "the provider has no such setting", r#""low""#),
    row("web_search_options", Refused, &[], "a search would send content to third parties", "{}"),
];
