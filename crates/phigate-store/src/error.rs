//! Errors of the store, worded so that an operator knows the fix. No message holds content.

use std::path::PathBuf;

use phigate_types::{
    Act, Action, Approvals, AuthMethod, ErrorCode, KeyLimit, Mode, PhiAgreement, ProviderKind,
    Replies, Role, Word,
};

/// Reason why the store refused or failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be reached or written now; it may come back by itself.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// Other transactions were in the way again and again.
    #[error("the store is busy: {0}")]
    Busy(String),
    /// The deadline passed before the write was known to be durable.
    #[error("the store did not answer in time")]
    Timeout,
    /// Fewer standbys than the settings ask for, or none that this role can see.
    #[error("{0}")]
    Standbys(String),
    /// The standbys did not confirm a commit, so that a failover may lose it.
    #[error(
        "the standbys of PostgreSQL did not confirm the commit, so it counts as not written; it may be in force all the same"
    )]
    Unconfirmed,
    /// Unknown name or id in this account.
    #[error("no such {0}")]
    NotFound(&'static str),
    /// Name that is taken, or item that another process changed at the same moment.
    #[error("{0} exists already or was changed at the same moment")]
    Conflict(&'static str),
    /// The content of the request was erased by a person.
    #[error("the content of this request was erased; `phigate audit show` says who did it and why")]
    Erased,
    /// Revealing takes two people, and no second one approved it.
    #[error("revealing content takes two people here: a second one must approve it first")]
    NeedsApproval,
    /// Deletion under a legal hold.
    #[error("the account is under a legal hold, so nothing is deleted; lift the hold first")]
    LegalHold,
    /// A value the store refuses to keep.
    #[error("invalid {what}: {why}")]
    Invalid {
        /// The value that was given.
        what: &'static str,
        /// The rule it breaks.
        why: &'static str,
    },
    /// Too many wrong passwords; try again later.
    #[error("too many failed attempts; try again in {retry_after_s} s")]
    Throttled {
        /// Seconds to wait.
        retry_after_s: u64,
    },
    /// The master key is not the one this store was made with.
    #[error(
        "the master key does not belong to this store (it was made with key {expected}); give the right key with --master-key-file"
    )]
    WrongMasterKey {
        /// Public label of the key that is needed.
        expected: String,
    },
    /// The store is not empty and its master key file is not there.
    #[error(
        "the master key file {0} is missing; restore it from its backup, without it the sealed content cannot be read"
    )]
    MissingMasterKey(PathBuf),
    /// The master key could not be read.
    #[error("cannot read the master key from {place}: {why}")]
    MasterKey {
        /// File, variable or command.
        place: String,
        /// Description of the mistake.
        why: String,
    },
    /// Key file inside the data folder, in which every backup would include it.
    #[error(
        "the master key file {0} is inside the data folder; move it elsewhere and name it with --master-key-file"
    )]
    KeyInsideData(PathBuf),
    /// Key file that other users can read.
    #[error(
        "the master key file {path} can be read by others (mode {mode:o}); run: chmod 600 {path}"
    )]
    KeyReadable {
        /// The file.
        path: PathBuf,
        /// Permission bits of the file.
        mode: u32,
    },
    /// Missing store that the caller did not ask to create.
    #[error("there is no store at {0}")]
    Missing(String),
    /// The store was written by a newer version.
    #[error("the store has schema {found}, this version knows {known}; install the newer phigate")]
    NewerSchema {
        /// Schema of the store.
        found: i64,
        /// Newest schema that this version knows.
        known: i64,
    },
    /// A migration that was applied differs from the one in this program.
    #[error("migration {0} was applied with different text; this store was made by another build")]
    ChangedMigration(i64),
    /// The database would acknowledge writes that are not on disk.
    #[error("the database is set to weaker durability than promised: {0}")]
    WeakDurability(String),
    /// No engine knows this kind of address.
    #[error("unknown kind of database address; known are: {0}")]
    UnknownEngine(String),
    /// Something stored cannot be read: damaged, tampered with, or sealed under a deleted key.
    #[error("stored {0} cannot be read: damaged, or its key was deleted")]
    Unreadable(&'static str),
    /// A word in the store that this version does not know.
    #[error("the store holds an unknown {0}: it was written by a newer version, or by hand")]
    Unknown(&'static str),
    /// A row that differs from the written one: changed, inserted, removed or set back from outside.
    #[error(
        "the {kind} {id} of account {account} is not as phigate wrote it and is not used; run `phigate audit verify`, and restore the store from a backup"
    )]
    Tampered {
        /// Kind of the row.
        kind: &'static str,
        /// Id of the row.
        id: String,
        /// Account of the row.
        account: String,
    },
    /// The vault was closed.
    #[error("the store is closed")]
    Closed,
}

/// Nouns that are stored by their codes.
const NOUNS: &[&str] = &[
    Act::NOUN,
    Action::NOUN,
    Approvals::NOUN,
    AuthMethod::NOUN,
    ErrorCode::NOUN,
    KeyLimit::NOUN,
    Mode::NOUN,
    PhiAgreement::NOUN,
    ProviderKind::NOUN,
    Replies::NOUN,
    Role::NOUN,
    Word::NOUN,
];

impl StoreError {
    /// Whether something that is stored cannot be read or trusted.
    pub fn is_about_stored(&self) -> bool {
        matches!(
            self,
            Self::Unreadable(_) | Self::Unknown(_) | Self::Tampered { .. }
        )
    }

    /// Reason why a stored value could not be read: a word that this version does not know, or damage. The reader's
    /// message is inspected and not repeated, because it may quote the value.
    pub(crate) fn of_stored(what: &'static str, error: &serde_json::Error) -> Self {
        let message = error.to_string();
        let is_about = |noun: &&&str| {
            let rest = message.strip_prefix("unknown ").unwrap_or_default();
            rest.strip_prefix(**noun)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(" at line"))
        };
        match NOUNS.iter().find(is_about) {
            Some(noun) => Self::Unknown(noun),
            None => Self::Unreadable(what),
        }
    }
}

/// Reason why a caller was not admitted.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AdmitError {
    /// The key is empty.
    #[error("no API key given")]
    Missing,
    /// Malformed key: wrong shape or checksum.
    #[error("malformed API key")]
    Malformed,
    /// A token that is not right; the reason is a few words without what the token says.
    #[error("refused token: {cause}")]
    Token {
        /// The reason in a word, for records.
        cause: &'static str,
        /// Key as which tokens of its issuer act, and the account, if they are known.
        key: Option<(String, String)>,
    },
    /// Well formed, but not known (or its account is gone).
    #[error("unknown API key")]
    Unknown,
    /// The id of a key with another secret.
    #[error("wrong secret for API key {key_id}")]
    WrongSecret {
        /// Public id.
        key_id: String,
        /// Account it belongs to.
        account_id: String,
    },
    /// Revoked by an owner.
    #[error("API key {key_id} was revoked")]
    Revoked {
        /// Public id.
        key_id: String,
        /// Account it belonged to.
        account_id: String,
    },
    /// Past its date.
    #[error("API key {key_id} has expired")]
    Expired {
        /// Public id.
        key_id: String,
        /// Account it belongs to.
        account_id: String,
    },
    /// Failure of the store during the check.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AdmitError {
    /// The key that was tried and its account, if the key exists.
    pub fn key(&self) -> Option<(&str, &str)> {
        match self {
            Self::WrongSecret { key_id, account_id }
            | Self::Revoked { key_id, account_id }
            | Self::Expired { key_id, account_id } => Some((key_id, account_id)),
            Self::Token { key, .. } => {
                let key = key.as_ref();
                key.map(|(key_id, account_id)| (key_id.as_str(), account_id.as_str()))
            }
            Self::Missing | Self::Malformed | Self::Unknown | Self::Store(_) => None,
        }
    }

    /// The cause in a word, for records.
    pub fn cause(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Malformed => "malformed",
            Self::Token { cause, .. } => cause,
            Self::Unknown => "unknown",
            Self::WrongSecret { .. } => "wrong_secret",
            Self::Revoked { .. } => "revoked",
            Self::Expired { .. } => "expired",
            Self::Store(_) => "store",
        }
    }
}

/// Short for results of this crate.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use crate::model::{AdminAct, Record};

    use super::*;

    #[test]
    fn unknown_stored_word_has_own_message() {
        let act = AdminAct::new(
            jiff::Timestamp::UNIX_EPOCH,
            "default",
            "cli",
            phigate_types::Act::ModeSet,
        );
        let text = serde_json::to_string(&Record::Admin(act)).expect("records are plain values");
        for (damage, expected) in [
            (text.replace("mode.set", "mode.sett"), "unknown act"),
            (text.replace("\"actor\"", "\"who\""), "cannot be read"),
            (String::new(), "cannot be read"),
        ] {
            let error = serde_json::from_str::<Record>(&damage).expect_err("it is damaged");
            let message = StoreError::of_stored("audit record", &error).to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
