//! Findings that stay as they are, because the policy forwards their kind unchanged or the account allows their value.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use phi_detect::PhiKind;
use phigate_types::Policy;

use crate::json::{Document, Value};
use crate::request::{self, Place, Request};
use crate::text::PhiText;

use super::located::{Allowed, LocatedFinding, ScanResult, ruling};

/// Words of a value of which every part is remembered. Longer values are remembered as a whole.
const WORDS_MAX: usize = 12;

/// Values that a policy forwards unchanged, and their parts.
///
/// Once a finding beside it is replaced, such a value may read as another kind: the telephone number after
/// "social security number is [SSN]". It was decided about already, and its characters leave anyway.
#[derive(Clone)]
pub(crate) struct Kept {
    policy: Policy,
    parts: HashSet<PhiText>,
    /// Base64 of documents that leave as they came, once their text was scanned.
    read: Arc<HashSet<String>>,
}

impl Kept {
    /// The findings of a document that stay as they are: by the policy, and the allowed ones.
    pub(super) fn new(
        policy: &Policy,
        document: &Document,
        findings: &[LocatedFinding],
        allowed: &[Allowed],
    ) -> Self {
        let mut kept = Self {
            policy: policy.clone(),
            parts: HashSet::new(),
            read: Arc::default(),
        };
        kept.extend(document, findings, allowed);
        kept
    }

    /// Adds the findings of another document that stay as they are.
    pub(super) fn extend(
        &mut self,
        document: &Document,
        findings: &[LocatedFinding],
        allowed: &[Allowed],
    ) {
        // A policy that changes nothing is not asked about what shows later.
        if self.policy.forwards_unscanned() {
            return;
        }
        let staying = findings
            .iter()
            .filter(|one| self.policy_keeps(one))
            .cloned();
        let staying: Vec<LocatedFinding> = staying.collect();
        let allowed: Vec<LocatedFinding> = allowed.iter().map(|one| one.located.clone()).collect();
        let texts_of = |found: &[LocatedFinding]| texts(document, found);
        for text in texts_of(&staying).into_iter().chain(texts_of(&allowed)) {
            self.add(&text);
        }
    }

    /// Remembers the documents that leave as they came. Translation writes their base64 elsewhere.
    pub(super) fn remember(&mut self, request: &Request) {
        if self.policy.forwards_unscanned() {
            return;
        }
        let document = request.document();
        let read = request.read_documents().iter();
        let read = read.filter(|one| one.text.is_ok());
        let base64 = read.filter_map(|one| {
            let text = document.value(one.payload()).text();
            request::base64_of(&text).map(str::to_owned)
        });
        self.read = Arc::new(base64.collect());
    }

    /// Whether a string is the base64 of a document that leaves as it came.
    pub(crate) fn is_read(&self, value: &Value<'_>) -> bool {
        !self.read.is_empty() && self.read.contains(&*value.text())
    }

    /// The policy.
    pub(super) fn policy(&self) -> &Policy {
        &self.policy
    }

    fn policy_keeps(&self, located: &LocatedFinding) -> bool {
        ruling(&self.policy, &located.finding)
            .mode()
            .forwards_unscanned()
    }

    fn add(&mut self, value: &str) {
        let words = words(value);
        if words.len() > WORDS_MAX {
            self.parts.insert(PhiText::new(core_of(value).to_owned()));
            return;
        }
        for (at, (start, _)) in words.iter().enumerate() {
            let parts = words[at..].iter().map(|(_, end)| &value[*start..*end]);
            let parts = parts.map(|part| PhiText::new(part.to_owned()));
            self.parts.extend(parts);
        }
    }

    /// The findings of the original that the policy changes or blocks.
    pub(super) fn changed<'f>(&self, findings: &'f [LocatedFinding]) -> Cow<'f, [LocatedFinding]> {
        match findings.iter().any(|one| self.policy_keeps(one)) {
            true => {
                let changed = findings.iter().filter(|one| !self.policy_keeps(one));
                changed.cloned().collect()
            }
            false => Cow::Borrowed(findings),
        }
    }

    /// The findings of a changed document that may not stay as they are.
    pub(crate) fn others<'f>(
        &self,
        document: &Document,
        findings: &'f [LocatedFinding],
    ) -> Cow<'f, [LocatedFinding]> {
        if self.parts.is_empty() && !findings.iter().any(|one| self.policy_keeps(one)) {
            return Cow::Borrowed(findings);
        }
        let is_kept = |text: String| self.parts.contains(&PhiText::new(text));
        let texts = texts(document, findings).into_iter();
        let judged = findings.iter().zip(texts);
        let others = judged
            .filter(|(one, text)| !self.policy_keeps(one) && !is_kept(core_of(text).to_owned()));
        others.map(|(one, _)| one.clone()).collect()
    }
}

impl ScanResult {
    /// The kinds of the findings that may not leave, each once, in table order.
    pub(crate) fn kinds_beside(&self, kept: &Kept, document: &Document) -> Vec<PhiKind> {
        let others = kept.others(document, &self.findings);
        let mut kinds: Vec<PhiKind> = others.iter().map(|one| one.finding.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }
}

/// The text of each finding, in order. Each node is decoded once.
fn texts(document: &Document, findings: &[LocatedFinding]) -> Vec<String> {
    let mut texts = Vec::with_capacity(findings.len());
    for of_one_text in findings.chunk_by(|one, next| one.node == next.node) {
        let value = document.value(of_one_text[0].node);
        let text = match of_one_text[0].place {
            Place::Number => Cow::Borrowed(value.raw()),
            _ => value.text(),
        };
        let parts = of_one_text.iter().map(|one| {
            let part = text.get(one.finding.span.clone());
            part.unwrap_or_default().to_owned()
        });
        texts.extend(parts);
    }
    texts
}

/// The ranges of letters and digits in a value.
fn words(value: &str) -> Vec<(usize, usize)> {
    let mut words: Vec<(usize, usize)> = Vec::new();
    for (at, letter) in value.char_indices() {
        let end = at + letter.len_utf8();
        match words.last_mut() {
            _ if !letter.is_alphanumeric() => {}
            Some(last) if last.1 == at => last.1 = end,
            _ => words.push((at, end)),
        }
    }
    words
}

/// A value without signs and spaces around it.
fn core_of(value: &str) -> &str {
    value.trim_matches(|letter: char| !letter.is_alphanumeric())
}
