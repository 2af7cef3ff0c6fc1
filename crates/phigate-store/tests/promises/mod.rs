//! The promises, by subject.

pub mod keys;
pub mod opening;
pub mod records;
