//! The installation as a whole: backups, moving to another engine, the master key, stores from older versions.

mod adopt;
mod backup;
mod rotate;
mod transfer;

pub(crate) use transfer::import;

use crate::core::Core;
use crate::trail::Trail;
use std::sync::Arc;

/// Backups, moves to another engine, the master key.
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
