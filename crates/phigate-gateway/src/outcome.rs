//! The second record of a request: the outcome, however it ends.
//!
//! [`OutcomeDue`] is consumed by recording it. Dropped before, it records that the caller left: a
//! caller who hangs up does not take the record along.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode};
use jiff::Timestamp;
use phigate_core::doors::Door;
use phigate_core::reply::Tally;
use phigate_core::text::PhiText;
use phigate_core::wire::ReplySummary;
use phigate_edge::EdgeError;
use phigate_store::{AttemptEnd, Durability, NewDecision, Outcome, Usage, Written};
use phigate_types::{Action, ErrorCode, ProviderKind};

use crate::error::GatewayError;
use crate::facts::{RequestFacts, milliseconds};
use crate::finish_reason::FinishReason;
use crate::forward::Forward;
use crate::metrics::Answered;
use crate::provider::ProviderError;
use crate::record::RequestRecord;
use crate::reply_notes::ReplyNotes;
use crate::request_log::RequestLine;
use crate::telemetry::{Attribute, Operation};

const ATTEMPTS: HeaderName = HeaderName::from_static("x-gateway-attempts");
const PROVIDER: HeaderName = HeaderName::from_static("x-gateway-provider");

/// A request whose decision is recorded and whose outcome is not.
pub(crate) struct OutcomeDue(Option<Box<Due>>);

/// Facts for the outcome's record.
struct Due {
    record: Box<RequestRecord>,
    facts: Box<RequestFacts>,
    action: Action,
    /// Start of the provider's attempt, and end of its answer.
    sent: Instant,
    answered: Option<Instant>,
    /// Whether an attempt is under way, and how long those before it took.
    is_asking: bool,
    asked: Duration,
    /// Attempts at providers. The end of the last is known when the request ends.
    attempts: Vec<AttemptEnd>,
    provider: Option<ProviderAnswer>,
    /// Reason why the provider could not be asked.
    cause: Option<ProviderError>,
    /// Findings in the reply, and how they were treated.
    reply: ReplyNotes,
}

#[derive(Debug, Clone, Copy)]
struct ProviderAnswer {
    status: StatusCode,
    first_byte_ms: u64,
}

/// End of a request.
pub(crate) struct Ended<'a> {
    pub(crate) status: StatusCode,
    pub(crate) summary: Option<&'a ReplySummary>,
    pub(crate) error: Option<ErrorCode>,
}

impl OutcomeDue {
    /// The decision about a request was recorded with this action just now.
    pub(crate) fn new(
        record: Box<RequestRecord>,
        facts: Box<RequestFacts>,
        action: Action,
    ) -> Self {
        Self(Some(Box::new(Due {
            record,
            facts,
            action,
            sent: Instant::now(),
            answered: None,
            is_asking: false,
            asked: Duration::ZERO,
            attempts: Vec::new(),
            provider: None,
            cause: None,
            reply: ReplyNotes::default(),
        })))
    }

    /// Notes that the request now leaves for a provider.
    pub(crate) fn begin(&mut self, forward: &Forward) {
        let Some(due) = &mut self.0 else { return };
        due.sent = Instant::now();
        (due.answered, due.is_asking) = (None, true);
        due.provider = None;
        due.cause = None;
        due.action = forward.action;
        due.reply = ReplyNotes::new(&forward.exchange.reply);
        if let Some(trace) = &mut due.record.trace {
            trace.begin_attempt();
        }
        due.attempts.push(AttemptEnd {
            provider: forward.provider.clone(),
            model: due.facts.model_of(&forward.model),
            status: None,
            error_code: None,
            ms: 0,
        });
    }

    /// Notes that the provider failed.
    pub(crate) fn attempt_failed(&mut self, error: &GatewayError) {
        if let Some(due) = &mut self.0 {
            due.end_attempt(Some(error.code()), None);
        }
    }

    /// Records that it leaves for another provider.
    pub(crate) async fn attempt(
        &mut self,
        facts: Box<RequestFacts>,
        forward: &Forward,
    ) -> Result<Written, GatewayError> {
        let Some(due) = &mut self.0 else {
            return Err(GatewayError::AuditUnavailable);
        };
        let number = u32::try_from(due.attempts.len() + 1).unwrap_or(u32::MAX);
        let started = Instant::now();
        let written = due.record.attempt(&due.facts, number, forward).await;
        due.record.recording(&mut due.facts, started);
        let written = written?;
        due.facts.follow(facts);
        self.begin(forward);
        Ok(written)
    }

    /// The record of the request's origin.
    pub(crate) fn record(&self) -> Option<&RequestRecord> {
        self.0.as_ref().map(|due| &*due.record)
    }

    /// `traceparent` for the provider that has its turn, if it gets one.
    pub(crate) fn traceparent(&self) -> Option<HeaderValue> {
        let due = self.0.as_ref()?;
        due.record.trace.as_ref()?.traceparent()
    }

    /// Notes that the provider could not be asked, or did not answer.
    pub(crate) fn could_not_be_asked(&mut self, cause: ProviderError) {
        if let Some(due) = &mut self.0 {
            due.cause = Some(cause);
        }
    }

    /// The provider answered with this status.
    pub(crate) fn provider_answered(&mut self, status: StatusCode) {
        let Some(due) = &mut self.0 else { return };
        due.provider = Some(ProviderAnswer {
            status,
            first_byte_ms: due.elapsed_ms(),
        });
        let family = due.facts.family().map_or("", ProviderKind::code);
        let metrics = &due.record.gateway.metrics;
        metrics.provider_answered(family, due.provider_name(), due.sent.elapsed());
    }

    /// Notes that the provider's answer is complete: the time from here on is phigate's.
    pub(crate) fn answer_is_here(&mut self) {
        if let Some(due) = &mut self.0 {
            due.answered = Some(Instant::now());
        }
    }

    /// Moves the duty to the returned value, so that dropping `self` records nothing.
    pub(crate) fn take(&mut self) -> Self {
        Self(self.0.take())
    }

    /// Notes findings in the reply so far, and how they were treated.
    pub(crate) fn saw_reply(&mut self, tally: &Tally, heard: Option<PhiText>) {
        if let Some(due) = &mut self.0 {
            due.reply.saw(tally, heard);
        }
    }

    /// Writes the headers of a stream, before its outcome is known.
    pub(crate) fn write_stream_headers(&self, response: &mut Response) {
        self.write_headers(response);
        if let Some(due) = &self.0 {
            due.reply.write_stream_headers(response.headers_mut());
        }
    }

    /// Writes the headers about findings and changes to an answer.
    pub(crate) fn write_headers(&self, response: &mut Response) {
        if let Some(due) = &self.0 {
            let headers = response.headers_mut();
            due.facts
                .write_headers(headers, due.action, due.provider_time());
            let last = due.attempts.last();
            if let Some(Ok(name)) = last.map(|last| HeaderValue::from_str(&last.provider)) {
                headers.insert(PROVIDER, name);
            }
            if due.attempts.len() > 1 {
                headers.insert(ATTEMPTS, due.attempts.len().into());
            }
        }
    }

    /// Records that a request was answered, and gives the answer its headers. The provider has acted by now: an outcome
    /// that cannot be written at once is kept by the vault, and the caller gets the answer.
    pub(crate) async fn succeed(self, summary: &ReplySummary, mut response: Response) -> Response {
        self.write_headers(&mut response);
        if let Some(due) = &self.0 {
            due.reply.write_headers(response.headers_mut());
        }
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

    /// Records the decision and the outcome together, if nothing happens in between, and gives the answer its headers.
    /// Without a record there is no answer.
    pub(crate) async fn end_at_once(
        mut self,
        decision: NewDecision,
        durability: Durability,
        error: Option<ErrorCode>,
        mut response: Response,
    ) -> Response {
        let Some(due) = &mut self.0 else {
            return response;
        };
        let ended = Ended {
            status: response.status(),
            summary: None,
            error,
        };
        let outcome = due.outcome(&ended);
        let started = Instant::now();
        let record = &due.record;
        let written = record.write_ended(decision, &outcome, &due.facts, durability);
        let written = Box::pin(written).await;
        due.record.recording(&mut due.facts, started);
        let failed = written.err();
        self.write_headers(&mut response);
        let Some(mut due) = self.0.take() else {
            return response;
        };
        if let Some(error) = failed {
            let (status, code) = (error.status(), Some(error.code()));
            due.record
                .end_trace(&due.facts, Action::REFUSED, status, code);
            return unrecorded(&error, &due.facts);
        }
        due.end_trace(&ended);
        due.count(&ended);
        due.log(&ended);
        response
    }

    /// Hands the outcome over. It is written with the next batch, because an answer does not wait for it; a crash
    /// before that is recorded as an interruption, never as a success.
    pub(crate) async fn close(mut self, ended: Ended<'_>) {
        let Some(mut due) = self.0.take() else { return };
        due.end_attempt(ended.error, ended.summary);
        due.end_trace(&ended);
        let outcome = due.outcome(&ended);
        let heard = due.reply.heard.take();
        due.count(&ended);
        due.log(&ended);
        let (gateway, account) = (&due.record.gateway, &due.record.admission.account.id);
        let (trail, deadline) = (&gateway.vault.trail, gateway.record_deadline());
        let Some(reply) = heard else {
            trail.queue_outcome(account, &outcome);
            return;
        };
        let replies = &gateway.vault.replies;
        // Boxed: most accounts keep no replies.
        let written = replies.record_outcome_with_reply(account, outcome, &reply, deadline);
        if Box::pin(written).await.is_err() {
            let id = due.record.request_id;
            tracing::warn!(request.id = %id, "outcome of request {id} waits to be written");
        }
    }
}

impl Drop for OutcomeDue {
    /// The caller hung up, or the gateway stops: the connection's task is gone.
    fn drop(&mut self) {
        let Some(mut due) = self.0.take() else {
            return;
        };
        let heard = due.reply.heard.take();
        let gateway = Arc::clone(&due.record.gateway);
        let (status, error) = if gateway.drain.is_cut() {
            (EdgeError::Draining.status(), EdgeError::Draining.code())
        } else {
            // The status that proxies log when the caller left first; it is never sent.
            let code = ErrorCode::ClientDisconnected;
            let status = StatusCode::from_u16(code.status());
            (status.unwrap_or(StatusCode::BAD_REQUEST), code)
        };
        due.end_attempt(Some(error), None);
        let ended = Ended {
            status,
            summary: None,
            error: Some(error),
        };
        due.end_trace(&ended);
        let outcome = due.outcome(&ended);
        due.log(&ended);
        let account = &due.record.admission.account.id;
        let trail = &gateway.vault.trail;
        match heard {
            Some(reply) => {
                let replies = &gateway.vault.replies;
                replies.queue_outcome_with_reply(account, outcome, &reply);
            }
            None => trail.queue_outcome(account, &outcome),
        }
    }
}

impl Due {
    /// Ends the current attempt, unless it has ended.
    fn end_attempt(&mut self, error: Option<ErrorCode>, summary: Option<&ReplySummary>) {
        if self.is_asking {
            self.measure_attempt(error, summary);
        }
        self.asked = self.provider_time();
        self.is_asking = false;
        let ms = u64::try_from(self.sent.elapsed().as_millis()).unwrap_or(u64::MAX);
        let status = self.provider.map(|answer| answer.status.as_u16());
        let Some(last) = self.attempts.last_mut() else {
            return;
        };
        if last.error_code.is_none() {
            last.error_code = error;
            (last.status, last.ms) = (status, ms);
        }
    }

    /// Adds the current attempt to the telemetry, if there is a collector.
    fn measure_attempt(&mut self, error: Option<ErrorCode>, summary: Option<&ReplySummary>) {
        let gateway = Arc::clone(&self.record.gateway);
        if gateway.telemetry.get().is_none() {
            return;
        }
        let mut attributes = Vec::new();
        if let Some(door) = self.record.door {
            attributes.push(Attribute::operation(Operation::at(door)));
        }
        attributes.extend(self.facts.provider_kind().map(Attribute::provider));
        attributes.extend(self.facts.listed_model().map(Attribute::model));
        let usage = summary.and_then(|summary| summary.usage);
        let tokens = usage.map(|usage| (usage.prompt_tokens, usage.completion_tokens));
        let took = self.sent.elapsed();
        gateway
            .metrics
            .model_called(attributes.clone(), error, took, tokens);
        let Some(trace) = &mut self.record.trace else {
            return;
        };
        if let Some((input, output)) = tokens {
            attributes.push(Attribute::input_tokens(input));
            attributes.push(Attribute::output_tokens(output));
        }
        let status = self.provider.map(|answer| answer.status);
        attributes.extend(status.map(Attribute::status));
        let reason = summary.and_then(|summary| summary.finish_reason.as_deref());
        let reason = reason.map(FinishReason::known);
        attributes.extend(reason.map(Attribute::finish_reason));
        attributes.extend(error.map(Attribute::error));
        trace.end_attempt(error.is_some(), attributes);
    }

    fn end_trace(&mut self, ended: &Ended<'_>) {
        let (status, error) = (ended.status, ended.error);
        self.record
            .end_trace(&self.facts, self.action, status, error);
    }

    /// Time spent waiting for providers so far.
    fn provider_time(&self) -> Duration {
        let answered = self.answered.unwrap_or_else(Instant::now);
        match self.is_asking {
            true => self.asked + answered.saturating_duration_since(self.sent),
            false => self.asked,
        }
    }

    fn outcome(&self, ended: &Ended<'_>) -> Outcome {
        let summary = ended.summary;
        Outcome {
            request_id: self.record.request_id,
            time: Timestamp::now(),
            account: self.record.admission.account.name.clone(),
            key_id: Some(self.record.admission.key_id.clone()),
            status: Some(ended.status.as_u16()),
            provider_status: self.provider.map(|answer| answer.status.as_u16()),
            served_model: summary
                .and_then(|summary| summary.served_model.as_deref())
                .map(|word| self.facts.served_model(word)),
            finish_reason: summary
                .and_then(|summary| summary.finish_reason.as_deref())
                .map(|word| FinishReason::known(word).word().to_owned()),
            usage: summary
                .and_then(|summary| summary.usage)
                .map(|usage| Usage {
                    prompt_tokens: usage.prompt_tokens,
                    completion_tokens: usage.completion_tokens,
                    total_tokens: usage.total_tokens,
                }),
            error_code: ended.error,
            first_byte_ms: self.provider.map(|answer| answer.first_byte_ms),
            total_ms: Some(self.elapsed_ms()),
            added_ms: Some(milliseconds(
                self.record
                    .received
                    .elapsed()
                    .saturating_sub(self.provider_time()),
            )),
            attempts: self.attempts.clone(),
            reply: self.reply.facts(),
            sealed: None,
        }
    }

    /// Name of the provider that was asked last, otherwise of the first to ask.
    fn provider_name(&self) -> &str {
        let last = self.attempts.last().map(|last| last.provider.as_str());
        last.or(self.facts.provider()).unwrap_or_default()
    }

    fn count(&self, ended: &Ended<'_>) {
        let metrics = &self.record.gateway.metrics;
        if let Some(code) = ended.error {
            metrics.refused(code);
        }
        if let Some(usage) = ended.summary.and_then(|summary| summary.usage) {
            let name = self.provider_name();
            metrics.used(name, usage.prompt_tokens, usage.completion_tokens);
        }
        metrics.answered(&Answered {
            status: ended.status.as_u16().into(),
            mode: self.record.admission.account.mode.code(),
            action: self.action.code(),
            family: self.facts.family().map_or("", ProviderKind::code),
            provider: self.provider_name().to_owned(),
            door: self.record.door.map_or("", Door::id),
        });
    }

    fn log(&self, ended: &Ended<'_>) {
        let record = &self.record;
        let line = RequestLine {
            request_id: record.request_id,
            key_id: &record.admission.key_id,
            door: record.door.map(phigate_core::doors::Door::id),
            mode: record.admission.account.mode.code(),
            action: self.action.code(),
            facts: &self.facts,
            status: ended.status,
            provider_status: self.provider.map(|answer| answer.status.as_u16()),
            error: ended.error,
            cause: self.cause,
            attempts: self.attempts.len(),
            first_byte_ms: self.provider.map(|answer| answer.first_byte_ms),
            total_ms: self.elapsed_ms(),
        };
        line.write();
    }

    fn elapsed_ms(&self) -> u64 {
        self.record.received.elapsed().as_millis() as u64
    }
}

/// The response to a request whose record could not be written: a refusal. Nothing was forwarded.
pub(crate) fn unrecorded(error: &GatewayError, facts: &RequestFacts) -> Response {
    let mut response = error.body().into_response();
    facts.write_headers(response.headers_mut(), Action::REFUSED, Duration::ZERO);
    response
}
