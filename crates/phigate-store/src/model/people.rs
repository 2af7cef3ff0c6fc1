//! Users of the dashboard, their sessions and one-time links.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use phigate_types::{Role, Roles};
use serde::{Deserialize, Serialize};

use crate::SecretString;

/// Identity of a person at an identity provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Address of the identity provider.
    pub issuer: String,
    /// Name of the person there.
    pub sub: String,
}

impl fmt::Display for Subject {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} at {}", self.sub, self.issuer)
    }
}

/// A user, without any secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct User {
    /// Stable id.
    pub id: String,
    /// Account.
    pub account_id: String,
    /// E-mail address, lower case. For a person of an identity provider it is what the provider says, perhaps nothing.
    pub email: String,
    /// Roles.
    #[serde(flatten)]
    pub roles: Roles,
    /// Identity at the account's identity provider; `None` for a person with a password.
    #[serde(flatten)]
    pub subject: Option<Subject>,
    /// Whether an owner may sign in with the password although the account has single sign-on.
    pub break_glass: bool,
    /// Whether a second factor is set up.
    pub has_totp: bool,
    /// Time of creation.
    pub created: Timestamp,
    /// Last successful login.
    pub last_login: Option<Timestamp>,
}

impl User {
    /// Name in records: the e-mail address, or the identity at the identity provider.
    pub fn actor(&self) -> String {
        match &self.subject {
            Some(subject) => subject.to_string(),
            None => self.email.clone(),
        }
    }

    /// Name for people.
    pub fn name(&self) -> &str {
        match &self.subject {
            Some(subject) if self.email.is_empty() => &subject.sub,
            _ => &self.email,
        }
    }

    /// Name by which commands and forms refer to the user: the e-mail address, which is unique only beside a password,
    /// or the id.
    pub fn key(&self) -> &str {
        match &self.subject {
            Some(_) => &self.id,
            None => &self.email,
        }
    }

    /// Whether the user is an owner.
    pub fn is_owner(&self) -> bool {
        self.roles.has(Role::Owner)
    }
}

/// An attempt to sign in.
#[derive(Debug, Clone, Copy)]
pub struct Login<'a> {
    /// E-mail address, as typed.
    pub email: &'a str,
    /// Password, as typed.
    pub password: &'a SecretString,
    /// Network address of the client.
    pub origin: &'a str,
    /// The browser's device token from an earlier login.
    pub device: Option<&'a str>,
}

/// Result of a login attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginOutcome {
    /// The password is right; a second factor may still be needed.
    Right(Box<User>),
    /// Wrong e-mail or password; the caller does not learn which.
    Wrong,
    /// The password is right, but the account has single sign-on and the user is not marked as break-glass.
    SignOnOnly,
    /// Too many failures; the password was not verified.
    Throttled {
        /// Seconds to wait.
        retry_after_s: u64,
    },
}

/// Lifetime of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionPolicy {
    /// Longest time without use.
    pub idle: SignedDuration,
    /// Longest time in total.
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

/// A new session: its token exists only here.
#[derive(Debug)]
pub struct NewSession {
    /// Public id, for lists and revocation.
    pub id: String,
    /// The value of the cookie.
    pub token: SecretString,
    /// Time of expiry, regardless of use.
    pub expires: Timestamp,
}

/// A session that is valid now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Public id.
    pub id: String,
    /// The user.
    pub user: User,
    /// Time of its start.
    pub created: Timestamp,
    /// Time of last use, accurate to about half a minute.
    pub last_seen: Timestamp,
    /// Time of the last proof of a factor in this session.
    pub confirmed: Timestamp,
    /// Time of expiry, regardless of use.
    pub expires: Timestamp,
    /// Origin of the session, as described by the dashboard.
    pub origin: String,
}

/// Purpose of a one-time link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkPurpose {
    /// Make the first owner of an account.
    Owner,
    /// Join an account with the role of the invitation.
    Invite,
}

/// A request for a link.
#[derive(Debug, Clone)]
pub struct Invite {
    /// The purpose.
    pub purpose: LinkPurpose,
    /// Role of the new user.
    pub role: Role,
    /// Fixed e-mail address; `None` lets the user choose.
    pub email: Option<String>,
    /// Validity.
    pub valid: SignedDuration,
}

/// A valid one-time link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The account.
    pub account_id: String,
    /// The purpose.
    pub purpose: LinkPurpose,
    /// Role of the new user.
    pub role: Role,
    /// Fixed e-mail address.
    pub email: Option<String>,
    /// Time of expiry.
    pub expires: Timestamp,
}
