//! Who asks: the account of a caller, and a place among its requests.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use http::{HeaderMap, HeaderName, HeaderValue, header};
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
        let admitted = match key_of(headers) {
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

/// Where Anthropic's clients and LiteLLM put a key.
const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The key of `Authorization: Bearer KEY` or, without that header, of `x-api-key: KEY`.
fn key_of(headers: &HeaderMap) -> Result<&str, AdmitError> {
    match headers.get(header::AUTHORIZATION) {
        Some(value) => bearer(value),
        None => x_api_key(headers),
    }
}

/// Schemes are case-insensitive (RFC 9110).
fn bearer(value: &HeaderValue) -> Result<&str, AdmitError> {
    let text = value.to_str().map_err(|_| AdmitError::Malformed)?;
    match text.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") && !key.trim().is_empty() => {
            Ok(key.trim())
        }
        _ => Err(AdmitError::Malformed),
    }
}

/// Two keys are none: somebody before us may have looked at the other.
fn x_api_key(headers: &HeaderMap) -> Result<&str, AdmitError> {
    let mut values = headers.get_all(X_API_KEY).iter();
    match (values.next(), values.next()) {
        (None, _) => Err(AdmitError::Missing),
        (Some(one), None) => {
            let key = one.to_str().map_err(|_| AdmitError::Malformed)?;
            Ok(key.trim())
        }
        (Some(_), Some(_)) => Err(AdmitError::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_as_bearer_or_as_x_api_key_and_only_once() {
        let key = |rows: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in rows {
                headers.append(*name, HeaderValue::from_static(value));
            }
            key_of(&headers).map(str::to_owned).ok()
        };
        assert_eq!(
            key(&[("authorization", "bearer  phg_a")]).as_deref(),
            Some("phg_a")
        );
        assert_eq!(key(&[("x-api-key", "phg_b")]).as_deref(), Some("phg_b"));
        let both = [("x-api-key", "phg_b"), ("authorization", "Bearer phg_a")];
        assert_eq!(key(&both).as_deref(), Some("phg_a"));
        assert_eq!(key(&[("x-api-key", "phg_a"), ("x-api-key", "phg_b")]), None);
        assert_eq!(
            key(&[("authorization", "Basic phg_a"), ("x-api-key", "phg_b")]),
            None
        );
        assert_eq!(key(&[]), None);
    }
}
