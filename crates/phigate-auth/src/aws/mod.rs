//! AWS: Signature Version 4, and sources of credentials.

mod keys;
mod s3;
mod sign;
mod sources;

pub(crate) use keys::Keys;
pub use s3::{S3Keys, object_checksum};
pub(crate) use sign::sign;
pub(crate) use sources::by_machine;
