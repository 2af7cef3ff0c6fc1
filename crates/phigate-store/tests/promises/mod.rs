//! The promises, by subject.

#![allow(unreachable_pub, reason = "one file per subject")]

pub mod alerting;
pub mod choosing;
pub mod exporting;
pub mod keeping;
pub mod keys;
pub mod opening;
pub mod people;
pub mod policy;
pub mod reading;
pub mod recognizers;
pub mod records;
pub mod reveals;
pub mod rosters;
pub mod sign_on;
pub mod trail;
