//! The handling modes: one file and one row each.

mod action;
mod block;
mod flag;
mod mask;
mod redact;

use std::borrow::Cow;
use std::ops::Deref;

pub use action::Action;

use crate::code::coded;

/// A handling mode: what an account does with PHI.
#[derive(Clone, Copy)]
pub struct Mode(&'static ModeRow);

/// A row of the table of modes.
#[derive(Debug)]
pub struct ModeRow {
    /// The word used in settings, the audit trail and the command line.
    pub code: &'static str,
    /// The name people read.
    pub label: &'static str,
    /// What happens when PHI is found, for the owner who chooses.
    pub summary: &'static str,
    /// What happens when PHI is found.
    pub effect: Effect,
    /// What the audit record says was done when PHI was found.
    pub action: Action,
}

/// What a mode does to a request in which PHI was found.
#[derive(Debug, Clone, Copy)]
pub enum Effect {
    /// The request goes on as it is.
    Keep,
    /// The request is refused.
    Block,
    /// Each finding is replaced by what the function says.
    Replace(fn(Replaced<'_>) -> Cow<'_, str>),
}

/// A finding about to be replaced.
#[derive(Clone, Copy)]
pub struct Replaced<'a> {
    /// The placeholder of its kind, such as `[NAME]`.
    pub placeholder: &'static str,
    /// What was found.
    pub text: &'a str,
}

static MODES: &[Mode] = &[
    // The first is the default. From the gentlest to the one that changes most.
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

    /// The word used in settings, the audit trail and the command line.
    pub fn code(self) -> &'static str {
        self.0.code
    }

    /// Whether what cannot be scanned may go on: only where findings go on as well.
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
    /// The text is somebody's PHI.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.placeholder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_travels_as_its_code() {
        for mode in Mode::all() {
            let json = serde_json::to_string(&mode).unwrap();
            assert_eq!(json, format!("\"{}\"", mode.code));
            assert_eq!(serde_json::from_str::<Mode>(&json).unwrap(), mode);
        }
    }

    #[test]
    fn an_unknown_mode_is_an_error_of_its_own_and_is_not_repeated() {
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
