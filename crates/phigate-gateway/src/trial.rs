//! Trying a provider: does it answer, and does it know us? Nothing of a caller is sent.

mod mistakes;

use std::time::Instant;

use http::StatusCode;
use phigate_auth::AuthError;
use phigate_core::wire;
use phigate_store::Account;

use crate::gateway::Gateway;
use crate::provider::{Authorizer, BaseUrl, Destination, ProviderError, Rehearsal, TrialResponse};
use crate::route;

/// Result of trying a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trial {
    /// Complete answer to an accepted key.
    Works {
        /// Duration of the request.
        took_ms: u64,
    },
    /// Answer other than the expected one.
    Unexpected {
        /// Status of the answer.
        status: u16,
    },
    /// Frequent mistake, recognised by the provider's answer: its name, and the remedy.
    Mistake(&'static str, String),
    /// Rejection of the key.
    WrongKey,
    /// No answer, and why.
    Failed(ProviderError),
    /// The stored address is not allowed.
    WrongAddress(String),
    /// No such provider is set.
    NotSet,
    /// Model that the provider does not serve, or no model named although the provider needs one.
    NoModel,
}

impl Trial {
    /// Whether the provider can be used.
    pub fn works(&self) -> bool {
        matches!(self, Self::Works { .. })
    }

    /// Describes the result in a few words, with the remedy.
    pub fn in_words(&self) -> (&'static str, String) {
        match self {
            Self::Works { took_ms } => (
                "Connection works",
                format!("It answered in {took_ms} ms and accepts our requests."),
            ),
            Self::WrongKey => (
                "The provider refuses the key",
                "Check that it was copied whole, is still active and may use this API. Then replace it.".to_owned(),
            ),
            Self::Unexpected { status } => (
                "It answers, but not as expected",
                format!("Status {status}. If you set a base URL, check that it is the root of the provider’s API."),
            ),
            Self::Mistake(title, words) => (title, words.clone()),
            Self::Failed(ProviderError::Token(AuthError::Refused(reason))) => {
                mistakes::of_reason(*reason)
            }
            Self::Failed(ProviderError::Token(error)) => (
                "No token for the provider",
                format!("{error}. Check the token URL, and that this server can reach it."),
            ),
            Self::Failed(ProviderError::NotAuthorized) => (
                "No credentials for the provider",
                "No key is stored for it, or it cannot be used. Set it again.".to_owned(),
            ),
            Self::Failed(error) => (
                "No connection",
                format!("It seems that {error}. Check the base URL, and that this server can reach it."),
            ),
            Self::WrongAddress(why) => ("The base URL cannot be used", format!("Because {why}.")),
            Self::NotSet => ("Not set yet", "Set the provider first.".to_owned()),
            Self::NoModel => (
                "No model to ask",
                "Name one that the provider serves.".to_owned(),
            ),
        }
    }
}

impl Gateway {
    /// Asks a provider for its list of models, which is free and needs a valid key. Asks for one word of a model
    /// instead if a model is named or the provider has no such list.
    pub async fn try_provider(&self, account: &Account, name: &str, model: Option<&str>) -> Trial {
        let Some(provider) = account.providers.get(name) else {
            return Trial::NotSet;
        };
        let config = &provider.config;
        let address = config.address().unwrap_or_default();
        let base = match BaseUrl::parse(&address, self.allow_private_providers) {
            Ok(base) => base,
            Err(error) => return Trial::WrongAddress(error.to_string()),
        };
        let authorizer = Authorizer::new(provider);
        let started = Instant::now();
        let probe = wire::probe_of_kind(config.kind).filter(|_| model.is_none());
        let rehearsal = rehearse(account, name, model);
        let asked = match (probe, rehearsal) {
            (Some(probe), rehearsal) => {
                let headers = probe.headers;
                let destination = Destination::new(base.clone(), headers, authorizer.clone());
                let told = self.provider.probe(&account.id, destination, probe).await;
                match (told, rehearsal) {
                    // Some model servers have no list of models.
                    (Ok(told), Some(rehearsal)) if told.status == StatusCode::NOT_FOUND => {
                        self.rehearse(&account.id, base, authorizer, rehearsal)
                            .await
                    }
                    (told, _) => told,
                }
            }
            (None, Some(rehearsal)) => {
                self.rehearse(&account.id, base, authorizer, rehearsal)
                    .await
            }
            (None, None) => return Trial::NoModel,
        };
        let took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        match asked {
            Ok(told) => judge(&told, took_ms),
            Err(error) => Trial::Failed(error),
        }
    }

    /// Asks only for the token or the credentials of a provider that needs them. `None` if a plain key suffices; the
    /// duration if it works.
    pub async fn try_identity(&self, account: &Account, name: &str) -> Option<Trial> {
        let authorizer = Authorizer::new(account.providers.get(name)?);
        if !matches!(authorizer, Authorizer::Identity(_)) {
            return None;
        }
        let started = Instant::now();
        let identified = self.provider.identify(&account.id, &authorizer).await;
        let took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Some(identified.map_or_else(Trial::Failed, |()| Trial::Works { took_ms }))
    }

    async fn rehearse(
        &self,
        account_id: &str,
        base: BaseUrl,
        authorizer: Authorizer,
        rehearsal: Rehearsal,
    ) -> Result<TrialResponse, ProviderError> {
        let destination = Destination::new(base, rehearsal.headers(), authorizer);
        let asked = self.provider.rehearse(account_id, destination, rehearsal);
        asked.await
    }
}

/// A request for the model that was named, or for the first that the provider lists.
fn rehearse(account: &Account, name: &str, model: Option<&str>) -> Option<Rehearsal> {
    let entries = &account.providers.get(name)?.config.models;
    let listed = || {
        let first = entries.iter().find(|entry| !entry.is_pattern());
        first.map(phigate_types::ModelEntry::id)
    };
    let model = model.or_else(listed)?;
    let routes = route::routes(account, &format!("{name}/{model}")).ok()?;
    let route = routes.into_iter().next()?;
    Rehearsal::new(route.format, &route.site())
}

fn judge(told: &TrialResponse, took_ms: u64) -> Trial {
    if told.status.is_success() {
        return Trial::Works { took_ms };
    }
    if let Some((title, words)) = mistakes::of_answer(&told.headers, &told.body) {
        return Trial::Mistake(title, words);
    }
    match told.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Trial::WrongKey,
        // Google's answer to a wrong key.
        StatusCode::BAD_REQUEST if mistakes::is_bad_key(&told.body) => Trial::WrongKey,
        status => Trial::Unexpected {
            status: status.as_u16(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trial_titles_match_provider_answers() {
        for (status, body, title) in [
            (200, "{}", "Connection works"),
            (401, "", "The provider refuses the key"),
            (
                400,
                r#"{"error":{"details":[{"reason":"API_KEY_INVALID"}]}}"#,
                "The provider refuses the key",
            ),
            (400, "", "It answers, but not as expected"),
            (400, "{}", "It answers, but not as expected"),
            (
                404,
                r#"{"error":{"code":"DeploymentNotFound"}}"#,
                "The deployment does not exist",
            ),
            (
                403,
                r#"{"error":{"code":"AuthenticationTypeDisabled"}}"#,
                "Keys are disabled for this resource",
            ),
            (500, "", "It answers, but not as expected"),
        ] {
            let told = TrialResponse {
                status: StatusCode::from_u16(status).unwrap(),
                headers: http::HeaderMap::new(),
                body: bytes::Bytes::from_static(body.as_bytes()),
            };
            let trial = judge(&told, 1);
            assert_eq!(trial.in_words().0, title, "{status} {body}");
        }
    }
}
