//! Users of the dashboard, their sessions and one-time links.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::SecretString;

/// What a user may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Everything.
    Owner,
    /// Read the audit trail; no settings.
    Auditor,
}

impl Role {
    /// The code used on the command line and in records.
    pub fn code(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Auditor => "auditor",
        }
    }

    /// The role with this code.
    pub fn from_code(code: &str) -> Option<Self> {
        [Self::Owner, Self::Auditor]
            .into_iter()
            .find(|role| role.code() == code)
    }
}

/// A user, without any secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct User {
    /// Stable id.
    pub id: String,
    /// Account.
    pub account_id: String,
    /// E-mail address, lower case.
    pub email: String,
    /// Role.
    pub role: Role,
    /// Whether a second factor is set up.
    pub has_totp: bool,
    /// When it was made.
    pub created: Timestamp,
    /// Last successful login.
    pub last_login: Option<Timestamp>,
}

/// An attempt to sign in.
#[derive(Debug, Clone, Copy)]
pub struct Login<'a> {
    /// E-mail address, as typed.
    pub email: &'a str,
    /// Password, as typed.
    pub password: &'a SecretString,
    /// Network address it comes from.
    pub origin: &'a str,
    /// What the browser kept from an earlier login, if anything.
    pub device: Option<&'a str>,
}

/// What became of a login attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginOutcome {
    /// The password is right; a second factor may still be needed.
    Right(Box<User>),
    /// Wrong e-mail or password; which one is not told.
    Wrong,
    /// Too many failures; nothing was checked.
    Throttled {
        /// Seconds to wait.
        retry_after_s: u64,
    },
}

/// How long sessions live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionPolicy {
    /// Without use.
    pub idle: SignedDuration,
    /// Whatever happens.
    pub absolute: SignedDuration,
}

impl Default for SessionPolicy {
    fn default() -> Self {
        Self {
            idle: SignedDuration::from_mins(15),
            absolute: SignedDuration::from_hours(12),
        }
    }
}

/// A session just begun: the only moment its token exists.
#[derive(Debug)]
pub struct NewSession {
    /// Public id, for lists and revocation.
    pub id: String,
    /// What the cookie carries.
    pub token: SecretString,
    /// When it ends in any case.
    pub expires: Timestamp,
}

/// A session that is valid now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Public id.
    pub id: String,
    /// Whose.
    pub user: User,
    /// When it began.
    pub created: Timestamp,
    /// When it was last used, to about half a minute.
    pub last_seen: Timestamp,
    /// When the user last proved a factor in this session.
    pub confirmed: Timestamp,
    /// When it ends in any case.
    pub expires: Timestamp,
    /// Where it began, as the dashboard described it.
    pub origin: String,
}

/// What a one-time link is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkPurpose {
    /// Make the first owner of an account.
    Owner,
    /// Join an account with the role of the invitation.
    Invite,
}

/// An invitation to be made.
#[derive(Debug, Clone)]
pub struct Invite {
    /// What for.
    pub purpose: LinkPurpose,
    /// Role of the user it makes.
    pub role: Role,
    /// Fixed e-mail address, or none to let the user choose.
    pub email: Option<String>,
    /// How long it works.
    pub valid: SignedDuration,
}

/// A one-time link that is still good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Account it leads to.
    pub account_id: String,
    /// What for.
    pub purpose: LinkPurpose,
    /// Role of the user it makes.
    pub role: Role,
    /// Fixed e-mail address.
    pub email: Option<String>,
    /// When it stops working.
    pub expires: Timestamp,
}
