//! Providers: the three families first, then the rest, the way to add a provider, and the substitutes for a model.

use askama::Template;
use axum::extract::{Path, State};
use http::StatusCode;
use jiff::Timestamp;
use phigate_core::wire::{FORMATS, WireFormat, format_of_family};
use phigate_store::{NewSecret, ProviderConfig, ProviderInfo, SecretString};
use phigate_types::{ProviderKind, Right};

use super::chains::{Chain, chains};
use super::instead::{alias_lines, fallback_lines, read_aliases, read_fallbacks};
use super::presets::{PRESETS, Preset};
use super::terms::{self, Terms};
use super::trials::TestResult;
use crate::Dash;
use crate::layout::Layout;
use crate::view::{When, in_sentence};
use crate::visit::{Answer, PageError, SignedIn, page_with, redirect};
use phigate_gateway::{BaseUrl, check_key};

/// All providers.
#[derive(Template)]
#[template(path = "providers.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) error: Option<String>,
    pub(crate) private_allowed: bool,
    pub(crate) providers: Vec<Entry>,
    pub(crate) others: Vec<Other>,
    pub(crate) presets: &'static [Preset],
    pub(crate) chains: Vec<Chain>,
    pub(crate) fallbacks: String,
    pub(crate) fallback_error: Option<String>,
    pub(crate) aliases: String,
    pub(crate) built_in: Vec<(&'static str, &'static str)>,
    pub(crate) alias_error: Option<String>,
}

/// One family.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) family: &'static str,
    pub(crate) label: &'static str,
    pub(crate) models: String,
    pub(crate) is_set: bool,
    pub(crate) last_four: String,
    pub(crate) base_url: String,
    pub(crate) default_url: String,
    pub(crate) changed: Option<(When, String)>,
    pub(crate) terms: Option<Terms>,
    pub(crate) health: String,
    pub(crate) test: Option<TestResult>,
    pub(crate) error: Option<String>,
}

/// A provider that is not one of the three families'.
#[derive(Debug)]
pub(crate) struct Other {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) address: String,
    pub(crate) models: String,
    pub(crate) priority: u32,
    pub(crate) terms: Terms,
    pub(crate) health: String,
    pub(crate) test: Option<TestResult>,
}

/// Messages that one write left for the page.
#[derive(Default)]
struct Remark {
    family: &'static str,
    error: Option<String>,
    alias_error: Option<String>,
    fallback_error: Option<String>,
}

/// `GET /providers`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    draw(&dash, &visit, StatusCode::OK, Remark::default()).await
}

/// `POST /providers/{family}`
pub(crate) async fn save(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(family): Path<String>,
) -> Answer {
    let kind = family_kind(&family)?;
    let (key, base_url) = (visit.form().get("key"), visit.form().get("base_url"));
    let access = &dash.vault.access;
    let stored = access.provider(visit.account_id(), kind.code()).await?;
    let allows_private = dash.gateway.setup_rules().allow_private;
    if let Err(refusal) = check(stored.as_ref(), key, base_url, allows_private) {
        let remark = Remark {
            family: kind.code(),
            error: Some(refusal),
            ..Remark::default()
        };
        return draw(&dash, &visit, StatusCode::UNPROCESSABLE_ENTITY, remark).await;
    }
    let key = (!key.is_empty()).then(|| SecretString::new(key.to_owned()));
    let mut config = stored.map_or_else(|| ProviderConfig::new(kind), |stored| stored.config);
    config.base_url = (!base_url.is_empty()).then(|| base_url.to_owned());
    let secret = key.as_ref().map_or(NewSecret::Keep, NewSecret::Set);
    access
        .set_provider(
            visit.account_id(),
            kind.code(),
            &config,
            secret,
            visit.actor(),
        )
        .await?;
    Ok(redirect(&done("provider")))
}

/// The kind of provider that a family's card is about.
fn family_kind(code: &str) -> Result<ProviderKind, PageError> {
    let kind = code.parse::<ProviderKind>().ok();
    kind.filter(|kind| kind.has_family())
        .ok_or(PageError::NotFound)
}

/// Returns the address of the top of the page, with the notice. Browsers keep the fragment of a form unless they are
/// given another.
pub(super) fn done(code: &str) -> String {
    format!("/providers?done={code}#main")
}

/// Says why a key and an address cannot be saved.
fn check(
    stored: Option<&ProviderInfo>,
    key: &str,
    base_url: &str,
    allows_private: bool,
) -> Result<(), String> {
    let known_url = stored.map(|known| known.config.base_url.as_deref().unwrap_or_default());
    match known_url {
        None if key.is_empty() => return Err("Paste the provider’s API key first.".to_owned()),
        // A person could send the stored key to their own address, and read it there.
        Some(known_url) if key.is_empty() && known_url != base_url => {
            return Err(
                "The stored key belongs to the old address. Paste the key for the new one."
                    .to_owned(),
            );
        }
        _ => {}
    }
    check_key(key).map_err(|error| in_sentence(&error.to_string()))?;
    if base_url.is_empty() {
        return Ok(());
    }
    let parsed = BaseUrl::parse(base_url, allows_private);
    parsed
        .map(drop)
        .map_err(|error| in_sentence(&error.to_string()))
}

/// `POST /providers/{family}/remove`
pub(crate) async fn remove(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(family): Path<String>,
) -> Answer {
    let kind = family_kind(&family)?;
    dash.vault
        .access
        .remove_provider(visit.account_id(), kind.code(), visit.actor())
        .await?;
    Ok(redirect("/providers?done=provider-removed"))
}

/// `POST /providers/{family}/test`
pub(crate) async fn test(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(family): Path<String>,
) -> Answer {
    let kind = family_kind(&family)?;
    try_out(&dash, &visit, kind.code(), None).await;
    let family = kind.code();
    Ok(redirect(&format!("/providers#{family}")))
}

/// Tests a provider; its page and the list show what was said.
pub(super) async fn try_out(dash: &Dash, visit: &SignedIn, name: &str, model: Option<&str>) {
    let gateway = &dash.gateway;
    let trial = gateway.try_provider(&visit.account, name, model).await;
    let now = Timestamp::now();
    dash.trials.keep(visit.account_id(), name, &trial, now);
}

/// `POST /providers/fallbacks`
pub(crate) async fn save_fallbacks(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let wanted = match read_fallbacks(visit.form().get("fallbacks")) {
        Ok(wanted) => wanted,
        Err(error) => {
            let remark = Remark {
                fallback_error: Some(error),
                ..Remark::default()
            };
            return draw(&dash, &visit, StatusCode::UNPROCESSABLE_ENTITY, remark).await;
        }
    };
    let (accounts, known) = (&dash.vault.accounts, &visit.account.fallbacks);
    let (account_id, actor) = (visit.account_id(), visit.actor());
    for model in known.keys().filter(|model| !wanted.contains_key(*model)) {
        accounts.set_fallback(account_id, model, &[], actor).await?;
    }
    for (model, targets) in wanted
        .iter()
        .filter(|(model, targets)| known.get(*model) != Some(*targets))
    {
        accounts
            .set_fallback(account_id, model, targets, actor)
            .await?;
    }
    Ok(redirect(&done("fallbacks")))
}

/// `POST /providers/aliases`
pub(crate) async fn save_aliases(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let wanted = match read_aliases(visit.form().get("aliases")) {
        Ok(wanted) => wanted,
        Err(error) => {
            let remark = Remark {
                alias_error: Some(error),
                ..Remark::default()
            };
            return draw(&dash, &visit, StatusCode::UNPROCESSABLE_ENTITY, remark).await;
        }
    };
    let (account_id, actor) = (visit.account_id(), visit.actor());
    for model in visit
        .account
        .aliases
        .keys()
        .filter(|model| !wanted.contains_key(*model))
    {
        dash.vault
            .accounts
            .set_alias(account_id, model, None, actor)
            .await?;
    }
    for (model, served) in &wanted {
        if visit.account.aliases.get(model) != Some(served) {
            dash.vault
                .accounts
                .set_alias(account_id, model, Some(served), actor)
                .await?;
        }
    }
    Ok(redirect(&done("aliases")))
}

async fn draw(dash: &Dash, visit: &SignedIn, status: StatusCode, remark: Remark) -> Answer {
    let stored = dash.vault.access.providers(visit.account_id()).await?;
    let trail = &dash.vault.trail;
    let fares = trail.provider_health(visit.account_id()).await?;
    let now = Timestamp::now();
    let families = ProviderKind::all().filter(|kind| kind.has_family());
    let providers = families.map(|kind| {
        let known = stored.iter().find(|provider| provider.name == kind.code());
        let is_meant = remark.family == kind.code();
        Entry {
            health: terms::health(fares.get(kind.code())),
            test: known.and_then(|provider| dash.trials.of(visit.account_id(), provider)),
            error: remark.error.clone().filter(|_| is_meant),
            base_url: match is_meant && remark.error.is_some() {
                true => visit.form().get("base_url").to_owned(),
                false => known.and_then(base_url).unwrap_or_default(),
            },
            ..entry(kind, known, now)
        }
    });
    let is_family = |name: &str| family_kind(name).is_ok();
    let others = stored.iter().filter(|provider| !is_family(&provider.name));
    let others = others.map(|provider| {
        let test = dash.trials.of(visit.account_id(), provider);
        Other {
            health: terms::health(fares.get(&provider.name)),
            test,
            ..other(provider, now)
        }
    });
    let typed = |error: &Option<String>, name: &str, known: String| match error {
        Some(_) => visit.form().get(name).to_owned(),
        None => known,
    };
    let aliases = alias_lines(&visit.account.aliases);
    let fallbacks = fallback_lines(&visit.account.fallbacks);
    page_with(
        status,
        &Page {
            layout: Layout {
                is_read_only: !visit.may(Right::Configure),
                ..visit.layout("/providers")
            },
            error: None,
            private_allowed: dash.gateway.setup_rules().allow_private,
            providers: providers.collect(),
            others: others.collect(),
            presets: PRESETS,
            chains: chains(&visit.account, now),
            fallbacks: typed(&remark.fallback_error, "fallbacks", fallbacks),
            fallback_error: remark.fallback_error,
            aliases: typed(&remark.alias_error, "aliases", aliases),
            built_in: built_in_aliases().collect(),
            alias_error: remark.alias_error,
        },
    )
}

fn base_url(provider: &ProviderInfo) -> Option<String> {
    provider.config.base_url.clone()
}

/// A family's card, with what is stored of its provider.
fn entry(kind: ProviderKind, known: Option<&ProviderInfo>, now: Timestamp) -> Entry {
    let changed =
        |provider: &ProviderInfo| (When::at(provider.updated), provider.updated_by.clone());
    Entry {
        family: kind.code(),
        label: kind.label(),
        models: format_of_family(kind).map_or_else(String::new, some_models),
        is_set: known.is_some(),
        last_four: known.map_or_else(String::new, |provider| provider.last4.clone()),
        base_url: String::new(),
        default_url: kind.address(None).unwrap_or_default(),
        changed: known.map(changed),
        terms: known.map(|provider| Terms::of(&provider.config, now)),
        health: String::new(),
        test: None,
        error: None,
    }
}

fn built_in_aliases() -> impl Iterator<Item = (&'static str, &'static str)> {
    let formats = FORMATS.iter();
    formats.flat_map(|format| format.default_aliases()).copied()
}

fn other(provider: &ProviderInfo, now: Timestamp) -> Other {
    Other {
        name: provider.name.clone(),
        kind: provider.config.kind.label(),
        address: provider.config.address().unwrap_or_default(),
        models: some_entries(provider),
        priority: provider.config.priority,
        terms: Terms::of(&provider.config, now),
        health: String::new(),
        test: None,
    }
}

/// Returns the first models of a list, and the number of further models.
fn some_entries(provider: &ProviderInfo) -> String {
    const SHOWN: usize = 4;
    let models = &provider.config.models;
    let shown: Vec<String> = models.iter().take(SHOWN).map(ToString::to_string).collect();
    match models.len().saturating_sub(SHOWN) {
        0 if shown.is_empty() => "by name only".to_owned(),
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn some_models(format: &dyn WireFormat) -> String {
    let models: Vec<&str> = format.listed_models().iter().take(5).copied().collect();
    models.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_key_needs_retyping_for_new_address() {
        let known = ProviderInfo {
            name: "openai".to_owned(),
            config: ProviderConfig::new(ProviderKind::OpenAi).at("https://models.example"),
            has_secret: true,
            last4: "1234".to_owned(),
            updated: jiff::Timestamp::UNIX_EPOCH,
            updated_by: "test".to_owned(),
        };
        for (stored, key, base_url, is_saved) in [
            (None, "", "", false),
            (None, "sk-invented", "", true),
            (None, "two words", "", false),
            (Some(&known), "", "https://models.example", true),
            (Some(&known), "", "https://evil.example", false),
            (Some(&known), "", "", false),
            (Some(&known), "sk-invented", "https://other.example", true),
            (Some(&known), "sk-invented", "ftp://other.example", false),
        ] {
            let checked = check(stored, key, base_url, false);
            assert_eq!(checked.is_ok(), is_saved, "{key} {base_url} {checked:?}");
        }
    }
}
