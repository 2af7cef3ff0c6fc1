//! The life of one request, top to bottom.
//!
//! [`Gateway::answer`] is the story; the other files are its footnotes. Every step consumes what
//! only the step before can make, so leaving one out does not compile. What stops a request on its
//! way has been recorded by the step that stopped it.

use std::sync::Arc;
use std::time::Instant;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::HeaderValue;
use phigate_core::doors::{CHAT, Door};
use phigate_core::egress::Cleared;
use phigate_core::wire::{ReplyContext, WireFormat};
use phigate_edge::REQUEST_ID;
use phigate_store::Account;
use phigate_types::Action;
use uuid::Uuid;

use crate::decide;
use crate::error::GatewayError;
use crate::facts::RequestFacts;
use crate::failure;
use crate::gateway::Gateway;
use crate::open::{Call, Open, Permits, Said, Sender};
use crate::outcome::OutcomeDue;
use crate::provider::{Destination, Incoming, Outgoing};
use crate::record::{RequestRecord, Written};
use crate::reply_plan::ReplyPlan;
use crate::{relay, reply};

impl Gateway {
    /// Answers a request.
    pub async fn answer(self: &Arc<Self>, call: Call) -> Response {
        match self.converse(call).await {
            Ok(response) => response,
            Err(stopped) => stopped.into_response(),
        }
    }

    /// Answers a request that somebody signed in sends from the dashboard.
    pub async fn answer_for_dashboard(
        self: &Arc<Self>,
        account: Arc<Account>,
        body: Bytes,
    ) -> Response {
        let call = Call {
            request_id: Uuid::now_v7(),
            received: Instant::now(),
            door: &CHAT,
            sender: Sender::Dashboard { account, body },
        };
        let id = HeaderValue::from_str(&call.request_id.to_string());
        let mut response = self.answer(call).await;
        if let Ok(id) = id {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        response
    }

    async fn converse(self: &Arc<Self>, call: Call) -> Result<Response, Stopped> {
        // Whose request is it? From here on, whatever happens is recorded.
        let open = Open::admit(self, call).await?;
        // Its body, within all limits.
        let received = open.read().await?;
        // Parsed, routed, scanned, treated as the mode says, translated, and looked at once more.
        let decided = received.decide().await?;
        // The decision is on disk, or queued where nothing needs proof. Until here no byte has left.
        let recorded = decided.record().await?;
        // The provider's turn.
        let answered = recorded.send().await?;
        // Its answer, translated; the outcome is recorded with the answer's last byte.
        answered.relay().await
    }
}

/// A request that goes no further: the answer to it. What there was to record is recorded.
#[derive(Debug)]
pub struct Stopped(Box<Response>);

impl Stopped {
    pub(crate) fn unrecorded(error: &GatewayError) -> Self {
        Self(Box::new(error.body().into_response()))
    }

    /// The answer.
    pub fn into_response(self) -> Response {
        *self.0
    }
}

impl From<Response> for Stopped {
    fn from(response: Response) -> Self {
        Self(Box::new(response))
    }
}

/// A request whose body is here.
pub struct Received {
    pub(crate) record: RequestRecord,
    pub(crate) body: Bytes,
    pub(crate) said: Said,
    pub(crate) permits: Permits,
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
            Err(error) => Err(self.record.refuse(facts, error).await.into()),
        }
    }
}

/// A request that may leave, once that is recorded.
pub struct Decided {
    record: RequestRecord,
    facts: RequestFacts,
    forward: Forward,
    permits: Permits,
}

/// What leaves, where to, and what is expected back.
pub(crate) struct Forward {
    pub(crate) cleared: Cleared,
    pub(crate) action: Action,
    pub(crate) destination: Destination,
    pub(crate) exchange: Exchange,
}

/// What is needed to read the answer.
pub(crate) struct Exchange {
    pub(crate) door: &'static Door,
    pub(crate) format: &'static dyn WireFormat,
    pub(crate) context: ReplyContext,
    pub(crate) is_stream: bool,
    /// What is done with the reply.
    pub(crate) reply: ReplyPlan,
    pub(crate) account_id: String,
}

impl Decided {
    /// Records the decision. If that fails, the request goes no further.
    pub async fn record(self) -> Result<Recorded, Stopped> {
        let Forward {
            cleared,
            action,
            destination,
            exchange,
        } = self.forward;
        let account = Arc::clone(&self.record.admission.account);
        let gateway = Arc::clone(&self.record.gateway);
        let forward = self
            .record
            .forward(self.facts, action, &cleared, &exchange.reply);
        let (written, outcome) = forward.await?;
        Ok(Recorded {
            gateway,
            account,
            written,
            cleared,
            destination,
            exchange,
            outcome,
            permits: self.permits,
        })
    }
}

/// A request whose decision is recorded, and which has not left.
pub struct Recorded {
    gateway: Arc<Gateway>,
    account: Arc<Account>,
    written: Written,
    cleared: Cleared,
    destination: Destination,
    exchange: Exchange,
    outcome: OutcomeDue,
    permits: Permits,
}

impl Recorded {
    /// Sends the request and waits for the head of the answer. A failure, or an answer that is one, is the outcome.
    pub async fn send(self) -> Result<Answered, Stopped> {
        let mut outcome = self.outcome;
        let account = &self.account.id;
        let outgoing = Outgoing::new(self.written, account, self.destination, self.cleared);
        let incoming = match self.gateway.provider.send(outgoing).await {
            Ok(incoming) => incoming,
            Err(error) => return Err(outcome.fail(failure::failed(error)).await.into()),
        };
        outcome.provider_answered(incoming.status);
        if !incoming.status.is_success() {
            let format = self.exchange.format;
            let error = failure::refused(&self.gateway, &self.account, format, incoming).await;
            return Err(outcome.fail(error).await.into());
        }
        Ok(Answered {
            gateway: self.gateway,
            incoming,
            exchange: self.exchange,
            outcome,
            _permits: self.permits,
        })
    }
}

/// A request that the provider has begun to answer.
pub struct Answered {
    gateway: Arc<Gateway>,
    incoming: Incoming,
    exchange: Exchange,
    outcome: OutcomeDue,
    _permits: Permits,
}

impl Answered {
    /// Brings the answer back. A whole one is recorded before the caller gets it; a stream's record goes with it.
    pub async fn relay(self) -> Result<Response, Stopped> {
        if self.exchange.is_stream {
            let drain = self.gateway.drain.clone();
            relay::stream(&self.exchange, self.incoming, self.outcome, drain).await
        } else {
            reply::whole(&self.gateway, self.exchange, self.incoming, self.outcome).await
        }
    }
}
