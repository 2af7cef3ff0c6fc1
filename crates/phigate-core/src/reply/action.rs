//! What happens to PHI that a model produced.

use phi_detect::PhiKind;

/// The owner's choice for replies: one row of [`REPLY_ACTIONS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyAction {
    /// It is recorded and left as it is.
    Flag,
    /// It is replaced by a placeholder.
    Mask,
    /// It is removed.
    Redact,
    /// The reply is withheld.
    Block,
}

/// A choice as owners read it.
#[derive(Debug)]
pub struct ReplyActionRule {
    /// What happens.
    pub action: ReplyAction,
    /// The word used in settings and on the command line.
    pub id: &'static str,
    /// The word of the audit trail when something was found.
    pub done: &'static str,
    /// What happens, for the owner who chooses.
    pub summary: &'static str,
}

/// Every choice but `off`.
pub static REPLY_ACTIONS: &[ReplyActionRule] = &[
    // From the gentlest to the strictest.
    ReplyActionRule {
        action: ReplyAction::Flag,
        id: "flag",
        done: "flagged",
        summary: "New PHI in a reply is recorded. The reply is given back unchanged.",
    },
    ReplyActionRule {
        action: ReplyAction::Mask,
        id: "mask",
        done: "masked",
        summary: "New PHI in a reply is replaced by a placeholder such as [SSN].",
    },
    ReplyActionRule {
        action: ReplyAction::Redact,
        id: "redact",
        done: "redacted",
        summary: "New PHI in a reply is removed and nothing stands in its place.",
    },
    ReplyActionRule {
        action: ReplyAction::Block,
        id: "block",
        done: "blocked",
        summary: "A reply with new PHI is withheld; the caller gets an error instead.",
    },
];

impl ReplyAction {
    /// The choice with this word.
    pub fn from_id(id: &str) -> Option<Self> {
        let rule = REPLY_ACTIONS.iter().find(|rule| rule.id == id)?;
        Some(rule.action)
    }

    /// The row that describes this choice.
    pub fn rule(self) -> &'static ReplyActionRule {
        let is_this = |rule: &&ReplyActionRule| rule.action == self;
        // Every choice has a row, which a test checks; flagging promises least.
        REPLY_ACTIONS
            .iter()
            .find(is_this)
            .unwrap_or(&REPLY_ACTIONS[0])
    }

    /// Whether new PHI may not reach the caller.
    pub(super) fn withholds(self) -> bool {
        self != Self::Flag
    }

    /// What stands in place of a finding; none where it stays.
    pub(super) fn stand_in(self, kind: PhiKind) -> Option<&'static str> {
        match self {
            Self::Flag | Self::Block => None,
            Self::Mask => Some(kind.placeholder()),
            Self::Redact => Some(""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_has_its_row() {
        for action in [
            ReplyAction::Flag,
            ReplyAction::Mask,
            ReplyAction::Redact,
            ReplyAction::Block,
        ] {
            assert_eq!(action.rule().action, action);
            assert_eq!(ReplyAction::from_id(action.rule().id), Some(action));
        }
        assert_eq!(ReplyAction::from_id("off"), None);
    }
}
