//! Everything that reads strangers' bytes, as targets for random inputs.
//!
//! `fuzz/run.sh` builds a fuzzer from them that is guided by coverage. `tests/mutations.rs` gives each of them kept and
//! changed inputs for a few seconds, as an ordinary test. The private readers among them can be reached in builds with
//! debug assertions alone; in others this library is empty.

#![cfg(debug_assertions)]

mod cuts;
mod detectors;
pub mod growth;
mod kept;
pub mod meter;
mod mutate;
mod targets;

pub use kept::{keep, kept, quoted, words};
pub use mutate::Mutator;
pub use targets::{TARGETS, Target};
