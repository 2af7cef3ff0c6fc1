//! Flag: PHI is found and recorded, and the request is forwarded unchanged.

use super::{Effect, Mode, ModeRow};
use crate::{Action, Tone};

impl Mode {
    /// PHI is recorded and forwarded.
    pub const FLAG: Self = Self(&ModeRow {
        code: "flag",
        label: "Flag / Audit",
        summary: "PHI is found and recorded. The request is forwarded unchanged.",
        effect: Effect::Keep,
        action: Action::FORWARDED,
        strength: 1,
    });
}

impl Action {
    /// The request was forwarded unchanged.
    pub const FORWARDED: Self = Self::row("forwarded", "Forwarded", Tone::Plain);
}
