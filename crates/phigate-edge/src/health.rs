//! `/healthz` and `/readyz`: whether the process runs, and whether it can serve.

use std::future::Future;

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};

use crate::drain::Drain;

/// Routes of both probes. `is_ready` returns whether the store can be reached.
pub fn routes<F, R>(drain: Drain, is_ready: F) -> Router
where
    F: Fn() -> R + Clone + Send + Sync + 'static,
    R: Future<Output = bool> + Send,
{
    let ready = move || {
        let (drain, is_ready) = (drain.clone(), is_ready.clone());
        async move { readiness(drain.is_draining(), is_ready().await) }
    };
    Router::new()
        .route(
            "/healthz",
            get(|| async { json(StatusCode::OK, r#"{"status":"ok"}"#) }),
        )
        .route("/readyz", get(ready))
}

fn readiness(is_draining: bool, store_answers: bool) -> Response {
    match (is_draining, store_answers) {
        (true, _) => json(StatusCode::SERVICE_UNAVAILABLE, r#"{"status":"draining"}"#),
        (false, false) => json(
            StatusCode::SERVICE_UNAVAILABLE,
            r#"{"status":"store unreachable"}"#,
        ),
        (false, true) => json(StatusCode::OK, r#"{"status":"ready"}"#),
    }
}

fn json(status: StatusCode, text: &'static str) -> Response {
    (
        status,
        [(CONTENT_TYPE, HeaderValue::from_static("application/json"))],
        text,
    )
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readiness_needs_the_store_and_no_drain() {
        for (is_draining, store_answers, status) in
            [(false, true, 200), (false, false, 503), (true, true, 503)]
        {
            assert_eq!(readiness(is_draining, store_answers).status(), status);
        }
    }
}
