//! The first record of a request: the decision, before anything leaves.
//!
//! The records are states by value. [`RequestRecord`] has written nothing. Recording the decision
//! consumes it and gives [`Written`], the proof without which nothing is sent, and [`OutcomeDue`],
//! which recording the outcome consumes.

use std::sync::Arc;
use std::time::Instant;

use axum::response::{IntoResponse, Response};
use phigate_store::{Durability, Written};
use phigate_types::{Action, Replies};

use crate::error::GatewayError;
use crate::facts::RequestFacts;
use crate::forward::Forward;
use crate::outcome::{OutcomeDue, unrecorded};
use crate::record::RequestRecord;

impl RequestRecord {
    /// Records that a request may leave. When this returns, the record is on disk, or queued if that suffices.
    pub(crate) async fn forward(
        mut self: Box<Self>,
        mut facts: Box<RequestFacts>,
        forward: &Forward,
    ) -> Result<(Written, OutcomeDue), Response> {
        let durability = self.durability(&facts);
        let action = forward.action;
        let decision = self.decision(&mut facts, action, Some(&forward.cleared), None);
        let started = Instant::now();
        let written = self.write(decision, &facts, durability).await;
        self.recording(&mut facts, started);
        let written = match written {
            Ok(written) => written,
            Err(error) => {
                let (status, code) = (error.status(), Some(error.code()));
                self.end_trace(&facts, Action::REFUSED, status, code);
                return Err(unrecorded(&error, &facts));
            }
        };
        self.gateway.metrics.added(self.received.elapsed());
        if forward.exchange.reply.replies != Replies::Off {
            // A caller that disconnects in the middle of a stream leaves no time to load it. Without it the sealed
            // reply is lost, not the record.
            let account = &self.admission.account.id;
            let replies = &self.gateway.vault.replies;
            Box::pin(replies.prepare_to_seal(account)).await.ok();
        }
        let mut outcome = OutcomeDue::new(self, facts, action);
        outcome.begin(forward);
        Ok((written, outcome))
    }

    /// Records that texts were scanned for the caller, and adds headers to the answer. Without a record there is no
    /// answer.
    pub(crate) async fn scanned(
        self: Box<Self>,
        mut facts: Box<RequestFacts>,
        response: Response,
    ) -> Response {
        let action = Action::SCANNED;
        // Nothing leaves, whatever the mode.
        let durability = match facts.is_clean() {
            true => Durability::Queued,
            false => Durability::Durable,
        };
        let decision = self.decision(&mut facts, action, None, None);
        let (gateway, received) = (Arc::clone(&self.gateway), self.received);
        let outcome = OutcomeDue::new(self, facts, action);
        let response = outcome
            .end_at_once(decision, durability, None, response)
            .await;
        gateway.metrics.added(received.elapsed());
        response
    }

    /// Records that a request was refused, and writes the answer. A refusal that cannot be recorded is a 503, and is as
    /// durable as a request that leaves.
    pub(crate) async fn refuse(
        self: Box<Self>,
        mut facts: Box<RequestFacts>,
        error: GatewayError,
    ) -> Response {
        let action = match error {
            GatewayError::Blocked(_) => Action::BLOCKED,
            _ => Action::REFUSED,
        };
        let durability = self.durability(&facts);
        let code = Some(error.code());
        let decision = self.decision(&mut facts, action, None, code);
        let mut body = error.body();
        if error.is_about_phi() {
            let findings = facts.told_findings();
            body.extra.insert("findings".into(), findings);
        }
        let outcome = OutcomeDue::new(self, facts, action);
        let recorded = outcome.end_at_once(decision, durability, code, body.into_response());
        recorded.await
    }

    /// The decision about a clean request of a caller whose every finding is flagged may be written a moment later.
    fn durability(&self, facts: &RequestFacts) -> Durability {
        if facts.is_clean() && self.admission.policy.forwards_unscanned() {
            Durability::Queued
        } else {
            Durability::Durable
        }
    }
}
