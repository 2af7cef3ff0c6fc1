//! The tests of the detector from outside, in one binary: a dozen would be linked a dozen times.
//! `instructions` runs itself under Valgrind and stays alone.

#![allow(
    clippy::disallowed_types,
    reason = "what tests hold is not part of a scan"
)]

mod budget;
mod disguises;
mod docs;
mod documents;
mod identifiers;
mod imports;
mod neighbours;
mod properties;
mod structures;
mod tables;
mod unseen;
