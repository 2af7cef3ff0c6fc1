//! Choice of the provider for a model.
//!
//! `NAME/M` names a provider outright. Otherwise providers that list the model come first, then those with a pattern
//! for it, then those of the model's family without a list. Within each group the lower priority comes first, then the
//! name.

use std::cmp::Ordering;

use phigate_core::doors::Door;
use phigate_core::wire::{self, Site, WireFormat};
use phigate_store::{Account, Provider};
use phigate_types::{ModelEntry, is_model_id};

use crate::error::GatewayError;

/// A provider that serves a model, with the model's name there.
#[derive(Clone)]
pub struct Route<'a> {
    /// The provider's name.
    pub name: &'a str,
    /// The provider.
    pub provider: &'a Provider,
    /// The model, without the provider's name.
    pub model: String,
    /// Model that the provider is asked for.
    pub upstream: String,
    /// Wire format of the provider.
    pub format: &'static dyn WireFormat,
}

impl Route<'_> {
    /// Properties of the provider that decide how a request to it is written.
    pub(crate) fn site(&self) -> Site<'_> {
        let config = &self.provider.config;
        Site {
            kind: config.kind,
            model: &self.upstream,
            api_version: config.api_version.as_deref(),
            project: config.project.as_deref(),
            region: config.region.as_deref(),
        }
    }
}

/// Reason why a provider serves a model, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    Listed,
    Pattern,
    Family,
}

/// The providers of an account that serve a model, the one to ask first. There is at least one.
pub fn routes<'a>(account: &'a Account, asked: &str) -> Result<Vec<Route<'a>>, GatewayError> {
    let named = named(account, asked);
    if !is_model_id(named.map_or(asked, |(_, _, model)| model)) {
        return Err(GatewayError::UnknownModel);
    }
    if let Some((name, provider, model)) = named {
        let served = claim(provider, model).is_some() || provider.config.models.is_empty();
        let route = served.then(|| route(account, name, provider, model));
        return match route.flatten() {
            Some(route) => Ok(vec![route]),
            None => Err(GatewayError::UnknownModel),
        };
    }
    let mut claims: Vec<(Claim, &str, &Provider)> = account
        .providers
        .iter()
        .filter_map(|(name, provider)| Some((claim(provider, asked)?, name.as_str(), provider)))
        .collect();
    claims.sort_by(first_asked);
    let routes: Vec<Route<'a>> = claims
        .into_iter()
        .filter_map(|(_, name, provider)| route(account, name, provider, asked))
        .collect();
    match wire::format_for_model(asked) {
        _ if !routes.is_empty() => Ok(routes),
        Some(format) => Err(GatewayError::NotConfigured {
            family: format.family(),
        }),
        None => Err(GatewayError::UnknownModel),
    }
}

/// Providers of an account that serve a model and accept requests of this door, the one to ask first.
pub fn routes_at<'a>(
    door: &Door,
    account: &'a Account,
    asked: &str,
) -> Result<Vec<Route<'a>>, GatewayError> {
    let mut routes = routes(account, asked)?;
    routes.retain(|route| route.format.takes(door.form));
    match routes.is_empty() {
        true => Err(GatewayError::WrongDoor),
        false => Ok(routes),
    }
}

/// The models that callers of an account can ask for by name, each with the provider that serves it.
pub fn listed_models(account: &Account) -> Vec<(String, &str)> {
    let mut models: Vec<&str> = Vec::new();
    for provider in account.providers.values() {
        let entries = provider.config.models.iter();
        models.extend(
            entries
                .filter(|entry| !entry.is_pattern())
                .map(ModelEntry::id),
        );
        let Some(format) = family(provider) else {
            continue;
        };
        let aliases = account.aliases.keys().map(String::as_str);
        models.extend(format.listed_models());
        models.extend(aliases.filter(|alias| format.serves(alias)));
    }
    let mut listed: Vec<(String, &str)> = Vec::new();
    for model in models {
        let is_new = listed.iter().all(|(known, _)| known != model);
        if let (true, Ok(routes)) = (is_new, routes(account, model)) {
            listed.push((model.to_owned(), routes[0].name));
        }
    }
    listed
}

/// The provider that a model names outright, and the model there.
fn named<'a, 'm>(account: &'a Account, asked: &'m str) -> Option<(&'a str, &'a Provider, &'m str)> {
    let (name, model) = asked.split_once('/')?;
    let (name, provider) = account.providers.get_key_value(name)?;
    Some((name, provider, model))
}

/// Whether a provider serves a model, and why.
fn claim(provider: &Provider, model: &str) -> Option<Claim> {
    let models = &provider.config.models;
    if models.iter().any(|entry| entry.id() == model) {
        return Some(Claim::Listed);
    }
    if models
        .iter()
        .any(|entry| entry.is_pattern() && entry.matches(model))
    {
        return Some(Claim::Pattern);
    }
    family(provider)
        .filter(|format| format.serves(model))
        .map(|_| Claim::Family)
}

/// The family whose models a provider without a list serves.
fn family(provider: &Provider) -> Option<&'static dyn WireFormat> {
    let config = &provider.config;
    let serves_family = config.kind.has_family() && config.models.is_empty();
    serves_family
        .then(|| wire::format_of_family(config.kind))
        .flatten()
}

fn first_asked(one: &(Claim, &str, &Provider), other: &(Claim, &str, &Provider)) -> Ordering {
    let place = |claim: &(Claim, &str, &Provider)| (claim.0, claim.2.config.priority);
    place(one)
        .cmp(&place(other))
        .then_with(|| one.1.cmp(other.1))
}

/// The route to a provider's model. `None` if its kind has no usable format.
fn route<'a>(
    account: &Account,
    name: &'a str,
    provider: &'a Provider,
    model: &str,
) -> Option<Route<'a>> {
    let config = &provider.config;
    let entry = config.models.iter().find(|entry| entry.id() == model);
    let upstream = entry.and_then(|entry| entry.upstream());
    let format = wire::format_of_kind(config.kind, upstream.unwrap_or(model))?;
    let upstream = match upstream {
        Some(upstream) => upstream.to_owned(),
        None => alias(account, format, model),
    };
    Some(Route {
        name,
        provider,
        model: model.to_owned(),
        upstream,
        format,
    })
}

/// The owner's alias for a model, else the format's own, else the model as asked for.
fn alias(account: &Account, format: &dyn WireFormat, asked: &str) -> String {
    let of_owner = account.aliases.get(asked).map(String::as_str);
    let of_format = || {
        let aliases = format.default_aliases().iter();
        let mut known = aliases.filter(|(from, _)| *from == asked);
        known.next().map(|(_, to)| *to)
    };
    of_owner.or_else(of_format).unwrap_or(asked).to_owned()
}

#[cfg(test)]
mod tests;
