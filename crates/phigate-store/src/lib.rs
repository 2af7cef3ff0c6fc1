//! Remembers: accounts, keys, settings and the sealed audit trail, in SQLite or PostgreSQL.
//!
//! [`Vault`] is what the rest of phigate uses. It seals content, chains records, commits them in
//! groups and knows who may do what. Below it, a [`Store`] is an engine that keeps rows; it sees
//! sealed content only. An engine is a folder here and a row in [`BACKENDS`].

mod backend;
mod chain;
mod error;
mod guard;
mod item;
mod keys;
mod migrations;
mod model;
mod postgres;
mod secret;
mod sqlite;
mod store;
mod trail;
mod vault;
mod writer;

pub use backend::{BACKENDS, Backend, Target};
pub use error::{AdmitError, Result, StoreError};
pub use keys::master::MasterKeySource;
pub use model::*;
pub use secret::{SecretBytes, SecretString};
pub use store::Store;
pub use trail::{
    Checkpoint, Export, ExportLine, ExportVerifier, Fault, FaultKind, Report, append_checkpoints,
    read_checkpoints,
};
pub use vault::{
    Conversation, ConversationName, DEVICE_DAYS, KEY_NAME_CHARS_MAX, Options, PASSWORD_BYTES_MAX,
    PASSWORD_CHARS_MIN, TOKEN_IDENTIFIER, Vault,
};

/// Where the time comes from; tests give a fixed one.
pub type Clock = std::sync::Arc<dyn Fn() -> jiff::Timestamp + Send + Sync>;
