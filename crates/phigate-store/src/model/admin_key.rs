//! Keys of the admin API.

use jiff::{SignedDuration, Timestamp};
use phigate_types::Role;
use serde::Serialize;

/// A request for an admin key.
#[derive(Debug, Clone, Copy)]
pub struct NewAdminKey<'a> {
    /// Purpose of the key.
    pub name: &'a str,
    /// Role of the key in its account.
    pub role: Role,
    /// Whether the key may also create, list and delete accounts.
    pub installation: bool,
    /// Validity; `None` until it is revoked.
    pub valid: Option<SignedDuration>,
}

/// An admin key in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AdminKeyInfo {
    /// Public id, twelve characters.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Role in the account.
    pub role: Role,
    /// Whether the key may also create, list and delete accounts.
    pub installation: bool,
    /// Time of creation.
    pub created: Timestamp,
    /// The actor who created the key.
    pub created_by: String,
    /// Time of expiry.
    pub expires: Option<Timestamp>,
    /// Time of revocation.
    pub revoked: Option<Timestamp>,
    /// Time of last use, accurate to about ten seconds.
    pub last_used: Option<Timestamp>,
}

/// An admitted call of the admin API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminAdmission {
    /// Public id of the key.
    pub key_id: String,
    /// Role in the account.
    pub role: Role,
    /// Whether the key may also create, list and delete accounts.
    pub installation: bool,
    /// Id of the account.
    pub account_id: String,
    /// Name of the account.
    pub account: String,
}
