//! The life of one request, top to bottom.
//!
//! [`answer`] is the story; the other files are its footnotes: `decide` is the part
//! without waiting (parse, scan, apply, translate), `evidence` what it learned, `trail`
//! keeps the records, `relay` and `reply` bring the provider's answer back.

mod decide;
mod evidence;
mod relay;
mod reply;
mod trail;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, header};
use phigate_core::wire::FailureKind;
use phigate_core::wire::ProviderFailure;
use phigate_store::{Admission, AdmitError};
use uuid::Uuid;

use crate::app::App;
use crate::error::GatewayError;
use crate::provider::Incoming;
use crate::server::Upload;

use decide::{Decided, Forward};
use trail::Trail;

/// A request as it arrived at `/v1/chat/completions`.
pub(crate) struct Call {
    /// The id on its response and its records.
    pub(crate) request_id: Uuid,
    /// When it arrived.
    pub(crate) received: Instant,
    /// Where from.
    pub(crate) peer: IpAddr,
    /// Its headers.
    pub(crate) headers: HeaderMap,
    /// Its body, not read yet.
    pub(crate) upload: Upload,
}

/// Answers a chat-completion request.
pub(crate) async fn answer(app: &Arc<App>, call: Call) -> Response {
    let admission = match admit(app, &call.headers, call.peer).await {
        Ok(admission) => admission,
        Err(error) => return error.into_response(),
    };
    let _turn = match app.limits.admit_key(&admission.key_id, call.received) {
        Ok(turn) => turn,
        Err(retry_after_s) => return GatewayError::RateLimited { retry_after_s }.into_response(),
    };
    let mut trail = Trail::open(app, call.request_id, call.received, &admission);
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
    let (body, _inflight) = call.upload.read().await?;
    let Decided { evidence, verdict } = decide::decide(app, admission, body).await;
    trail.saw(evidence);
    let Forward { route, outgoing, context, is_stream } = verdict?;
    trail.decide().await?;
    let incoming = app.providers.send(outgoing).await.map_err(|error| error.failure())?;
    trail.provider_answered(incoming.status());
    if !incoming.is_success() {
        return Err(refused_by_provider(app, &route, incoming).await);
    }
    if is_stream {
        Ok(relay::stream(route.format.open_stream(&context), incoming, trail))
    } else {
        reply::whole(route.format, &context, incoming, trail).await
    }
}

/// Finds the account of a caller. Bad keys are counted against their address.
pub(crate) async fn admit(app: &App, headers: &HeaderMap, peer: IpAddr) -> Result<Admission, GatewayError> {
    if let Err(retry_after_s) = app.limits.allow_bad_key(peer) {
        return Err(GatewayError::RateLimited { retry_after_s });
    }
    let admitted = match bearer(headers) {
        Ok(key) => app.vault.admit(key).await,
        Err(error) => return Err(bad_key(app, peer, error)),
    };
    admitted.map_err(|error| match error {
        AdmitError::Store(error) => error.into(),
        error => bad_key(app, peer, error.into()),
    })
}

/// The key of `Authorization: Bearer KEY`. Schemes are case-insensitive (RFC 9110).
fn bearer(headers: &HeaderMap) -> Result<&str, GatewayError> {
    let header = headers.get(header::AUTHORIZATION).ok_or(GatewayError::MissingKey)?;
    let text = header.to_str().map_err(|_| GatewayError::InvalidKey)?;
    match text.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") && !key.trim().is_empty() => Ok(key.trim()),
        _ => Err(GatewayError::InvalidKey),
    }
}

fn bad_key(app: &App, peer: IpAddr, error: GatewayError) -> GatewayError {
    app.limits.count_bad_key(peer);
    app.metrics.bad_key();
    error
}

fn require_json(headers: &HeaderMap) -> Result<(), GatewayError> {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") { Ok(()) } else { Err(GatewayError::MediaType) }
}

/// A provider's refusal. Its own words may quote the prompt, so they are scanned before they are passed on.
async fn refused_by_provider(app: &App, route: &decide::Route, incoming: Incoming) -> GatewayError {
    let status = incoming.status();
    let retry_after = incoming.header(header::RETRY_AFTER);
    let body = incoming.read_all().await.unwrap_or_else(|_| Bytes::new());
    let mut failure = route.format.read_failure(status, retry_after.as_deref(), &body);
    failure.provider_message = failure.provider_message.map(|words| app.without_phi(&words));
    GatewayError::Provider(failure)
}

/// A failure to reach a provider, or to hear it out.
pub(crate) fn unreachable(kind: FailureKind) -> GatewayError {
    GatewayError::Provider(ProviderFailure::new(kind))
}
