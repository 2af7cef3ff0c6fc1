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
mod reports;
mod retention;
mod reveals;
mod search;
mod stats;
mod verifications;
mod verify;
mod verify_rows;
mod walk;
mod written;

pub use checkpoint::{append_checkpoints, read_checkpoints};
pub use csv::{AuditTable, table_cell};
pub use export::{Export, ExportLine, ExportOrder};
pub use reason::reason;
pub use replay::Replay;
pub use reports::Reports;
pub use stats::Figures;
pub use verifications::Verifications;
pub use written::{Durability, Written};

use std::sync::Arc;

use crate::core::Core;

/// The audit trail: writing, reading, proving.
#[derive(Clone)]
pub struct Trail {
    core: Arc<Core>,
}

/// Requests to reveal content, where it takes two people.
#[derive(Clone)]
pub struct Reveals {
    trail: Trail,
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

impl Reveals {
    pub(crate) fn new(trail: Trail) -> Self {
        Self { trail }
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
