//! The installation as a whole: backups, migration to another engine, the master key, stores of older versions.

mod adopt;
mod backup;
mod drill;
mod rotate;
mod transfer;

pub(crate) use transfer::import;

use std::sync::Arc;

use crate::core::Core;
use crate::trail::Trail;

/// Backups, migration to another engine, the master key.
#[derive(Clone)]
pub struct Installation {
    core: Arc<Core>,
    trail: Trail,
}

impl Installation {
    pub(crate) fn new(core: Arc<Core>, trail: Trail) -> Self {
        Self { core, trail }
    }
}
