//! Issuers whose tokens act as API keys: set, list, remove.

use askama::Template;
use axum::extract::State;
use jiff::Timestamp;
use phigate_gateway::{FieldError, check_issuer};
use phigate_store::{ApiKeyInfo, IssuerConfig, IssuerInfo, StoreError};

use super::keys::{names, tabs};
use crate::Dash;
use crate::fields::Fields;
use crate::layout::Layout;
use crate::view::{Choice, When, choices, in_sentence};
use crate::visit::{Answer, SignedIn, form_status, page_with, redirect};

const ADDRESS: &str = "/keys/issuers";

/// The issuers of the account.
#[derive(Template)]
#[template(path = "issuers.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    pub(crate) typed: Typed,
    /// API keys as which tokens may act.
    pub(crate) keys: Vec<Choice>,
    pub(crate) issuers: Vec<Issuer>,
}

/// Contents of the form: typed, or those of an issuer to change.
#[derive(Debug, Default)]
pub(crate) struct Typed {
    pub(crate) name: String,
    pub(crate) issuer: String,
    pub(crate) audience: String,
    /// One NAME=VALUE per line.
    pub(crate) claims: String,
    pub(crate) key: String,
}

/// One issuer of the list.
#[derive(Debug)]
pub(crate) struct Issuer {
    pub(crate) name: String,
    pub(crate) issuer: String,
    pub(crate) audience: String,
    pub(crate) claims: Vec<String>,
    /// Name and id of its key.
    pub(crate) key: String,
    pub(crate) key_id: String,
    /// Whether the key works.
    pub(crate) is_usable: bool,
    pub(crate) last_used: Option<When>,
    pub(crate) updated: When,
    pub(crate) updated_by: String,
}

impl Typed {
    fn of(form: &Fields) -> Self {
        let text = |name: &str| form.get(name).to_owned();
        Self {
            name: text("name"),
            issuer: text("issuer"),
            audience: text("audience"),
            claims: text("claims"),
            key: text("key"),
        }
    }

    fn stored(info: &IssuerInfo) -> Self {
        Self {
            name: info.name.clone(),
            issuer: info.config.issuer.clone(),
            audience: info.config.audience.clone(),
            claims: pairs(&info.config).join("\n"),
            key: info.config.key_id.clone(),
        }
    }

    /// The settings that were typed.
    fn config(&self) -> Result<IssuerConfig, String> {
        let lines = self.claims.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty());
        let claims = lines.map(|line| {
            let (name, value) = line.split_once('=')?;
            Some((name.trim().to_owned(), value.trim().to_owned()))
        });
        let claims: Option<_> = claims.collect();
        Ok(IssuerConfig {
            issuer: self.issuer.clone(),
            audience: self.audience.clone(),
            claims: claims.ok_or("Write each claim as NAME=VALUE on a line of its own.")?,
            key_id: self.key.clone(),
        })
    }
}

fn pairs(config: &IssuerConfig) -> Vec<String> {
    let claims = config.claims.iter();
    claims
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}

/// The error of a setting, by the label of its field.
fn sentence(error: &FieldError) -> String {
    let label = match error.field {
        "name" => "The name",
        "issuer" => "The issuer",
        "audience" => "The audience",
        _ => "Required claims: each",
    };
    in_sentence(&format!("{label} {}", error.why))
}

/// `GET /keys/issuers`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let wanted = visit.context.query.get("change");
    let issuers = dash.vault.issuers.list(visit.account_id()).await?;
    let found = issuers.iter().find(|issuer| issuer.name == wanted);
    let typed = found.map(Typed::stored).unwrap_or_default();
    draw(&dash, &visit, None, typed).await
}

/// `POST /keys/issuers`
pub(crate) async fn save(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let typed = Typed::of(visit.form());
    let checked = typed.config().and_then(|config| {
        let checked = check_issuer(
            &typed.name,
            &config,
            dash.gateway.setup_rules().allow_private,
        );
        checked.map(|()| config).map_err(|error| sentence(&error))
    });
    let config = match checked {
        Ok(config) => config,
        Err(error) => return draw(&dash, &visit, Some(error), typed).await,
    };
    let (issuers, account) = (&dash.vault.issuers, visit.account_id());
    let set = issuers.set(account, &typed.name, &config, visit.actor());
    let error = match set.await {
        Ok(()) => return Ok(redirect(&format!("{ADDRESS}?done=issuer"))),
        Err(StoreError::NotFound(_)) => "Choose the API key as which the tokens act.".to_owned(),
        Err(StoreError::Conflict(_)) => {
            "This issuer and audience belong to another entry already.".to_owned()
        }
        Err(StoreError::Invalid { why, .. }) => in_sentence(why),
        Err(error) => return Err(error.into()),
    };
    draw(&dash, &visit, Some(error), typed).await
}

/// `POST /keys/issuers/remove`
pub(crate) async fn remove(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let (issuers, name) = (&dash.vault.issuers, visit.form().get("name"));
    issuers
        .remove(visit.account_id(), name, visit.actor())
        .await?;
    Ok(redirect(&format!("{ADDRESS}?done=issuer-gone")))
}

async fn draw(dash: &Dash, visit: &SignedIn, error: Option<String>, typed: Typed) -> Answer {
    let now = Timestamp::now();
    let keys = dash.vault.access.api_keys(visit.account_id()).await?;
    let names = names(&keys);
    let works = |key: &&ApiKeyInfo| {
        key.revoked.is_none() && key.expires.is_none_or(|expires| expires > now)
    };
    let usable: Vec<&ApiKeyInfo> = keys.iter().filter(works).collect();
    let label = |id: &str| match names.get(id).filter(|name| !name.is_empty()) {
        Some(name) => format!("{name} ({id})"),
        None => id.to_owned(),
    };
    let labels: Vec<(String, String)> = usable
        .iter()
        .map(|key| (key.id.clone(), label(&key.id)))
        .collect();
    let offered = labels
        .iter()
        .map(|(id, label)| (id.as_str(), label.as_str()));
    let issuers = dash.vault.issuers.list(visit.account_id()).await?;
    let line = |info: IssuerInfo| {
        let key = keys.iter().find(|key| key.id == info.config.key_id);
        Issuer {
            claims: pairs(&info.config),
            name: info.name,
            key: label(&info.config.key_id),
            is_usable: key.as_ref().is_some_and(works),
            last_used: key.and_then(|key| key.last_used).map(When::at),
            issuer: info.config.issuer,
            audience: info.config.audience,
            key_id: info.config.key_id,
            updated: When::on(info.updated),
            updated_by: info.updated_by,
        }
    };
    page_with(
        form_status(error.is_some()),
        &Page {
            layout: visit.layout("/keys"),
            tabs: tabs(ADDRESS),
            error,
            keys: choices(offered, &typed.key),
            typed,
            issuers: issuers.into_iter().map(line).collect(),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_claims_are_pairs() {
        let typed = |claims: &str| Typed {
            claims: claims.to_owned(),
            ..Typed::default()
        };
        let config = typed("azp = intake\r\n\r\nscope=a=b").config().unwrap();
        assert_eq!(pairs(&config), ["azp=intake", "scope=a=b"]);
        assert!(typed("azp").config().is_err());
    }
}
