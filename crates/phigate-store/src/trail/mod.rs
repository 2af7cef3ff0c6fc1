//! The audit trail: writing, reading, exporting, proving, and deleting expired records.

mod asked;
mod checkpoint;
mod csv;
mod erase;
pub(crate) mod export;
mod inspect;
pub(crate) mod read;
mod reason;
mod record;
mod replay;
mod retention;
mod search;
mod stats;
mod verify;
mod verify_rows;
mod walk;
mod written;

pub use checkpoint::{append_checkpoints, read_checkpoints};
pub use csv::AuditTable;
pub use export::{Export, ExportLine, ExportOrder};
pub use reason::reason;
pub use replay::replay;
pub use stats::Figures;
pub use written::{Durability, Written};

use std::sync::Arc;

use crate::core::Core;

/// The audit trail: writing, reading, proving.
#[derive(Clone)]
pub struct Trail {
    core: Arc<Core>,
}

/// Deletes expired records, and content that a person erases.
#[derive(Clone)]
pub struct Expiry {
    core: Arc<Core>,
}

/// Outcomes with the provider's text, sealed beside them.
#[derive(Clone)]
pub struct SealedReplies {
    trail: Trail,
}

impl Expiry {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }
}

impl SealedReplies {
    pub(crate) fn new(trail: Trail) -> Self {
        Self { trail }
    }
}

impl Trail {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }
}
