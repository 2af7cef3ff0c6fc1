//! The two records of a request, as states by value: none yet, the decision, both.
//!
//! [`RequestRecord`] has written nothing. Recording the decision consumes it and gives
//! [`Written`], the proof without which nothing is sent, and [`OutcomeDue`]. That is consumed by
//! recording the outcome; dropped before, it records that the caller left: a caller who hangs up
//! does not take the record along.

use std::sync::Arc;
use std::time::Instant;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use jiff::Timestamp;
use phigate_core::egress::Cleared;
use phigate_core::wire::ReplySummary;
use phigate_edge::EdgeError;
use phigate_store::{Admission, Decision, NewDecision, Outcome, Usage};
use phigate_types::{Action, ErrorCode};
use uuid::Uuid;

use crate::error::GatewayError;
use crate::facts::RequestFacts;
use crate::gateway::Gateway;
use crate::key_limits::KeyPermit;
use crate::metrics::Answered;

/// What both records say about where a request comes from. Nothing is written yet.
pub(crate) struct RequestRecord {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) admission: Admission,
    pub(crate) request_id: Uuid,
    pub(crate) received: Instant,
    /// The key's place among its concurrent requests, given back with the last record.
    pub(crate) permit: KeyPermit,
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

/// A request whose decision is recorded and whose outcome is not.
pub(crate) struct OutcomeDue(Option<Due>);

/// What the outcome needs to know.
struct Due {
    record: RequestRecord,
    facts: RequestFacts,
    action: Action,
    /// How the outcome is written.
    durability: Durability,
    /// When the provider's turn began.
    sent: Instant,
    provider: Option<ProviderAnswer>,
}

#[derive(Debug, Clone, Copy)]
struct ProviderAnswer {
    status: StatusCode,
    first_byte_ms: u64,
}

/// How a request ended.
pub(crate) struct Ended<'a> {
    pub(crate) status: StatusCode,
    pub(crate) summary: Option<&'a ReplySummary>,
    pub(crate) error: Option<ErrorCode>,
}

impl RequestRecord {
    /// Records that a request may leave. When this returns, the record is on disk, or queued where that is enough.
    pub(crate) async fn forward(
        self,
        mut facts: RequestFacts,
        action: Action,
        cleared: &Cleared,
    ) -> Result<(Written, OutcomeDue), Response> {
        let durability = self.durability_of_outcome(&facts);
        let decision = self.decision(&mut facts, action, Some(cleared), None);
        if let Err(error) = self.write(decision, &facts, durability).await {
            return Err(with_headers(error.into_response(), &facts));
        }
        self.gateway.metrics.added(self.received.elapsed());
        Ok((Written { durability }, self.due(facts, action, durability)))
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
        let durability = self.durability_of_outcome(&facts);
        self.due(facts, action, durability).fail(error).await
    }

    /// The outcome of a clean request in flag mode may be written a moment later, and its decision too.
    fn durability_of_outcome(&self, facts: &RequestFacts) -> Durability {
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
            original: facts.take_original(),
            sent: cleared.and_then(|cleared| facts.sent(cleared)),
            identifiers: facts.identifiers(),
            decision: Decision {
                request_id: self.request_id,
                time: Timestamp::now(),
                account: account.name.clone(),
                key_id: self.admission.key_id.clone(),
                mode: account.mode,
                action,
                model: facts.model(),
                family: facts.family().map(Into::into),
                stream: facts.is_stream(),
                phi_detected: !types.is_empty(),
                types,
                findings: facts.findings(),
                unscannable: facts.unscannable(),
                sizes: facts.sizes(cleared),
                detector_version: phi_detect::VERSION.into(),
                error_code: error.map(|code| code.code().into()),
                sealed: None,
            },
        }
    }

    fn due(self, facts: RequestFacts, action: Action, durability: Durability) -> OutcomeDue {
        OutcomeDue(Some(Due {
            record: self,
            facts,
            action,
            durability,
            sent: Instant::now(),
            provider: None,
        }))
    }
}

impl Written {
    /// How safe the record is.
    pub fn durability(&self) -> Durability {
        self.durability
    }
}

impl OutcomeDue {
    /// The provider answered with this status.
    pub(crate) fn provider_answered(&mut self, status: StatusCode) {
        let Some(due) = &mut self.0 else { return };
        due.provider = Some(ProviderAnswer {
            status,
            first_byte_ms: due.elapsed_ms(),
        });
        let family = due.facts.family().unwrap_or_default();
        let metrics = &due.record.gateway.metrics;
        metrics.provider_answered(family, due.sent.elapsed());
    }

    /// Gives an answer the headers that tell what was found and changed.
    pub(crate) fn write_headers(&self, response: &mut Response) {
        if let Some(due) = &self.0 {
            due.facts.write_headers(response.headers_mut());
        }
    }

    /// Records that a request was answered, and gives the answer its headers. The provider has acted by now: an outcome
    /// that cannot be written at once is kept by the vault, and the caller gets what the outcome says.
    pub(crate) async fn succeed(self, summary: &ReplySummary, mut response: Response) -> Response {
        self.write_headers(&mut response);
        self.close(Ended {
            status: StatusCode::OK,
            summary: Some(summary),
            error: None,
        })
        .await;
        response
    }

    /// Records that a request failed, and writes the answer.
    pub(crate) async fn fail(self, error: GatewayError) -> Response {
        let mut response = error.body().into_response();
        self.write_headers(&mut response);
        self.close(Ended {
            status: error.status(),
            summary: None,
            error: Some(error.code()),
        })
        .await;
        response
    }

    /// Hands the outcome over. Whoever sees a whole answer sees one whose outcome is recorded.
    pub(crate) async fn close(mut self, ended: Ended<'_>) {
        let Some(due) = self.0.take() else { return };
        let outcome = due.outcome(&ended);
        due.count(ended.status);
        let (gateway, account) = (&due.record.gateway, &due.record.admission.account.id);
        match due.durability {
            Durability::Queued => gateway.vault.trail.queue_outcome(account, &outcome),
            Durability::Durable => {
                let deadline = gateway.record_deadline();
                let written = gateway.vault.trail.record_outcome(account, &outcome, deadline);
                if written.await.is_err() {
                    let id = due.record.request_id;
                    tracing::warn!(request.id = %id, "outcome of request {id} waits to be written");
                }
            }
        }
    }
}

impl Drop for OutcomeDue {
    /// The caller hung up, or the gateway stops: the connection's task is gone.
    fn drop(&mut self) {
        let Some(due) = self.0.take() else { return };
        let gateway = &due.record.gateway;
        let (status, error) = if gateway.drain.is_cut() {
            (EdgeError::Draining.status(), EdgeError::Draining.code())
        } else {
            // The status that proxies log when the caller left first; nobody receives it.
            let code = ErrorCode::ClientDisconnected;
            let status = StatusCode::from_u16(code.status());
            (status.unwrap_or(StatusCode::BAD_REQUEST), code)
        };
        let outcome = due.outcome(&Ended {
            status,
            summary: None,
            error: Some(error),
        });
        let account = &due.record.admission.account.id;
        gateway.vault.trail.queue_outcome(account, &outcome);
    }
}

impl Due {
    fn outcome(&self, ended: &Ended<'_>) -> Outcome {
        let summary = ended.summary;
        Outcome {
            request_id: self.record.request_id,
            time: Timestamp::now(),
            account: self.record.admission.account.name.clone(),
            status: Some(ended.status.as_u16()),
            provider_status: self.provider.map(|answer| answer.status.as_u16()),
            served_model: summary
                .and_then(|summary| summary.served_model.as_deref())
                .map(|word| self.facts.served_model(word)),
            finish_reason: summary
                .and_then(|summary| summary.finish_reason.as_deref())
                .map(|word| known_reason(word).to_owned()),
            usage: summary
                .and_then(|summary| summary.usage)
                .map(|usage| Usage {
                    prompt_tokens: usage.prompt_tokens,
                    completion_tokens: usage.completion_tokens,
                    total_tokens: usage.total_tokens,
                }),
            error_code: ended.error.map(|code| code.code().into()),
            first_byte_ms: self.provider.map(|answer| answer.first_byte_ms),
            total_ms: Some(self.elapsed_ms()),
        }
    }

    fn count(&self, status: StatusCode) {
        self.record.gateway.metrics.answered(&Answered {
            status: status.as_u16().into(),
            mode: self.record.admission.account.mode.code(),
            action: self.action.code(),
            family: self.facts.family().unwrap_or_default(),
        });
    }

    fn elapsed_ms(&self) -> u64 {
        self.record.received.elapsed().as_millis() as u64
    }
}

fn with_headers(mut response: Response, facts: &RequestFacts) -> Response {
    facts.write_headers(response.headers_mut());
    response
}

/// Why answers end, in OpenAI's words. Another word is the provider's own text, and records are not sealed.
const FINISH_REASONS: &[&str] = &[
    "content_filter",
    "function_call",
    "length",
    "stop",
    "tool_calls",
];

fn known_reason(word: &str) -> &'static str {
    let known = FINISH_REASONS.iter().find(|known| **known == word);
    known.copied().unwrap_or("other")
}
