//! Truncate: of each piece of PHI the first letter stays.

use std::borrow::Cow;

use super::{Effect, Mode, ModeRow};
use crate::{Action, Tone};

impl Mode {
    /// PHI is cut to its first letter.
    pub const TRUNCATE: Self = Self(&ModeRow {
        code: "truncate",
        label: "Truncate",
        summary: "Of each piece of PHI only the first letter is forwarded.",
        effect: Effect::Replace(|found| Cow::Owned(found.text.chars().take(1).collect())),
        action: Action::TRUNCATED,
    });
}

impl Action {
    /// The request went on with the first letters of its PHI.
    pub const TRUNCATED: Self = Self::row("truncated", "Truncated", Tone::Violet);
}
