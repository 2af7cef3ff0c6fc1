//! Offline verification of phigate's audit trail and reports, from a file, a public key and optional checkpoints.
//!
//! An auditor must be able to trust a verdict without trusting the store it came from, so this crate cannot open a
//! database: none of its dependencies could. The store uses the same code on its own rows.

pub mod chain;
mod checkpoint;
mod deletions;
mod export;
mod fault;
mod follow;
mod report;
#[cfg(test)]
mod tests;

pub use checkpoint::{Checkpoint, watched};
pub use deletions::{Deletions, write_ranges};
pub use export::{
    ChainField, CheckpointLine, ExportVerifier, GapField, GapLine, StartField, WrongKey,
};
pub use fault::{Fault, FaultKind, Report};
pub use follow::{Follower, Link};
pub use report::{ReportFault, ReportFrame, report_statement, verify_report};
