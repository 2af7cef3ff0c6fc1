//! Reasons why answers end.

/// Reasons in OpenAI's words. Any other word is text of the provider, and records are not sealed.
const FINISH_REASONS: &[&str] = &[
    "content_filter",
    "function_call",
    "length",
    "stop",
    "tool_calls",
];

/// Reason why an answer ended: a known word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FinishReason(&'static str);

impl FinishReason {
    /// The reason that a provider gave; `other` if it is not a known one.
    pub fn known(word: &str) -> Self {
        let known = FINISH_REASONS.iter().find(|known| **known == word);
        Self(known.copied().unwrap_or("other"))
    }

    /// Word for it.
    pub fn word(self) -> &'static str {
        self.0
    }
}
