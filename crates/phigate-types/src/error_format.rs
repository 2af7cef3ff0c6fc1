//! Formats of errors, one per request format of callers.

/// Format of an error.
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
