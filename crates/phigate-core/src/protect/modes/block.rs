//! Block: a request with PHI is refused and nothing leaves.

use super::{Effect, ModeRule};

pub(super) static MODE: ModeRule = ModeRule {
    id: "block",
    label: "Block",
    summary: "A request with PHI is refused with an error. Nothing is sent to the provider.",
    effect: Effect::Block,
    action: "blocked",
};
