//! Every path that is not a page: the API for callers, and the probes for operators.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use phigate_core::doors::{DOORS, Door, MESSAGES};
use phigate_core::service;
use phigate_edge::{ClientAddress, RequestId, Upload, WorkPermit, health_routes};
use phigate_gateway::{
    Call, GatewayError, PolicyRow, Sender, listed_models, policy_table, routes, routes_at,
};
use phigate_types::ErrorFormat;
use serde_json::{Value, json};

use crate::app::App;
use crate::{models, not_served, openapi, requests};

/// The routes of the interface.
pub(crate) fn router(app: Arc<App>) -> Router {
    let doors = DOORS.iter().fold(Router::new(), |router, door| {
        let answer = async move |State(app): State<Arc<App>>, request: Request| {
            enter(app, door, request).await
        };
        router.route(door.path, post(answer))
    });
    doors
        .route("/v1/scan", post(scan))
        .route("/beta/litellm_basic_guardrail_api", post(guard))
        .route("/v1/models", get(models))
        .route("/v1/models/{*id}", get(model))
        .route("/v1/policy", get(policy))
        .route("/v1/requests/{id}", get(requests::show))
        .route("/openapi.json", get(describe))
        .with_state(Arc::clone(&app))
        .merge(not_served::router(&app.metrics))
        .merge(health_routes(app.drain.clone(), move || {
            is_ready(Arc::clone(&app))
        }))
}

async fn describe() -> impl IntoResponse {
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], openapi::description())
}

/// Requests can be served while the store can be written.
async fn is_ready(app: Arc<App>) -> bool {
    app.vault.health.ping().await.is_ok()
}

/// Format of errors at a path: that of its door, else the format that the caller's headers show.
pub(crate) fn error_format(path: &str, headers: &HeaderMap) -> ErrorFormat {
    match Door::at(path) {
        Some(door) => door.errors,
        None if path.starts_with("/v1/") && models::is_anthropic(headers) => ErrorFormat::Anthropic,
        None => ErrorFormat::OpenAi,
    }
}

/// A request at one of the doors.
async fn enter(app: Arc<App>, door: &'static Door, request: Request) -> Response {
    match call_of(Some(door), request) {
        Some(call) => app.gateway.answer(call).await,
        None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn scan(State(app): State<Arc<App>>, request: Request) -> Response {
    match call_of(None, request) {
        Some(call) => app.gateway.serve(call, service::scan).await,
        None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn guard(State(app): State<Arc<App>>, request: Request) -> Response {
    match call_of(None, request) {
        Some(call) => app.gateway.serve(call, service::guard).await,
        None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Builds a caller's request; `None` without the extensions that the edge adds to every request.
fn call_of(door: Option<&'static Door>, request: Request) -> Option<Call> {
    let received = Instant::now();
    let (parts, upload) = Upload::split(request);
    let id = parts.extensions.get::<RequestId>()?.0;
    let client = parts.extensions.get::<ClientAddress>()?.0;
    Some(Call {
        request_id: id,
        received,
        door,
        sender: Sender::Caller {
            client,
            permit: parts.extensions.get::<WorkPermit>().cloned(),
            query: parts.uri.query().map(str::to_owned),
            headers: parts.headers,
            upload,
        },
    })
}

/// The identifiers that the account can use now: listed models of its providers, models of families whose provider has
/// no list, and the owner's aliases.
async fn models(
    State(app): State<Arc<App>>,
    Extension(client): Extension<ClientAddress>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
) -> Result<Json<Value>, GatewayError> {
    let admitted = app.gateway.admit(&headers, client.0, id.0).await?;
    let account = admitted.account;
    let listed = listed_models(&account);
    let models = listed.iter().map(|(model, name)| (*name, model.as_str()));
    Ok(Json(if models::is_anthropic(&headers) {
        let is_taken = |(_, model): &(&str, &str)| routes_at(&MESSAGES, &account, model).is_ok();
        models::anthropic_list(models.filter(is_taken).map(|(_, model)| model))
    } else {
        models::openai_list(models)
    }))
}

/// The effective treatment of every kind for a caller's key.
async fn policy(
    State(app): State<Arc<App>>,
    Extension(client): Extension<ClientAddress>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
) -> Result<Json<Value>, GatewayError> {
    let admitted = app.gateway.admit(&headers, client.0, id.0).await?;
    let rows = policy_table(&admitted.account, &admitted.policy);
    let rows: Vec<Value> = rows.iter().map(PolicyRow::json).collect();
    Ok(Json(json!({ "policy": rows })))
}

async fn model(
    State(app): State<Arc<App>>,
    Extension(client): Extension<ClientAddress>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, GatewayError> {
    let admitted = app.gateway.admit(&headers, client.0, request_id.0).await?;
    let account = admitted.account;
    let route = routes(&account, &id).map_err(|_| {
        let error = GatewayError::UnknownModel;
        app.metrics.refused(error.code());
        error
    })?;
    Ok(Json(if models::is_anthropic(&headers) {
        models::anthropic_model(&id)
    } else {
        models::openai_model(route[0].name, &id)
    }))
}
