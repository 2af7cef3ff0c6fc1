//! What happens to a request in each mode.
//!
//! [`scan`] finds; [`apply`] decides. Only `scan` makes a [`Scanned`] and only `apply`
//! makes a [`CleanRequest`], so nothing can be forwarded that was not looked at.

mod apply;
mod joined;
mod located;
mod report;
mod rewrite;
mod scan;
mod scanner;

pub use apply::{CleanRequest, Outcome, Policy, apply};
pub use report::{Report, normalise};
pub use rewrite::rewrite_text;
pub(crate) use scan::scan_document;
pub use scan::{Scanned, scan};
pub use scanner::{ScanMemory, Scanner};
