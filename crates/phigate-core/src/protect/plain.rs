//! Scanning of a document for its sender: scanned and rewritten like a request, but not forwarded.

use phi_detect::{CodePoints, Finding};

use crate::json::{Document, NodeId, Value};
use crate::request::{Form, Place, ReadDocuments, RequestError};

use super::apply::{Policy, not_rewritable, unscannable};
use super::kept::Kept;
use super::located::{Allowed, LocatedFinding, is_blocked, ruling};
use super::report::{Lists, Report};
use super::rewrite::{Rewriting, StandIns, Unsafe, rewrite_document};
use super::scan_document::scan_document;
use super::scanner::Scanner;

/// A document with its findings.
pub struct ScannedDocument {
    form: &'static dyn Form,
    document: Document,
    findings: Vec<LocatedFinding>,
    allowed: Vec<Allowed>,
    report: Report,
}

/// A finding for the sender of the text: offsets in code points of the decoded string.
#[derive(Debug, Clone, Copy)]
pub struct Found<'s> {
    /// The string, number or key that holds it.
    pub node: NodeId,
    /// The finding.
    pub finding: &'s Finding,
    /// The first code point.
    pub start: usize,
    /// The code point after the last.
    pub end: usize,
}

/// The reason why a document was not rewritten.
#[derive(Debug)]
pub enum NotRewritten {
    /// PHI is in a place that cannot be rewritten.
    Refused(RequestError),
    /// The scan ran out of time.
    Unfinished,
}

/// Shows only the length of the document.
impl std::fmt::Debug for ScannedDocument {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "ScannedDocument({:?})", self.document)
    }
}

/// Scans every string, number and key of a document that is written like requests of a form.
pub fn scan_plain(
    scanner: &Scanner,
    form: &'static dyn Form,
    document: Document,
) -> ScannedDocument {
    let result = scan_document(scanner, form, &document, &|_| false);
    let lists = Lists {
        length_max: scanner.listed_max,
        identifiers: false,
    };
    let report = Report::new(
        (form, &document, &ReadDocuments::default()),
        &result,
        &lists,
    );
    ScannedDocument {
        form,
        document,
        findings: result.findings,
        allowed: result.allowed,
        report,
    }
}

impl ScannedDocument {
    /// The report, for the record.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The document as it was sent.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The findings in a value and all that it holds, in order.
    pub fn found_in<'s>(&'s self, value: &Value<'s>) -> Vec<Found<'s>> {
        let nodes = value.nodes();
        let first = self.findings.partition_point(|one| one.node < nodes.start);
        let count = self.findings[first..].partition_point(|one| one.node < nodes.end);
        let within = &self.findings[first..first + count];
        let of_one_text = within.chunk_by(|one, next| one.node == next.node);
        of_one_text
            .flat_map(|found| self.in_code_points(found))
            .collect()
    }

    /// The findings of one text, with code points counted in one pass.
    fn in_code_points<'s>(&'s self, found: &'s [LocatedFinding]) -> Vec<Found<'s>> {
        let value = self.document.value(found[0].node);
        let text = match found[0].place {
            Place::Number => value.raw().into(),
            _ => value.text(),
        };
        let mut points = CodePoints::new(&text);
        let counted = found.iter().map(|located| Found {
            node: located.node,
            start: points.at(located.finding.span.start),
            end: points.at(located.finding.span.end),
            finding: &located.finding,
        });
        counted.collect()
    }

    /// The refusal of a document with parts that cannot be scanned; `None` if the policy allows them.
    pub fn unscannable(&self, policy: &Policy) -> Option<RequestError> {
        unscannable(policy, &self.report)
    }

    /// Whether the policy blocks a finding.
    pub fn is_blocked(&self, policy: &Policy) -> bool {
        is_blocked(policy, &self.findings)
    }

    /// Whether the policy changes a finding, or blocks it.
    pub fn is_changed(&self, policy: &Policy) -> bool {
        let mut found = self.findings.iter();
        found.any(|one| !ruling(policy, &one.finding).mode().forwards_unscanned())
    }

    /// The document with its findings replaced as the policy says; unchanged if it replaces none.
    pub fn rewrite(&self, scanner: &Scanner, policy: &Policy) -> Result<Document, NotRewritten> {
        if let Some(refusal) = self.unscannable(policy) {
            return Err(NotRewritten::Refused(refusal));
        }
        if !self.is_changed(policy) {
            return Ok(self.document.clone());
        }
        let mut stand_ins = StandIns::new(policy, scanner, None);
        let (form, document) = (self.form, &self.document);
        let kept = Kept::new(policy, document, &self.findings, &self.allowed);
        let rewriting = Rewriting {
            scanner,
            form,
            kept: &kept,
            is_read: &|_| false,
        };
        let rewritten = rewrite_document(&rewriting, document, &self.findings, &mut stand_ins);
        rewritten.map_err(|error| match error {
            Unsafe::NotRewritable(path) => NotRewritten::Refused(not_rewritable(path)),
            Unsafe::Unfinished => NotRewritten::Unfinished,
        })
    }
}
