//! Text that may hold PHI.

/// Text from callers and providers. It cannot be printed by accident: no `Display`, no `Serialize`, and its `Debug` shows a length.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PhiText(String);

impl PhiText {
    /// Wraps text that may hold PHI.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the content. The name is meant to be conspicuous in review.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Unwraps the content.
    pub fn into_exposed(self) -> String {
        self.0
    }
}

impl std::fmt::Debug for PhiText {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "PhiText({} bytes)", self.0.len())
    }
}
