//! The life of one request, top to bottom.
//!
//! [`answer`] is the story; the other files are its footnotes: `decide` is the part
//! without waiting (parse, scan, apply, translate), `scan_queue` shares the processors,
//! `evidence` is what was learned, `trail` keeps the records, `relay` and `reply` bring the
//! provider's answer back. `preview` scans what somebody typed into the dashboard.

mod decide;
mod evidence;
mod preview;
mod relay;
mod reply;
mod reply_notes;
mod reply_plan;
mod scan_queue;
mod send;
mod trail;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};
use jiff::Timestamp;
use phigate_core::text::PhiText;
use phigate_core::wire::{FailureKind, WireFormat};
use phigate_store::{Account, AdminAct, Admission, AdmitError};
use phigate_types::Act;
use uuid::Uuid;

use crate::app::App;
use crate::error::GatewayError;
use crate::provider::Incoming;
use crate::server::{REQUEST_ID, Turn, Upload};

use decide::{Decided, Forward, Places};
pub(crate) use preview::preview;
pub(crate) use scan_queue::{NoPlace, ScanQueue};
pub(crate) use send::provider_headers;
use trail::Trail;

/// A request as it arrived at `/v1/chat/completions`.
pub(crate) struct Call {
    /// The id on its response and its records.
    pub(crate) request_id: Uuid,
    /// When it arrived.
    pub(crate) received: Instant,
    /// Where from.
    pub(crate) client: IpAddr,
    /// Its place among the requests that are worked on.
    pub(crate) turn: Option<Turn>,
    /// Its headers.
    pub(crate) headers: HeaderMap,
    /// Its body, not read yet.
    pub(crate) upload: Upload,
}

/// Answers a chat-completion request.
pub(crate) async fn answer(app: &Arc<App>, call: Call) -> Response {
    let admission = match admit(app, &call.headers, call.client).await {
        Ok(admission) => admission,
        Err(error) => return error.into_response(),
    };
    let permit = match app.key_limits.admit(
        &admission.key_id,
        &admission.account.settings.limits,
        call.received,
    ) {
        Ok(permit) => permit,
        Err(limited) => return GatewayError::from(limited).into_response(),
    };
    let mut trail = Trail::open(app, call.request_id, call.received, &admission, permit);
    match converse(app, call, &admission, &mut trail).await {
        Ok(response) => response,
        Err(error) => trail.fail(error).await,
    }
}

/// From the body to the provider's answer. Every error on the way ends in the trail.
async fn converse(
    app: &Arc<App>,
    call: Call,
    admission: &Admission,
    trail: &mut Trail,
) -> Result<Response, GatewayError> {
    require_json(&call.headers)?;
    let conversation = reply_plan::conversation_name(&call.headers)?;
    let (body, inflight) = call.upload.read().await?;
    let places = Places {
        _key: trail.permit(),
        _turn: call.turn,
        _body: Some(inflight),
    };
    let asked = Asked { body, conversation };
    forward(app, asked, admission, trail, &places).await
}

/// What a caller asked for.
struct Asked {
    body: Bytes,
    /// The conversation it belongs to, where the caller named it.
    conversation: Option<String>,
}

impl From<Bytes> for Asked {
    fn from(body: Bytes) -> Self {
        Self {
            body,
            conversation: None,
        }
    }
}

/// Answers a request that somebody signed in sends from the dashboard: without an API key, else like any other.
pub(crate) async fn answer_for_dashboard(
    app: &Arc<App>,
    account: Arc<Account>,
    body: Bytes,
) -> Response {
    let (request_id, received) = (Uuid::now_v7(), Instant::now());
    let admission = Admission {
        key_id: DASHBOARD_KEY.to_owned(),
        account,
    };
    let permit = match app.key_limits.admit(
        &admission.account.id,
        &admission.account.settings.limits,
        received,
    ) {
        Ok(permit) => permit,
        Err(limited) => return GatewayError::from(limited).into_response(),
    };
    let mut trail = Trail::open(app, request_id, received, &admission, permit);
    let places = Places {
        _key: trail.permit(),
        _turn: None,
        _body: None,
    };
    let mut response = match forward(app, body.into(), &admission, &mut trail, &places).await {
        Ok(response) => response,
        Err(error) => trail.fail(error).await,
    };
    if let Ok(id) = HeaderValue::from_str(&request_id.to_string()) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// Stands in records where a caller's key would: a word no key has.
const DASHBOARD_KEY: &str = "dashboard";

/// From the bytes of a body to the provider's answer.
async fn forward(
    app: &Arc<App>,
    asked: Asked,
    admission: &Admission,
    trail: &mut Trail,
    places: &Places,
) -> Result<Response, GatewayError> {
    let Decided { evidence, verdict } = decide::decide(app, admission, asked, places).await;
    trail.saw(evidence);
    let Forward {
        route,
        envelope,
        context,
        reply,
        is_stream,
    } = verdict?;
    trail.expects_reply(&reply);
    trail.decide().await?;
    let incoming = send::send(&app.provider, &admission.account.id, envelope).await?;
    trail.provider_answered(incoming.status);
    if !incoming.status.is_success() {
        return Err(refused_by_provider(app, admission, route.format, incoming).await);
    }
    if is_stream {
        let translator = route.format.open_stream(&context);
        let stage = reply.stage(context.event_bytes_max);
        relay::stream(translator, stage, incoming, trail, app.drain.clone()).await
    } else {
        reply::whole(app, route.format, &context, incoming, reply, trail).await
    }
}

/// Finds the account of a caller. Bad keys are counted against their address.
pub(crate) async fn admit(
    app: &Arc<App>,
    headers: &HeaderMap,
    client: IpAddr,
) -> Result<Admission, GatewayError> {
    let admitted = match bearer(headers) {
        Ok(key) => app.vault.access.admit(key).await,
        Err(error) => Err(error),
    };
    match admitted {
        Ok(admission) => Ok(admission),
        Err(AdmitError::Store(error)) => Err(error.into()),
        Err(error) => Err(bad_key(app, client, error)),
    }
}

/// The key of `Authorization: Bearer KEY`. Schemes are case-insensitive (RFC 9110).
fn bearer(headers: &HeaderMap) -> Result<&str, AdmitError> {
    let header = headers
        .get(header::AUTHORIZATION)
        .ok_or(AdmitError::Missing)?;
    let text = header.to_str().map_err(|_| AdmitError::Malformed)?;
    match text.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") && !key.trim().is_empty() => {
            Ok(key.trim())
        }
        _ => Err(AdmitError::Malformed),
    }
}

/// A bad key is an act on the account it belonged to, or on the installation. The limit on bad keys also limits the records.
fn bad_key(app: &Arc<App>, client: IpAddr, error: AdmitError) -> GatewayError {
    if let Err(limited) = app.bad_keys.strike(client, Instant::now()) {
        return limited.into();
    }
    let (account_id, key_id) = match &error {
        AdmitError::Revoked { key_id, account_id } | AdmitError::Expired { key_id, account_id } => {
            (Some(account_id.clone()), Some(key_id.clone()))
        }
        _ => (None, None),
    };
    let mut act =
        AdminAct::new(Timestamp::now(), "", "caller", Act::KeyRefused).detail("address", &client);
    act.target = key_id;
    let app = Arc::clone(app);
    tokio::spawn(async move {
        // A record of a failed try must not hold up the answer to it.
        let _ = app
            .vault
            .trail
            .record_admin(account_id.as_deref(), &act)
            .await;
    });
    error.into()
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

/// A provider's refusal. Its own words may quote the prompt, so they are scanned before they are passed on.
async fn refused_by_provider(
    app: &App,
    admission: &Admission,
    format: &dyn WireFormat,
    incoming: Incoming,
) -> GatewayError {
    let status = incoming.status.as_u16();
    let retry_after = incoming.headers.get(header::RETRY_AFTER).cloned();
    let retry_after = retry_after.as_ref().and_then(|value| value.to_str().ok());
    let body = incoming.body.read_all().await.unwrap_or_default();
    let mut failure = format.read_failure(status, retry_after, &body);
    failure.provider_message = match (failure.provider_message, app.scanner(&admission.account)) {
        (Some(words), Ok(scanner)) if may_be_told(admission, format, failure.kind, &words) => {
            Some(app.without_phi(&scanner, &words))
        }
        _ => None,
    };
    GatewayError::Provider(failure)
}

/// Only why a request was rejected helps its caller. Words that quote our key help nobody.
fn may_be_told(
    admission: &Admission,
    format: &dyn WireFormat,
    kind: FailureKind,
    words: &PhiText,
) -> bool {
    let key = admission
        .account
        .providers
        .get(format.id())
        .map(|provider| provider.key.expose());
    let quotes_key = key.is_some_and(|key| words.expose().contains(key));
    matches!(kind, FailureKind::Rejected(_)) && !quotes_key
}
