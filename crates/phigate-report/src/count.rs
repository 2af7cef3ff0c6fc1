//! Counting requests from their records. Figures are those of the counters; receivers come from the records.

use std::collections::{BTreeMap, BTreeSet};

use phigate_gateway::Kinds;
use phigate_store::{Filter, Record, RequestRow, Stats, Trail};
use phigate_types::Action;
use serde_json::Value;

use crate::document::{Column, Document, Section};
use crate::{Order, ReportError, Sources};

/// Requests per query.
const PAGE: usize = 1_000;

/// A provider that received a request, and what it received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Receiver {
    pub(crate) provider: String,
    /// Whether PHI was in the request as this provider received it.
    pub(crate) has_phi: bool,
}

/// Requests of one provider or of one day.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Group {
    pub(crate) requests: u64,
    pub(crate) with_phi: u64,
    pub(crate) phi_as_it_was: u64,
}

impl Group {
    fn add(&mut self, has_phi: bool, is_as_it_was: bool) {
        self.requests += 1;
        self.with_phi += u64::from(has_phi);
        self.phi_as_it_was += u64::from(is_as_it_was);
    }
}

/// Counts of requests.
#[derive(Default)]
pub(crate) struct Counted {
    pub(crate) stats: Stats,
    pub(crate) by_provider: BTreeMap<String, Group>,
    pub(crate) by_day: BTreeMap<String, Group>,
    /// Requests with PHI of which a provider received the content unchanged.
    pub(crate) phi_as_it_was: u64,
    open: u64,
    not_scanned: u64,
    unread: u64,
    detectors: BTreeSet<String>,
}

/// Reads the requests that a filter chooses, newest first, counts them and shows each to `each`.
pub(crate) async fn count(
    trail: &Trail,
    account: &str,
    filter: &Filter,
    mut each: impl FnMut(&RequestRow, &[Receiver]),
) -> Result<Counted, ReportError> {
    let (mut counted, mut cursor) = (Counted::default(), None);
    loop {
        let page = trail.request_list(account, filter, cursor, PAGE).await?;
        for row in &page.items {
            let receivers = receivers(trail, account, row).await?;
            counted.take(row, &receivers);
            each(row, &receivers);
        }
        cursor = page.next;
        if cursor.is_none() {
            return Ok(counted);
        }
    }
}

/// The providers that received a request. The decision is about the first; each further attempt has its own record.
async fn receivers(
    trail: &Trail,
    account: &str,
    row: &RequestRow,
) -> Result<Vec<Receiver>, ReportError> {
    let decision = &row.decision;
    let named = decision.provider.clone();
    let named = named.or_else(|| decision.family.map(|family| family.code().to_owned()));
    let first = named.filter(|_| decision.sizes.sent.is_some());
    let is_left = !decision.kinds_left().is_empty();
    let mut receivers: Vec<Receiver> = first
        .map(|provider| Receiver {
            provider,
            has_phi: is_left,
        })
        .into_iter()
        .collect();
    let was_repeated = match &row.outcome {
        Some(outcome) => outcome.attempts.len() > 1,
        // The request is under way: its attempts are known by their records alone.
        None => !receivers.is_empty(),
    };
    if was_repeated {
        for record in trail.audit_show(account, decision.request_id).await? {
            if let Record::Attempt(attempt) = record {
                let is_same = attempt.action == decision.action;
                let is_forwarded = attempt.action == Action::FORWARDED;
                receivers.push(Receiver {
                    provider: attempt.provider,
                    has_phi: decision.phi_detected && (is_forwarded || (is_same && is_left)),
                });
            }
        }
    }
    Ok(receivers)
}

impl Counted {
    fn take(&mut self, row: &RequestRow, receivers: &[Receiver]) {
        let decision = &row.decision;
        let has_phi = decision.phi_detected;
        self.stats.take(row);
        let is_out = receivers.iter().any(|receiver| receiver.has_phi);
        self.phi_as_it_was += u64::from(is_out);
        let mut seen = BTreeSet::new();
        for receiver in receivers {
            if seen.insert(&receiver.provider) {
                let of_it = |other: &&Receiver| other.provider == receiver.provider;
                let is_out = receivers.iter().filter(of_it).any(|one| one.has_phi);
                let group = self.by_provider.entry(receiver.provider.clone());
                group.or_default().add(has_phi, is_out);
            }
        }
        let day = decision.time.strftime("%Y-%m-%d").to_string();
        self.by_day.entry(day).or_default().add(has_phi, is_out);
        self.open += u64::from(row.outcome.is_none());
        self.not_scanned += u64::from(!decision.was_scanned());
        self.unread += u64::from(!decision.unscannable.is_empty() && !receivers.is_empty());
        self.detectors.insert(decision.detector_version.clone());
    }

    /// Writes the figures and tables that every report about requests has.
    pub(crate) async fn write(
        &self,
        document: &mut Document,
        sources: &Sources,
        order: &Order<'_>,
    ) -> Result<(), ReportError> {
        self.limits(document);
        let stats = &self.stats;
        document.fact("requests", "Requests", stats.requests);
        document.fact("with_phi", "With PHI", stats.with_phi);
        let label = "With PHI, sent as it was";
        document.fact("phi_as_it_was", label, self.phi_as_it_was);
        document.fact("tokens", "Tokens", stats.tokens);
        document.sections.push(self.actions());
        document.sections.push(self.types(sources, order).await?);
        let label = Column("provider", "Provider");
        let title = "Received by provider";
        let empty = "No provider received a request.";
        let groups = groups("by_provider", title, empty, label, &self.by_provider);
        document.sections.push(groups);
        document.sections.push(self.keys(sources, order).await?);
        Ok(())
    }

    /// Adds what the records say about the limits of the answer.
    fn limits(&self, document: &mut Document) {
        let limits = &mut document.complete;
        if self.unread > 0 {
            limits.push(format!(
                "{} requests went out with parts that could not be scanned, such as images.",
                self.unread
            ));
        }
        if self.not_scanned > 0 {
            limits.push(format!(
                "{} requests were refused before they were scanned; nothing of them was sent.",
                self.not_scanned
            ));
        }
        if self.open > 0 {
            limits.push(format!(
                "{} requests have no outcome yet: they were under way.",
                self.open
            ));
        }
        let versions: Vec<&str> = self.detectors.iter().map(String::as_str).collect();
        if !versions.is_empty() {
            limits.push(format!("Detector: {}.", versions.join(", ")));
        }
    }

    fn actions(&self) -> Section {
        let columns = [Column("action", "Action"), Column("requests", "Requests")];
        let title = "Requests by action";
        let mut section = Section::map("actions", title, "No request.", &columns);
        for (action, count) in &self.stats.by_action {
            section.row(None, vec![action.as_str().into(), (*count).into()]);
        }
        section
    }

    /// Requests by kind of PHI, in the order of the table of kinds.
    async fn types(&self, sources: &Sources, order: &Order<'_>) -> Result<Section, ReportError> {
        let account = sources.accounts.account(&order.account.id).await?;
        let kinds = Kinds::of(&account.recognizers);
        let columns = [
            Column("type", "Kind of PHI"),
            Column("requests", "Requests that held it"),
        ];
        let title = "Requests by kind of PHI";
        let mut section = Section::map("types", title, "PHI was not found.", &columns);
        let mut left = self.stats.by_type.clone();
        for (kind, label) in kinds.all() {
            if let Some(count) = left.remove(kind.code()) {
                let words = format!("{label} ({})", kind.code());
                section.row(Some(words), vec![kind.code().into(), count.into()]);
            }
        }
        for (code, count) in left {
            section.row(None, vec![code.into(), count.into()]);
        }
        Ok(section)
    }

    async fn keys(&self, sources: &Sources, order: &Order<'_>) -> Result<Section, ReportError> {
        let known = sources.access.api_keys(&order.account.id).await?;
        let columns = [
            Column("key", "API key"),
            Column("requests", "Requests"),
            Column("with_phi", "With PHI"),
            Column("tokens", "Tokens"),
        ];
        let title = "Requests by API key";
        let mut section = Section::map("by_key", title, "No request.", &columns);
        for (id, used) in &self.stats.by_key {
            let named = known.iter().find(|key| key.id == *id);
            let named = named.filter(|key| !key.name.is_empty());
            let words = named.map(|key| format!("{} ({id})", key.name));
            let numbers = [used.requests, used.with_phi, used.tokens].map(Value::from);
            let cells = [Value::from(id.as_str())].into_iter().chain(numbers);
            section.row(words, cells.collect());
        }
        Ok(section)
    }
}

/// A table of groups.
pub(crate) fn groups(
    name: &'static str,
    title: &'static str,
    empty: &'static str,
    first: Column,
    groups: &BTreeMap<String, Group>,
) -> Section {
    let columns = [
        first,
        Column("requests", "Requests"),
        Column("with_phi", "With PHI"),
        Column("phi_as_it_was", "PHI sent as it was"),
    ];
    let mut section = Section::map(name, title, empty, &columns);
    for (name, group) in groups {
        let numbers = [group.requests, group.with_phi, group.phi_as_it_was].map(Value::from);
        let cells = [Value::from(name.as_str())].into_iter().chain(numbers);
        section.row(None, cells.collect());
    }
    section
}
