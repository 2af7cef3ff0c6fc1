//! Presidio's interface, on a separate listener. It has no keys: it acts for the account the operator named.

use std::sync::Arc;
use std::time::Instant;

use aws_lc_rs::digest;
use axum::extract::{Query, Request, State};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use axum::{Router, body};
use http::{StatusCode, header};
use phigate_core::service::presidio::{self, Hash, HashKind};
use phigate_core::service::{Answered, ServiceContext};
use phigate_edge::{EdgeError, RequestId, Upload, WorkPermit};
use phigate_gateway::{Call, GatewayError, Sender, detector_of};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;

/// Name in records in place of a caller's key.
const KEY: &str = "presidio";

/// Longest body of an error; phigate's own errors are one sentence.
const ERROR_BYTES_MAX: usize = 64 * 1024;

/// State of every request on this interface.
struct Desktop {
    app: Arc<App>,
    account_id: String,
}

/// The routes for an account.
pub(crate) fn router(app: Arc<App>, account_id: String) -> Router {
    Router::new()
        .route("/analyze", post(analyze))
        .route("/anonymize", post(anonymize))
        .route("/supportedentities", get(supported_entities))
        .route("/recognizers", get(recognizers))
        .route("/health", get(|| async { "phigate is up" }))
        .fallback(|| async { EdgeError::NotFound })
        .method_not_allowed_fallback(|| async { EdgeError::MethodNotAllowed })
        .layer(map_response(plain_error))
        .with_state(Arc::new(Desktop { app, account_id }))
}

async fn analyze(State(desktop): State<Arc<Desktop>>, request: Request) -> Response {
    desktop.serve(request, presidio::analyze).await
}

async fn anonymize(State(desktop): State<Arc<Desktop>>, request: Request) -> Response {
    let service = |context: &ServiceContext<'_>, body| presidio::anonymize(context, body, HASH);
    desktop.serve(request, service).await
}

/// Query parameters of the list of entities.
#[derive(Deserialize)]
struct Asked {
    language: Option<String>,
}

async fn supported_entities(
    State(desktop): State<Arc<Desktop>>,
    Query(asked): Query<Asked>,
) -> Result<Json<Value>, GatewayError> {
    desktop.list(asked, presidio::supported_entities).await
}

async fn recognizers(
    State(desktop): State<Arc<Desktop>>,
    Query(asked): Query<Asked>,
) -> Result<Json<Value>, GatewayError> {
    desktop.list(asked, presidio::recognizers).await
}

impl Desktop {
    async fn serve(
        &self,
        request: Request,
        service: impl FnOnce(&ServiceContext<'_>, Vec<u8>) -> Answered + Send + 'static,
    ) -> Response {
        let received = Instant::now();
        let (parts, upload) = Upload::split(request);
        let Some(id) = parts.extensions.get::<RequestId>() else {
            // The edge gives one to every request.
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        };
        let account = match self.app.vault.access.account(&self.account_id).await {
            Ok(account) => account,
            Err(error) => return GatewayError::from(error).into_response(),
        };
        let sender = Sender::Listener {
            account,
            name: KEY,
            permit: parts.extensions.get::<WorkPermit>().cloned(),
            headers: parts.headers,
            upload,
        };
        let call = Call {
            request_id: id.0,
            received,
            door: None,
            sender,
        };
        self.app.gateway.serve(call, service).await
    }

    /// Lists the kinds that the account's detector finds.
    async fn list(
        &self,
        asked: Asked,
        list: fn(&phi_detect::Detector) -> Vec<&'static str>,
    ) -> Result<Json<Value>, GatewayError> {
        if let Some(language) = asked.language.filter(|language| !language.is_empty()) {
            presidio::supports(&language)?;
        }
        let account = self.app.vault.access.account(&self.account_id).await?;
        let detector = detector_of(&account).map_err(|_| GatewayError::DetectorUnavailable)?;
        Ok(Json(json!(list(&detector))))
    }
}

/// Rewrites every error as `{"error": "…"}`, the format of Presidio.
async fn plain_error(response: Response) -> Response {
    if response.status().is_success() {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let bytes = body::to_bytes(body, ERROR_BYTES_MAX).await;
    let ours: Option<Value> = bytes
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let message = ours
        .as_ref()
        .and_then(|ours| ours["error"]["message"].as_str());
    let message = message.unwrap_or("the request could not be answered");
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::CONTENT_TYPE);
    (
        parts.status,
        parts.headers,
        Json(json!({ "error": message })),
    )
        .into_response()
}

/// A bare hash of a number can be guessed, so that without a salt each gets a random one, as in Presidio.
const HASH: Hash = |kind, text, salt| {
    let algorithm = match kind {
        HashKind::Sha256 => &digest::SHA256,
        HashKind::Sha512 => &digest::SHA512,
    };
    let mut context = digest::Context::new(algorithm);
    context.update(text.as_bytes());
    match salt {
        Some(salt) => context.update(salt.as_bytes()),
        None => context.update(&random_salt()),
    }
    let bytes = context.finish();
    bytes
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
};

fn random_salt() -> [u8; 32] {
    let mut salt = [0; 32];
    aws_lc_rs::rand::fill(&mut salt).expect("the system gives random bytes");
    salt
}
