//! Items: small JSON documents with an account, a kind and an id, and how they are changed.
//!
//! Everything that is not the trail itself is an item: accounts, keys, users, leases, wrapped data keys.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Result, StoreError};

/// Kind of an item, which decides how far its row in the database is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemKind {
    /// An account: its name, mode, settings and aliases.
    Account,
    /// A key of the admin API, hashed.
    AdminKey,
    /// The latest alert of a cause and subject.
    Alert,
    /// Uses of an entry of an allow list.
    AllowUsed,
    /// An API key, hashed.
    ApiKey,
    /// Time of an API key's last use.
    ApiKeyUsed,
    /// A wrapped data key.
    DataKey,
    /// Remainder of a deleted account.
    DeletedAccount,
    /// Place of an export in the chains, and its holder.
    ExportCursor,
    /// A target of exports: its address, its choice and its sealed secret.
    ExportTarget,
    /// A count of failed logins.
    Guesses,
    /// A login whose second step is still to come.
    Halfway,
    /// An issuer whose tokens act as an API key.
    Issuer,
    /// The lease of a chain by a process.
    Lane,
    /// A one-time link.
    Link,
    /// A mark of the installation itself.
    Meta,
    /// A provider: its address and its sealed key.
    Provider,
    /// A recognizer: a kind that an account defines, sealed.
    Recognizer,
    /// A request to reveal content, and its approval.
    RevealRequest,
    /// Lists the rows of a kind.
    Roll,
    /// A roster of patients: its name and its number of parts.
    Roster,
    /// Codes of a roster.
    RosterPart,
    /// A session of the dashboard.
    Session,
    /// The identity provider of an account, with its sealed client secret.
    SignOn,
    /// A logout token that was used.
    UsedToken,
    /// A user of the dashboard.
    User,
}

/// Protection of a kind of item against an attacker who can write to the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// Unprotected, because it grants nothing.
    None,
    /// Keyed hash: rows that we did not write are refused. Short-lived, so replay is harmless.
    Hashed,
    /// Keyed hash and a roll: missing and older rows are refused as well.
    Listed,
}

const ROWS: [(ItemKind, &str, &str, Protection); 26] = [
    // In the order of the enum: kind, code in the database, words, protection.
    (ItemKind::Account, "account", "account", Protection::Listed),
    (
        ItemKind::AdminKey,
        "admin_key",
        "admin key",
        Protection::Listed,
    ),
    (ItemKind::Alert, "alert", "alert", Protection::None),
    (
        ItemKind::AllowUsed,
        "allow_used",
        "use of an allowed value",
        Protection::None,
    ),
    (ItemKind::ApiKey, "api_key", "API key", Protection::Listed),
    (
        ItemKind::ApiKeyUsed,
        "api_key_used",
        "use of an API key",
        Protection::None,
    ),
    (
        ItemKind::DataKey,
        "data_key",
        "data key",
        Protection::Listed,
    ),
    (
        ItemKind::DeletedAccount,
        "deleted_account",
        "deleted account",
        Protection::Listed,
    ),
    (
        ItemKind::ExportCursor,
        "export_cursor",
        "place of an export",
        Protection::Hashed,
    ),
    (
        ItemKind::ExportTarget,
        "export_target",
        "export",
        Protection::Listed,
    ),
    (
        ItemKind::Guesses,
        "guesses",
        "count of failed logins",
        Protection::None,
    ),
    (ItemKind::Halfway, "halfway", "login", Protection::Hashed),
    (
        ItemKind::Issuer,
        "token_issuer",
        "token issuer",
        Protection::Listed,
    ),
    (ItemKind::Lane, "lane", "lease", Protection::None),
    (ItemKind::Link, "link", "link", Protection::Listed),
    (ItemKind::Meta, "meta", "mark", Protection::None),
    (
        ItemKind::Provider,
        "provider",
        "provider",
        Protection::Listed,
    ),
    (
        ItemKind::Recognizer,
        "recognizer",
        "recognizer",
        Protection::Listed,
    ),
    (
        ItemKind::RevealRequest,
        "reveal_request",
        "request to reveal content",
        Protection::Hashed,
    ),
    (ItemKind::Roll, "roll", "roll", Protection::Hashed),
    (ItemKind::Roster, "roster", "roster", Protection::Listed),
    (
        ItemKind::RosterPart,
        "roster_part",
        "part of a roster",
        Protection::Hashed,
    ),
    (ItemKind::Session, "session", "session", Protection::Hashed),
    (
        ItemKind::SignOn,
        "sign_on",
        "single sign-on",
        Protection::Listed,
    ),
    (
        ItemKind::UsedToken,
        "used_token",
        "used logout token",
        Protection::Hashed,
    ),
    (ItemKind::User, "user", "user", Protection::Listed),
];

impl ItemKind {
    /// Every kind.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.0)
    }

    /// The word in the database.
    pub const fn code(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// The word in messages.
    pub const fn label(self) -> &'static str {
        ROWS[self as usize].2
    }

    /// Protection of this kind.
    pub const fn protection(self) -> Protection {
        ROWS[self as usize].3
    }

    /// The kind with this word.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::all().find(|kind| kind.code() == code)
    }
}

/// A small document: an account, an API key, a user, a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Account it belongs to.
    pub account: String,
    /// Kind of the item.
    pub kind: ItemKind,
    /// Unique within account and kind.
    pub id: String,
    /// Unique within the kind across accounts, when set.
    pub lookup: Option<String>,
    /// Grows by one with every change.
    pub version: i64,
    /// JSON.
    pub body: String,
    /// Keyed hash of all fields, if the kind has one.
    pub mac: Option<Vec<u8>>,
}

impl Item {
    /// A new item; the version is set by the engine.
    pub(crate) fn new<T: Serialize>(
        account: &str,
        kind: ItemKind,
        id: &str,
        lookup: Option<&str>,
        body: &T,
    ) -> Self {
        Self {
            account: account.to_owned(),
            kind,
            id: id.to_owned(),
            lookup: lookup.map(str::to_owned),
            version: 0,
            body: serde_json::to_string(body).expect("bodies are plain values"),
            mac: None,
        }
    }

    /// Reads the text.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_str(&self.body)
            .map_err(|error| StoreError::of_stored(self.kind.label(), &error))
    }

    /// The change that replaces the item, which must still be as it was read.
    pub(crate) fn replaced_by<T: Serialize>(&self, body: &T) -> Change {
        let new = Self {
            body: serde_json::to_string(body).expect("bodies are plain values"),
            ..self.clone()
        };
        Change::Put(new, Expect::Version(self.version))
    }

    /// The change that removes the item.
    pub(crate) fn deleted(&self) -> Change {
        Change::Delete {
            account: self.account.clone(),
            kind: self.kind,
            id: self.id.clone(),
        }
    }

    /// The condition that the item is as it was read: a legal hold set this instant, for example, counts.
    pub(crate) fn unchanged(&self) -> Change {
        Change::Check {
            account: self.account.clone(),
            kind: self.kind,
            id: self.id.clone(),
            version: self.version,
        }
    }
}

/// State that a change relies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// No item yet.
    Absent,
    /// Exactly this version.
    Version(i64),
    /// Any state.
    Any,
}

impl Expect {
    /// The version an item has after a change that relied on this.
    pub(crate) fn next_version(self) -> i64 {
        match self {
            Self::Absent | Self::Any => 1,
            Self::Version(version) => version + 1,
        }
    }
}

/// One change to the items; a batch whose expectations do not hold changes nothing.
#[derive(Debug, Clone)]
pub enum Change {
    /// Insert or replace; the engine sets the version.
    Put(Item, Expect),
    /// Insert with version and keyed hash as they are, from another store.
    Restore(Item),
    /// Remove; must be there.
    Delete {
        /// Account.
        account: String,
        /// Kind.
        kind: ItemKind,
        /// Id.
        id: String,
    },
    /// Check that an item has this version, without a change.
    Check {
        /// Account.
        account: String,
        /// Kind.
        kind: ItemKind,
        /// Id.
        id: String,
        /// Version it must have.
        version: i64,
    },
    /// Remove every item of an account, and its sealed content and lookup hashes.
    Shred {
        /// Account.
        account: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_ordered_and_found_by_code() {
        for (at, kind) in ItemKind::all().enumerate() {
            assert_eq!(kind as usize, at);
            assert_eq!(ItemKind::from_code(kind.code()), Some(kind));
        }
        assert_eq!(ItemKind::from_code("other"), None);
    }
}
