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

/// The caller's key, by either header. Where both are sent they must say the same: whoever stands between must not be
/// able to read one and the gateway the other.
fn key_of(headers: &HeaderMap) -> Result<&str, AdmitError> {
    let mut given = headers.get_all(X_API_KEY).iter();
    let plain = given.next().map(|value| value.to_str().map(str::trim));
    let plain = plain.transpose().map_err(|_| AdmitError::Malformed)?;
    let bearer = headers.get(header::AUTHORIZATION).map(bearer).transpose()?;
    match (bearer, plain) {
        _ if given.next().is_some() => Err(AdmitError::Malformed),
        (None, None) => Err(AdmitError::Missing),
        (Some(bearer), Some(plain)) if bearer != plain => Err(AdmitError::Malformed),
        (Some(key), _) | (None, Some(key)) if !key.is_empty() => Ok(key),
        _ => Err(AdmitError::Malformed),
    }
}

/// The key of `Authorization: Bearer KEY`. Schemes are case-insensitive (RFC 9110).
fn bearer(header: &HeaderValue) -> Result<&str, AdmitError> {
    let text = header.to_str().map_err(|_| AdmitError::Malformed)?;
    match text.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") && !key.trim().is_empty() => {
            Ok(key.trim())
        }
        _ => Err(AdmitError::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_by_either_header_and_never_by_two_that_differ() {
        for (sent, expected) in [
            (&[][..], None),
            (&[("authorization", "Bearer a")], Some("a")),
            (&[("authorization", "bearer  a ")], Some("a")),
            (&[("x-api-key", " a ")], Some("a")),
            (
                &[("authorization", "Bearer a"), ("x-api-key", "a")],
                Some("a"),
            ),
            (&[("authorization", "Bearer a"), ("x-api-key", "b")], None),
            (&[("authorization", "Basic a"), ("x-api-key", "a")], None),
            (&[("authorization", "Bearer a"), ("x-api-key", "")], None),
            (&[("x-api-key", "a"), ("x-api-key", "a")], None),
            (&[("x-api-key", "")], None),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in sent {
                headers.append(*name, HeaderValue::from_static(value));
            }
            assert_eq!(key_of(&headers).ok(), expected, "{sent:?}");
        }
    }
}
