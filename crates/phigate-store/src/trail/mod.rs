//! Proving the trail: what an export looks like, checkpoints kept elsewhere, and verification.

mod checkpoint;
mod export;
mod lines;
mod verify;
mod walk;

pub(crate) use checkpoint::digest_bytes;
pub use checkpoint::{Checkpoint, append_checkpoints, read_checkpoints};
pub use export::{Export, ExportLine};
pub use lines::ExportVerifier;
pub(crate) use verify::{Deletions, Follower, Link as FollowedLink, watched, write_ranges};
pub use verify::{Fault, FaultKind, Report};
