//! AWS: Signature Version 4, and where credentials come from.

mod sign;
mod sources;

pub(crate) use sign::{DayKey, sign};
pub(crate) use sources::by_machine;
