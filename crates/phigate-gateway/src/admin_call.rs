//! Calls of the admin API: admission by an admin key, within its limits, and the body of a call.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use http::HeaderMap;
use phigate_core::service;
use phigate_edge::Upload;
use phigate_store::AdminAdmission;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::admit::key_of;
use crate::error::GatewayError;
use crate::gateway::Gateway;
use crate::key_limits::KeyPermit;
use crate::open::require_json;
use crate::refusals::Refused;

/// An admitted call of the admin API.
pub struct AdminCall {
    /// The key, its role and its account.
    pub admission: AdminAdmission,
    /// Place among the calls of the key, kept as long as the call.
    _permit: KeyPermit,
}

impl Gateway {
    /// Admits a call with an admin key. Bad keys are counted and recorded as those of callers are; each key has its own
    /// limits, as high as those of API keys.
    pub async fn admit_admin(
        self: &Arc<Self>,
        headers: &HeaderMap,
        client: IpAddr,
        request_id: Uuid,
    ) -> Result<AdminCall, GatewayError> {
        let admitted = match key_of(headers) {
            Ok(key) => self.vault.admin_keys.admit(key).await,
            Err(error) => Err(error),
        };
        let admission = admitted.map_err(|error| self.not_admitted(client, request_id, error))?;
        let account = self.vault.accounts.account(&admission.account_id).await?;
        // Apart from the places of the account's callers.
        let place = format!("admin {}", admission.account_id);
        let (limits, now) = (&account.settings.limits, Instant::now());
        match self
            .key_limits
            .admit(&place, &admission.key_id, limits, now)
        {
            Ok(permit) => Ok(AdminCall {
                admission,
                _permit: permit,
            }),
            Err(limited) => {
                let who = Refused {
                    account_id: Some(&admission.account_id),
                    key_id: Some(&admission.key_id),
                    client: None,
                };
                let error = GatewayError::from(limited);
                self.not_let_in(who, request_id, &error);
                Err(error)
            }
        }
    }

    /// Reads the body of a call: one JSON object, as strictly as the bodies of callers.
    pub async fn read_object(
        &self,
        headers: &HeaderMap,
        upload: Upload,
    ) -> Result<Map<String, Value>, GatewayError> {
        require_json(headers)?;
        let (bytes, _inflight) = upload.read().await?;
        let document = service::object(bytes.to_vec(), self.request_limits().json)?;
        // The strict reader has accepted it.
        Ok(serde_json::from_str(document.expose()).unwrap_or_default())
    }
}
