//! The detector as a service: what callers ask about texts of their own.
//!
//! A service reads a body, scans what it is asked about, and writes an answer. Nothing is forwarded, and nothing of
//! a text is kept: the report says what was found and where.

mod fields;
mod guardrail;
pub mod presidio;
mod scan;

use crate::json::Bounds;
use crate::protect::{NotRewritten, Policy, Report, Scanner};
use crate::request::RequestError;
use crate::text::PhiText;

pub use guardrail::guard;
pub use scan::{scan, scan_actions};

/// What a service works with.
#[derive(Debug, Clone, Copy)]
pub struct Desk<'d> {
    /// The account's scanner, with the request's deadline.
    pub scanner: &'d Scanner,
    /// The account's mode.
    pub policy: Policy,
    /// The limits of a body.
    pub bounds: Bounds,
}

/// What a service answers.
#[derive(Debug)]
pub struct Answer {
    /// JSON. It may hold what the caller sent.
    pub body: PhiText,
    /// What was found.
    pub report: Report,
}

/// Why a service does not answer as asked, with what was found by then.
#[derive(Debug)]
pub struct Refused {
    /// What is wrong with the request; none where there was no time to scan all of it.
    pub error: Option<RequestError>,
    /// What was found, where it was scanned.
    pub report: Option<Box<Report>>,
}

/// What comes of asking a service.
pub type Answered = Result<Answer, Refused>;

/// A service: a body in, an answer out.
pub type Service = fn(&Desk<'_>, Vec<u8>) -> Answered;

impl Refused {
    /// It could not be scanned in time: whatever was found, there may be more.
    pub(crate) fn unfinished(report: &Report) -> Self {
        Self {
            error: None,
            report: Some(Box::new(report.clone())),
        }
    }

    /// Its findings cannot be replaced.
    pub(crate) fn not_rewritten(reason: NotRewritten, report: &Report) -> Self {
        let error = match reason {
            NotRewritten::Refused(error) => Some(error),
            NotRewritten::Unfinished => None,
        };
        let report = Some(Box::new(report.clone()));
        Self { error, report }
    }
}

impl<E: Into<RequestError>> From<E> for Refused {
    fn from(error: E) -> Self {
        Self {
            error: Some(error.into()),
            report: None,
        }
    }
}
