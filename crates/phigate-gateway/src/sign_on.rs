//! Single sign-on with an identity provider (OpenID Connect): code flow with PKCE, state and nonce.
//!
//! Pages hold the state of a login and its cookie; this module makes the address for the browser, exchanges the code,
//! verifies tokens, and tries the settings. Tokens and codes are in no error, log or record.

mod causes;
mod edit;
#[cfg(test)]
mod samples;
mod trial;

pub use causes::SignOnError;
pub use edit::SignOnEdit;
pub use trial::SignOnCheck;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use phigate_auth::{
    Answer, Ask, LoginClaims, LoginWanted, Token, TokenUse, client_credentials, code_challenge,
    escaped,
};
use phigate_store::{SecretString, SignOnConfig, SignOnPerson, SignOnSetup, SignOut, Subject};
use serde_json::Value;

use crate::discovery::Discovery;
use crate::gateway::Gateway;

/// Longest wait of a login for its provider, whatever it does.
const WAIT_MAX: Duration = Duration::from_secs(25);
/// Largest answer with tokens, in bytes.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// The values of one login, which only the browser's cookie can make again.
#[derive(Clone)]
pub struct SignOnFlow {
    /// Address to which the provider sends the browser back.
    pub redirect_uri: String,
    /// Name of the login in addresses.
    pub state: String,
    /// Name of the login in tokens.
    pub nonce: String,
    /// Secret of the login, whose hash the provider gets first.
    pub verifier: String,
}

/// Sign-ins and sign-outs by an identity provider, with the gateway's connections and limits.
pub struct SingleSignOn<'a> {
    gateway: &'a Gateway,
}

impl Gateway {
    /// Single sign-on over this gateway's connections.
    pub fn single_sign_on(&self) -> SingleSignOn<'_> {
        SingleSignOn { gateway: self }
    }
}

impl SingleSignOn<'_> {
    /// The address at the identity provider to which a browser is sent.
    pub async fn address(
        &self,
        config: &SignOnConfig,
        flow: &SignOnFlow,
    ) -> Result<String, SignOnError> {
        let discovery = self.discovered(config).await?;
        let is_allowed =
            self.gateway.allow_private_providers || discovery.authorization.starts_with("https://");
        if !is_allowed {
            return Err(SignOnError::Document);
        }
        let challenge = code_challenge(&flow.verifier);
        let mut fields = vec![
            ("response_type", "code"),
            ("client_id", &config.client_id),
            ("redirect_uri", &flow.redirect_uri),
            ("scope", &discovery.scope),
            ("state", &flow.state),
            ("nonce", &flow.nonce),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ];
        if let Some(level) = &config.require_acr {
            fields.push(("acr_values", level));
        }
        let pairs = fields.into_iter();
        let pairs = pairs.map(|(name, value)| format!("{name}={}", escaped(value)));
        let query = pairs.collect::<Vec<_>>().join("&");
        let separator = match discovery.authorization.contains('?') {
            true => '&',
            false => '?',
        };
        Ok(format!("{}{separator}{query}", discovery.authorization))
    }

    /// Exchanges the code that a browser brought back for a token, and verifies it. `named` is the issuer that the
    /// address named. An address may fail as often in a minute as with bad keys.
    pub async fn sign_in(
        &self,
        setup: &SignOnSetup,
        flow: &SignOnFlow,
        (code, named): (&str, Option<&str>),
        client: IpAddr,
    ) -> Result<SignOnPerson, SignOnError> {
        self.counted(client, self.exchange(setup, flow, code, named))
            .await
    }

    /// Does work for an address within its time, and counts it if it fails.
    async fn counted<T>(
        &self,
        client: IpAddr,
        work: impl Future<Output = Result<T, SignOnError>>,
    ) -> Result<T, SignOnError> {
        if !self.gateway.sign_ons.has_room(client, Instant::now()) {
            return Err(SignOnError::Often);
        }
        let done = tokio::time::timeout(WAIT_MAX, work).await;
        let done = done.unwrap_or(Err(SignOnError::Unreachable));
        if done.is_err() {
            // Being too many is found at the next attempt.
            let _counted = self.gateway.sign_ons.strike(client, Instant::now());
        }
        done
    }

    async fn exchange(
        &self,
        setup: &SignOnSetup,
        flow: &SignOnFlow,
        code: &str,
        named: Option<&str>,
    ) -> Result<SignOnPerson, SignOnError> {
        let config = &setup.config;
        let discovery = self.discovered(config).await?;
        let is_named = match named {
            Some(named) => named == config.issuer,
            None => !discovery.names_issuer,
        };
        if !is_named {
            return Err(SignOnError::Issuer);
        }
        let ask = token_request(&discovery, setup, flow, code);
        let answer = self.gateway.issuer_keys.ask(ask).await;
        if answer.is_err() {
            self.gateway.issuer_keys.forget_discovery(&config.issuer);
        }
        let answer = answer.map_err(|_| SignOnError::Unreachable)?;
        let token = id_token(&answer)?;
        let token = Token::read_for(&token, TokenUse::Id)?;
        let keys = self.gateway.issuer_keys.keys(&config.issuer, &token).await;
        let keys = keys.ok_or(SignOnError::Keys)?;
        let wanted = LoginWanted {
            issuer: &config.issuer,
            client_id: &config.client_id,
            nonce: &flow.nonce,
            acr: config.require_acr.as_deref(),
            groups_claim: &config.groups_claim,
            now_s: Timestamp::now().as_second(),
        };
        let claims = token.verify_login(&keys, &wanted)?;
        Ok(person(config, claims))
    }

    /// Verifies a logout token of the identity provider. Addresses may fail as often as with sign-ins.
    pub async fn sign_out(
        &self,
        config: &SignOnConfig,
        text: &str,
        client: IpAddr,
    ) -> Result<SignOut, SignOnError> {
        self.counted(client, self.verified(config, text)).await
    }

    async fn verified(&self, config: &SignOnConfig, text: &str) -> Result<SignOut, SignOnError> {
        let token = Token::read_for(text, TokenUse::Logout)?;
        if token.issuer() != Some(&config.issuer) {
            return Err(SignOnError::Issuer);
        }
        let keys = self.gateway.issuer_keys.keys(&config.issuer, &token).await;
        let keys = keys.ok_or(SignOnError::Keys)?;
        let now_s = Timestamp::now().as_second();
        let claims = token.verify_logout(&keys, &config.issuer, &config.client_id, now_s)?;
        Ok(SignOut {
            issuer: config.issuer.clone(),
            sub: claims.sub,
            session: claims.session,
            token_id: claims.token_id,
        })
    }

    async fn discovered(&self, config: &SignOnConfig) -> Result<Arc<Discovery>, SignOnError> {
        let discovery = self.gateway.issuer_keys.discovery(&config.issuer);
        match tokio::time::timeout(WAIT_MAX, discovery).await {
            Ok(discovery) => Ok(discovery?),
            Err(_) => Err(SignOnError::Unreachable),
        }
    }
}

/// The request that exchanges a code for tokens.
fn token_request(discovery: &Discovery, setup: &SignOnSetup, flow: &SignOnFlow, code: &str) -> Ask {
    let client_id = setup.config.client_id.as_str();
    let mut fields = vec![
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", &flow.redirect_uri),
        ("code_verifier", &flow.verifier),
    ];
    let secret = setup.secret.as_ref().map(SecretString::expose);
    let in_header = secret.filter(|_| !discovery.secret_in_form);
    if in_header.is_none() {
        fields.push(("client_id", client_id));
        fields.extend(secret.map(|secret| ("client_secret", secret)));
    }
    let mut ask = Ask::form(&discovery.token, &fields);
    ask.answer_bytes_max = ANSWER_BYTES_MAX;
    ask = ask.with("accept", "application/json");
    match in_header {
        Some(secret) => ask.with("authorization", client_credentials(client_id, secret)),
        None => ask,
    }
}

/// The ID token of an answer.
fn id_token(answer: &Answer) -> Result<String, SignOnError> {
    let read: Option<Value> = serde_json::from_slice(&answer.body).ok();
    let text = |name: &str| read.as_ref()?.get(name)?.as_str();
    match answer.status {
        200 => Ok(text("id_token").ok_or(SignOnError::Answer)?.to_owned()),
        status => Err(refusal(status, text("error"))),
    }
}

/// Reason why a token endpoint refuses, by the words of RFC 6749.
fn refusal(status: u16, error: Option<&str>) -> SignOnError {
    match (status, error) {
        (_, Some("invalid_client" | "unauthorized_client")) | (401, _) => SignOnError::Client,
        (_, Some("invalid_grant")) => SignOnError::Code,
        (_, Some("redirect_uri_mismatch")) => SignOnError::Redirect,
        (500.., _) => SignOnError::Unreachable,
        _ => SignOnError::Answer,
    }
}

fn person(config: &SignOnConfig, claims: LoginClaims) -> SignOnPerson {
    let without_role = match &claims.groups {
        _ if claims.is_overage => SignOnError::Overage,
        None => SignOnError::NoGroups,
        Some(_) => SignOnError::NoRole,
    };
    SignOnPerson {
        subject: Subject {
            issuer: config.issuer.clone(),
            sub: claims.sub,
        },
        email: claims.email,
        groups: claims.groups.unwrap_or_default(),
        without_role: without_role.code(),
        session: claims.session,
    }
}

#[cfg(test)]
mod tests {
    use super::samples;
    use super::*;

    #[test]
    fn secret_travels_in_header_or_form() {
        for in_form in [false, true] {
            let mut discovery = samples::discovery();
            discovery.secret_in_form = in_form;
            let flow = samples::flow();
            let ask = token_request(&discovery, &samples::setup(), &flow, "c-1");
            let form = ask.form.unwrap().expose().to_owned();
            assert_eq!(form.contains("client_secret=s-1"), in_form);
            let has_header = ask.headers.iter().any(|(name, _)| *name == "authorization");
            assert_eq!(has_header, !in_form);
        }
    }

    #[test]
    fn answer_of_token_endpoint_is_classified() {
        let answer = |status, body: &str| Answer {
            status,
            date: None,
            body: body.as_bytes().to_vec(),
        };
        for (status, body, error) in [
            (401, r#"{"error": "invalid_client"}"#, SignOnError::Client),
            (400, r#"{"error": "invalid_grant"}"#, SignOnError::Code),
            (500, "{}", SignOnError::Unreachable),
            (200, "<h1>Sign in</h1>", SignOnError::Answer),
            (200, r#"{"id_token": 7}"#, SignOnError::Answer),
            (200, "[1]", SignOnError::Answer),
        ] {
            assert_eq!(id_token(&answer(status, body)), Err(error), "{body}");
        }
        assert_eq!(
            id_token(&answer(200, r#"{"id_token": "ey"}"#)).as_deref(),
            Ok("ey")
        );
    }
}
