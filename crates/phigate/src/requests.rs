//! One request as its own key may see it: decision, attempts and outcome, without content.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Json;
use http::HeaderMap;
use jiff::Timestamp;
use phigate_edge::{ClientAddress, EdgeError, RequestId};
use phigate_gateway::GatewayError;
use phigate_store::{Record, StoreError, Vault};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::app::App;

/// Age in seconds up to which records of a request may still be on their way to the store.
const FRESH_S: u64 = 5;
/// Pause between two looks for late records, and number of looks.
const PAUSE: Duration = Duration::from_millis(50);
const PAUSES: usize = 10;

/// `GET /v1/requests/{id}`
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Extension(client): Extension<ClientAddress>,
    Extension(request_id): Extension<RequestId>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, GatewayError> {
    let admitted = app.gateway.admit(&headers, client.0, request_id.0).await?;
    let not_found = || GatewayError::from(EdgeError::NotFound);
    let id = Uuid::try_parse(&id).map_err(|_| not_found())?;
    let (account_id, key_id) = (&admitted.account.id, &admitted.key_id);
    let mut found = records(&app.vault, account_id, id, key_id).await?;
    for _ in 0..PAUSES {
        let is_whole = found
            .as_ref()
            .is_some_and(|found| !found["outcome"].is_null());
        if is_whole || !is_fresh(id) {
            break;
        }
        tokio::time::sleep(PAUSE).await;
        found = records(&app.vault, account_id, id, key_id).await?;
    }
    found.map(Json).ok_or_else(not_found)
}

/// Whether the request arrived just now, by its own id.
fn is_fresh(id: Uuid) -> bool {
    let seconds = id.get_timestamp().map_or(0, |time| time.to_unix().0);
    let now = Timestamp::now().as_second().unsigned_abs();
    now.saturating_sub(seconds) <= FRESH_S
}

/// The records of a request of this key; `None` if there is no such request.
async fn records(
    vault: &Vault,
    account_id: &str,
    id: Uuid,
    key_id: &str,
) -> Result<Option<Value>, StoreError> {
    let records = match vault.trail.audit_show(account_id, id).await {
        Ok(records) => records,
        Err(StoreError::NotFound(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let (mut decision, mut attempts, mut outcome) = (Value::Null, Vec::new(), Value::Null);
    for record in &records {
        match record {
            Record::Decision(found) if found.key_id == key_id => decision = fields(record),
            Record::Attempt(_) => attempts.push(fields(record)),
            Record::Outcome(_) => outcome = fields(record),
            // Acts of people on the request are not shown to the caller.
            Record::Decision(_) | Record::Admin(_) | Record::Alert(_) => {}
        }
    }
    let told = json!({
        "request_id": id,
        "decision": decision,
        "attempts": attempts,
        "outcome": outcome,
    });
    Ok((!decision.is_null()).then_some(told))
}

/// A record's fields, without the digests that tie sealed content to it.
fn fields(record: &Record) -> Value {
    let mut fields = serde_json::to_value(record).unwrap_or_default();
    if let Some(fields) = fields.as_object_mut() {
        fields.remove("sealed");
    }
    fields
}
