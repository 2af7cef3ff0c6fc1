//! `/healthz`, `/readyz` and `/openapi.json`: what the service says about itself.

use std::future::Future;

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};

use super::drain::Drain;

/// The description of the API, as served and as printed by `phigate openapi`.
pub(crate) const OPENAPI: &str = include_str!("openapi.json");

/// The routes. `is_ready` says whether the store can be reached.
pub(crate) fn routes<F, R>(drain: Drain, is_ready: F) -> Router
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
        .route(
            "/openapi.json",
            get(|| async { json(StatusCode::OK, OPENAPI) }),
        )
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
    fn the_description_is_openapi_and_names_what_we_serve() {
        let description: serde_json::Value = serde_json::from_str(OPENAPI).unwrap();
        assert!(description["openapi"].as_str().unwrap().starts_with("3."));
        for path in [
            "/v1/chat/completions",
            "/v1/models",
            "/v1/models/{id}",
            "/healthz",
            "/readyz",
            "/openapi.json",
        ] {
            assert!(description["paths"].get(path).is_some(), "{path}");
        }
        assert_eq!(description["info"]["version"], env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn ready_means_reachable_and_not_draining() {
        for (is_draining, store_answers, status) in
            [(false, true, 200), (false, false, 503), (true, true, 503)]
        {
            assert_eq!(readiness(is_draining, store_answers).status(), status);
        }
    }
}
