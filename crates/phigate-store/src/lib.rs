//! Storage: accounts, keys, settings and the sealed audit trail, in SQLite or PostgreSQL.
//!
//! [`Vault`] is the interface for the rest of phigate. It seals content, chains records, commits them in groups and
//! checks permissions. Below it, a [`Store`] is an engine that keeps rows; it sees sealed content only. An engine is a
//! folder here and a row in [`BACKENDS`].

mod access;
mod accounts;
mod alerts;
mod backend;
mod cause;
mod chain;
mod codes;
mod conditions;
mod core;
mod digits;
mod error;
mod export_cursor;
mod exports;
mod guard;
mod health;
mod installation;
mod item;
mod keys;
mod migrations;
mod minutes;
mod model;
mod people;
mod postgres;
mod rows;
mod secret;
mod sqlite;
mod store;
mod trail;
mod vault;
mod writer;

pub use access::{Access, AdminKeys, Conversation, ConversationName, Issuers, KEY_NAME_CHARS_MAX};
pub use accounts::{Accounts, AllowLists, RecognizerLists, RosterLists, declare, declared};
pub use alerts::{Alerts, Recent};
pub use backend::{BACKENDS, Backend, Target};
pub use cause::NewAlert;
pub use error::{AdmitError, Result, StoreError};
pub use exports::{ExportRun, Exports, shown_address};
pub use health::Health;
pub use installation::Installation;
pub use keys::master::MasterKeySource;
pub use model::*;
pub use people::{
    DEVICE_DAYS, Links, PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN, People, Sessions, SignOn,
};
pub use phigate_verify::{
    Checkpoint, ExportVerifier, Fault, FaultKind, Report, ReportFault, ReportFrame, verify_report,
};
pub use secret::{SecretBytes, SecretString};
pub use store::{SYSTEM as INSTALLATION, Store};
pub use trail::{
    AuditTable, Durability, Expiry, Export, ExportLine, ExportOrder, Figures, Replay, Reports,
    Reveals, SealedReplies, Trail, Verifications, Written, append_checkpoints, read_checkpoints,
    reason, table_cell,
};
pub use vault::{Options, Vault};

/// Ways into private readers, for the fuzzer alone.
#[cfg(debug_assertions)]
pub mod fuzzing {
    /// The public id of a well-formed API key.
    pub fn public_id(key: &str) -> Result<&str, crate::AdmitError> {
        crate::keys::api_key::public_id(crate::keys::api_key::CALLER, key)
    }
}

/// Source of the time; tests give a fixed one.
pub type Clock = std::sync::Arc<dyn Fn() -> jiff::Timestamp + Send + Sync>;
