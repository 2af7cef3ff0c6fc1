//! Records of a request, and the rule that they are written before anything leaves.

use std::sync::Arc;
use std::time::Instant;

use http::StatusCode;
use jiff::Timestamp;
use phigate_core::doors::Door;
use phigate_core::egress::Cleared;
use phigate_store::{
    Admission, Attempt, Decision, Durability, NewAttempt, NewDecision, Outcome, Written,
};
use phigate_types::{Action, ErrorCode, Mode};
use uuid::Uuid;

use crate::error::GatewayError;
use crate::facts::RequestFacts;
use crate::forward::Forward;
use crate::gateway::Gateway;
use crate::key_limits::KeyPermit;
use crate::stages::Stages;
use crate::telemetry::{Attribute, Operation, SpanName, Trace};

/// Fields that the records of a request share: its origin and account. Nothing is written yet.
pub(crate) struct RequestRecord {
    pub(crate) gateway: Arc<Gateway>,
    /// Door of the request; `None` if it is not to be forwarded.
    pub(crate) door: Option<&'static Door>,
    pub(crate) admission: Admission,
    pub(crate) request_id: Uuid,
    pub(crate) received: Instant,
    /// The key's place among its concurrent requests, given back with the last record.
    pub(crate) permit: KeyPermit,
    /// Store of the request and reply that the dashboard shows.
    pub(crate) stages: Option<Arc<Stages>>,
    /// Spans of the request, if it is traced.
    pub(crate) trace: Option<Box<Trace>>,
}

impl RequestRecord {
    /// Adds the treatment that the request demands of itself.
    pub(crate) fn tightened(mut self: Box<Self>, demanded: Option<Mode>) -> Box<Self> {
        let policy = &mut self.admission.policy;
        *policy = policy.clone().on_request(demanded);
        self
    }

    /// Records that a request leaves for another provider. When this returns, the record is on disk.
    pub(crate) async fn attempt(
        &self,
        facts: &RequestFacts,
        number: u32,
        forward: &Forward,
    ) -> Result<Written, GatewayError> {
        let (account, gateway) = (&self.admission.account, &self.gateway);
        let attempt = NewAttempt {
            account_id: account.id.clone(),
            sent: facts.sent(forward.action, &forward.cleared),
            attempt: Attempt {
                request_id: self.request_id,
                time: Timestamp::now(),
                account: account.name.clone(),
                key_id: self.admission.key_id.clone(),
                number,
                action: forward.action,
                model: facts.model_of(&forward.model),
                family: Some(forward.exchange.format.family()),
                provider: forward.provider.clone(),
                terms: forward.terms.clone(),
                sizes: facts.sizes(Some(&forward.cleared)),
                sealed: None,
            },
        };
        let written = gateway
            .vault
            .trail
            .record_attempt(attempt, gateway.record_deadline());
        written.await.map_err(|error| {
            let id = self.request_id;
            gateway.metrics.record_failed();
            gateway.note_unrecorded(&self.admission.account.id);
            tracing::error!(request.id = %id, "attempt {number} of request {id} not recorded: {error}");
            GatewayError::AuditUnavailable
        })
    }

    /// Writes a decision.
    pub(crate) async fn write(
        &self,
        decision: NewDecision,
        facts: &RequestFacts,
        durability: Durability,
    ) -> Result<Written, GatewayError> {
        let (trail, deadline) = (&self.gateway.vault.trail, self.gateway.record_deadline());
        let started = Instant::now();
        let written = match durability {
            Durability::Durable => trail.record_decision(decision, deadline).await,
            Durability::Queued => trail.record_decision_lazily(decision, deadline).await,
        };
        self.noted(facts, started, written)
    }

    /// Writes a decision together with its outcome, if nothing happens in between.
    pub(crate) async fn write_ended(
        &self,
        decision: NewDecision,
        outcome: &Outcome,
        facts: &RequestFacts,
        durability: Durability,
    ) -> Result<(), GatewayError> {
        let (trail, deadline) = (&self.gateway.vault.trail, self.gateway.record_deadline());
        let started = Instant::now();
        let written = trail.record_ended(decision, outcome, durability, deadline);
        let written = written.await;
        self.noted(facts, started, written)
    }

    /// Counts a decision, and how long writing it took.
    fn noted<T>(
        &self,
        facts: &RequestFacts,
        started: Instant,
        written: phigate_store::Result<T>,
    ) -> Result<T, GatewayError> {
        let metrics = &self.gateway.metrics;
        metrics.recorded(started.elapsed());
        let written = written.map_err(|error| {
            let id = self.request_id;
            metrics.record_failed();
            metrics.refused(ErrorCode::AuditUnavailable);
            self.gateway.note_unrecorded(&self.admission.account.id);
            tracing::error!(request.id = %id, "decision of request {id} not recorded: {error}");
            GatewayError::AuditUnavailable
        })?;
        for (kind, count) in facts.counts() {
            metrics.found(kind.code(), count as u64);
        }
        if let Some(uses) = facts.allowed_by() {
            let allow_lists = &self.gateway.vault.allow_lists;
            allow_lists.note_uses(&self.admission.account.id, uses);
        }
        Ok(written)
    }

    /// Notes that writing a record began then and has ended.
    pub(crate) fn recording(&mut self, facts: &mut RequestFacts, started: Instant) {
        let ended = Instant::now();
        facts.add_recording(ended.saturating_duration_since(started));
        if let Some(trace) = &mut self.trace {
            trace.add(SpanName::Record, (started, ended), Vec::new());
        }
    }

    /// Ends the trace of the request, if it is traced.
    pub(crate) fn end_trace(
        &mut self,
        facts: &RequestFacts,
        action: Action,
        status: StatusCode,
        error: Option<ErrorCode>,
    ) {
        let Some(mut trace) = self.trace.take() else {
            return;
        };
        if let Some(scan) = facts.scan_time() {
            let findings = Attribute::findings(facts.findings_count());
            trace.add(SpanName::Scan, scan, vec![findings]);
        }
        let mut attributes = vec![
            Attribute::request_id(self.request_id),
            Attribute::status(status),
            Attribute::mode(self.admission.account.mode),
            Attribute::action(action),
            Attribute::findings(facts.findings_count()),
        ];
        if let Some(door) = self.door {
            attributes.push(Attribute::route(door));
            attributes.push(Attribute::operation(Operation::at(door)));
        }
        attributes.extend(facts.listed_model().map(Attribute::model));
        attributes.extend(error.map(Attribute::error));
        trace.end(status.is_server_error(), attributes);
    }

    /// The decision as it is written.
    pub(crate) fn decision(
        &self,
        facts: &mut RequestFacts,
        action: Action,
        cleared: Option<&Cleared>,
        error: Option<ErrorCode>,
    ) -> NewDecision {
        let account = &self.admission.account;
        let types = facts.types();
        NewDecision {
            account_id: account.id.clone(),
            sent: cleared.and_then(|cleared| facts.sent(action, cleared)),
            original: facts.take_original(),
            identifiers: facts.identifiers(),
            tokens: facts.take_tokens(),
            decision: Decision {
                request_id: self.request_id,
                time: Timestamp::now(),
                account: account.name.clone(),
                key_id: self.admission.key_id.clone(),
                subject: self.admission.subject.clone(),
                mode: account.mode,
                action,
                door: self.door.map(|door| door.id().to_owned()),
                model: facts.model(),
                family: facts.family(),
                provider: facts.provider().map(Into::into),
                terms: facts.terms(),
                stream: facts.is_stream(),
                phi_detected: !types.is_empty(),
                types,
                allowed: facts.allowed(),
                findings: facts.ruled(&self.admission.policy),
                unscannable: facts.unscannable().to_vec(),
                sizes: facts.sizes(cleared),
                detector_version: phi_detect::VERSION.into(),
                policy: self
                    .admission
                    .policy
                    .levels()
                    .name
                    .as_deref()
                    .map(Into::into),
                conversation: facts.conversation(),
                error_code: error,
                sealed: None,
            },
        }
    }
}
