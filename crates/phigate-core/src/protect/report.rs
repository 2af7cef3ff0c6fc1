//! Findings without content: kinds, places and scores.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use phi_detect::{CodePoints, PhiKind, PhiKinds};
use phigate_types::{Finding, Policy, Ruling, Unscannable};
use smol_str::SmolStr;

use crate::json::{Document, NodeId};
use crate::request::{self, Form, Place, ReadDocuments};
use crate::text::PhiText;

use super::attached::{Attached, FILE};
use super::identifier;
use super::located::{Allowed, LocatedFinding, ScanResult};
use super::places::Places;
use super::scanner::Scanner;

/// The name under which a report lists an incomplete scan.
const INCOMPLETE_SCAN: &str = "incomplete_scan";

/// The rule of findings that a caller passed in.
const GIVEN: &str = "given";

/// Findings of a scan. The lists have a limit; the counts cover everything.
///
/// Long parts are shared by clones: a request and its facts have one each.
#[derive(Debug, Clone, Default)]
pub struct Report {
    findings: Arc<Vec<Finding>>,
    /// Kinds hidden under listed findings, by the index of the finding.
    hidden: Vec<(usize, PhiKinds)>,
    counts: BTreeMap<PhiKind, usize>,
    /// Allowed values by kind and by entry of the allow list. They are not findings.
    allowed: BTreeMap<PhiKind, usize>,
    entries: BTreeMap<SmolStr, u64>,
    unscannable: Vec<Unscannable>,
    withheld_keys: Vec<NodeId>,
    /// Identifiers in order, without duplicates.
    identifiers: Arc<Vec<(PhiKind, PhiText)>>,
    has_phi_in_model: bool,
    text_bytes: u64,
    is_complete: bool,
}

/// Options of a report's lists.
pub(super) struct Lists {
    /// The most findings, and the most parts that could not be scanned, to list.
    pub(super) length_max: usize,
    /// Whether to list values for disclosure lookups; not for texts that are not disclosed.
    pub(super) identifiers: bool,
}

impl Report {
    /// Reports a scan. Code points of a text are counted in one pass, not once per finding.
    pub(super) fn new(
        (form, document, read): (&dyn Form, &Document, &ReadDocuments),
        result: &ScanResult,
        lists: &Lists,
    ) -> Self {
        let mut opaque = request::opaque_nodes(form, document, read);
        opaque.truncate(lists.length_max);
        let parts = opaque.into_iter().map(|(node, kind)| Unscannable {
            path: request::path(&document.value(node)),
            kind: Cow::Borrowed(kind),
        });
        let mut report = Self {
            unscannable: parts.collect(),
            withheld_keys: result.keys_with_phi(),
            has_phi_in_model: result
                .findings
                .iter()
                .any(|located| located.place == Place::Structure),
            text_bytes: result.text_bytes,
            is_complete: result.is_complete,
            ..Self::default()
        };
        if !result.is_complete {
            report.unscannable.push(Unscannable {
                path: String::new(),
                kind: Cow::Borrowed(INCOMPLETE_SCAN),
            });
        }
        report.add_allowed(&result.allowed);
        for of_one_text in result.findings.chunk_by(|one, next| one.node == next.node) {
            report.add(document, of_one_text, lists);
        }
        report.settle();
        report
    }

    /// Sorts the identifiers, and leaves each once.
    fn settle(&mut self) {
        let identifiers = Arc::make_mut(&mut self.identifiers);
        identifiers.sort_unstable();
        identifiers.dedup();
    }

    /// Adds the findings in a document of the request, with their places there.
    pub(super) fn add_attached(
        &mut self,
        request: &Document,
        attached: &Attached,
        is_clean: &dyn Fn(&str) -> bool,
        lists: &Lists,
    ) {
        let file = format!("{}{FILE}", request::path(&request.value(attached.part)));
        let result = &attached.result;
        let mut places = Places::new(&attached.text, is_clean);
        self.text_bytes += result.text_bytes;
        self.add_allowed(&result.allowed);
        for found in result.findings.chunk_by(|one, next| one.node == next.node) {
            let first = self.findings.len();
            self.add(&attached.list, found, lists);
            let position = attached.list.value(found[0].node).position();
            let Some(passage) = attached.text.passages.get(position) else {
                continue;
            };
            let spans = found.iter().map(|located| located.finding.span.clone());
            let positions = places.positions(passage, spans);
            let listed = Arc::make_mut(&mut self.findings)[first..].iter_mut();
            for (finding, position) in listed.zip(positions) {
                finding.path = SmolStr::from(format!("{file}{}", position.path));
                (finding.start, finding.end) = (position.start as u64, position.end as u64);
            }
        }
        self.settle();
    }

    fn add_allowed(&mut self, allowed: &[Allowed]) {
        for one in allowed.iter().filter(|one| !one.located.continues) {
            let kind = one.located.finding.kind;
            *self.allowed.entry(kind).or_default() += 1;
            *self.entries.entry(one.entry.clone()).or_default() += 1;
        }
    }

    /// Adds the findings of one text, which are in order.
    fn add(&mut self, document: &Document, found: &[LocatedFinding], lists: &Lists) {
        for located in found.iter().filter(|located| !located.continues) {
            *self.counts.entry(located.finding.kind).or_default() += 1;
        }
        let room = lists.length_max.saturating_sub(self.findings.len());
        let found = &found[..found.len().min(room)];
        let Some(first) = found.first() else {
            return;
        };
        let value = document.value(first.node);
        let text = match first.place {
            Place::Number => value.raw().into(),
            _ => value.text(),
        };
        let path = SmolStr::from(request::path(&value));
        let (findings, identifiers) = (
            Arc::make_mut(&mut self.findings),
            Arc::make_mut(&mut self.identifiers),
        );
        findings.reserve(found.len());
        let (mut points, is_ascii) = (CodePoints::new(&text), text.is_ascii());
        for LocatedFinding { finding, .. } in found {
            // In ASCII text, byte offsets are code points.
            let Range { start, end } = match is_ascii {
                true => finding.span.clone(),
                false => points.range(&finding.span),
            };
            let exact = text.get(finding.span.clone()).unwrap_or_default();
            findings.push(Finding {
                kind: Cow::Borrowed(finding.kind.code()),
                path: path.clone(),
                start: start as u64,
                end: end as u64,
                score: finding.rounded_score(),
                rule: Cow::Borrowed(finding.rule),
                action: None,
                by: None,
            });
            if !finding.hides.is_empty() {
                let hides = finding.hides.clone();
                self.hidden.push((findings.len() - 1, hides));
            }
            if lists.identifiers {
                let forms = identifier::stored_forms(finding.kind, exact).into_iter();
                let forms = forms.map(|form| (finding.kind, PhiText::new(form)));
                identifiers.extend(forms);
            }
        }
    }

    /// Reports the findings that a caller passes in; the gateway did not scan the text.
    pub(crate) fn given(
        scanner: &Scanner,
        path: &str,
        text_bytes: usize,
        given: impl Iterator<Item = (PhiKind, Range<usize>, f64)>,
    ) -> Self {
        let mut report = Self {
            text_bytes: text_bytes as u64,
            is_complete: true,
            ..Self::default()
        };
        let path = SmolStr::from(path);
        let findings = Arc::make_mut(&mut report.findings);
        for (kind, span, score) in given {
            *report.counts.entry(kind).or_default() += 1;
            if findings.len() < scanner.listed_max {
                findings.push(Finding {
                    kind: Cow::Borrowed(kind.code()),
                    path: path.clone(),
                    start: span.start as u64,
                    end: span.end as u64,
                    score,
                    rule: Cow::Borrowed(GIVEN),
                    action: None,
                    by: None,
                });
            }
        }
        report
    }

    /// The number of bytes of scanned text.
    pub fn text_bytes(&self) -> u64 {
        self.text_bytes
    }

    /// Whether PHI was found.
    pub fn has_phi(&self) -> bool {
        !self.counts.is_empty()
    }

    /// Whether PHI was found in the model's name, which picks the provider and cannot be replaced.
    pub fn has_phi_in_model(&self) -> bool {
        self.has_phi_in_model
    }

    /// Whether everything was scanned.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The keys that hold PHI, in order.
    pub fn withheld_keys(&self) -> &[NodeId] {
        &self.withheld_keys
    }

    /// The listed findings, in order of place.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The listed findings with their treatment by a policy.
    pub fn ruled(&self, policy: &Policy) -> Vec<Finding> {
        let mut findings = self.findings.to_vec();
        let mut hidden = self.hidden.iter().peekable();
        for (at, finding) in findings.iter_mut().enumerate() {
            let own = policy.of(&finding.kind);
            let hides = hidden.next_if(|(under, _)| *under == at);
            let hides = hides.iter().flat_map(|(_, kinds)| kinds.iter());
            let ruling = hides
                .map(|kind| policy.of(kind.code()))
                .fold(own, Ruling::or_stronger);
            finding.action = Some(ruling.mode());
            finding.by = Some(ruling.by.code());
        }
        findings
    }

    /// The kinds found, each once, in table order.
    pub fn kinds(&self) -> impl Iterator<Item = PhiKind> + '_ {
        self.counts.keys().copied()
    }

    /// The number of findings of each kind, in table order.
    pub fn counts(&self) -> impl Iterator<Item = (PhiKind, usize)> + '_ {
        self.counts.iter().map(|(kind, count)| (*kind, *count))
    }

    /// The number of allowed values of each kind, in table order.
    pub fn allowed(&self) -> impl Iterator<Item = (PhiKind, usize)> + '_ {
        self.allowed.iter().map(|(kind, count)| (*kind, *count))
    }

    /// The number of values that each entry of the allow list let through.
    pub fn allowed_by(&self) -> &BTreeMap<SmolStr, u64> {
        &self.entries
    }

    /// The parts that could not be scanned.
    pub fn unscannable(&self) -> &[Unscannable] {
        &self.unscannable
    }

    /// Forms of the listed values, for the keyed hashes of disclosure lookups.
    pub fn identifiers(&self) -> impl Iterator<Item = &(PhiKind, PhiText)> {
        self.identifiers.iter()
    }
}
