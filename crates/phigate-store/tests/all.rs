//! The tests of the store on both engines, in one binary: nine would be linked nine times.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod promises;
mod support;

mod adoption;
mod attacks;
mod contention;
mod contract;
mod faults;
mod moving;
mod sealed;
mod standbys;
mod tamper;
mod tls;
mod torture;
