//! What is known about a request, gathered step by step for its records and headers.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use phi_detect::PhiKind;
use phigate_core::chat::{self, ChatRequest};
use phigate_core::egress::Cleared;
use phigate_core::protect::{CleanRequest, Report, Scanned};
use phigate_store::{Identifier, SecretBytes, SecretString, Sizes, TOKEN_IDENTIFIER};
use phigate_types::{Action, Finding, Unscannable};

use super::reply_plan::ReplyPlan;

const PHI_DETECTED: HeaderName = HeaderName::from_static("x-gateway-phi-detected");
const PHI_TYPES: HeaderName = HeaderName::from_static("x-gateway-phi-types");
const PARAMS_ADJUSTED: HeaderName = HeaderName::from_static("x-gateway-params-adjusted");
const PARAMS_DROPPED: HeaderName = HeaderName::from_static("x-gateway-params-dropped");

/// What is known about a request so far. A refusal leaves the later fields empty.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    pub(super) sizes: Sizes,
    pub(super) model: Option<String>,
    pub(super) family: Option<&'static str>,
    pub(super) is_stream: bool,
    /// What the scan found; none when it was never reached.
    pub(super) report: Option<Report>,
    /// The action of a request that may leave, in the audit trail's words.
    pub(super) action: Option<Action>,
    /// The body as received. Kept only of requests with PHI.
    pub(super) original: Option<SecretBytes>,
    /// The bytes for the provider. Kept only of requests with PHI.
    pub(super) sent: Option<SecretBytes>,
    /// The conversation whose tokens stand for values, and those tokens.
    pub(super) conversation: Option<String>,
    tokens: Vec<String>,
    /// Kinds that showed only after translation.
    showed: Vec<PhiKind>,
    adjusted: Vec<String>,
    dropped: Vec<String>,
}

impl Evidence {
    /// A body of which nothing is known but its size.
    pub(super) fn of_body(body: &Bytes) -> Self {
        Self {
            sizes: Sizes {
                body: body.len() as u64,
                ..Sizes::default()
            },
            ..Self::default()
        }
    }

    /// It is a chat request.
    pub(super) fn read(&mut self, request: &ChatRequest) {
        self.is_stream = request.is_stream();
    }

    /// Its model is one of this family. The model is told only now: an unknown one may be any text.
    pub(super) fn routed(&mut self, model: &str, family: &'static str) {
        self.model = Some(model.to_owned());
        self.family = Some(family);
    }

    /// It was scanned.
    pub(super) fn scanned(&mut self, scanned: &Scanned) {
        let report = scanned.report();
        if report.has_phi() {
            self.original = Some(SecretBytes::new(
                scanned.request().document().expose().as_bytes().to_vec(),
            ));
        }
        if report.has_phi_in_model() {
            self.model = Some(WITHHELD.into());
        }
        self.sizes.text = report.text_bytes();
        self.report = Some(report.clone());
    }

    /// It may leave.
    pub(super) fn cleared(&mut self, clean: &CleanRequest, request: &Cleared) {
        let has_phi = clean.report().has_phi();
        self.action = Some(if has_phi {
            clean.mode().action
        } else {
            Action::FORWARDED
        });
        self.sizes.sent = Some(request.body().len() as u64);
        if has_phi {
            self.sent = Some(SecretBytes::from(request.body()));
        }
        self.adjusted = request.adjusted().to_vec();
        self.dropped = request
            .dropped()
            .iter()
            .map(|name| told(clean, name))
            .collect();
    }

    /// Its values were masked by tokens.
    pub(super) fn masked_with(&mut self, reply: &ReplyPlan) {
        self.conversation.clone_from(&reply.conversation);
        let tokens = reply.rules.issued.iter();
        let tokens = tokens.take(TOKENS_LISTED_MAX);
        self.tokens = tokens.map(|(token, _)| token).collect();
    }

    /// The model that answered, by the provider's word. Records are not sealed: what is no identifier, or may
    /// repeat what was withheld of the model asked for, is withheld too.
    pub(super) fn served_model(&self, word: &str) -> String {
        let is_identifier = (1..=256).contains(&word.len())
            && word
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._-:/@".contains(&byte));
        if is_identifier && self.model.as_deref() != Some(WITHHELD) {
            word.to_owned()
        } else {
            WITHHELD.to_owned()
        }
    }

    /// PHI showed only in the provider's format.
    pub(super) fn showed(&mut self, kinds: &[PhiKind], original: &[u8]) {
        self.showed = kinds.to_vec();
        if self.original.is_none() {
            self.original = Some(SecretBytes::from(original));
        }
    }

    /// How many findings there are of each kind.
    pub(super) fn counts(&self) -> BTreeMap<PhiKind, usize> {
        let mut counts: BTreeMap<PhiKind, usize> =
            self.report.iter().flat_map(Report::counts).collect();
        for kind in &self.showed {
            counts.entry(*kind).or_insert(1);
        }
        counts
    }

    /// The kinds of PHI found, in table order.
    pub(super) fn kinds(&self) -> Vec<PhiKind> {
        self.counts().into_keys().collect()
    }

    /// Whether PHI was found.
    pub(super) fn has_phi(&self) -> bool {
        !self.showed.is_empty() || self.report.as_ref().is_some_and(Report::has_phi)
    }

    /// The headers that tell the caller what was found and what was changed.
    pub(super) fn write_headers(&self, headers: &mut HeaderMap) {
        if self.report.is_some() {
            let codes: Vec<&str> = self.kinds().into_iter().map(PhiKind::code).collect();
            headers.insert(
                PHI_DETECTED,
                HeaderValue::from_static(if self.has_phi() { "true" } else { "false" }),
            );
            headers.insert(PHI_TYPES, list(&codes));
        }
        for (name, params) in [
            (PARAMS_ADJUSTED, &self.adjusted),
            (PARAMS_DROPPED, &self.dropped),
        ] {
            if !params.is_empty() {
                headers.insert(name, list(params));
            }
        }
    }

    /// The findings, for the record.
    pub(super) fn findings(&self) -> &[Finding] {
        self.report.as_ref().map_or(&[], Report::findings)
    }

    /// What could not be scanned, for the record.
    pub(super) fn unscannable(&self) -> &[Unscannable] {
        self.report.as_ref().map_or(&[], Report::unscannable)
    }

    /// The values found, and the tokens that stand for them, for the keyed hashes by which they can be looked up.
    pub(super) fn identifiers(&self) -> Vec<Identifier> {
        let identifier = |kind: &str, value: &str| Identifier {
            kind: kind.into(),
            value: SecretString::from(value),
        };
        let values = self.report.iter().flat_map(Report::identifiers);
        let values = values.map(|(kind, value)| identifier(kind.code(), value.expose()));
        let tokens = self.tokens.iter();
        let tokens =
            tokens.map(|token| identifier(TOKEN_IDENTIFIER, token.trim_matches(['[', ']'])));
        values.chain(tokens).collect()
    }
}

/// Stands in records for a word that may hold PHI.
const WITHHELD: &str = "[withheld]";

/// A parameter's name as a header may tell it. An unknown parameter may be called anything: one that holds PHI, or that
/// is no plain word, is told by its position.
fn told(clean: &CleanRequest, name: &str) -> String {
    let document = clean.request().document();
    let Some(value) = document.root().get(name) else {
        return name.to_owned();
    };
    chat::parameter_name(&value, clean.report().withheld_keys())
}

/// Tokens of one request by which it can be looked up: each is a row that must be written before the request leaves.
const TOKENS_LISTED_MAX: usize = 2_000;

/// Comma-separated names.
pub(super) fn list(names: &[impl AsRef<str>]) -> HeaderValue {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    HeaderValue::from_str(&names.join(",")).unwrap_or_else(|_| HeaderValue::from_static(""))
}
