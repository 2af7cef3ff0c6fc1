//! Errors of settings, each with the field that is wrong.

/// Setting that is missing or cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} {why}")]
pub struct FieldError {
    /// Name of the field, as in the admin API.
    pub field: &'static str,
    /// Reason, without what was given.
    pub why: String,
}

impl FieldError {
    pub(crate) fn new(field: &'static str, why: impl Into<String>) -> Self {
        let why = why.into();
        Self { field, why }
    }
}
