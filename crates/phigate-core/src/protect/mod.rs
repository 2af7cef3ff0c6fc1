//! What happens to a request in each mode.
//!
//! [`scan`] finds; [`apply`] decides. Only `scan` makes a [`Scanned`] and only `apply`
//! makes a [`CleanRequest`], so nothing can be forwarded that was not looked at.

mod apply;
mod joined;
mod located;
mod modes;
mod report;
mod scan;
mod scanner;

pub use apply::{CleanRequest, LastLook, Outcome, Policy, apply, look_again};
pub use modes::{Effect, MODES, Mode, ModeRule, mode};
pub use report::{Report, ReportedFinding, normalise};
pub use scan::{Scanned, scan};
pub use scanner::{ScanMemory, Scanner};
