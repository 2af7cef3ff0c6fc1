//! How errors are written for callers: each format of requests has its own way.

/// The way errors are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ErrorFormat {
    /// OpenAI's `{"error": {…}}`, also as an event of a stream.
    #[default]
    OpenAi,
    /// The same, but with OpenAI's `error` event in streams of the Responses API.
    Responses,
    /// Anthropic's `{"type": "error", "error": {…}, "request_id": …}`.
    Anthropic,
}
