//! Trying a provider: does it answer, and does it know us? Nothing of a caller is sent.

use std::time::Instant;

use bytes::Bytes;
use http::StatusCode;
use phigate_core::wire;
use phigate_store::Account;

use crate::gateway::Gateway;
use crate::provider::{Authorizer, BaseUrl, Destination, ProviderError, Rehearsal};
use crate::route;

/// What came of trying a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trial {
    /// It answered and knows us.
    Works {
        /// How long it took.
        took_ms: u64,
    },
    /// It answered, but not with what we asked for.
    Unexpected {
        /// The status it gave.
        status: u16,
    },
    /// A mistake that many make, known by the provider's answer: what it is, and what to do.
    Mistake(&'static str, &'static str),
    /// It does not take the key.
    WrongKey,
    /// No answer, and why.
    Failed(ProviderError),
    /// The stored address is not allowed.
    WrongAddress(String),
    /// No such provider is set.
    NotSet,
    /// It does not serve the model, or no model was named and it can be asked for nothing else.
    NoModel,
}

/// Mistakes, by a word of the provider's answer in small letters, what they are, and what to do.
const MISTAKES: &[(&str, &str, &str)] = &[
    // The more particular word first.
    (
        "deploymentnotfound",
        "The deployment does not exist",
        "Compare the name after the equals sign of --models with the deployments of the resource. A new deployment takes some minutes.",
    ),
    (
        "authenticationtypedisabled",
        "Keys are disabled for this resource",
        "Its owner allows Entra ID alone: use --auth entra, or let key authentication be enabled.",
    ),
    (
        "model_not_found",
        "The provider does not know the model",
        "Compare the model's name with those that the provider lists, and see whether the account may use it.",
    ),
];

impl Trial {
    /// Whether the provider can be used.
    pub fn works(&self) -> bool {
        matches!(self, Self::Works { .. })
    }

    /// What came of it, in a few words, and what to do.
    pub fn in_words(&self) -> (&'static str, String) {
        match self {
            Self::Works { took_ms } => (
                "Connection works",
                format!("It answered in {took_ms} ms and knows us."),
            ),
            Self::WrongKey => (
                "The provider refuses the key",
                "Check that it was copied whole, is still active and may use this API. Then replace it.".to_owned(),
            ),
            Self::Unexpected { status } => (
                "It answers, but not as expected",
                format!("Status {status}. If you set a base URL, check that it is the root of the provider’s API."),
            ),
            Self::Mistake(title, words) => (title, (*words).to_owned()),
            Self::Failed(ProviderError::NotAuthorized) => (
                "Nothing to show the provider",
                "No key is stored for it, or it cannot be used. Set it anew.".to_owned(),
            ),
            Self::Failed(error) => (
                "No connection",
                format!("{error}. Check the base URL, and that this server may reach it."),
            ),
            Self::WrongAddress(why) => ("The base URL cannot be used", why.clone()),
            Self::NotSet => ("Not set yet", "Set the provider first.".to_owned()),
            Self::NoModel => (
                "No model to ask",
                "Name one that the provider serves.".to_owned(),
            ),
        }
    }
}

impl Gateway {
    /// Asks a provider for its list of models, which costs nothing and needs a right key; or asks a model for a word,
    /// where one is named or nothing else can be asked.
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
                let status = self.provider.probe(&account.id, destination, probe).await;
                match (status, rehearsal) {
                    // Some model servers have no list of models.
                    (Ok(StatusCode::NOT_FOUND), Some(rehearsal)) => {
                        self.rehearse(&account.id, base, authorizer, rehearsal)
                            .await
                    }
                    (status, _) => status.map(|status| (status, Bytes::new())),
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
            Ok((status, body)) => judge(status, &body, took_ms),
            Err(error) => Trial::Failed(error),
        }
    }

    async fn rehearse(
        &self,
        account_id: &str,
        base: BaseUrl,
        authorizer: Authorizer,
        rehearsal: Rehearsal,
    ) -> Result<(StatusCode, Bytes), ProviderError> {
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
        first.map(|entry| entry.id())
    };
    let model = model.or_else(listed)?;
    let routes = route::routes(account, &format!("{name}/{model}")).ok()?;
    let route = routes.into_iter().next()?;
    Rehearsal::new(route.format, &route.site())
}

fn judge(status: StatusCode, body: &[u8], took_ms: u64) -> Trial {
    if status.is_success() {
        return Trial::Works { took_ms };
    }
    let said = String::from_utf8_lossy(body).to_lowercase();
    let mistake = MISTAKES.iter().find(|(word, ..)| said.contains(word));
    if let Some((_, title, words)) = mistake {
        return Trial::Mistake(title, words);
    }
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Trial::WrongKey,
        // Google refuses a wrong key like this.
        StatusCode::BAD_REQUEST if body.is_empty() => Trial::WrongKey,
        _ => Trial::Unexpected {
            status: status.as_u16(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_mistakes_are_told_by_their_answers() {
        for (status, body, title) in [
            (200, "{}", "Connection works"),
            (401, "", "The provider refuses the key"),
            (400, "", "The provider refuses the key"),
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
            let status = StatusCode::from_u16(status).unwrap();
            let trial = judge(status, body.as_bytes(), 1);
            assert_eq!(trial.in_words().0, title, "{status} {body}");
        }
    }
}
