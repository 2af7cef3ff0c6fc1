//! A request with everything that was found in it and in its documents.

use std::sync::Arc;

use phi_detect::PhiKind;
use phigate_types::Policy;

use crate::request::Request;
use crate::text::PhiText;

use super::attached::{Attached, scan_attached};
use super::located::{Allowed, LocatedFinding, is_blocked};
use super::report::{Lists, Report};
use super::scan_document::scan_document;
use super::scanner::Scanner;
use super::values::values_of;

/// A request with everything that was found in it. Only [`scan`] makes one:
///
/// ```compile_fail,E0451
/// # use phigate_core::{request::Request, protect::{Report, Scanned}};
/// # fn unscanned(request: Request) -> Scanned {
/// Scanned { request, findings: Vec::new(), allowed: Vec::new(), attached: Vec::new().into(), report: Report::default() }
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Scanned {
    pub(super) request: Request,
    pub(super) findings: Vec<LocatedFinding>,
    /// Findings whose values the account does not count as PHI.
    pub(super) allowed: Vec<Allowed>,
    /// Documents inside the request. Shared, because fallbacks get clones of this.
    pub(super) attached: Arc<Vec<Attached>>,
    pub(super) report: Report,
}

impl Scanned {
    /// The report, for the record.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Whether the policy blocks a finding.
    pub fn is_blocked(&self, policy: &Policy) -> bool {
        let mut attached = self.attached.iter();
        is_blocked(policy, &self.findings) || attached.any(|one| one.is_blocked(policy))
    }

    /// The values of the findings, as the caller wrote them, also those in documents. They are PHI.
    pub fn values(&self) -> impl Iterator<Item = (PhiKind, PhiText)> + '_ {
        let values = values_of(self.request.document(), &self.findings).into_iter();
        let values = self.findings.iter().zip(values);
        let in_text = values
            .filter(|(found, _)| !found.continues)
            .map(|(found, value)| (found.finding.kind, PhiText::new(value)));
        in_text.chain(self.attached.iter().flat_map(Attached::values))
    }
}

/// Scans all of a request.
pub fn scan(scanner: &Scanner, request: Request) -> Scanned {
    let (form, document) = (request.form(), request.document());
    let read = request.read_documents();
    let mut result = scan_document(scanner, form, document, &|value| {
        read.is_payload(value.id())
    });
    let (attached, is_complete) = scan_attached(scanner, &request);
    result.is_complete &= is_complete;
    let lists = Lists {
        length_max: scanner.listed_max,
        identifiers: true,
    };
    let mut report = Report::new((form, document, read), &result, &lists);
    let is_clean = |name: &str| {
        let findings = scanner.find(None, name);
        findings.is_some_and(|findings| findings.is_complete() && findings.is_empty())
    };
    for one in attached.iter() {
        report.add_attached(document, one, &is_clean, &lists);
    }
    Scanned {
        request,
        findings: result.findings,
        allowed: result.allowed,
        attached,
        report,
    }
}
