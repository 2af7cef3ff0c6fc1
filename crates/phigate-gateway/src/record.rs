//! The first record of a request: the decision, before anything leaves.
//!
//! The records are states by value. [`RequestRecord`] has written nothing. Recording the decision
//! consumes it and gives [`Written`], the proof without which nothing is sent, and [`OutcomeDue`],
//! which recording the outcome consumes.

use std::sync::Arc;
use std::time::Instant;

use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use phigate_core::doors::Door;
use phigate_core::egress::Cleared;
use phigate_store::{Admission, Attempt, Decision, NewAttempt, NewDecision};
use phigate_types::{Action, ErrorCode, Replies};
use uuid::Uuid;

use crate::error::GatewayError;
use crate::facts::RequestFacts;
use crate::gateway::Gateway;
use crate::key_limits::KeyPermit;
use crate::outcome::{Ended, OutcomeDue};
use crate::pipeline::Forward;
use crate::stages::Stages;

/// What both records say about where a request comes from. Nothing is written yet.
pub(crate) struct RequestRecord {
    pub(crate) gateway: Arc<Gateway>,
    /// The door at which it arrived; none where nothing is forwarded.
    pub(crate) door: Option<&'static Door>,
    pub(crate) admission: Admission,
    pub(crate) request_id: Uuid,
    pub(crate) received: Instant,
    /// The key's place among its concurrent requests, given back with the last record.
    pub(crate) permit: KeyPermit,
    /// Where a request from the dashboard leaves what was sent and answered.
    pub(crate) stages: Option<Arc<Stages>>,
}

/// Proof that a decision was recorded. Nothing but writing one makes it, and sending consumes it.
///
/// ```compile_fail
/// // There is no other way to it.
/// let proof = phigate_gateway::Written { durability: phigate_gateway::Durability::Durable };
/// ```
#[derive(Debug)]
pub struct Written {
    durability: Durability,
}

/// How safe a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It is on disk.
    Durable,
    /// It is queued and written a moment later: a clean request in flag mode, about which nothing needs proof.
    Queued,
}

impl RequestRecord {
    /// Records that a request may leave. When this returns, the record is on disk, or queued where that is enough.
    pub(crate) async fn forward(
        self,
        mut facts: RequestFacts,
        forward: &Forward,
    ) -> Result<(Written, OutcomeDue), Response> {
        let durability = self.durability(&facts);
        let action = forward.action;
        let decision = self.decision(&mut facts, action, Some(&forward.cleared), None);
        if let Err(error) = self.write(decision, &facts, durability).await {
            return Err(with_headers(error.into_response(), &facts));
        }
        self.gateway.metrics.added(self.received.elapsed());
        if forward.exchange.reply.replies != Replies::Off {
            // A caller who leaves in the middle of a stream leaves no time for it. Not having it costs the sealed
            // reply, not the record.
            let account = &self.admission.account.id;
            let prepared = self.gateway.vault.trail.prepare_to_seal(account).await;
            prepared.ok();
        }
        let mut outcome = OutcomeDue::new(self, facts, action);
        outcome.begin(forward);
        Ok((Written { durability }, outcome))
    }

    /// Records that texts were scanned for whoever sent them, and gives the answer its headers. An answer that cannot be
    /// recorded is not given.
    pub(crate) async fn scanned(self, mut facts: RequestFacts, mut response: Response) -> Response {
        let action = Action::SCANNED;
        let durability = self.durability(&facts);
        let decision = self.decision(&mut facts, action, None, None);
        if let Err(error) = self.write(decision, &facts, durability).await {
            return with_headers(error.into_response(), &facts);
        }
        self.gateway.metrics.added(self.received.elapsed());
        // Nothing happens between the two records that a crash could leave unknown.
        let outcome = OutcomeDue::new(self, facts, action);
        outcome.write_headers(&mut response);
        let ended = Ended {
            status: response.status(),
            summary: None,
            error: None,
        };
        outcome.close(ended).await;
        response
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
                family: Some(forward.exchange.format.id().to_owned()),
                provider: forward.provider.clone(),
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
            tracing::error!(request.id = %id, "attempt {number} of request {id} not recorded: {error}");
            GatewayError::AuditUnavailable
        })?;
        Ok(Written {
            durability: Durability::Durable,
        })
    }

    /// Records that a request was refused, and writes the answer. A refusal that cannot be recorded is a 503.
    pub(crate) async fn refuse(self, mut facts: RequestFacts, error: GatewayError) -> Response {
        let action = match error {
            GatewayError::Blocked(_) => Action::BLOCKED,
            _ => Action::REFUSED,
        };
        let durability = if facts.has_phi() {
            Durability::Durable
        } else {
            Durability::Queued
        };
        let decision = self.decision(&mut facts, action, None, Some(error.code()));
        if let Err(error) = self.write(decision, &facts, durability).await {
            return with_headers(error.into_response(), &facts);
        }
        let outcome = OutcomeDue::new(self, facts, action);
        outcome.fail(error).await
    }

    /// The decision about a clean request in flag mode may be written a moment later.
    fn durability(&self, facts: &RequestFacts) -> Durability {
        if facts.is_clean() && self.admission.account.mode.forwards_unscanned() {
            Durability::Queued
        } else {
            Durability::Durable
        }
    }

    async fn write(
        &self,
        decision: NewDecision,
        facts: &RequestFacts,
        durability: Durability,
    ) -> Result<(), GatewayError> {
        let (trail, metrics) = (&self.gateway.vault.trail, &self.gateway.metrics);
        let deadline = self.gateway.record_deadline();
        let started = Instant::now();
        let written = match durability {
            Durability::Durable => trail.record_decision(decision, deadline).await,
            Durability::Queued => trail.record_decision_lazily(decision, deadline).await,
        };
        metrics.recorded(started.elapsed());
        written.map_err(|error| {
            let id = self.request_id;
            metrics.record_failed();
            tracing::error!(request.id = %id, "decision of request {id} not recorded: {error}");
            GatewayError::AuditUnavailable
        })?;
        for (kind, count) in facts.counts() {
            metrics.found(kind.code(), count as u64);
        }
        Ok(())
    }

    fn decision(
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
            decision: Decision {
                request_id: self.request_id,
                time: Timestamp::now(),
                account: account.name.clone(),
                key_id: self.admission.key_id.clone(),
                mode: account.mode,
                action,
                door: self.door.map(|door| door.id().to_owned()),
                model: facts.model(),
                family: facts.family().map(Into::into),
                provider: facts.provider().map(Into::into),
                stream: facts.is_stream(),
                phi_detected: !types.is_empty(),
                types,
                findings: facts.findings().to_vec(),
                unscannable: facts.unscannable().to_vec(),
                sizes: facts.sizes(cleared),
                detector_version: phi_detect::VERSION.into(),
                conversation: facts.conversation(),
                error_code: error.map(|code| code.code().into()),
                sealed: None,
            },
        }
    }
}

impl Written {
    /// How safe the record is.
    pub fn durability(&self) -> Durability {
        self.durability
    }
}

fn with_headers(mut response: Response, facts: &RequestFacts) -> Response {
    facts.write_headers(response.headers_mut());
    response
}
