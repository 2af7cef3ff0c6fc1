//! AWS: Signature Version 4, and sources of credentials.

mod keys;
mod sign;
mod sources;

pub(crate) use keys::Keys;
pub(crate) use sign::sign;
pub(crate) use sources::by_machine;
