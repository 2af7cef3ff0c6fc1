//! Mask: PHI is replaced by the placeholder of its kind.

use std::borrow::Cow;

use super::{Effect, Mode, ModeRow};
use crate::{Action, Tone};

impl Mode {
    /// PHI is replaced by placeholders.
    pub const MASK: Self = Self(&ModeRow {
        code: "mask",
        label: "Mask",
        summary: "Each piece of PHI is replaced by a placeholder such as [NAME]. The rest is forwarded.",
        effect: Effect::Replace(|found| Cow::Borrowed(found.placeholder)),
        action: Action::MASKED,
        strength: 2,
    });
}

impl Action {
    /// The request was forwarded with placeholders for its PHI.
    pub const MASKED: Self = Self::row("masked", "Masked", Tone::Info);
}
