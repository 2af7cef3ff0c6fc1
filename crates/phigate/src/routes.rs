//! Every path that is not a page: the interface for callers and for those who watch over the service.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use http::{HeaderMap, StatusCode};
use phigate_core::wire::{FORMATS, WireFormat};
use phigate_store::Account;
use serde_json::{Value, json};

use crate::app::App;
use crate::error::GatewayError;
use crate::not_served;
use crate::pipeline::{self, Call};
use crate::server::{ClientAddress, RequestId, Turn, Upload, health_routes};

/// The routes of the interface.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(chat_completions))
        .route("/v1/models", get(models))
        .route("/v1/models/{*id}", get(model))
        .with_state(Arc::clone(&app))
        .merge(not_served::router())
        .merge(health_routes(app.drain.clone(), move || {
            is_ready(Arc::clone(&app))
        }))
}

/// Requests can be served while the store can be written.
async fn is_ready(app: Arc<App>) -> bool {
    app.vault.ping().await.is_ok()
}

async fn chat_completions(State(app): State<Arc<App>>, request: Request) -> Response {
    let received = Instant::now();
    let (parts, upload) = Upload::split(request);
    let (Some(id), Some(client)) = (
        parts.extensions.get::<RequestId>(),
        parts.extensions.get::<ClientAddress>(),
    ) else {
        // The edge gives both to every request.
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let call = Call {
        request_id: id.0,
        received,
        client: client.0,
        turn: parts.extensions.get::<Turn>().cloned(),
        headers: parts.headers,
        upload,
    };
    pipeline::answer(&app, call).await
}

/// The identifiers the account can use now: those of families with a provider key, and the owner's aliases.
async fn models(
    State(app): State<Arc<App>>,
    Extension(client): Extension<ClientAddress>,
    headers: HeaderMap,
) -> Result<Json<Value>, GatewayError> {
    let account = pipeline::admit(&app, &headers, client.0).await?.account;
    let data: Vec<Value> = usable(&account)
        .map(|(format, model)| describe_model(format, model))
        .collect();
    Ok(Json(json!({ "object": "list", "data": data })))
}

async fn model(
    State(app): State<Arc<App>>,
    Extension(client): Extension<ClientAddress>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, GatewayError> {
    let account = pipeline::admit(&app, &headers, client.0).await?.account;
    let is_configured = |format: &&&dyn WireFormat| account.providers.contains_key(format.id());
    let format = FORMATS
        .iter()
        .find(|format| format.serves(&id))
        .filter(is_configured);
    let format = format.ok_or(GatewayError::UnknownModel)?;
    Ok(Json(describe_model(*format, &id)))
}

fn usable(account: &Account) -> impl Iterator<Item = (&'static dyn WireFormat, &str)> {
    let configured = FORMATS
        .iter()
        .copied()
        .filter(|format| account.providers.contains_key(format.id()));
    configured.flat_map(|format| {
        let listed = format.listed_models();
        let aliases = account.aliases.keys().map(String::as_str);
        let further = aliases.filter(|alias| format.serves(alias) && !listed.contains(alias));
        listed
            .iter()
            .copied()
            .chain(further)
            .map(move |model| (format, model))
    })
}

fn describe_model(format: &dyn WireFormat, model: &str) -> Value {
    json!({ "id": model, "object": "model", "created": 0, "owned_by": format.id() })
}
