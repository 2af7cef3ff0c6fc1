//! Acts of administration by people, the command line and the system.
//!
//! A new act is one row. Records, filters and the dashboard follow from it.

use crate::Tone;
use crate::code::coded;

macro_rules! acts {
    ($($(#[$attribute:meta])* $name:ident $code:literal $words:literal $tone:ident;)*) => {
        /// An act of administration.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Act {
            $($(#[$attribute])* #[doc = $words] $name,)*
        }

        const ROWS: &[(Act, &str, &str, Tone)] = &[
            $((Act::$name, $code, $words, Tone::$tone),)*
        ];
    };
}

acts! {
    // Alphabetical by code: variant, code in records, words, tone.
    AccountCreate "account.create" "Account created" Plain;
    AccountDelete "account.delete" "Account deleted" Warn;
    AdminKeyCreate "admin_key.create" "Admin key created" Warn;
    AdminKeyRevoke "admin_key.revoke" "Admin key revoked" Plain;
    AlertAcknowledge "alert.acknowledge" "Alert acknowledged" Info;
    AliasSet "alias.set" "Alias changed" Plain;
    AllowAdd "allow.add" "Value allowed" Warn;
    AllowRemove "allow.remove" "Value no longer allowed" Plain;
    AuditExport "audit.export" "Log exported" Warn;
    AuditExportEnd "audit.export_end" "Export ended" Plain;
    AuditFind "audit.find" "Identifier looked up" Warn;
    AuditVerify "audit.verify" "Trail verified" Plain;
    /// Name of `chain.join` in older records.
    ChainCheckpoint "chain.checkpoint" "Chain joined" Plain;
    ChainJoin "chain.join" "Chain joined" Plain;
    ContentErase "content.erase" "Content erased" Warn;
    ContentReveal "content.reveal" "Content revealed" Warn;
    ContentRevealApprove "content.reveal_approve" "Reveal approved" Warn;
    ContentRevealAsk "content.reveal_ask" "Reveal asked for" Info;
    ContentRevealDecline "content.reveal_decline" "Reveal declined" Info;
    ExportAdd "export.add" "Export set up" Warn;
    ExportPause "export.pause" "Export paused" Info;
    ExportRemove "export.remove" "Export removed" Info;
    ExportResume "export.resume" "Export resumed" Info;
    ExportRewind "export.rewind" "Export sent again" Info;
    ExportTest "export.test" "Export tested" Plain;
    FallbackRemove "fallback.remove" "Fallback removed" Info;
    FallbackSet "fallback.set" "Fallback set" Info;
    InstallationBackup "installation.backup" "Backup made" Warn;
    InstallationDrill "installation.drill" "Restore of a backup tried" Info;
    InstallationExport "installation.export" "Installation exported" Warn;
    InstallationImport "installation.import" "Installation imported" Warn;
    JwtRemove "jwt.remove" "Token issuer removed" Plain;
    JwtSet "jwt.set" "Token issuer set" Warn;
    KeyCreate "key.create" "API key created" Plain;
    KeyRefused "key.refused" "Bad key refused" Bad;
    KeyRevoke "key.revoke" "API key revoked" Plain;
    KeyRotate "key.rotate" "API key rotated" Plain;
    KeySet "key.set" "API key moved to a group" Info;
    KindSet "kind.set" "Kind of PHI changed" Info;
    LinkCreate "link.create" "Invitation made" Plain;
    LinkRemove "link.remove" "Invitation withdrawn" Plain;
    Login "login" "Signed in" Plain;
    LoginBreakGlass "login.break_glass" "Signed in with a break-glass password" Warn;
    LoginFailed "login.failed" "Sign-in failed" Bad;
    LoginGuessed "login.guessed" "Password guessed at from many addresses" Bad;
    MasterKeyRotate "master_key.rotate" "Master key rotated" Info;
    ModeSet "mode.set" "Mode changed" Info;
    PolicySet "policy.set" "Policy changed" Info;
    PolicyTry "policy.try" "Policy tried on past requests" Warn;
    ProfileSet "profile.set" "Profile changed" Info;
    ProviderRemove "provider.remove" "Provider removed" Plain;
    ProviderSet "provider.set" "Provider set" Plain;
    RecognizerRemove "recognizer.remove" "Recognizer removed" Warn;
    RecognizerSet "recognizer.set" "Recognizer set" Info;
    ReportMake "report.make" "Report made" Warn;
    RequestsRefused "requests.refused" "Requests refused" Bad;
    RetentionContent "retention.content" "Content deleted by age" Plain;
    RetentionRecords "retention.records" "Records deleted by age" Plain;
    RosterImport "roster.import" "Roster imported" Info;
    RosterRemove "roster.remove" "Roster removed" Warn;
    RowsAdopt "rows.adopt" "Stored rows authenticated" Info;
    SessionEnd "session.end" "Session ended" Plain;
    SessionEndAll "session.end_all" "Sessions ended" Plain;
    SettingsApply "settings.apply" "Settings applied from a file" Info;
    SettingsSet "settings.set" "Settings changed" Info;
    SsoRemove "sso.remove" "Single sign-on turned off" Warn;
    SsoSet "sso.set" "Single sign-on set" Warn;
    TokenResolve "token.resolve" "Token resolved" Warn;
    UserBreakGlass "user.break_glass" "Break-glass mark changed" Warn;
    UserCreate "user.create" "User added" Plain;
    UserPassword "user.password" "Password changed" Plain;
    UserRecoverySet "user.recovery.set" "Recovery codes made" Plain;
    UserRecoveryUse "user.recovery.use" "Recovery code used" Warn;
    UserRemove "user.remove" "User removed" Plain;
    UserRole "user.role" "Role changed" Info;
    UserTotpRemove "user.totp.remove" "Second factor turned off" Warn;
    UserTotpSet "user.totp.set" "Second factor turned on" Plain;
}

impl Act {
    /// Every act.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.0)
    }

    /// Code in records and filters.
    pub fn code(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// Words for people.
    pub fn words(self) -> &'static str {
        ROWS[self as usize].2
    }

    /// Tone on a page.
    pub fn tone(self) -> Tone {
        ROWS[self as usize].3
    }
}

coded!(Act, "act");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acts_are_ordered_and_parse_back() {
        assert!(ROWS.is_sorted_by_key(|row| row.1));
        for (number, act) in Act::all().enumerate() {
            assert_eq!(act as usize, number);
            assert_eq!(act.code().parse(), Ok(act));
        }
    }
}
