//! Redact: PHI is removed, nothing stands in its place.

use super::{Effect, ModeRule};

pub(super) static MODE: ModeRule = ModeRule {
    id: "redact",
    label: "Redact",
    summary: "PHI is removed and nothing stands in its place. The rest is forwarded.",
    effect: Effect::Replace(|_| ""),
    action: "redacted",
};
