//! Fuzz targets for every parser of foreign bytes.
//!
//! `fuzz/run.sh` builds a coverage-guided fuzzer from them. `tests/mutations.rs` runs each on kept and mutated inputs
//! for a few seconds, as an ordinary test. The private parsers are reachable only in builds with debug assertions; in
//! other builds this library is empty.

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
