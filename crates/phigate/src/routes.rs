//! Every path that is not a page: the interface for callers and for those who watch over the service.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use phigate_core::wire::{FORMATS, WireFormat};
use phigate_store::Account;
use serde_json::{Value, json};

use crate::app::App;
use crate::error::GatewayError;
use crate::openapi;
use crate::pipeline::{self, Call};
use crate::server::{Peer, RequestId, Upload};

/// The routes of the interface.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(chat_completions))
        .route("/v1/models", get(models))
        .route("/v1/models/{*id}", get(model))
        .route("/healthz", get(|| async { Json(json!({ "status": "ok" })) }))
        .route("/readyz", get(ready))
        .route("/openapi.json", get(describe))
        .with_state(app)
}

async fn chat_completions(State(app): State<Arc<App>>, request: Request) -> Response {
    let received = Instant::now();
    let (parts, upload) = Upload::split(request);
    let (Some(id), Some(peer)) = (parts.extensions.get::<RequestId>(), parts.extensions.get::<Peer>()) else {
        // The edge gives both to every request.
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let call = Call { request_id: id.0, received, peer: peer.0.ip(), headers: parts.headers, upload };
    pipeline::answer(&app, call).await
}

/// The identifiers the account can use now: those of families with a provider key, and the owner's aliases.
async fn models(State(app): State<Arc<App>>, request: Request) -> Result<Json<Value>, GatewayError> {
    let account = account_of(&app, &request).await?;
    let data: Vec<Value> = usable(&account).map(|(format, model)| describe_model(format, model)).collect();
    Ok(Json(json!({ "object": "list", "data": data })))
}

async fn model(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Json<Value>, GatewayError> {
    let account = account_of(&app, &request).await?;
    let is_configured = |format: &&&dyn WireFormat| account.providers.contains_key(format.id());
    let format = FORMATS.iter().find(|format| format.serves(&id)).filter(is_configured);
    let format = format.ok_or(GatewayError::UnknownModel)?;
    Ok(Json(describe_model(*format, &id)))
}

async fn account_of(app: &App, request: &Request) -> Result<Arc<Account>, GatewayError> {
    let headers: &HeaderMap = request.headers();
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0.ip());
    let peer = peer.unwrap_or(std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED));
    Ok(pipeline::admit(app, headers, peer).await?.account)
}

fn usable(account: &Account) -> impl Iterator<Item = (&'static dyn WireFormat, &str)> {
    let configured = FORMATS.iter().copied().filter(|format| account.providers.contains_key(format.id()));
    configured.flat_map(|format| {
        let listed = format.listed_models();
        let aliases = account.aliases.keys().map(String::as_str);
        let further = aliases.filter(|alias| format.serves(alias) && !listed.contains(alias));
        listed.iter().copied().chain(further).map(move |model| (format, model))
    })
}

fn describe_model(format: &dyn WireFormat, model: &str) -> Value {
    json!({ "id": model, "object": "model", "created": 0, "owned_by": format.id() })
}

/// Whether requests can be served: the store answers, and we are not stopping.
async fn ready(State(app): State<Arc<App>>) -> Response {
    let store = app.vault.ping().await;
    let is_ready = store.is_ok() && !app.drain.is_draining();
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let word = |fine: bool| if fine { "ok" } else { "unavailable" };
    let body = json!({ "status": word(is_ready), "store": word(store.is_ok()), "draining": app.drain.is_draining() });
    (status, Json(body)).into_response()
}

async fn describe() -> Response {
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], openapi::DOCUMENT).into_response()
}
