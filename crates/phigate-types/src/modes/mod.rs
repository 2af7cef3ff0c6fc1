//! Handling modes: one file and one row each.

mod action;
mod block;
mod flag;
mod mask;
mod redact;

use std::borrow::Cow;
use std::ops::Deref;

pub use action::Action;

use crate::code::coded;

/// A handling mode: an account's treatment of PHI.
#[derive(Clone, Copy)]
pub struct Mode(&'static ModeRow);

/// A row of the table of modes.
#[derive(Debug)]
pub struct ModeRow {
    /// Code in settings, the audit trail and on the command line.
    pub code: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// Effect on requests with PHI, for the owner who chooses.
    pub summary: &'static str,
    /// Effect on requests with PHI.
    pub effect: Effect,
    /// Action in the audit record of a request with PHI.
    pub action: Action,
    /// Place among the modes by what they protect; a policy takes the strongest that any of its levels says.
    pub strength: u8,
}

/// Effect of a mode on a request with PHI.
#[derive(Debug, Clone, Copy)]
pub enum Effect {
    /// The request is forwarded unchanged.
    Keep,
    /// The request is refused.
    Block,
    /// The function's result replaces each finding.
    Replace(fn(Replaced<'_>) -> Cow<'_, str>),
}

/// A finding about to be replaced.
#[derive(Clone, Copy)]
pub struct Replaced<'a> {
    /// The placeholder of its kind, such as `[NAME]`.
    pub placeholder: &'static str,
    /// Text of the finding.
    pub text: &'a str,
}

static MODES: &[Mode] = &[
    // The first is the default. Ordered by how much they change.
    Mode::FLAG,
    Mode::BLOCK,
    Mode::REDACT,
    Mode::MASK,
];

impl Mode {
    /// Every mode, in the order in which they are offered.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        MODES.iter().copied()
    }

    /// Code in settings, the audit trail and on the command line.
    pub fn code(self) -> &'static str {
        self.0.code
    }

    /// Whether unscannable parts may be forwarded: only if findings are forwarded too.
    pub fn forwards_unscanned(self) -> bool {
        matches!(self.0.effect, Effect::Keep)
    }
}

coded!(Mode, "mode");

impl Default for Mode {
    fn default() -> Self {
        MODES[0]
    }
}

impl Deref for Mode {
    type Target = ModeRow;

    fn deref(&self) -> &ModeRow {
        self.0
    }
}

impl PartialEq for Mode {
    fn eq(&self, other: &Self) -> bool {
        self.code() == other.code()
    }
}

impl Eq for Mode {}

impl std::fmt::Debug for Mode {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.code())
    }
}

impl std::fmt::Debug for Replaced<'_> {
    /// Shows the length only, because the text is PHI.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.placeholder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_serialise_as_their_code() {
        for mode in Mode::all() {
            let json = serde_json::to_string(&mode).unwrap();
            assert_eq!(json, format!("\"{}\"", mode.code));
            assert_eq!(serde_json::from_str::<Mode>(&json).unwrap(), mode);
        }
    }

    #[test]
    fn unknown_modes_are_refused_without_quoting() {
        let error = serde_json::from_str::<Mode>("\"shred\"").unwrap_err();
        assert!(error.to_string().starts_with("unknown mode"), "{error}");
        assert!(!error.to_string().contains("shred"), "{error}");
    }

    #[test]
    fn codes_and_actions_are_distinct() {
        let codes: std::collections::BTreeSet<_> = Mode::all().map(Mode::code).collect();
        let actions: std::collections::BTreeSet<_> =
            Mode::all().map(|mode| mode.action.code()).collect();
        assert_eq!((codes.len(), actions.len()), (MODES.len(), MODES.len()));
    }
}
