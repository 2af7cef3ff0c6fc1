//! Start of a request's life: authentication, and reading of the body.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use phigate_core::doors::Door;
use phigate_core::request::{Aside, RequestError};
use phigate_edge::{InflightPermit, Upload, WorkPermit};
use phigate_store::{Account, Admission};
use phigate_types::{ErrorCode, Mode};
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
    /// Door of the request; `None` if it is not to be forwarded.
    pub door: Option<&'static Door>,
    /// The id on its response and its records.
    pub request_id: Uuid,
    /// Time of arrival.
    pub received: Instant,
    /// Sender of the request.
    pub sender: Sender,
}

/// Sender of a request, with what was received.
pub enum Sender {
    /// Software with an API key.
    Caller {
        /// Address of the client.
        client: IpAddr,
        /// Permit to work on the request.
        permit: Option<WorkPermit>,
        /// Headers of the request.
        headers: HeaderMap,
        /// Query of the request.
        query: Option<String>,
        /// Body of the request, not read yet.
        upload: Upload,
    },
    /// Software on a listener without keys, which acts for one account.
    Listener {
        /// The account.
        account: Arc<Account>,
        /// Name in records in place of a caller's key. It cannot equal a key.
        name: &'static str,
        /// Permit to work on the request.
        permit: Option<WorkPermit>,
        /// Headers of the request.
        headers: HeaderMap,
        /// Body of the request, not read yet.
        upload: Upload,
    },
    /// User of the dashboard: has no API key, but is treated like other callers.
    Dashboard {
        /// The account they are signed in to.
        account: Arc<Account>,
        /// Text that the user typed, as a request.
        body: Bytes,
        /// Store of the request and reply that the page shows.
        stages: Arc<Stages>,
    },
}

/// A request whose account is known, and whose body is not read.
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

/// Name in records in place of a caller's key. It cannot equal a key.
const DASHBOARD_KEY: &str = "dashboard";

impl Open {
    /// Authenticates the request, and takes a place among the key's requests.
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
        let headers = match &admitted.source {
            Source::Upload { headers, .. } => Some(headers),
            Source::Typed(_) => None,
        };
        let telemetry = gateway.telemetry.get();
        let trace = telemetry.and_then(|telemetry| telemetry.begin(headers, call.received));
        Ok(Self {
            record: Box::new(RequestRecord {
                gateway: Arc::clone(gateway),
                door: call.door,
                admission: admitted.admission,
                request_id: call.request_id,
                received: call.received,
                permit,
                stages: admitted.stages,
                trace,
            }),
            permit: admitted.permit,
            source: admitted.source,
        })
    }

    /// Reads the body.
    pub async fn read(self) -> Result<Received, Stopped> {
        let read = match self.source {
            Source::Typed(body) => Ok((body, CallerMetadata::default(), None)),
            Source::Upload {
                headers,
                query,
                upload,
            } => read(&self.record, &headers, query.as_deref(), upload).await,
        };
        match read {
            Ok((body, said, inflight)) => Ok(Received {
                record: self.record.tightened(said.mode),
                body,
                said,
                permits: Permits {
                    _permit: self.permit,
                    _body: inflight,
                },
            }),
            Err(error) => {
                // Boxed: rare, and inline it would enlarge every request's future.
                let refused = Box::pin(self.record.refuse(Box::default(), error));
                Err(refused.await.into())
            }
        }
    }
}

/// An authenticated request.
struct Admitted {
    admission: Admission,
    /// Id of the key or account against whose limits the request counts; `None` if unlimited.
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
                    ..Self::counted(Admission::without_key(name, account), permit, source)
                }
            }
            Sender::Dashboard {
                account,
                body,
                stages,
            } => Self {
                limited_id: Some(account.id.clone()),
                stages: Some(stages),
                ..Self::counted(
                    Admission::without_key(DASHBOARD_KEY, account),
                    None,
                    Source::Typed(body),
                )
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

/// A request whose body was read.
pub struct Received {
    pub(crate) record: Box<RequestRecord>,
    pub(crate) body: Bytes,
    pub(crate) said: CallerMetadata,
    pub(crate) permits: Permits,
}

/// Headers and query of a request.
#[derive(Debug, Default)]
pub(crate) struct CallerMetadata {
    /// Conversation of the request, if the caller named it.
    pub(crate) conversation: Option<String>,
    /// Treatment that the request demands of itself.
    pub(crate) mode: Option<Mode>,
    /// Headers and query forwarded to the provider.
    pub(crate) aside: Aside,
}

async fn read(
    record: &RequestRecord,
    headers: &HeaderMap,
    query: Option<&str>,
    upload: Upload,
) -> Result<(Bytes, CallerMetadata, Option<InflightPermit>), GatewayError> {
    require_json(headers)?;
    let (body, inflight) = upload.read().await?;
    let said = CallerMetadata {
        conversation: reply_plan::conversation_name(headers)?,
        mode: demanded_mode(record, headers)?,
        aside: aside(record, headers, query)?,
    };
    Ok((body, said, Some(inflight)))
}

const PHI_MODE: HeaderName = HeaderName::from_static("x-gateway-phi-mode");

/// The treatment that a request demands of itself, if the account lets requests do so. They can only tighten.
fn demanded_mode(
    record: &RequestRecord,
    headers: &HeaderMap,
) -> Result<Option<Mode>, GatewayError> {
    let mut given = headers.get_all(PHI_MODE).iter();
    let settings = &record.admission.account.settings;
    let Some(value) = given.next().filter(|_| settings.request_header) else {
        return Ok(None);
    };
    let code = value.to_str().unwrap_or_default();
    let mode = code.parse().ok();
    let mode = mode.filter(|mode: &Mode| !mode.forwards_unscanned() && given.next().is_none());
    let refusal = || {
        let codes = Mode::all().filter(|mode| !mode.forwards_unscanned());
        let codes: Vec<&str> = codes.map(Mode::code).collect();
        let name = "X-Gateway-PHI-Mode";
        let message = format!("send {name} once, with one of {}", codes.join(", "));
        RequestError::field(ErrorCode::InvalidValue, name, message)
    };
    mode.map(Some).ok_or_else(|| refusal().into())
}

/// Caller headers and query to forward, scanned like any text.
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
    let find = |text: &str| scanner.scan_text(None, text);
    Ok(door.aside(header, query, find)?)
}

/// Permits that a request holds, besides its key's. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Permits {
    _permit: Option<WorkPermit>,
    _body: Option<InflightPermit>,
}

impl Permits {
    /// No permits, for tests.
    #[cfg(test)]
    pub(crate) const NONE: Self = Self {
        _permit: None,
        _body: None,
    };
}

/// JSON is UTF-8. Another charset is how bytes mean one thing to a scanner and another to a provider.
pub(crate) fn require_json(headers: &HeaderMap) -> Result<(), GatewayError> {
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
