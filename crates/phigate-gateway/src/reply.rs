//! A complete answer: read, translated, scanned and restored, recorded, returned.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, header};
use phigate_core::doors::Door;
use phigate_core::reply::{ReplyRules, Stop, WholeReply};
use phigate_core::wire::{FailureKind, ProviderFailure, Reply};

use crate::error::GatewayError;
use crate::failure::Unanswered;
use crate::forward::Exchange;
use crate::gateway::Gateway;
use crate::outcome::OutcomeDue;
use crate::provider::Incoming;
use crate::scan_job::{is_long, on_its_own_thread};

/// Relays a complete answer. Its outcome is handed to the writer before the caller gets it; that of an answer which
/// cannot be given is returned.
pub(crate) async fn whole(
    gateway: &Gateway,
    exchange: Exchange,
    incoming: Incoming,
    mut outcome: OutcomeDue,
) -> Result<Response, (Unanswered, OutcomeDue)> {
    let reply = match read(gateway, exchange, incoming, &mut outcome).await {
        Ok(reply) => reply,
        Err(unanswered) => return Err((unanswered, outcome)),
    };
    let mut response = Response::new(Body::from(reply.body));
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    Ok(outcome.succeed(&reply.summary, response).await)
}

/// The reply as the caller may have it.
async fn read(
    gateway: &Gateway,
    exchange: Exchange,
    incoming: Incoming,
    outcome: &mut OutcomeDue,
) -> Result<Reply, Unanswered> {
    let body = incoming.body.read_all().await?;
    outcome.answer_is_here();
    let door = exchange.door;
    let mut reply = door.read_reply(exchange.format, &exchange.context, &body)?;
    if let Some(stages) = &exchange.stages {
        stages.keep_answered(&reply.body);
    }
    let rules = exchange.reply.rules;
    if !rules.is_idle() {
        let treated = treat(gateway, door, &exchange.account_id, rules, reply.body).await?;
        outcome.saw_reply(&treated.tally, treated.heard);
        reply.body = treated
            .body
            .map_err(|stop| withheld(stop, treated.tally.kinds()))?;
    }
    Ok(reply)
}

/// Scans and restores. A long reply waits for its turn on a separate thread, like a long request.
async fn treat(
    gateway: &Gateway,
    door: &'static Door,
    account_id: &str,
    rules: Arc<ReplyRules>,
    body: Vec<u8>,
) -> Result<WholeReply, GatewayError> {
    if rules.scan.is_none() || !is_long(&body) {
        return Ok(door.whole_reply(&rules, body));
    }
    let place = gateway.long_scans.enter(account_id).await?;
    on_its_own_thread(place, move || door.whole_reply(&rules, body))
        .await
        .ok_or(GatewayError::ReplyNotScanned)
}

/// Error for a reply that is withheld.
pub(crate) fn withheld(stop: Stop, kinds: Vec<phi_detect::PhiKind>) -> GatewayError {
    match stop {
        Stop::Blocked => GatewayError::PhiInReply(kinds),
        Stop::Unfinished => GatewayError::ReplyNotScanned,
        Stop::Unreadable => GatewayError::Provider(ProviderFailure::new(FailureKind::Error)),
    }
}
