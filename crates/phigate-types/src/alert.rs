//! Alerts: what a person should look at.

use crate::code::coded;

/// Cause of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlertCode {
    /// Terms with a provider end.
    AgreementEnds,
    /// Acknowledged records are missing from the store.
    AuditRollback,
    /// Many requests are blocked.
    BlockedShare,
    /// A person signed in by a break-glass password.
    BreakGlass,
    /// A person revealed content alone.
    EmergencyReveal,
    /// A target of exports lacks records.
    ExportBehind,
    /// A key sent PHI for the first time.
    PhiNewKey,
    /// Settings protect less than before.
    ProtectionReduced,
    /// Requests could not be recorded.
    StoreTrouble,
    /// The trail is not as it was written.
    VerificationFailed,
}

/// Code and meaning of each alert.
const ROWS: &[(AlertCode, &str, &str)] = &[
    // Alphabetical, one row per alert.
    (
        AlertCode::AgreementEnds,
        "agreement_ends",
        "The agreement with a provider ends soon or has ended; after its last day the provider gets no PHI.",
    ),
    (
        AlertCode::AuditRollback,
        "audit_rollback",
        "Acknowledged records are missing, as after a failover without enough standbys.",
    ),
    (
        AlertCode::BlockedShare,
        "blocked_share",
        "A large share of the recent requests was blocked.",
    ),
    (
        AlertCode::BreakGlass,
        "break_glass",
        "An owner signed in with a break-glass password instead of single sign-on.",
    ),
    (
        AlertCode::EmergencyReveal,
        "emergency_reveal",
        "A person revealed content alone, although a second person is needed.",
    ),
    (
        AlertCode::ExportBehind,
        "export_behind",
        "A target of exports lacks records. They wait in the store.",
    ),
    (
        AlertCode::PhiNewKey,
        "phi_new_key",
        "A key sent PHI for the first time.",
    ),
    (
        AlertCode::ProtectionReduced,
        "protection_reduced",
        "A setting protects less than before.",
    ),
    (
        AlertCode::StoreTrouble,
        "store_trouble",
        "Requests were refused because they could not be recorded.",
    ),
    (
        AlertCode::VerificationFailed,
        "verification_failed",
        "Verification found that the trail is not as it was written.",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alerts_are_ordered_and_parse_back() {
        assert!(ROWS.is_sorted_by_key(|row| row.1));
        for (at, alert) in AlertCode::all().enumerate() {
            assert_eq!(alert as usize, at);
            assert_eq!(alert.code().parse(), Ok(alert));
        }
    }
}
