//! Facts about a request, gathered step by step for its records and headers.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, HeaderValue};
use jiff::Timestamp;
use phi_detect::{Detector, PhiKind};
use phigate_core::egress::Cleared;
use phigate_core::protect::{CleanRequest, Report, Scanned, Scanner};
use phigate_core::request::{self, Request};
use phigate_core::text::PhiText;
use phigate_store::{Identifier, ProviderTerms, SecretBytes, SecretString, Sizes};
use phigate_types::{Action, Finding, Policy, ProviderKind, Unscannable};
use serde_json::json;
use smol_str::SmolStr;

use crate::reply_plan::ReplyPlan;
use crate::route::Route;
use crate::telemetry::ListedModel;

const PHI_DETECTED: HeaderName = HeaderName::from_static("x-gateway-phi-detected");
const PHI_TYPES: HeaderName = HeaderName::from_static("x-gateway-phi-types");
const ACTION: HeaderName = HeaderName::from_static("x-gateway-action");
const PHI_COUNT: HeaderName = HeaderName::from_static("x-gateway-phi-count");
const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");
const PARAMS_ADJUSTED: HeaderName = HeaderName::from_static("x-gateway-params-adjusted");
const PARAMS_DROPPED: HeaderName = HeaderName::from_static("x-gateway-params-dropped");

/// Facts gathered so far. A refusal leaves the later fields empty.
#[derive(Debug, Default)]
pub(crate) struct RequestFacts {
    body_bytes: u64,
    model: Model,
    family: Option<ProviderKind>,
    provider: Option<String>,
    /// Terms in force with the provider's operator.
    terms: ProviderTerms,
    /// The policy for the provider; `None` before one was chosen.
    policy: Option<Policy>,
    /// Durations of the scan and of writing the records.
    scan: Duration,
    recording: Duration,
    /// End of the scan.
    scanned: Option<Instant>,
    /// Kind of the provider, and the model if its owner listed it there.
    served_by: Option<(ProviderKind, Option<ListedModel>)>,
    is_stream: bool,
    /// Report of the scan; `None` before the scan.
    report: Option<Report>,
    /// The body as received. Kept only of requests with PHI.
    original: Option<SecretBytes>,
    /// Kinds that showed only after translation.
    showed: Vec<PhiKind>,
    adjusted: Vec<String>,
    dropped: Vec<String>,
    /// The conversation whose tokens stand for values, and those tokens.
    conversation: Option<String>,
    tokens: Vec<String>,
}

/// The model asked for, as records may show it.
#[derive(Debug, Default, PartialEq, Eq)]
enum Model {
    /// Unchecked text that no provider family serves.
    #[default]
    Unknown,
    /// Identifier that no provider serves. Written to the record, never to the log.
    Unserved(String),
    Named(String),
    /// Name that holds PHI.
    Withheld,
}

impl RequestFacts {
    /// Facts for a body that has not been parsed.
    ///
    /// Boxed, like the record of a request: both are passed from step to step.
    pub(crate) fn of_body(body_bytes: usize) -> Box<Self> {
        let mut facts = Box::<Self>::default();
        facts.body_bytes = body_bytes as u64;
        facts
    }

    /// Notes that the body was read as a request of its door.
    pub(crate) fn set_read(&mut self, request: &Request) {
        self.is_stream = request.is_stream();
    }

    /// Notes the name of a model that is not served, because its caller needs to find the mistake. Texts that are not
    /// identifiers, or that hold PHI, are not kept.
    pub(crate) fn set_unserved(&mut self, asked: &str, scanner: &Scanner) {
        if is_identifier(asked) && !scanner.finds_in_model(asked) {
            self.model = Model::Unserved(asked.to_owned());
        }
    }

    /// Notes the route of the request. Only now is the model's name safe to record.
    pub(crate) fn set_route(&mut self, asked: &str, route: &Route<'_>) {
        if self.model == Model::Unknown {
            self.model = Model::Named(asked.to_owned());
        }
        self.family = Some(route.format.family());
        self.provider = Some(route.name.to_owned());
        let config = &route.provider.config;
        self.terms = config.terms(Timestamp::now());
        self.served_by = Some((config.kind, ListedModel::find(config, &route.model)));
    }

    /// Notes the policy for the provider that was chosen.
    pub(crate) fn set_policy(&mut self, policy: &Policy) {
        self.policy = Some(policy.clone());
    }

    /// The findings with their treatment, for the record: by the policy for the provider that was chosen, otherwise by
    /// this one.
    pub(crate) fn ruled(&self, otherwise: &Policy) -> Vec<Finding> {
        let policy = self.policy.as_ref().unwrap_or(otherwise);
        let report = self.report.as_ref();
        report.map_or_else(Vec::new, |report| report.ruled(policy))
    }

    /// Writing a record took this long.
    pub(crate) fn add_recording(&mut self, took: Duration) {
        self.recording += took;
    }

    /// Notes the result and duration of the scan.
    pub(crate) fn set_scanned(&mut self, scanned: &Scanned, took: Duration) {
        self.scan = took;
        self.scanned = Some(Instant::now());
        let report = scanned.report();
        if report.has_phi() {
            self.original = Some(SecretBytes::new(
                scanned.request().document().expose().as_bytes().to_vec(),
            ));
        }
        if report.has_phi_in_model() {
            self.model = Model::Withheld;
        }
        self.report = Some(report.clone());
    }

    /// Notes the result of a scan that was asked for by itself. Content is not kept, because it was not forwarded.
    pub(crate) fn set_report(&mut self, report: Report, took: Duration) {
        self.scan = took;
        self.scanned = Some(Instant::now());
        self.report = Some(report);
    }

    /// Notes the parameters that translation adjusted or dropped.
    pub(crate) fn set_cleared(&mut self, clean: &CleanRequest, cleared: &Cleared) {
        self.adjusted = clean.adjusted().to_vec();
        let adjusted = cleared.adjusted().iter();
        let adjusted = adjusted.filter(|name| !clean.adjusted().contains(name));
        self.adjusted.extend(adjusted.cloned());
        let dropped = cleared.dropped().iter();
        self.dropped = dropped.map(|name| spoken_name(clean, name)).collect();
    }

    /// Notes the conversation and tokens that mask the values.
    pub(crate) fn set_masked_with(&mut self, reply: &ReplyPlan) {
        self.conversation.clone_from(&reply.conversation);
        let names = reply.rules.issued.names();
        self.tokens = names.take(TOKENS_LISTED_MAX).map(str::to_owned).collect();
    }

    /// The conversation whose tokens stand for values.
    pub(crate) fn conversation(&self) -> Option<String> {
        self.conversation.clone()
    }

    /// PHI showed only in the provider's format.
    pub(crate) fn set_showed(&mut self, kinds: &[PhiKind], original: &[u8]) {
        self.showed = kinds.to_vec();
        if self.original.is_none() {
            self.original = Some(SecretBytes::from(original));
        }
    }

    /// The model asked for, as the record shows it.
    pub(crate) fn model(&self) -> Option<String> {
        match &self.model {
            Model::Unserved(name) => Some(name.clone()),
            _ => self.model_name().map(str::to_owned),
        }
    }

    /// The model asked for, as the log shows it.
    pub(crate) fn model_name(&self) -> Option<&str> {
        match &self.model {
            Model::Unknown | Model::Unserved(_) => None,
            Model::Named(name) => Some(name),
            Model::Withheld => Some(WITHHELD),
        }
    }

    /// The model that a fallback provider is asked for, as the record shows it.
    pub(crate) fn model_of(&self, model: &str) -> Option<String> {
        match self.model {
            Model::Withheld => Some(WITHHELD.to_owned()),
            _ => Some(model.to_owned()),
        }
    }

    /// Takes over the facts of a further attempt, because another provider may adjust or drop other parameters.
    pub(crate) fn follow(&mut self, other: Box<Self>) {
        self.family = other.family;
        self.served_by = other.served_by;
        self.provider = other.provider;
        self.terms = other.terms;
        self.adjusted = other.adjusted;
        self.dropped = other.dropped;
    }

    /// The family that serves the model.
    pub(crate) fn family(&self) -> Option<ProviderKind> {
        self.family
    }

    /// The kind of the provider that serves the model.
    pub(crate) fn provider_kind(&self) -> Option<ProviderKind> {
        self.served_by.as_ref().map(|(kind, _)| *kind)
    }

    /// The model, if an owner listed it at the provider and its name holds no PHI.
    pub(crate) fn listed_model(&self) -> Option<&ListedModel> {
        let (_, model) = self.served_by.as_ref()?;
        model.as_ref().filter(|_| self.model != Model::Withheld)
    }

    /// Start and end of the scan.
    pub(crate) fn scan_time(&self) -> Option<(Instant, Instant)> {
        let end = self.scanned?;
        Some((end.checked_sub(self.scan).unwrap_or(end), end))
    }

    /// The provider that serves the model.
    pub(crate) fn provider(&self) -> Option<&str> {
        self.provider.as_deref()
    }

    /// Terms in force with the provider's operator.
    pub(crate) fn terms(&self) -> ProviderTerms {
        self.terms.clone()
    }

    /// The size of the body as received.
    pub(crate) fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// Whether a stream was asked for.
    pub(crate) fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// The model that answered, as the provider names it. Records are not sealed: words that are not identifiers, hold
    /// PHI, or may repeat a withheld name are withheld too.
    pub(crate) fn served_model(&self, word: &str) -> String {
        static DETECTOR: LazyLock<Detector> = LazyLock::new(|| Detector::default().without_names());
        let is_plain = || self.model_name() == Some(word) || DETECTOR.scan(word).is_empty();
        if is_identifier(word) && self.model != Model::Withheld && is_plain() {
            word.to_owned()
        } else {
            WITHHELD.to_owned()
        }
    }

    /// The body as received, for the record of a request with PHI.
    pub(crate) fn take_original(&mut self) -> Option<SecretBytes> {
        self.original.take()
    }

    /// The bytes for the provider, for the record of a request with PHI. `None` if they equal the received body, which
    /// is kept already.
    pub(crate) fn sent(&self, action: Action, cleared: &Cleared) -> Option<SecretBytes> {
        let original = self.original.as_ref().map(SecretBytes::expose);
        let is_as_received = action == Action::FORWARDED && original == Some(cleared.body());
        (self.has_phi() && !is_as_received).then(|| SecretBytes::from(cleared.body()))
    }

    /// Sizes of the body as received and as sent.
    pub(crate) fn sizes(&self, cleared: Option<&Cleared>) -> Sizes {
        Sizes {
            body: self.body_bytes,
            text: self.report.as_ref().map_or(0, Report::text_bytes),
            sent: cleared.map(|cleared| cleared.body().len() as u64),
        }
    }

    /// Whether nothing was found and everything was scanned.
    pub(crate) fn is_clean(&self) -> bool {
        !self.has_phi() && self.unscannable().is_empty()
    }

    /// Number of findings per kind, by code.
    pub(crate) fn types(&self) -> BTreeMap<String, u32> {
        let counts = self.counts().into_iter();
        counts
            .map(|(kind, count)| (kind.code().into(), count as u32))
            .collect()
    }

    /// Number of allowed values per kind, by code.
    pub(crate) fn allowed(&self) -> BTreeMap<String, u32> {
        let counts = self.report.iter().flat_map(Report::allowed);
        counts
            .map(|(kind, count)| (kind.code().into(), count as u32))
            .collect()
    }

    /// Number of values that each entry of the allow list let through, if there were any.
    pub(crate) fn allowed_by(&self) -> Option<&BTreeMap<SmolStr, u64>> {
        let uses = self.report.as_ref().map(Report::allowed_by);
        uses.filter(|uses| !uses.is_empty())
    }

    /// Number of findings per kind, in table order.
    pub(crate) fn counts(&self) -> Vec<(PhiKind, usize)> {
        let mut counts: Vec<_> = self.report.iter().flat_map(Report::counts).collect();
        for kind in &self.showed {
            if let Err(at) = counts.binary_search_by_key(kind, |(kind, _)| *kind) {
                counts.insert(at, (*kind, 1));
            }
        }
        counts
    }

    /// Number of all findings.
    pub(crate) fn findings_count(&self) -> usize {
        let found = self.report.iter().flat_map(Report::counts);
        found
            .map(|(_, count)| count)
            .sum::<usize>()
            .max(self.showed.len())
    }

    /// The kinds of PHI found, in table order.
    pub(crate) fn kinds(&self) -> Vec<PhiKind> {
        self.counts().into_iter().map(|(kind, _)| kind).collect()
    }

    /// Whether PHI was found.
    pub(crate) fn has_phi(&self) -> bool {
        !self.showed.is_empty() || self.report.as_ref().is_some_and(Report::has_phi)
    }

    /// Writes the headers about findings, action, changes and durations.
    pub(crate) fn write_headers(
        &self,
        headers: &mut HeaderMap,
        action: Action,
        provider: Duration,
    ) {
        if self.report.is_some() {
            headers.insert(ACTION, HeaderValue::from_static(action.code()));
            headers.insert(PHI_COUNT, self.findings_count().into());
            if let Ok(timing) = HeaderValue::from_str(&self.timing(provider)) {
                headers.insert(SERVER_TIMING, timing);
            }
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

    /// The value of `Server-Timing`, in milliseconds.
    fn timing(&self, provider: Duration) -> String {
        let parts = [
            ("scan", self.scan),
            ("record", self.recording),
            ("provider", provider),
        ];
        let parts = parts.map(|(name, took)| format!("{name};dur={}", milliseconds(took)));
        parts.join(", ")
    }

    /// The findings as a refusal shows them to the caller: places and rules, never a value.
    pub(crate) fn told_findings(&self) -> serde_json::Value {
        let findings = self.findings().iter().take(TOLD_FINDINGS_MAX);
        let told = findings.map(|finding| {
            json!({
                "type": finding.kind,
                "path": finding.path.as_str(),
                "start": finding.start,
                "end": finding.end,
                "rule": finding.rule,
            })
        });
        told.collect()
    }

    /// The findings, for the record.
    pub(crate) fn findings(&self) -> &[Finding] {
        self.report.as_ref().map_or(&[], Report::findings)
    }

    /// Parts that could not be scanned, for the record.
    pub(crate) fn unscannable(&self) -> &[Unscannable] {
        self.report.as_ref().map_or(&[], Report::unscannable)
    }

    /// The values found, for the keyed hashes by which they can be looked up.
    pub(crate) fn identifiers(&self) -> Vec<Identifier> {
        let values = self.report.iter().flat_map(Report::identifiers);
        let identifier = |(kind, value): &(PhiKind, PhiText)| Identifier {
            kind: kind.code(),
            value: SecretString::from(value.expose()),
        };
        values.map(identifier).collect()
    }

    /// The tokens that stand for values, for the record.
    pub(crate) fn take_tokens(&mut self) -> Vec<String> {
        std::mem::take(&mut self.tokens)
    }
}

/// Whether a word is written like the name of a model.
fn is_identifier(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:/@".contains(&byte);
    (1..=256).contains(&word.len()) && word.bytes().all(is_plain)
}

/// Placeholder in records for a word that may hold PHI.
const WITHHELD: &str = "[withheld]";

/// A parameter's name as a header may show it. An unknown parameter may be called anything: one that holds PHI, or that
/// is not a plain word, is named by its position.
fn spoken_name(clean: &CleanRequest, name: &str) -> String {
    // The keys that hold PHI are those of the request as it came.
    let Some(value) = clean.received().root().get(name) else {
        return name.to_owned();
    };
    request::parameter_name(&value, clean.report().withheld_keys())
}

/// Findings that a refusal lists.
const TOLD_FINDINGS_MAX: usize = 20;

/// Milliseconds, to a tenth.
pub(crate) fn milliseconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 10_000.0).round() / 10.0
}

/// Tokens of one request by which it can be looked up: each is a row that must be written before the request leaves.
const TOKENS_LISTED_MAX: usize = 2_000;

/// Comma-separated names.
pub(crate) fn list(names: &[impl AsRef<str>]) -> HeaderValue {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    HeaderValue::from_str(&names.join(",")).unwrap_or_else(|_| HeaderValue::from_static(""))
}
