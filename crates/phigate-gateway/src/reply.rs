//! A whole answer: read, translated, recorded, returned.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, header};

use crate::error::GatewayError;
use crate::failure;
use crate::outcome::OutcomeDue;
use crate::pipeline::{Exchange, Stopped};
use crate::provider::Incoming;

/// Brings a whole answer back. Its outcome is handed to the record before the caller gets it.
pub(crate) async fn whole(
    exchange: &Exchange,
    incoming: Incoming,
    outcome: OutcomeDue,
) -> Result<Response, Stopped> {
    let reply = match incoming.body.read_all().await {
        Ok(body) => exchange
            .format
            .read_reply(&exchange.context, &body)
            .map_err(GatewayError::Provider),
        Err(error) => Err(failure::failed(error)),
    };
    let reply = match reply {
        Ok(reply) => reply,
        Err(error) => return Err(outcome.fail(error).await.into()),
    };
    let mut response = Response::new(Body::from(reply.body));
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    Ok(outcome.succeed(&reply.summary, response).await)
}
