//! The admin API at `/admin/v1`: what the command line sets, over HTTPS.
//!
//! One table of resources and calls (`table.rs`) decides paths, rights, the command behind each call, and the OpenAPI
//! description. A call becomes the words of its command, so both have the same options, checks, records and reasons.

mod answer;
mod body;
mod openapi;
mod read;
mod table;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use http::{HeaderValue, Method, header};
use phigate_edge::{ClientAddress, EdgeError, ErrorBody, RequestId, Upload};
use phigate_gateway::{AdminCall, GatewayError};
use phigate_store::AdminAdmission;
use phigate_types::{ErrorCode, Role};
use serde_json::{Map, Value};

use crate::app::App;
use crate::cli::{self, Session};
use answer::{Conditions, Refusal, entry, gone, list};
use table::{Call, Put, Resource, Verb, Work};

/// Path of the API.
const BASE: &str = "/admin/v1";

/// The routes of the API.
pub(crate) fn router(app: Arc<App>) -> Router {
    let admin = Arc::new(Admin {
        app,
        turn: tokio::sync::Mutex::default(),
    });
    Router::new()
        .route(BASE, any(serve))
        .route(&format!("{BASE}/{{*path}}"), any(serve))
        .with_state(admin)
}

struct Admin {
    app: Arc<App>,
    /// Changes are made in turns, so that conditions about an entry hold until it is changed.
    turn: tokio::sync::Mutex<()>,
}

async fn serve(State(admin): State<Arc<Admin>>, request: Request) -> Response {
    let mut response = match admin.answer(request).await {
        Ok(response) => response,
        Err(refusal) => refusal.into_response(),
    };
    // Answers may hold a new key.
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A call with its admitted key.
struct Asked<'t> {
    resource: &'t Resource,
    call: &'t Call,
    /// Name of the entry in the address.
    name: Option<String>,
    conditions: Conditions,
    admission: &'t AdminAdmission,
}

impl Admin {
    async fn answer(&self, request: Request) -> Result<Response, Refusal> {
        let (parts, upload) = Upload::split(request);
        let extensions = &parts.extensions;
        let id = extensions.get::<RequestId>().map(|id| id.0);
        let client = extensions.get::<ClientAddress>().map(|client| client.0);
        let (Some(id), Some(client)) = (id, client) else {
            return Err(EdgeError::Panicked.body().into());
        };
        let admitted = self.app.gateway.admit_admin(&parts.headers, client, id);
        let AdminCall { admission, .. } = &admitted.await?;
        let path = parts.uri.path().strip_prefix(BASE).unwrap_or_default();
        let query = parts.uri.query().unwrap_or_default();
        if path == "/openapi.json" {
            return match parts.method {
                Method::GET => Ok(openapi::description().into_response()),
                _ => Err(answer::wrong_method("GET")),
            };
        }
        let (resource, call, name) = table::find(path, &parts.method)?;
        let role = admission.role;
        let needed = resource.right(call, name.as_deref());
        if !role.may(needed) || (resource.is_installation && call.sets() && !admission.installation)
        {
            return Err(denied(resource, role, needed));
        }
        let asked = Asked {
            resource,
            call,
            name,
            conditions: Conditions::read(&parts.headers)?,
            admission,
        };
        match call.work {
            Work::Read => self.read(&asked, query).await,
            Work::Run { .. } => {
                let fields = match call.takes_body() {
                    true => self.app.gateway.read_object(&parts.headers, upload).await?,
                    false => Map::new(),
                };
                self.run(&asked, fields, query).await
            }
        }
    }

    async fn read(&self, asked: &Asked<'_>, query: &str) -> Result<Response, Refusal> {
        let session = Session::of_call(&self.app, asked.admission, None);
        let entries = (asked.resource.entries)(&session, asked.admission).await?;
        match &asked.name {
            Some(name) => entries
                .into_iter()
                .find(|(id, _)| id == name)
                .map(|(_, value)| entry(http::StatusCode::OK, &value))
                .ok_or_else(Refusal::not_found),
            None if asked.resource.is_single => {
                let value = entries.into_iter().next().map(|(_, value)| value);
                let value = value.unwrap_or_else(|| Map::new().into());
                Ok(entry(http::StatusCode::OK, &value))
            }
            None => list(entries, query),
        }
    }

    /// Runs the command of a call, once its conditions hold.
    async fn run(
        &self,
        asked: &Asked<'_>,
        mut fields: Map<String, Value>,
        query: &str,
    ) -> Result<Response, Refusal> {
        let _turn = self.turn.lock().await;
        let Work::Run { words, put, .. } = &asked.call.work else {
            return Err(Refusal::not_found());
        };
        let secret = body::take_secret(words, &mut fields)?;
        let session = Session::of_call(&self.app, asked.admission, secret);
        let before = self.entry_of(asked, &session).await?;
        asked.conditions.check(before.as_ref())?;
        let words = match (put, &before) {
            (Put::Anew(_), None) if !fields.contains_key("role") => {
                let code = ErrorCode::MissingRequiredParameter;
                return Err(Refusal::field(code, "role", "is required for a new entry"));
            }
            (Put::Anew(new), None) => new,
            (Put::Once, Some(before)) => {
                return match body::is_same(before, &fields) {
                    true => Ok(entry(http::StatusCode::OK, before)),
                    false => Err(Refusal::exists()),
                };
            }
            (Put::There, None) => return Err(Refusal::not_found()),
            _ => words,
        };
        let words = body::words(&session, asked, words, &fields, query).await?;
        if let Some(words) = words {
            cli::act(cli::parse(&words)?, &session).await?;
        }
        if let Some(made) = session.take_made() {
            return self.made(asked, &session, made).await;
        }
        if asked.call.verb == Verb::Delete {
            return Ok(gone());
        }
        let after = self.entry_of(asked, &session).await?;
        let status = match before {
            None if asked.call.verb == Verb::Put => http::StatusCode::CREATED,
            _ => http::StatusCode::OK,
        };
        Ok(entry(status, &after.unwrap_or_default()))
    }

    /// The entry that a call names, as it is now.
    async fn entry_of(
        &self,
        asked: &Asked<'_>,
        session: &Session,
    ) -> Result<Option<Value>, Refusal> {
        let is_single = asked.resource.is_single;
        let entries = (asked.resource.entries)(session, asked.admission).await?;
        let mut entries = entries.into_iter();
        let is_this = |(id, _): &(String, Value)| is_single || asked.name.as_ref() == Some(id);
        Ok(entries.find(is_this).map(|(_, value)| value))
    }

    /// Answer to a call that made an entry under an id of the gateway's choice. A new key is in it this once.
    async fn made(
        &self,
        asked: &Asked<'_>,
        session: &Session,
        made: cli::Made,
    ) -> Result<Response, Refusal> {
        let entries = (asked.resource.entries)(session, asked.admission).await?;
        let mut entries = entries.into_iter();
        let found = entries.find(|(id, _)| *id == made.id);
        let mut value = found.map(|(_, value)| value).unwrap_or_default();
        if let (Some(key), Some(fields)) = (&made.key, value.as_object_mut()) {
            fields.insert("key".to_owned(), key.expose().into());
        }
        Ok(entry(http::StatusCode::CREATED, &value))
    }
}

fn denied(resource: &Resource, role: Role, needed: phigate_types::Right) -> Refusal {
    let message = match role.may(needed) {
        false => format!(
            "the key's role is {role}; only {} may {}",
            Role::labels_with(needed),
            needed.words()
        ),
        true => format!(
            "{} are changed with keys made with --installation only",
            resource.name
        ),
    };
    let status = http::StatusCode::FORBIDDEN;
    ErrorBody::new(status, ErrorCode::PermissionDenied, message).into()
}

impl From<GatewayError> for Refusal {
    fn from(error: GatewayError) -> Self {
        error.body().into()
    }
}
