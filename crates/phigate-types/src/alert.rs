//! Alerts: what a person should look at.

use crate::code::coded;

/// Cause of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AlertCode {
    /// Acknowledged records are missing from the store.
    AuditRollback,
}

/// Code and meaning of each alert.
const ROWS: &[(AlertCode, &str, &str)] = &[
    // One row per alert.
    (
        AlertCode::AuditRollback,
        "audit_rollback",
        "Acknowledged records are missing, as after a failover without enough standbys.",
    ),
];

impl AlertCode {
    /// Every alert.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.0)
    }

    /// Code in records and metrics.
    pub const fn code(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// Meaning, for the person who looks.
    pub const fn summary(self) -> &'static str {
        ROWS[self as usize].2
    }
}

coded!(AlertCode, "alert");
