//! The records that a target of an export receives.

use crate::code::coded;

/// A kind of record that an owner can choose for a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExportRecord {
    /// Decisions about requests.
    Decision,
    /// Outcomes of requests.
    Outcome,
    /// Acts of administration.
    Admin,
    /// Alerts.
    Alert,
}

impl ExportRecord {
    /// Every kind, in the order of lists.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        [Self::Decision, Self::Outcome, Self::Admin, Self::Alert].into_iter()
    }

    /// Code in settings and on the command line; also the word in records.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Outcome => "outcome",
            Self::Admin => "admin",
            Self::Alert => "alert",
        }
    }
}

coded!(ExportRecord, "kind of record");

/// A choice among the records of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExportOnly {
    /// Acts of administration.
    Admin,
    /// Requests that were blocked.
    Blocked,
    /// Requests with PHI.
    Phi,
}

impl ExportOnly {
    /// Every choice, alphabetical.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        [Self::Admin, Self::Blocked, Self::Phi].into_iter()
    }

    /// Code in settings and on the command line.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Blocked => "blocked",
            Self::Phi => "phi",
        }
    }

    /// Whether records of this kind can be among the chosen.
    pub const fn includes(self, record: ExportRecord) -> bool {
        match self {
            Self::Admin => matches!(record, ExportRecord::Admin),
            Self::Blocked | Self::Phi => {
                matches!(record, ExportRecord::Decision | ExportRecord::Outcome)
            }
        }
    }
}

coded!(ExportOnly, "choice of records");
