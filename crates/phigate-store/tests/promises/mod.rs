//! The promises, by subject.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![allow(unreachable_pub, reason = "one file per subject")]

pub mod choosing;
pub mod keeping;
pub mod keys;
pub mod opening;
pub mod people;
pub mod reading;
pub mod records;
pub mod trail;
