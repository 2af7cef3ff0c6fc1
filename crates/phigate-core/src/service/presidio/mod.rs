//! Presidio's interface: its requests, its answers, its names, our findings.
//!
//! Programs that ask Presidio over HTTP ask here by changing an address. What Presidio has and we do not is refused
//! with a sentence, never passed over where something would stay unfound for it.

mod analyze;
mod anonymize;
mod entities;
mod operators;
mod overlap;

pub use analyze::{analyze, supports};
pub use anonymize::anonymize;
pub use entities::{recognizers, supported_entities};
pub use operators::{Hash, HashKind};
