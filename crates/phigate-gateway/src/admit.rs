//! Authentication of a request: the account of its caller, and a place among that account's requests.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use jiff::Timestamp;
use phigate_auth::Token;
use phigate_store::{AdminAct, Admission, AdmitError};
use phigate_types::Act;
use uuid::Uuid;

use crate::error::GatewayError;
use crate::gateway::Gateway;
use crate::refusals::Refused;
use crate::request_log;

impl Gateway {
    /// Finds the account of a caller. Bad keys are counted against the caller's address.
    pub async fn admit(
        self: &Arc<Self>,
        headers: &HeaderMap,
        client: IpAddr,
        request_id: Uuid,
    ) -> Result<Admission, GatewayError> {
        let admitted = match key_of(headers) {
            Ok(token) if Token::is_one(token) => Box::pin(self.admit_token(token)).await,
            Ok(key) => self.vault.access.admit(key).await,
            Err(error) => Err(error),
        };
        admitted.map_err(|error| self.not_admitted(client, request_id, error))
    }

    /// Error for a caller whose key was not admitted.
    pub(crate) fn not_admitted(
        self: &Arc<Self>,
        client: IpAddr,
        request_id: Uuid,
        error: AdmitError,
    ) -> GatewayError {
        match error {
            AdmitError::Store(error) => {
                tracing::warn!(request.id = %request_id, "a key could not be looked up: {error}");
                let told = GatewayError::from(AdmitError::Store(error));
                self.metrics.refused(told.code());
                told
            }
            error => self.bad_key(client, request_id, &error),
        }
    }

    /// Records a bad key on the account whose key it is or claims to be, otherwise on the installation. The limit on
    /// bad keys also limits the records; attempts beyond it are counted.
    fn bad_key(
        self: &Arc<Self>,
        client: IpAddr,
        request_id: Uuid,
        error: &AdmitError,
    ) -> GatewayError {
        let key = error.key();
        let who = Refused {
            key_id: key.map(|(key_id, _)| key_id),
            account_id: key.map(|(_, account_id)| account_id),
            client: Some(client),
        };
        let told = match self.bad_keys.strike(client, Instant::now()) {
            Err(limited) => GatewayError::from(limited),
            Ok(()) => {
                self.record_bad_key(who, client, error.cause());
                GatewayError::from(error.clone())
            }
        };
        self.not_let_in(who, request_id, &told);
        told
    }

    fn record_bad_key(self: &Arc<Self>, who: Refused<'_>, client: IpAddr, cause: &str) {
        let mut act = AdminAct::new(Timestamp::now(), "", "caller", Act::KeyRefused)
            .detail("address", &client)
            .detail("cause", cause);
        act.target = who.key_id.map(str::to_owned);
        let (gateway, account_id) = (Arc::clone(self), who.account_id.map(str::to_owned));
        tokio::spawn(async move {
            // A record of a failed try must not hold up the answer to it.
            let trail = &gateway.vault.trail;
            let _ = trail.record_admin(account_id.as_deref(), &act).await;
        });
    }

    /// Notes a refused request: in the log individually, in the trail by key and minute.
    pub(crate) fn not_let_in(&self, who: Refused<'_>, request_id: Uuid, error: &GatewayError) {
        request_log::not_let_in(request_id, who, error.code());
        self.metrics.refused(error.code());
        self.refusals
            .count(who, error.code(), request_id, Timestamp::now());
    }
}

/// Header in which Anthropic's clients and LiteLLM send a key.
const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Returns the caller's key from either header. Both headers, if sent, must agree. Otherwise a proxy could read one key
/// and the gateway the other.
pub(crate) fn key_of<'h>(headers: &'h HeaderMap) -> Result<&'h str, AdmitError> {
    let text = |value: &'h HeaderValue| value.to_str().map_err(|_| AdmitError::Malformed);
    let mut given = headers.get_all(X_API_KEY).iter();
    let plain = given.next().map(text).transpose()?;
    if given.next().is_some() {
        return Err(AdmitError::Malformed);
    }
    let authorization = headers.get(header::AUTHORIZATION).map(text).transpose()?;
    one_key(authorization, plain)
}

/// The key that these two values of headers give.
pub(crate) fn one_key<'h>(
    authorization: Option<&'h str>,
    plain: Option<&'h str>,
) -> Result<&'h str, AdmitError> {
    let bearer = authorization.map(bearer).transpose()?;
    match (bearer, plain.map(str::trim)) {
        (None, None) => Err(AdmitError::Missing),
        (Some(bearer), Some(plain)) if bearer != plain => Err(AdmitError::Malformed),
        (Some(key), _) | (None, Some(key)) if !key.is_empty() => Ok(key),
        _ => Err(AdmitError::Malformed),
    }
}

/// The key of `Authorization: Bearer KEY`. Schemes are case-insensitive (RFC 9110).
fn bearer(text: &str) -> Result<&str, AdmitError> {
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
    fn key_comes_by_either_header_without_conflict() {
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
