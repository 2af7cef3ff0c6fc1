//! Redact: PHI is removed without a placeholder.

use std::borrow::Cow;

use super::{Effect, Mode, ModeRow};
use crate::{Action, Tone};

impl Mode {
    /// PHI is cut out.
    pub const REDACT: Self = Self(&ModeRow {
        code: "redact",
        label: "Redact",
        summary: "PHI is removed and nothing is put in its place. The rest is forwarded.",
        effect: Effect::Replace(|_| Cow::Borrowed("")),
        action: Action::REDACTED,
        strength: 3,
    });
}

impl Action {
    /// The request was forwarded without its PHI.
    pub const REDACTED: Self = Self::row("redacted", "Redacted", Tone::Violet);
}
