//! The beginning of a request's life: whose is it, and what is in it?

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};
use phigate_core::doors::Door;
use phigate_core::request::Aside;
use phigate_edge::{InflightPermit, Upload, WorkPermit};
use phigate_store::{Account, Admission};
use uuid::Uuid;

use crate::error::GatewayError;
use crate::gateway::Gateway;
use crate::key_limits::KeyPermit;
use crate::record::RequestRecord;
use crate::refusals::Refused;
use crate::reply_plan;
use crate::stages::Stages;
use crate::stopped::Stopped;

/// A request as it arrived.
pub struct Call {
    /// The door at which it arrived; none where nothing is forwarded.
    pub door: Option<&'static Door>,
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
        permit: Option<WorkPermit>,
        /// Its headers.
        headers: HeaderMap,
        /// Its query.
        query: Option<String>,
        /// Its body, not read yet.
        upload: Upload,
    },
    /// Software on a listener without keys, which acts for one account.
    Listener {
        /// The account.
        account: Arc<Account>,
        /// Stands in records where a caller's key would: a word no key has.
        name: &'static str,
        /// Its place among the requests that are worked on.
        permit: Option<WorkPermit>,
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
        /// Where the page finds what was sent and answered.
        stages: Arc<Stages>,
    },
}

/// A request whose account is known, and of which nothing was read.
pub struct Open {
    record: Box<RequestRecord>,
    permit: Option<WorkPermit>,
    source: Source,
}

enum Source {
    Upload {
        headers: HeaderMap,
        query: Option<String>,
        upload: Upload,
    },
    Typed(Bytes),
}

/// Stands in records where a caller's key would: a word no key has.
const DASHBOARD_KEY: &str = "dashboard";

impl Open {
    /// Finds out whose request it is, and takes a place among the key's requests.
    pub async fn admit(gateway: &Arc<Gateway>, call: Call) -> Result<Self, Stopped> {
        let request_id = call.request_id;
        let admitted = Admitted::new(gateway, call.sender, request_id).await;
        let admitted = admitted.map_err(|error| Stopped::unrecorded(&error))?;
        let permit = match &admitted.limited_id {
            Some(id) => {
                let admission = &admitted.admission;
                let limits = &admission.account.settings.limits;
                let permit =
                    gateway
                        .key_limits
                        .admit(&admission.account.id, id, limits, call.received);
                permit.map_err(|limited| {
                    let who = Refused {
                        account_id: Some(&admission.account.id),
                        key_id: Some(&admission.key_id),
                        client: None,
                    };
                    let error = GatewayError::from(limited);
                    gateway.not_let_in(who, request_id, &error);
                    Stopped::unrecorded(&error)
                })?
            }
            None => KeyPermit::without_key(),
        };
        Ok(Self {
            record: Box::new(RequestRecord {
                gateway: Arc::clone(gateway),
                door: call.door,
                admission: admitted.admission,
                request_id: call.request_id,
                received: call.received,
                permit,
                stages: admitted.stages,
            }),
            permit: admitted.permit,
            source: admitted.source,
        })
    }

    /// Reads the body.
    pub async fn read(self) -> Result<Received, Stopped> {
        let read = match self.source {
            Source::Typed(body) => Ok((body, Said::default(), None)),
            Source::Upload {
                headers,
                query,
                upload,
            } => read(&self.record, &headers, query.as_deref(), upload).await,
        };
        match read {
            Ok((body, said, inflight)) => Ok(Received {
                record: self.record,
                body,
                said,
                permits: Permits {
                    _permit: self.permit,
                    _body: inflight,
                },
            }),
            Err(error) => {
                // In a box: it is rare, and would make room for itself in every request.
                let refused = Box::pin(self.record.refuse(Box::default(), error));
                Err(refused.await.into())
            }
        }
    }
}

/// Who sent a request, once that is known.
struct Admitted {
    admission: Admission,
    /// Whose requests it counts among; none where nobody counts.
    limited_id: Option<String>,
    permit: Option<WorkPermit>,
    source: Source,
    stages: Option<Arc<Stages>>,
}

impl Admitted {
    async fn new(
        gateway: &Arc<Gateway>,
        sender: Sender,
        request_id: Uuid,
    ) -> Result<Self, GatewayError> {
        Ok(match sender {
            Sender::Caller {
                client,
                permit,
                headers,
                query,
                upload,
            } => {
                let admission = gateway.admit(&headers, client, request_id).await?;
                let source = Source::Upload {
                    headers,
                    query,
                    upload,
                };
                Self::counted(admission, permit, source)
            }
            Sender::Listener {
                account,
                name,
                permit,
                headers,
                upload,
            } => {
                let source = Source::Upload {
                    headers,
                    query: None,
                    upload,
                };
                Self {
                    limited_id: None,
                    ..Self::counted(admission(name, account), permit, source)
                }
            }
            Sender::Dashboard {
                account,
                body,
                stages,
            } => Self {
                limited_id: Some(account.id.clone()),
                stages: Some(stages),
                ..Self::counted(admission(DASHBOARD_KEY, account), None, Source::Typed(body))
            },
        })
    }

    /// A request that counts among those of its key.
    fn counted(admission: Admission, permit: Option<WorkPermit>, source: Source) -> Self {
        Self {
            limited_id: Some(admission.key_id.clone()),
            admission,
            permit,
            source,
            stages: None,
        }
    }
}

/// Somebody who needs no key, and is recorded by this name.
fn admission(name: &str, account: Arc<Account>) -> Admission {
    Admission {
        key_id: name.to_owned(),
        account,
    }
}

/// A request whose body is here.
pub struct Received {
    pub(crate) record: Box<RequestRecord>,
    pub(crate) body: Bytes,
    pub(crate) said: Said,
    pub(crate) permits: Permits,
}

/// What a caller said besides the body.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// The conversation it belongs to, where the caller named it.
    pub(crate) conversation: Option<String>,
    /// What goes on to the provider.
    pub(crate) aside: Aside,
}

async fn read(
    record: &RequestRecord,
    headers: &HeaderMap,
    query: Option<&str>,
    upload: Upload,
) -> Result<(Bytes, Said, Option<InflightPermit>), GatewayError> {
    require_json(headers)?;
    let (body, inflight) = upload.read().await?;
    let said = Said {
        conversation: reply_plan::conversation_name(headers)?,
        aside: aside(record, headers, query)?,
    };
    Ok((body, said, Some(inflight)))
}

/// What goes on of the caller's head. It is looked at like any other text.
fn aside(
    record: &RequestRecord,
    headers: &HeaderMap,
    query: Option<&str>,
) -> Result<Aside, GatewayError> {
    let Some(door) = record.door else {
        return Ok(Aside::default());
    };
    let scanner = record.gateway.scanners.of(&record.admission.account)?;
    let header = |name| {
        let values = headers.get_all(name).iter();
        values.map(HeaderValue::as_bytes).collect()
    };
    let is_clean = |text: &str| scanner.detector().scan(text).is_empty();
    Ok(door.aside(header, query, is_clean)?)
}

/// What a request takes of the gateway's limits, besides its key's. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Permits {
    _permit: Option<WorkPermit>,
    _body: Option<InflightPermit>,
}

impl Permits {
    /// None, for tests.
    #[cfg(test)]
    pub(crate) const NONE: Self = Self {
        _permit: None,
        _body: None,
    };
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
