//! Documents inside a request: their findings, and the text that replaces a document with PHI.
//!
//! The passages of a document are the strings of a list, so they are scanned and rewritten like every other text, each
//! by itself: a label in a comment says nothing about a number in a list of styles.

use std::sync::Arc;

use phi_detect::PhiKind;
use phigate_types::{DocumentText, NoText, Policy};

use crate::json::{Bounds, Document, Json, NodeId};
use crate::request::{self, Form, ReadDocuments, Request};
use crate::text::PhiText;

use super::kept::Kept;
use super::located::{LocatedFinding, ScanResult, is_blocked};
use super::rewrite::{Rewriting, StandIns, Unsafe, rewrite_document};
use super::scan_document::scan_document;
use super::scanner::Scanner;
use super::values::values_of;

/// A document with its findings.
pub(super) struct Attached {
    /// The part of a message that is the document.
    pub(super) part: NodeId,
    /// Text of the document, with places.
    pub(super) text: Arc<DocumentText>,
    /// The form of the request, by which the passages are read as well.
    form: &'static dyn Form,
    /// Passages of the text, as a list of strings.
    pub(super) list: Document,
    /// Findings in the list.
    pub(super) result: ScanResult,
}

impl std::fmt::Debug for Attached {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let findings = self.result.findings.len();
        out.debug_struct("Attached")
            .field("part", &self.part)
            .field("findings", &findings)
            .finish_non_exhaustive()
    }
}

/// Scans the documents of a request. The second value says whether all of them were scanned completely.
pub(super) fn scan_attached(scanner: &Scanner, request: &Request) -> (Arc<Vec<Attached>>, bool) {
    let (mut all, mut is_complete) = (Vec::new(), true);
    for read in request.read_documents().iter() {
        let text = match &read.text {
            Ok(text) => text,
            Err(NoText::Unread(_)) => continue,
            Err(NoText::NoReader) => {
                is_complete = false;
                continue;
            }
        };
        let passages = text.passages.iter();
        let list = Json::List(passages.map(|one| Json::text(&*one.text)).collect());
        let Ok(list) = Document::parse(list.to_bytes(), Bounds::NONE) else {
            is_complete = false;
            continue;
        };
        let result = scan_document(scanner, request.form(), &list, &|_| false);
        is_complete &= result.is_complete;
        all.push(Attached {
            part: read.part(),
            form: request.form(),
            text: Arc::clone(text),
            list,
            result,
        });
    }
    (Arc::new(all), is_complete)
}

impl Attached {
    /// The findings, in order.
    pub(super) fn findings(&self) -> &[LocatedFinding] {
        &self.result.findings
    }

    /// Whether the policy blocks a finding.
    pub(super) fn is_blocked(&self, policy: &Policy) -> bool {
        is_blocked(policy, self.findings())
    }

    /// The values of the findings. They are PHI.
    pub(super) fn values(&self) -> impl Iterator<Item = (PhiKind, PhiText)> {
        let values = values_of(&self.list, self.findings()).into_iter();
        let kinds = self.findings().iter().map(|found| found.finding.kind);
        kinds.zip(values.map(PhiText::new))
    }

    /// Returns the changed text of the document, in its order. Text behind the document is left out where nothing in it
    /// was changed.
    fn rewritten(
        &self,
        scanner: &Scanner,
        kept: &Kept,
        stand_ins: &mut StandIns<'_, '_>,
    ) -> Result<String, Unsafe> {
        let rewriting = Rewriting {
            scanner,
            form: self.form,
            kept,
            is_read: &|_| false,
        };
        let list = rewrite_document(&rewriting, &self.list, self.findings(), stand_ins)?;
        let (before, after) = (self.list.root(), list.root());
        let passages = self.text.passages.iter();
        let pairs = passages.zip(before.values().zip(after.values()));
        let shown = pairs.filter(|(passage, (before, after))| {
            !passage.background || before.raw() != after.raw()
        });
        let texts: Vec<String> = shown
            .map(|(_, (_, after))| after.text().into_owned())
            .collect();
        Ok(texts.join("\n\n"))
    }
}

/// A request in which documents became text.
pub(super) struct WithTexts {
    pub(super) document: Document,
    /// The documents that are left.
    pub(super) read: ReadDocuments,
    /// Top-level parameters that were changed.
    pub(super) adjusted: Vec<String>,
}

/// Replaces the documents in which the policy changes a finding by their changed text. `None` if there are none.
pub(super) fn replace_attached(
    scanner: &Scanner,
    request: &Request,
    attached: &[Attached],
    kept: &Kept,
    stand_ins: &mut StandIns<'_, '_>,
) -> Result<Option<WithTexts>, Unsafe> {
    let (form, document) = (request.form(), request.document());
    let (mut edits, mut gone, mut adjusted) = (Vec::new(), Vec::new(), Vec::<String>::new());
    let changed = attached
        .iter()
        .filter(|one| !kept.changed(one.findings()).is_empty());
    for one in changed {
        let part = document.value(one.part);
        let path = || format!("{}{FILE}", request::path(&part));
        let text = one.rewritten(scanner, kept, stand_ins);
        let text = text.map_err(|error| error.at(path))?;
        let mut block = Json::object([
            ("type", Json::text(form.text_type())),
            ("text", Json::text(text)),
        ]);
        if let Some(mark) = part.get(CACHE_MARK) {
            block.insert(CACHE_MARK, Json::of(&mark));
        }
        edits.push((part.span(), block.to_json_text()));
        gone.push(one.part);
        let mut top = part;
        while let Some(above) = top.parent().filter(|above| above.parent().is_some()) {
            top = above;
        }
        let name = request::parameter_name(&top, &[]);
        if !adjusted.contains(&name) {
            adjusted.push(name);
        }
    }
    if gone.is_empty() {
        return Ok(None);
    }
    let body = document.splice(&edits).into_bytes();
    let document = Document::parse(body, Bounds::NONE).map_err(|_| Unsafe::Unfinished)?;
    let read = request.read_documents().without(&gone, form, &document);
    Ok(Some(WithTexts {
        document,
        read,
        adjusted,
    }))
}

/// Follows the path of a part that is a document, in the paths of findings.
pub(super) const FILE: &str = ".file";

/// Mark of a part up to which a provider may cache the request.
const CACHE_MARK: &str = "cache_control";
