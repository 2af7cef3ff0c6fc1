//! Google's OAuth 2 tokens: by a service account's signature, or from the metadata server.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use crate::error::{AuthError, Reason};
use crate::fetch::{Answer, Ask, Fetch, Place};
use crate::lease::Leased;
use crate::machine::Machine;
use crate::secret::ServiceAccount;
use crate::token::{self, Token};

/// Google's own endpoint, and the audience of every assertion.
const TOKEN_URL: &str = "https://oauth2.googleapis.com/token";
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// Lifetime of an assertion: the longest that Google accepts.
const ASSERTION_S: i64 = 3600;

/// Gets a token for a service account.
pub(crate) async fn by_account(
    fetch: &dyn Fetch,
    account: &ServiceAccount,
    token_url: Option<&str>,
) -> Result<Leased<Token>, AuthError> {
    let now_s = jiff::Timestamp::now().as_second();
    let assertion = assertion(account, now_s).ok_or(AuthError::Refused(Reason::BadSecret))?;
    let fields = [("grant_type", GRANT), ("assertion", assertion.as_str())];
    let ask = Ask::form(token_url.unwrap_or(TOKEN_URL), &fields);
    let answer = fetch.fetch(ask).await?;
    token::read(&answer, now_s as f64, reason)
}

/// Gets a token of the machine's service account.
pub(crate) async fn by_machine(
    fetch: &dyn Fetch,
    machine: &Machine,
) -> Result<Leased<Token>, AuthError> {
    let host = machine
        .variable("GCE_METADATA_HOST")
        .unwrap_or("metadata.google.internal");
    let url = format!("http://{host}/computeMetadata/v1/instance/service-accounts/default/token");
    let ask = Ask::get(Place::Machine, url).with("metadata-flavor", "Google");
    let answer = fetch.fetch(ask).await?;
    let now_s = jiff::Timestamp::now().as_second();
    token::read(&answer, now_s as f64, |_| Reason::NoIdentity)
}

/// Signed assertion for the account.
fn assertion(account: &ServiceAccount, now_s: i64) -> Option<String> {
    let mut header = json!({"alg": "RS256", "typ": "JWT"});
    if let Some(key_id) = &account.key_id {
        header["kid"] = json!(key_id);
    }
    let claims = json!({
        "iss": account.email,
        "scope": SCOPE,
        "aud": TOKEN_URL,
        "iat": now_s,
        "exp": now_s + ASSERTION_S,
    });
    let encoded = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", encoded(&header), encoded(&claims));
    let signature = account.key.sign(message.as_bytes())?;
    Some(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// Maps Google's error to a reason.
fn reason(answer: &Answer) -> Reason {
    let said = String::from_utf8_lossy(&answer.body);
    if said.contains("Invalid JWT Signature") {
        return Reason::WrongSecret;
    }
    if said.contains("account not found") || said.contains("invalid_client") {
        return Reason::UnknownIdentity;
    }
    // "Token must be a short-lived token and in a reasonable timeframe": the clocks differ.
    match token::clock_skew(answer) {
        Some(skew) if said.contains("Invalid JWT") => Reason::Clock(skew),
        _ => Reason::Other,
    }
}
