//! A whole answer: read, translated, dealt with, recorded, returned.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, header};
use phigate_core::reply::{self, ReplyRules, Stop, WholeReply};
use phigate_core::wire::{FailureKind, ProviderFailure, ReplyContext, WireFormat};

use crate::error::GatewayError;
use crate::provider::Incoming;

use super::reply_plan::ReplyPlan;
use super::send;
use super::trail::Trail;

/// Replies above this are dealt with on a thread of their own.
const INLINE_BYTES_MAX: usize = 32 * 1024;

/// Brings a whole answer back. Its outcome is handed to the record before the caller gets it.
pub(super) async fn whole(
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
        let treated = treat(plan.rules, reply.body).await?;
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

/// Scans and restores. What is long must not hold up other callers.
async fn treat(rules: Arc<ReplyRules>, body: Vec<u8>) -> Result<WholeReply, GatewayError> {
    if body.len() <= INLINE_BYTES_MAX {
        return Ok(reply::whole(&rules, body));
    }
    let work = tokio::task::spawn_blocking(move || reply::whole(&rules, body));
    work.await.map_err(|_| GatewayError::ReplyNotScanned)
}

/// Why a reply is not given back.
pub(super) fn withheld(stop: Stop, kinds: Vec<phi_detect::PhiKind>) -> GatewayError {
    match stop {
        Stop::Blocked => GatewayError::PhiInReply(kinds),
        Stop::Unfinished => GatewayError::ReplyNotScanned,
        Stop::Unreadable => GatewayError::Provider(ProviderFailure::new(FailureKind::Error)),
    }
}
