//! Callers by token: a JSON Web Token of an issuer that an account names acts as one of its API keys.
//!
//! An issuer that is down changes nothing for tokens with known keys.

use std::sync::Arc;

use jiff::Timestamp;
use phigate_auth::{JwtError, Token, Wanted};
use phigate_store::{Admission, AdmitError, TokenRule};

use crate::gateway::Gateway;

impl Gateway {
    /// Admits the caller with this token as the key that its account names for the issuer.
    pub(crate) async fn admit_token(&self, text: &str) -> Result<Admission, AdmitError> {
        let token = Token::read(text).map_err(|error| refused(cause(error), None))?;
        let Some(rule) = self.rule_of(&token).await? else {
            let issuer = token.issuer().unwrap_or_default();
            let other = self.vault.issuers.rule_of_issuer(issuer).await?;
            return Err(refused("unknown_issuer", other.as_ref()));
        };
        let config = &rule.config;
        let keys = self.issuer_keys.keys(&config.issuer, &token).await;
        let keys = keys.ok_or_else(|| refused("unknown_token_key", Some(&rule)))?;
        let claims: Vec<(String, String)> = config
            .claims
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let wanted = Wanted {
            issuer: &config.issuer,
            audience: &config.audience,
            claims: &claims,
            now_s: Timestamp::now().as_second(),
        };
        let subject = token.verify(&keys, &wanted);
        let subject = subject.map_err(|error| refused(cause(error), Some(&rule)))?;
        self.vault.access.admit_subject(&rule, subject).await
    }

    /// The rule for a token, by the issuer and the audiences that it names.
    async fn rule_of(&self, token: &Token) -> Result<Option<Arc<TokenRule>>, AdmitError> {
        let issuer = token.issuer().unwrap_or_default();
        for audience in token.audiences() {
            if let Some(rule) = self.vault.issuers.rule(issuer, audience).await? {
                return Ok(Some(rule));
            }
        }
        Ok(None)
    }
}

/// A refused token, recorded with the key of its issuer if that is known.
fn refused(cause: &'static str, rule: Option<&TokenRule>) -> AdmitError {
    let key = rule.map(|rule| (rule.config.key_id.clone(), rule.account_id.clone()));
    AdmitError::Token { cause, key }
}

/// The cause of a refusal in a word.
fn cause(error: JwtError) -> &'static str {
    match error {
        JwtError::Malformed => "malformed_token",
        JwtError::Algorithm => "token_algorithm",
        JwtError::Header => "token_header",
        JwtError::Signature => "token_signature",
        JwtError::Time => "token_expired",
        JwtError::Subject => "token_subject",
        JwtError::Claim => "token_claims",
    }
}
