//! Paths that clients know by name and that are not served yet. A bare 404 is read by SDKs as an unknown model, so each
//! answer names the API and its replacement.

use std::sync::Arc;

use axum::response::IntoResponse;
use axum::routing::any;
use axum::{Extension, Router};
use phigate_edge::{ErrorBody, RequestId};
use phigate_gateway::Metrics;
use phigate_types::ErrorCode;

/// Path, and the advice for it.
const PATHS: &[(&str, &str)] = &[
    // Alphabetical by path.
    ("/chat/completions", BASE_URL),
    ("/models", BASE_URL),
    ("/v1/assistants", CHAT),
    ("/v1/assistants/{*rest}", CHAT),
    ("/v1/audio/{*rest}", NO_OTHER),
    ("/v1/batches", CHAT),
    ("/v1/batches/{*rest}", CHAT),
    ("/v1/files", NO_OTHER),
    ("/v1/files/{*rest}", NO_OTHER),
    ("/v1/images/{*rest}", NO_OTHER),
    ("/v1/messages/{*rest}", MESSAGES),
    ("/v1/moderations", NO_OTHER),
    ("/v1/realtime", CHAT),
    ("/v1/responses/{*rest}", RESPONSES),
    ("/v1/threads", CHAT),
    ("/v1/threads/{*rest}", CHAT),
    (
        "/v1beta/models/{*rest}",
        "use an OpenAI client with chat completions at /v1/chat/completions; it takes gemini models too",
    ),
];

const BASE_URL: &str = "set the client's base URL to this address with /v1 at its end";
const CHAT: &str = "use chat completions at /v1/chat/completions";
const MESSAGES: &str =
    "messages are at /v1/messages, and counting their tokens at /v1/messages/count_tokens";
const RESPONSES: &str =
    "responses are made at /v1/responses and not kept, so that there is nothing to fetch or cancel";
const NO_OTHER: &str = "there is no other way through the gateway for it; chat completions are at /v1/chat/completions";

/// Answers those paths, whatever the method.
pub(crate) fn router(metrics: &Arc<Metrics>) -> Router {
    PATHS.iter().fold(Router::new(), |router, (path, instead)| {
        let metrics = Arc::clone(metrics);
        let answer = async move |Extension(RequestId(id)): Extension<RequestId>| {
            let refusal = refusal(path, instead);
            tracing::info!(
                request.id = %id,
                status = refusal.status.as_u16(),
                error = refusal.code.code(),
                path,
                "request refused: the path is not served"
            );
            metrics.refused(refusal.code);
            refusal.into_response()
        };
        router.route(path, any(answer))
    })
}

/// The message names our own path, never the one that was asked for: that may hold anything.
fn refusal(path: &str, instead: &str) -> ErrorBody {
    let code = ErrorCode::NotFound;
    let status = http::StatusCode::NOT_FOUND;
    let name = path.replace("{*rest}", "…");
    let message = format!("phigate does not serve {name}: {instead}");
    ErrorBody::new(status, code, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_refused_with_advice() {
        assert!(PATHS.is_sorted_by_key(|row| row.0));
        for (path, instead) in PATHS {
            let refusal = refusal(path, instead);
            assert_eq!(refusal.status, 404);
            assert!(refusal.message.contains(instead) && !refusal.message.contains('{'));
        }
        // Two paths that clash would panic here.
        let _ = router(&Metrics::new());
    }
}
