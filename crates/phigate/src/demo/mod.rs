//! Simulated providers for trying everything without a key.
//!
//! One service speaks the formats of all three families and of every door. It answers with the received text, so that
//! the effect of a mode is visible at once. It calls offered tools that the prompt names, fills schemas, streams word
//! by word, and fails on request: `simulate 429`, `simulate 500`, `simulate 503`, `simulate cut` and `simulate slow` in
//! a prompt.
//!
//! `script` decides the answer; `openai`, `anthropic` and `google` write it in the format of their family, `responses`
//! and `prompts` in OpenAI's other formats.

mod anthropic;
mod google;
mod openai;
mod prompts;
mod responses;
mod sample;
mod script;

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use futures_util::{Stream, StreamExt, stream};
use http::{HeaderMap, HeaderName, StatusCode, header};
use serde_json::{Value, json};

use script::{Answer, Asked, Fault};

/// The pause between two pieces of a stream: a brisk typist.
const PAUSE: Duration = Duration::from_millis(12);

/// Delay of a slow provider.
const SLOW: Duration = Duration::from_secs(3);

/// The family of a simulated provider.
trait Family: Copy + Send + Sync + 'static {
    /// The header that must hold a key.
    fn key_header(self) -> HeaderName;
    /// Reads a request.
    fn read(self, body: &Value) -> Asked;
    /// The answer in one piece.
    fn whole(self, model: &str, body: &Value, answer: &Answer) -> Value;
    /// The answer in events.
    fn events(self, model: &str, body: &Value, answer: &Answer) -> Vec<String>;
    /// An error.
    fn error(self, status: StatusCode, message: &str) -> Value;
}

/// The service.
pub(crate) fn router() -> Router {
    Router::new()
        .route("/v1/chat/completions", told_by(openai::OpenAi))
        .route("/v1/responses", told_by(responses::Responses))
        .route("/v1/completions", told_by(prompts::Completions))
        .route("/v1/embeddings", told_by(prompts::Embeddings))
        .route("/v1/messages", told_by(anthropic::Anthropic))
        .route("/v1/messages/count_tokens", told_by(anthropic::Count))
        .route("/v1beta/models/{call}", post(google_generate))
        .route("/v1/models", get(no_models))
        .route("/v1beta/models", get(no_models))
}

/// Answers in one format, whose requests contain the stream flag.
fn told_by(family: impl Family) -> MethodRouter {
    post(async move |headers: HeaderMap, body: Bytes| {
        let streams = |body: &Value| body["stream"] == json!(true);
        answer(family, &headers, &body, None, streams).await
    })
}

async fn google_generate(Path(call): Path<String>, headers: HeaderMap, body: Bytes) -> Response {
    let (model, method) = call.split_once(':').unwrap_or((&call, ""));
    let streams = |_: &Value| method == "streamGenerateContent";
    answer(google::Google, &headers, &body, Some(model), streams).await
}

/// An empty list: the status alone shows that address and key are right.
async fn no_models() -> Response {
    axum::Json(json!({"object": "list", "data": [], "models": []})).into_response()
}

async fn answer(
    family: impl Family,
    headers: &HeaderMap,
    body: &[u8],
    model: Option<&str>,
    streams: impl Fn(&Value) -> bool,
) -> Response {
    let refuse = |status: StatusCode, message: &str| {
        let retry_after =
            (status == StatusCode::TOO_MANY_REQUESTS).then_some([(header::RETRY_AFTER, "1")]);
        (
            status,
            retry_after,
            axum::Json(family.error(status, message)),
        )
            .into_response()
    };
    let has_key = headers
        .get(family.key_header())
        .is_some_and(|key| !key.is_empty());
    if !has_key {
        return refuse(StatusCode::UNAUTHORIZED, "no key was sent");
    }
    let Ok(body) = serde_json::from_slice::<Value>(body) else {
        return refuse(StatusCode::BAD_REQUEST, "the body is not JSON");
    };
    let asked = family.read(&body);
    match asked.fault() {
        Some(Fault::Status(status)) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            return refuse(status, "simulated, as asked");
        }
        Some(Fault::Slow) => tokio::time::sleep(SLOW).await,
        Some(Fault::Cut) | None => {}
    }
    let model = format!(
        "{}-demo",
        model.or(body["model"].as_str()).unwrap_or("model")
    );
    let answer = script::answer(&asked);
    if !streams(&body) {
        return axum::Json(family.whole(&model, &body, &answer)).into_response();
    }
    let mut events = family.events(&model, &body, &answer);
    let is_cut = asked.fault() == Some(Fault::Cut);
    if is_cut {
        events.truncate(events.len() / 2);
    }
    (
        [(header::CONTENT_TYPE, "text/event-stream")],
        Body::from_stream(slowly(events, is_cut)),
    )
        .into_response()
}

/// Sends the events one by one. A cut stream ends in an error, which closes the connection.
fn slowly(events: Vec<String>, is_cut: bool) -> impl Stream<Item = Result<String, std::io::Error>> {
    let pieces = stream::iter(events)
        .map(Ok::<_, Infallible>)
        .then(|piece| async move {
            tokio::time::sleep(PAUSE).await;
            piece.map_err(|never| match never {})
        });
    let end = is_cut.then(|| Err(std::io::Error::other("simulated, as asked")));
    pieces.chain(stream::iter(end))
}

/// An id in the family's style.
fn id(prefix: &str) -> String {
    format!("{prefix}{}", uuid::Uuid::now_v7().simple())
}

#[cfg(test)]
mod tests;
