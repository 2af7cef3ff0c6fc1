//! A whole answer: read, translated, recorded, returned.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, header};
use phigate_core::wire::{ReplyContext, WireFormat};

use crate::error::GatewayError;
use crate::provider::Incoming;

use super::send;
use super::trail::Trail;

/// Brings a whole answer back. Its outcome is handed to the record before the caller gets it.
pub(super) async fn whole(
    format: &dyn WireFormat,
    context: &ReplyContext,
    incoming: Incoming,
    trail: &mut Trail,
) -> Result<Response, GatewayError> {
    let body = incoming.body.read_all().await.map_err(send::failed)?;
    let reply = format
        .read_reply(context, &body)
        .map_err(GatewayError::Provider)?;
    let mut response = Response::new(Body::from(reply.body));
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    Ok(trail.succeed(&reply.summary, response).await)
}
