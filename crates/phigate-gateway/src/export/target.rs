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
    pub(super) check: Check,
    /// Opens a target that was checked.
    pub(super) open: Open,
}

/// Checks the address and options of a target; the second argument is whether private addresses are allowed.
type Check = fn(&ExportConfig, bool) -> Result<(), String>;

impl TargetKind {
    /// Returns a kind with neither secret nor options nor other exceptions.
    pub(super) const fn new(scheme: &'static str, check: Check, open: Open) -> Self {
        TargetKind {
            scheme,
            secret: None,
            options: &[],
            every: Duration::from_millis(500),
            confirmed_after: Duration::ZERO,
            is_apart: false,
            check,
            open,
        }
    }

    /// Returns the part of an address behind the scheme.
    pub(super) fn rest<'a>(&self, to: &'a str) -> &'a str {
        to.strip_prefix(self.scheme).unwrap_or(to)
    }
}

/// Form of a kind's secret.
pub(super) struct SecretForm {
    /// Words for it in messages.
    pub(super) words: &'static str,
    /// Checks it; the error is a sentence without it.
    pub(super) check: fn(&str) -> Result<(), String>,
}
