//! Flag: PHI is found and recorded, and the request goes on unchanged.

use super::{Effect, ModeRule};

pub(super) static MODE: ModeRule = ModeRule {
    id: "flag",
    label: "Flag / Audit",
    summary: "PHI is found and recorded. The request is forwarded unchanged.",
    effect: Effect::Keep,
    action: "forwarded",
};
