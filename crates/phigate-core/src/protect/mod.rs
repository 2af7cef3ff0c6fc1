//! Protection of a request by a policy.
//!
//! [`scan`] finds; [`apply`] decides. Only `scan` makes a [`Scanned`] and only `apply` makes a [`CleanRequest`], so
//! nothing can be forwarded that was not scanned.

mod allowed;
mod apply;
mod attached;
mod generalized;
mod id_words;
pub mod identifier;
mod joined;
mod kept;
mod located;
mod places;
mod plain;
mod report;
mod rewrite;
mod scan;
mod scan_document;
mod scanner;
mod site;
mod values;

pub use allowed::{AllowList, NotAllowed, allow_entry};
pub use apply::{CleanRequest, Outcome, Policy, apply, apply_with};
pub use generalized::Generalizing;
pub use identifier::plain as normalise;
pub(crate) use kept::Kept;
pub use located::ruling;

pub use places::{Places, Position};
pub use plain::{Found, NotRewritten, ScannedDocument, scan_plain};
pub use report::Report;
pub use rewrite::{Tokens, rewrite_text};
pub use scan::{Scanned, scan};
pub(crate) use scan_document::scan_document;
pub use scanner::{Reading, ScanMemory, Scanner, depth_of};
pub use site::SiteFinder;
