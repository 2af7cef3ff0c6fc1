//! Block: a request with PHI is refused and nothing leaves.

use super::{Effect, Mode, ModeRow};
use crate::{Action, Tone};

impl Mode {
    /// PHI stops the request.
    pub const BLOCK: Self = Self(&ModeRow {
        code: "block",
        label: "Block",
        summary: "A request with PHI is refused with an error. Nothing is sent to the provider.",
        effect: Effect::Block,
        action: Action::BLOCKED,
        strength: 4,
    });
}

impl Action {
    /// The request was refused because of its PHI.
    pub const BLOCKED: Self = Self::row("blocked", "Blocked", Tone::Bad);
}
