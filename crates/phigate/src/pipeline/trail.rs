//! The two records of a request: the decision before anything leaves, the outcome after.
//!
//! A trail that is dropped before its outcome was written writes it then: a caller
//! that hangs up does not take the record along.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use jiff::Timestamp;
use phigate_core::reply::Tally;
use phigate_core::text::PhiText;
use phigate_core::wire::ReplySummary;
use phigate_store::{Admission, Decision, NewDecision, Outcome, Usage};
use phigate_types::Action;
use uuid::Uuid;

use crate::app::App;
use crate::error::GatewayError;
use crate::metrics::Answered;
use crate::server::{EdgeError, KeyPermit};

use super::evidence::Evidence;
use super::reply_notes::ReplyNotes;
use super::reply_plan::ReplyPlan;

/// The records of one request.
pub(super) struct Trail {
    app: Arc<App>,
    admission: Admission,
    request_id: Uuid,
    received: Instant,
    /// When the provider's turn began.
    sent: Instant,
    evidence: Evidence,
    is_decided: bool,
    /// The action of the decision, once there is one.
    action: Option<Action>,
    /// Whether the outcome has been handed over.
    is_closed: bool,
    provider_status: Option<u16>,
    first_byte_ms: Option<u64>,
    /// What was found and done in the reply.
    reply: ReplyNotes,
    /// The key's place among its concurrent requests, given back with the trail.
    permit: Option<KeyPermit>,
}

impl Trail {
    /// Starts the trail of an admitted request.
    pub(super) fn open(
        app: &Arc<App>,
        request_id: Uuid,
        received: Instant,
        admission: &Admission,
        permit: KeyPermit,
    ) -> Self {
        Self {
            app: Arc::clone(app),
            admission: admission.clone(),
            request_id,
            received,
            sent: received,
            evidence: Evidence::default(),
            is_decided: false,
            action: None,
            is_closed: false,
            provider_status: None,
            first_byte_ms: None,
            reply: ReplyNotes::default(),
            permit: Some(permit),
        }
    }

    /// Moves the trail to where the rest of the request's life is: a stream outlives the function that opened it.
    pub(super) fn hand_over(&mut self) -> Self {
        let rest = Self {
            app: Arc::clone(&self.app),
            admission: self.admission.clone(),
            evidence: std::mem::take(&mut self.evidence),
            reply: std::mem::take(&mut self.reply),
            permit: self.permit.take(),
            ..*self
        };
        self.is_closed = true;
        rest
    }

    /// The account.
    pub(super) fn account_id(&self) -> &str {
        &self.admission.account.id
    }

    /// The key's place, for work that may outlive the trail.
    pub(super) fn permit(&self) -> Option<KeyPermit> {
        self.permit.clone()
    }

    /// Takes over what the decision is based on.
    pub(super) fn saw(&mut self, evidence: Evidence) {
        self.evidence = evidence;
    }

    /// Records that the request may leave. When this returns, the record is on disk, except for a clean request in
    /// flag mode, which is queued: nothing about it needs proof before it leaves.
    pub(super) async fn decide(&mut self) -> Result<(), GatewayError> {
        let action = self.evidence.action.unwrap_or(Action::REFUSED);
        let must_wait = !self.is_plain();
        self.record(action, None, must_wait).await?;
        self.app.metrics.added(self.received.elapsed());
        self.sent = Instant::now();
        Ok(())
    }

    /// Whether this is a clean request in flag mode: its records may be written a moment later.
    fn is_plain(&self) -> bool {
        !self.evidence.has_phi()
            && self.evidence.unscannable().is_empty()
            && self.admission.account.mode.forwards_unscanned()
    }

    /// The provider answered with this status.
    pub(super) fn provider_answered(&mut self, status: StatusCode) {
        self.provider_status = Some(status.as_u16());
        self.first_byte_ms = Some(self.elapsed_ms());
        let family = self.evidence.family.unwrap_or_default();
        self.app
            .metrics
            .provider_answered(family, self.sent.elapsed());
    }

    /// What is done with the reply.
    pub(super) fn expects_reply(&mut self, plan: &ReplyPlan) {
        self.reply = ReplyNotes::new(plan);
    }

    /// What was found and done in the reply so far.
    pub(super) fn saw_reply(&mut self, tally: &Tally, heard: Option<PhiText>) {
        self.reply.saw(tally, heard);
    }

    /// Ends the trail with an answer and gives the headers to it. The provider has acted by now: an outcome that
    /// cannot be written at once is kept by the vault, and the caller gets what the outcome says.
    pub(super) async fn succeed(
        &mut self,
        summary: &ReplySummary,
        mut response: Response,
    ) -> Response {
        if self.close(200, Some(summary), None).await.is_err() {
            self.say_outcome_waits();
        }
        self.evidence.write_headers(response.headers_mut());
        self.reply.write_headers(response.headers_mut());
        response
    }

    /// The headers of an answer whose outcome is still to come.
    pub(super) fn write_headers(&self, response: &mut Response) {
        self.evidence.write_headers(response.headers_mut());
        self.reply.write_stream_headers(response.headers_mut());
    }

    /// Ends the trail with an error and writes it for the caller. A refusal that cannot be recorded is a 503.
    pub(super) async fn fail(mut self, error: GatewayError) -> Response {
        let mut error = error;
        if !self.is_decided && self.record_refusal(&error).await.is_err() {
            error = GatewayError::AuditUnavailable;
        }
        if self.is_decided
            && self
                .close(error.status(), None, Some(error.code()))
                .await
                .is_err()
        {
            self.say_outcome_waits();
        }
        self.is_closed = true;
        let mut response = error.into_response();
        self.evidence.write_headers(response.headers_mut());
        response
    }

    fn say_outcome_waits(&self) {
        tracing::warn!(request.id = %self.request_id, "outcome of request {} waits to be written", self.request_id);
    }

    async fn record_refusal(&mut self, error: &GatewayError) -> Result<(), GatewayError> {
        if matches!(error, GatewayError::AuditUnavailable) {
            return Err(GatewayError::AuditUnavailable);
        }
        let action = if matches!(error, GatewayError::Blocked(_)) {
            Action::BLOCKED
        } else {
            Action::REFUSED
        };
        // Nothing was sent, whatever had been prepared.
        self.evidence.sent = None;
        self.evidence.sizes.sent = None;
        let must_wait = self.evidence.has_phi();
        self.record(action, Some(error.code()), must_wait).await
    }

    async fn record(
        &mut self,
        action: Action,
        error_code: Option<&str>,
        must_wait: bool,
    ) -> Result<(), GatewayError> {
        let decision = self.decision(action, error_code);
        let started = Instant::now();
        let written = if must_wait {
            self.app
                .vault
                .trail
                .record_decision(decision, self.app.decision_deadline())
                .await
        } else {
            self.app
                .vault
                .trail
                .record_decision_lazily(decision, self.app.decision_deadline())
                .await
        };
        self.app.metrics.recorded(started.elapsed());
        written.map_err(|error| {
            self.app.metrics.record_failed();
            tracing::error!(request.id = %self.request_id, "decision of request {} not recorded: {error}", self.request_id);
            GatewayError::AuditUnavailable
        })?;
        self.is_decided = true;
        self.action = Some(action);
        for (kind, count) in self.evidence.counts() {
            self.app.metrics.found(kind.code(), count as u64);
        }
        Ok(())
    }

    fn decision(&mut self, action: Action, error_code: Option<&str>) -> NewDecision {
        let evidence = &mut self.evidence;
        let account = &self.admission.account;
        let counts = evidence.counts();
        let types: BTreeMap<String, u32> = counts
            .into_iter()
            .map(|(kind, count)| (kind.code().into(), count as u32))
            .collect();
        NewDecision {
            account_id: account.id.clone(),
            original: evidence.original.take(),
            sent: evidence.sent.take(),
            identifiers: evidence.identifiers(),
            decision: Decision {
                request_id: self.request_id,
                time: Timestamp::now(),
                account: account.name.clone(),
                key_id: self.admission.key_id.clone(),
                mode: account.mode,
                action,
                model: evidence.model.clone(),
                family: evidence.family.map(Into::into),
                stream: evidence.is_stream,
                phi_detected: !types.is_empty(),
                types,
                findings: evidence.findings().to_vec(),
                unscannable: evidence.unscannable().to_vec(),
                sizes: evidence.sizes,
                detector_version: phi_detect::VERSION.into(),
                conversation: evidence.conversation.clone(),
                error_code: error_code.map(Into::into),
                sealed: None,
            },
        }
    }

    /// Hands the outcome over. Whoever sees a whole answer sees one whose outcome is recorded.
    pub(super) async fn close(
        &mut self,
        status: u16,
        summary: Option<&ReplySummary>,
        error_code: Option<&str>,
    ) -> Result<(), GatewayError> {
        let outcome = self.outcome(status, summary, error_code);
        self.is_closed = true;
        self.count(status);
        let account_id = &self.admission.account.id;
        if let Some(reply) = self.reply.heard.take() {
            self.app
                .vault
                .trail
                .record_outcome_with_reply(
                    account_id,
                    outcome,
                    &reply,
                    self.app.decision_deadline(),
                )
                .await?;
        } else if self.is_plain() {
            self.app.vault.trail.queue_outcome(account_id, &outcome);
        } else {
            self.app
                .vault
                .trail
                .record_outcome(account_id, &outcome, self.app.decision_deadline())
                .await?;
        }
        Ok(())
    }

    fn outcome(
        &self,
        status: u16,
        summary: Option<&ReplySummary>,
        error_code: Option<&str>,
    ) -> Outcome {
        Outcome {
            request_id: self.request_id,
            time: Timestamp::now(),
            account: self.admission.account.name.clone(),
            status: Some(status),
            provider_status: self.provider_status,
            served_model: summary
                .and_then(|summary| summary.served_model.as_deref())
                .map(|word| self.evidence.served_model(word)),
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
            error_code: error_code.map(Into::into),
            first_byte_ms: self.first_byte_ms,
            total_ms: Some(self.elapsed_ms()),
            reply: self.reply.facts(),
            sealed: None,
        }
    }

    fn count(&self, status: u16) {
        self.app.metrics.answered(&Answered {
            status: status.into(),
            mode: self.admission.account.mode.code(),
            action: self.action.map_or("", Action::code),
            family: self.evidence.family.unwrap_or_default(),
        });
    }

    fn elapsed_ms(&self) -> u64 {
        self.received.elapsed().as_millis() as u64
    }
}

impl Drop for Trail {
    /// The caller hung up, or the gateway stops: the connection's task is gone.
    fn drop(&mut self) {
        if !self.is_decided || self.is_closed {
            return;
        }
        let (status, code) = if self.app.drain.is_cut() {
            let stopping = EdgeError::Draining.body();
            (stopping.status.as_u16(), stopping.code)
        } else {
            (CLIENT_CLOSED_REQUEST, "client_disconnected")
        };
        let outcome = self.outcome(status, None, Some(code));
        self.app
            .vault
            .trail
            .queue_outcome(&self.admission.account.id, &outcome);
    }
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

/// The status that proxies log when the caller left first; nobody receives it.
const CLIENT_CLOSED_REQUEST: u16 = 499;
