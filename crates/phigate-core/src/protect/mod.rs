//! What happens to a request in each mode.
//!
//! [`scan`] finds; [`apply`] decides. Only `scan` makes a [`Scanned`] and only `apply`
//! makes a [`CleanRequest`], so nothing can be forwarded that was not looked at.

mod apply;
mod memory;
mod modes;
mod participant;
mod report;
mod scan;

pub use apply::{CleanRequest, LastLook, Outcome, Policy, apply, apply_with, look_again};
pub use memory::Memory;
pub use modes::{Effect, MODES, Mode, ModeRule, mode};
pub use report::{Report, ReportedFinding, normalise};
pub use scan::{Scanned, Scanner, scan};
