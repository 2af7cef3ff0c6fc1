//! Form of a kind of target: address, secret, options, and the way to open one.

use std::time::Duration;

use phigate_store::{ExportConfig, SecretString};

use super::http::Way;
use super::sink::{Problem, Sink};

/// Opens a target that was checked.
type Open = fn(&ExportConfig, Option<SecretString>, &Way) -> Result<Box<dyn Sink>, Problem>;

/// A kind of target. Its scheme is the beginning of an address.
pub(super) struct TargetKind {
    pub(super) scheme: &'static str,
    /// Secret of the kind; `None` if it has none.
    pub(super) secret: Option<SecretForm>,
    /// Options of the command line that only some kinds have.
    pub(super) options: &'static [&'static str],
    /// Pause between deliveries, so that lines travel together.
    pub(super) every: Duration,
    /// Age at which written lines count as received, for receivers that confirm nothing.
    pub(super) confirmed_after: Duration,
    /// Whether each delivery is kept apart and must be verifiable alone.
    pub(super) is_apart: bool,
    /// Checks address and options; the error is a sentence without either.
    pub(super) check: fn(&ExportConfig, bool) -> Result<(), String>,
    /// Opens a target that was checked.
    pub(super) open: Open,
}

/// Form of a kind's secret.
pub(super) struct SecretForm {
    /// Words for it in messages.
    pub(super) words: &'static str,
    /// Checks it; the error is a sentence without it.
    pub(super) check: fn(&str) -> Result<(), String>,
}
