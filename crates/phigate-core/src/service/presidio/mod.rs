//! Presidio's interface: its requests, its answers and its names for the gateway's findings.
//!
//! Programs that use Presidio over HTTP work after a change of address. A feature that the gateway lacks is refused
//! with a message if ignoring it could leave an entity unfound.

mod analyze;
mod anonymize;
mod entities;
mod operators;
mod overlap;

pub use analyze::{analyze, supports};
pub use anonymize::anonymize;
pub use entities::{recognizers, supported_entities};
pub use operators::{Hash, HashKind};
