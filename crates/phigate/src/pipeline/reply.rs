//! A whole answer: read, translated, dealt with, recorded, returned.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, header};
use phigate_core::reply::{self, ReplyRules, Stop, WholeReply};
use phigate_core::wire::{FailureKind, ProviderFailure, ReplyContext, WireFormat};

use crate::app::App;
use crate::error::GatewayError;
use crate::provider::Incoming;

use super::decide::{is_long, on_its_own_thread};
use super::reply_plan::ReplyPlan;
use super::send;
use super::trail::Trail;

/// Brings a whole answer back. Its outcome is handed to the record before the caller gets it.
pub(super) async fn whole(
    app: &App,
    format: &dyn WireFormat,
    context: &ReplyContext,
    incoming: Incoming,
    plan: ReplyPlan,
    trail: &mut Trail,
) -> Result<Response, GatewayError> {
    let body = incoming.body.read_all().await.map_err(send::failed)?;
    let mut reply = format
        .read_reply(context, &body)
        .map_err(GatewayError::Provider)?;
    if !plan.rules.is_idle() {
        let treated = treat(app, trail.account_id(), plan.rules, reply.body).await?;
        trail.saw_reply(&treated.tally, treated.heard);
        reply.body = treated
            .body
            .map_err(|stop| withheld(stop, treated.tally.kinds()))?;
    }
    let mut response = Response::new(Body::from(reply.body));
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    Ok(trail.succeed(&reply.summary, response).await)
}

/// Scans and restores. A long reply waits for its turn and a thread of its own, like a long request.
async fn treat(
    app: &App,
    account_id: &str,
    rules: Arc<ReplyRules>,
    body: Vec<u8>,
) -> Result<WholeReply, GatewayError> {
    if rules.scan.is_none() || !is_long(&body) {
        return Ok(reply::whole(&rules, body));
    }
    let place = app.long_scans.enter(account_id).await?;
    on_its_own_thread(place, move || reply::whole(&rules, body))
        .await
        .ok_or(GatewayError::ReplyNotScanned)
}

/// Why a reply is not given back.
pub(super) fn withheld(stop: Stop, kinds: Vec<phi_detect::PhiKind>) -> GatewayError {
    match stop {
        Stop::Blocked => GatewayError::PhiInReply(kinds),
        Stop::Unfinished => GatewayError::ReplyNotScanned,
        Stop::Unreadable => GatewayError::Provider(ProviderFailure::new(FailureKind::Error)),
    }
}
