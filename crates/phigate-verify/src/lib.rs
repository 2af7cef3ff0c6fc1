//! Verifies the audit trail of phigate offline: an export, a public key, perhaps checkpoints, and nothing else.
//!
//! An auditor must be able to trust a verdict without trusting the store it came from, so this crate cannot open a
//! database: it depends on nothing that could. The store uses the same code on its own rows.

pub mod chain;
mod checkpoint;
mod deletions;
mod export;
mod fault;
mod follow;
#[cfg(test)]
mod tests;

pub use checkpoint::{Checkpoint, watched};
pub use deletions::{Deletions, write_ranges};
pub use export::{ChainField, ExportVerifier, GapField, GapLine, WrongKey};
pub use fault::{Fault, FaultKind, Report};
pub use follow::{Follower, Link};
