//! The detector as a service: scans texts for callers without forwarding them.
//!
//! A service reads a body, scans its texts and writes an answer. No text is kept: the report has the findings and their
//! places.

mod fields;
mod guardrail;
pub mod presidio;
mod scan;

use crate::json::Bounds;
use crate::protect::{NotRewritten, Policy, Report, Scanner};
use crate::request::RequestError;
use crate::text::PhiText;

pub use fields::object;
pub use guardrail::guard;
pub use scan::{scan, scan_actions, scan_profiles};

/// The context of a service call.
#[derive(Debug, Clone)]
pub struct ServiceContext<'d> {
    /// The account's scanner, with the request's deadline.
    pub scanner: &'d Scanner,
    /// The caller's policy.
    pub policy: Policy,
    /// The limits of a body.
    pub bounds: Bounds,
}

/// The answer of a service.
#[derive(Debug)]
pub struct Answer {
    /// JSON, which may hold text of the caller.
    pub body: PhiText,
    /// The findings.
    pub report: Report,
}

/// The reason why a service call failed, with the findings up to then.
#[derive(Debug)]
pub struct Refused {
    /// The error in the request; `None` if the scan ran out of time.
    pub error: Option<RequestError>,
    /// The findings, if anything was scanned.
    pub report: Option<Box<Report>>,
}

/// The result of a service call.
pub type Answered = Result<Answer, Refused>;

/// A service: a body in, an answer out.
pub type Service = fn(&ServiceContext<'_>, Vec<u8>) -> Answered;

impl Refused {
    /// An incomplete scan: there may be further findings.
    pub(crate) fn unfinished(report: &Report) -> Self {
        Self {
            error: None,
            report: Some(Box::new(report.clone())),
        }
    }

    /// A rewrite that failed.
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
