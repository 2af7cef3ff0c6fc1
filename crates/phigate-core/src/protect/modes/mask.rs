//! Mask: PHI is replaced by the placeholder of its kind.

use phi_detect::PhiKind;

use super::{Effect, ModeRule};

pub(super) static MODE: ModeRule = ModeRule {
    id: "mask",
    label: "Mask",
    summary: "Each piece of PHI is replaced by a placeholder such as [NAME]. The rest is forwarded.",
    effect: Effect::Replace(PhiKind::placeholder),
    action: "masked",
};
