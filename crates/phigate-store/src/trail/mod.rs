//! Exports of the trail and checkpoints kept elsewhere.

mod checkpoint;
mod export;
mod walk;

pub use checkpoint::{append_checkpoints, read_checkpoints};
pub use export::{Export, ExportLine};
