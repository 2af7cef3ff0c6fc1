//! Who asks: the account of a caller, and a place among its requests.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use http::{HeaderMap, header};
use jiff::Timestamp;
use phigate_store::{AdminAct, Admission, AdmitError};
use phigate_types::Act;

use crate::error::GatewayError;
use crate::gateway::Gateway;

impl Gateway {
    /// Finds the account of a caller. Bad keys are counted against the caller's address.
    pub async fn admit(
        self: &Arc<Self>,
        headers: &HeaderMap,
        client: IpAddr,
    ) -> Result<Admission, GatewayError> {
        let admitted = match bearer(headers) {
            Ok(key) => self.vault.access.admit(key).await,
            Err(error) => Err(error),
        };
        match admitted {
            Ok(admission) => Ok(admission),
            Err(AdmitError::Store(error)) => Err(error.into()),
            Err(error) => Err(self.bad_key(client, error)),
        }
    }

    /// A bad key is an act on the account it belonged to, or on the installation. The limit on bad keys also limits the
    /// records.
    fn bad_key(self: &Arc<Self>, client: IpAddr, error: AdmitError) -> GatewayError {
        if let Err(limited) = self.bad_keys.strike(client, Instant::now()) {
            return limited.into();
        }
        let (account_id, key_id) = match &error {
            AdmitError::Revoked { key_id, account_id }
            | AdmitError::Expired { key_id, account_id } => {
                (Some(account_id.clone()), Some(key_id.clone()))
            }
            _ => (None, None),
        };
        let mut act = AdminAct::new(Timestamp::now(), "", "caller", Act::KeyRefused)
            .detail("address", &client);
        act.target = key_id;
        let gateway = Arc::clone(self);
        tokio::spawn(async move {
            // A record of a failed try must not hold up the answer to it.
            let recorded = gateway
                .vault
                .trail
                .record_admin(account_id.as_deref(), &act);
            let _ = recorded.await;
        });
        error.into()
    }
}

/// The key of `Authorization: Bearer KEY`. Schemes are case-insensitive (RFC 9110).
fn bearer(headers: &HeaderMap) -> Result<&str, AdmitError> {
    let header = headers
        .get(header::AUTHORIZATION)
        .ok_or(AdmitError::Missing)?;
    let text = header.to_str().map_err(|_| AdmitError::Malformed)?;
    match text.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") && !key.trim().is_empty() => {
            Ok(key.trim())
        }
        _ => Err(AdmitError::Malformed),
    }
}
