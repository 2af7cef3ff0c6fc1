//! The life of one request, top to bottom.
//!
//! [`Gateway::answer`] is the story; the other files are its footnotes. Every step consumes what
//! only the step before can make, so leaving one out does not compile. What stops a request on its
//! way has been recorded by the step that stopped it.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};
use phigate_core::egress::Cleared;
use phigate_core::wire::{ReplyContext, WireFormat};
use phigate_edge::{InflightPermit, REQUEST_ID, Turn, Upload};
use phigate_store::{Account, Admission};
use phigate_types::Action;
use uuid::Uuid;

use crate::decide;
use crate::error::GatewayError;
use crate::facts::RequestFacts;
use crate::failure;
use crate::gateway::Gateway;
use crate::provider::{Destination, Incoming, Outgoing};
use crate::record::{OutcomeDue, RequestRecord, Written};
use crate::{relay, reply};

/// A request as it arrived.
pub struct Call {
    /// The id on its response and its records.
    pub request_id: Uuid,
    /// When it arrived.
    pub received: Instant,
    /// Who sent it.
    pub sender: Sender,
}

/// Who sent a request, and what they sent.
pub enum Sender {
    /// Software with an API key.
    Caller {
        /// Where from.
        client: IpAddr,
        /// Its place among the requests that are worked on.
        turn: Option<Turn>,
        /// Its headers.
        headers: HeaderMap,
        /// Its body, not read yet.
        upload: Upload,
    },
    /// Somebody signed in to the dashboard: without an API key, else like any other.
    Dashboard {
        /// The account they are signed in to.
        account: Arc<Account>,
        /// What they typed, as a request.
        body: Bytes,
    },
}

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
    fn unrecorded(error: &GatewayError) -> Self {
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

/// A request whose account is known, and of which nothing was read.
pub struct Open {
    record: RequestRecord,
    turn: Option<Turn>,
    source: Source,
}

enum Source {
    Upload { headers: HeaderMap, upload: Upload },
    Typed(Bytes),
}

/// Stands in records where a caller's key would: a word no key has.
const DASHBOARD_KEY: &str = "dashboard";

impl Open {
    /// Finds out whose request it is, and takes a place among the key's requests.
    pub async fn admit(gateway: &Arc<Gateway>, call: Call) -> Result<Self, Stopped> {
        let (admission, limited_id, turn, source) = match call.sender {
            Sender::Caller {
                client,
                turn,
                headers,
                upload,
            } => {
                let admission = gateway.admit(&headers, client).await;
                let admission = admission.map_err(|error| Stopped::unrecorded(&error))?;
                let id = admission.key_id.clone();
                (admission, id, turn, Source::Upload { headers, upload })
            }
            Sender::Dashboard { account, body } => {
                let id = account.id.clone();
                let key_id = DASHBOARD_KEY.to_owned();
                (Admission { key_id, account }, id, None, Source::Typed(body))
            }
        };
        let limits = &admission.account.settings.limits;
        let permit = gateway.key_limits.admit(&limited_id, limits, call.received);
        let permit = permit.map_err(|limited| Stopped::unrecorded(&limited.into()))?;
        Ok(Self {
            record: RequestRecord {
                gateway: Arc::clone(gateway),
                admission,
                request_id: call.request_id,
                received: call.received,
                permit,
            },
            turn,
            source,
        })
    }

    /// Reads the body.
    pub async fn read(self) -> Result<Received, Stopped> {
        let read = match self.source {
            Source::Typed(body) => Ok((body, None)),
            Source::Upload { headers, upload } => read(&headers, upload).await,
        };
        match read {
            Ok((body, inflight)) => Ok(Received {
                record: self.record,
                body,
                permits: Permits {
                    _turn: self.turn,
                    _body: inflight,
                },
            }),
            Err(error) => {
                let refused = self.record.refuse(RequestFacts::default(), error);
                Err(refused.await.into())
            }
        }
    }
}

async fn read(
    headers: &HeaderMap,
    upload: Upload,
) -> Result<(Bytes, Option<InflightPermit>), GatewayError> {
    require_json(headers)?;
    let (body, inflight) = upload.read().await?;
    Ok((body, Some(inflight)))
}

/// What a request takes of the gateway's limits, besides its key's. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Permits {
    _turn: Option<Turn>,
    _body: Option<InflightPermit>,
}

impl Permits {
    /// None, for tests.
    #[cfg(test)]
    pub(crate) const NONE: Self = Self {
        _turn: None,
        _body: None,
    };
}

/// A request whose body is here.
pub struct Received {
    pub(crate) record: RequestRecord,
    pub(crate) body: Bytes,
    pub(crate) permits: Permits,
}

impl Received {
    /// Decides about the request, or records why it is refused.
    pub async fn decide(self) -> Result<Decided, Stopped> {
        let (facts, verdict) = decide::decide(&self.record, self.body, &self.permits).await;
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
    pub(crate) format: &'static dyn WireFormat,
    pub(crate) context: ReplyContext,
    pub(crate) is_stream: bool,
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
        let recorded = self.record.forward(self.facts, action, &cleared).await;
        let (written, outcome) = recorded?;
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
            reply::whole(&self.exchange, self.incoming, self.outcome).await
        }
    }
}

/// JSON is UTF-8. Another charset is how bytes mean one thing to a scanner and another to a provider.
fn require_json(headers: &HeaderMap) -> Result<(), GatewayError> {
    let media_type = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let mut pieces = media_type.unwrap_or_default().split(';').map(str::trim);
    let is_json = pieces
        .next()
        .is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    let is_utf8 = pieces.all(|piece| match piece.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    });
    if is_json && is_utf8 {
        Ok(())
    } else {
        Err(GatewayError::MediaType)
    }
}
