//! AWS: Signature Version 4, and where credentials come from.

mod keys;
mod sign;
mod sources;

pub(crate) use keys::Keys;
pub(crate) use sign::sign;
pub(crate) use sources::by_machine;
