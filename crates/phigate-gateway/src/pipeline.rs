//! The life of one request, top to bottom.
//!
//! [`Gateway::answer`] shows all steps; the other files implement them. Every step consumes the result of the step
//! before, so leaving a step out does not compile. The step that stops a request also records it.

use std::sync::Arc;
use std::time::Instant;

use axum::response::Response;
use bytes::Bytes;
use http::HeaderValue;
use phigate_core::doors::CHAT;
use phigate_edge::REQUEST_ID;
use phigate_store::{Account, Written};
use uuid::Uuid;

use crate::decide;
use crate::error::GatewayError;
use crate::facts::RequestFacts;
use crate::failure::{self, Unanswered};
use crate::forward::{Exchange, Forward};
use crate::gateway::Gateway;
use crate::open::{Call, Open, Permits, Received, Sender};
use crate::order::Others;
use crate::outcome::OutcomeDue;
use crate::provider::{Incoming, Outgoing};
use crate::record::RequestRecord;
use crate::stages::Stages;
use crate::stopped::Stopped;
use crate::{relay, reply};

impl Gateway {
    /// Answers a request.
    pub async fn answer(self: &Arc<Self>, call: Call) -> Response {
        match self.converse(call).await {
            Ok(response) => response,
            Err(stopped) => stopped.into_response(),
        }
    }

    /// Answers a request that a user sends from the dashboard, and shows the stages in between.
    pub async fn answer_for_dashboard(
        self: &Arc<Self>,
        account: Arc<Account>,
        body: Bytes,
    ) -> (Response, Arc<Stages>) {
        let stages = Arc::new(Stages::default());
        let call = Call {
            request_id: Uuid::now_v7(),
            received: Instant::now(),
            door: Some(&CHAT),
            sender: Sender::Dashboard {
                account,
                body,
                stages: Arc::clone(&stages),
            },
        };
        let id = HeaderValue::from_str(&call.request_id.to_string());
        let mut response = self.answer(call).await;
        if let Ok(id) = id {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        (response, stages)
    }

    async fn converse(self: &Arc<Self>, call: Call) -> Result<Response, Stopped> {
        // Authentication first. Everything from here on is recorded.
        let open = Open::admit(self, call).await?;
        // Its body, within all limits.
        let received = open.read().await?;
        // Parsed, routed, scanned, treated by mode, translated, and scanned again.
        let decided = received.decide().await?;
        // The decision is on disk, or queued if it needs no proof. Until here no byte has left.
        let mut recorded = decided.record().await?;
        loop {
            // The provider's turn.
            let failed = match recorded.send().await? {
                // Its answer, translated; the outcome is recorded with the answer's last byte.
                Sent::Answered(answered) => match answered.relay().await? {
                    Relayed::Given(response) => return Ok(response),
                    Relayed::Failed(failed) => failed,
                },
                Sent::Failed(failed) => failed,
            };
            // The next provider's turn: decided anew, and on disk before it leaves again. Boxed: rare, and inline it
            // would enlarge every request's future.
            recorded = Box::pin(failed.begin_anew()).await?;
        }
    }
}

impl Received {
    /// Decides about the request, or records why it is refused.
    pub async fn decide(self) -> Result<Decided, Stopped> {
        let (facts, verdict) =
            decide::decide(&self.record, self.body, self.said, &self.permits).await;
        match verdict {
            Ok(forward) => Ok(Decided {
                record: self.record,
                facts,
                forward,
                permits: self.permits,
            }),
            // Boxed: rare, and inline it would enlarge every request's future.
            Err(error) => Err(Box::pin(self.record.refuse(facts, error)).await.into()),
        }
    }
}

/// A request that may leave, once that is recorded.
pub struct Decided {
    record: Box<RequestRecord>,
    facts: Box<RequestFacts>,
    forward: Box<Forward>,
    permits: Permits,
}

impl Decided {
    /// Records the decision. If that fails, the request goes no further.
    pub async fn record(self) -> Result<Recorded, Stopped> {
        let guards = RequestGuards {
            gateway: Arc::clone(&self.record.gateway),
            account: Arc::clone(&self.record.admission.account),
            permits: self.permits,
        };
        let recorded = self.record.forward(self.facts, &self.forward).await;
        let (written, outcome) = recorded?;
        Ok(Recorded {
            written,
            forward: self.forward,
            outcome,
            guards,
        })
    }
}

/// Guards of a request, dropped once it is answered.
struct RequestGuards {
    gateway: Arc<Gateway>,
    account: Arc<Account>,
    permits: Permits,
}

/// A request whose decision is recorded, and which was not sent yet.
pub struct Recorded {
    written: Written,
    forward: Box<Forward>,
    outcome: OutcomeDue,
    guards: RequestGuards,
}

/// Result of sending a request.
pub enum Sent {
    /// The provider has begun to answer.
    Answered(Box<Answered>),
    /// Failure of the provider; another may be asked.
    Failed(Box<Failed>),
}

impl Recorded {
    /// Sends the request and waits for the head of the answer. A failure without a remaining fallback is the outcome.
    pub async fn send(self) -> Result<Sent, Stopped> {
        let (mut outcome, forward, guards) = (self.outcome, *self.forward, self.guards);
        let (gateway, account) = (&guards.gateway, &guards.account);
        let provider = account.providers.get(&forward.provider);
        let outgoing = Outgoing::new(
            self.written,
            &account.id,
            forward.destination,
            forward.cleared,
        )
        .inside(outcome.traceparent());
        let attempt = Attempt {
            provider: forward.provider,
            others: forward.others,
        };
        let unanswered = match gateway.provider.send(outgoing).await {
            Ok(incoming) => {
                let (status, format) = (incoming.status, forward.exchange.format);
                outcome.provider_answered(status);
                if status.is_success() {
                    return Ok(Sent::Answered(Box::new(Answered {
                        incoming,
                        exchange: forward.exchange,
                        attempt,
                        outcome,
                        guards,
                    })));
                }
                let refused = failure::refused(gateway, account, provider, format, incoming);
                let refused = Box::pin(refused);
                Unanswered {
                    error: refused.await,
                    may_fall_back: failure::may_fall_back(status),
                }
            }
            Err(error) => {
                outcome.could_not_be_asked(error);
                error.into()
            }
        };
        let passed_on = Box::pin(attempt.pass_on(unanswered, outcome, guards));
        passed_on.await.map(Sent::Failed)
    }
}

/// One provider's attempt at a request.
struct Attempt {
    provider: String,
    /// Fallback providers.
    others: Option<Others>,
}

impl Attempt {
    /// Notes how the provider fared: one that keeps failing is left alone for a while.
    fn note(&self, guards: &RequestGuards, has_failed: bool) {
        let (rest, account) = (&guards.gateway.rest, &guards.account.id);
        rest.note(account, &self.provider, has_failed, Instant::now());
    }

    /// Continues after an attempt without an answer: starts the next attempt, or ends with this outcome. A stopping
    /// gateway makes no further attempt.
    async fn pass_on(
        self,
        unanswered: Unanswered,
        outcome: OutcomeDue,
        guards: RequestGuards,
    ) -> Result<Box<Failed>, Stopped> {
        let Unanswered {
            error,
            may_fall_back,
        } = unanswered;
        self.note(&guards, may_fall_back);
        match self.others {
            Some(others) if may_fall_back && !guards.gateway.drain.is_cut() => {
                Ok(Box::new(Failed {
                    error,
                    others,
                    outcome,
                    guards,
                }))
            }
            _ => Err(outcome.fail(error).await.into()),
        }
    }
}

/// A request that a provider failed to answer, and that another may.
pub struct Failed {
    error: GatewayError,
    others: Others,
    outcome: OutcomeDue,
    guards: RequestGuards,
}

impl Failed {
    /// Decides and records for the next provider.
    async fn begin_anew(self: Box<Self>) -> Result<Recorded, Stopped> {
        self.fall_back().await?.record().await
    }

    /// Decides about the request for the next provider. Without a next provider, the failure is the outcome.
    pub async fn fall_back(self) -> Result<FellBack, Stopped> {
        let mut outcome = self.outcome;
        outcome.attempt_failed(&self.error);
        let decided = match outcome.record() {
            Some(record) => decide::decide_again(record, self.others, &self.guards.permits).await,
            None => None,
        };
        match decided {
            Some((facts, forward)) => {
                let (code, next) = (self.error.code(), &forward.provider);
                if let Some(record) = outcome.record() {
                    let id = record.request_id;
                    tracing::info!(request.id = %id, "request {id} failed with {code}, provider {next} is asked");
                }
                Ok(FellBack {
                    facts,
                    forward,
                    outcome,
                    guards: self.guards,
                })
            }
            None => Err(outcome.fail(self.error).await.into()),
        }
    }
}

/// A request that may leave for another provider, once that is recorded.
pub struct FellBack {
    facts: Box<RequestFacts>,
    forward: Box<Forward>,
    outcome: OutcomeDue,
    guards: RequestGuards,
}

impl FellBack {
    /// Records the attempt, always on disk. If that fails, the request goes no further.
    pub async fn record(self) -> Result<Recorded, Stopped> {
        let mut outcome = self.outcome;
        match outcome.attempt(self.facts, &self.forward).await {
            Ok(written) => Ok(Recorded {
                written,
                forward: self.forward,
                outcome,
                guards: self.guards,
            }),
            Err(error) => Err(outcome.fail(error).await.into()),
        }
    }
}

/// A request that the provider has begun to answer.
pub struct Answered {
    incoming: Incoming,
    exchange: Exchange,
    attempt: Attempt,
    outcome: OutcomeDue,
    guards: RequestGuards,
}

/// Result of relaying a started response.
pub enum Relayed {
    /// The response, to be sent to the caller.
    Given(Response),
    /// A response that broke off before the caller received anything, so that another provider may be asked.
    Failed(Box<Failed>),
}

impl Answered {
    /// Relays the answer. The outcome of a complete answer is handed to the writer before the caller gets it; that of a
    /// stream follows its last byte. An answer that breaks before the caller received anything counts as missing.
    pub async fn relay(self) -> Result<Relayed, Stopped> {
        let (gateway, attempt) = (&self.guards.gateway, self.attempt);
        let relayed = if self.exchange.is_stream {
            let when = (gateway.drain.clone(), attempt.others.is_some());
            relay::stream(&self.exchange, self.incoming, self.outcome, when).await
        } else {
            reply::whole(gateway, self.exchange, self.incoming, self.outcome).await
        };
        match relayed {
            Ok(response) => {
                attempt.note(&self.guards, false);
                Ok(Relayed::Given(response))
            }
            Err((unanswered, outcome)) => {
                let passed_on = Box::pin(attempt.pass_on(unanswered, outcome, self.guards));
                Ok(Relayed::Failed(passed_on.await?))
            }
        }
    }
}

#[cfg(test)]
mod tests;
