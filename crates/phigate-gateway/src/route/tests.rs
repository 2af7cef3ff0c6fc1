//! Rows: the providers of an account, a model asked for, and the expected targets.

use std::collections::BTreeMap;

use phigate_store::{AllowedValues, ProviderConfig, Rosters, Settings};
use phigate_types::{Mode, Policy, ProviderKind, read_models};

use super::*;

/// Providers as `name kind [models] [priority]`, separated by semicolons.
fn account(providers: &str) -> Account {
    let mut account = Account {
        id: "id".to_owned(),
        name: "default".to_owned(),
        mode: Mode::FLAG,
        policy: Policy::uniform(Mode::FLAG),
        settings: Settings::default(),
        allowed: AllowedValues::default(),
        recognizers: [].into(),
        rosters: Rosters::default(),
        providers: BTreeMap::new(),
        aliases: BTreeMap::from([("gpt-4".to_owned(), "gpt-4o".to_owned())]),
        fallbacks: BTreeMap::new(),
        version: 1,
    };
    for line in providers.split(';').filter(|line| !line.is_empty()) {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap().to_owned();
        let kind: ProviderKind = words.next().unwrap().parse().unwrap();
        let mut config = ProviderConfig::new(kind);
        if let Some(models) = words.next().filter(|models| *models != "-") {
            config.models = read_models(models).unwrap();
        }
        if let Some(priority) = words.next() {
            config.priority = priority.parse().unwrap();
        }
        let provider = Provider {
            config,
            secret: None,
            last4: String::new(),
            version: 1,
        };
        account.providers.insert(name, provider);
    }
    account
}

/// All providers that serve the model, as `name=upstream`, or the error's code.
fn asked(providers: &str, model: &str) -> String {
    let account = account(providers);
    match routes(&account, model) {
        Ok(routes) => {
            let routes = routes.iter();
            let words: Vec<String> = routes
                .map(|route| format!("{}={}", route.name, route.upstream))
                .collect();
            words.join(" ")
        }
        Err(error) => error.code().code().to_owned(),
    }
}

#[test]
fn names_lists_patterns_families_decide_in_order() {
    for (providers, model, wanted) in [
        ("openai openai", "gpt-4o", "openai=gpt-4o"),
        ("a openai;z openai gpt-4o", "gpt-4o", "z=gpt-4o a=gpt-4o"),
        (
            "a openai gpt-* 1;z openai gpt-4o 900",
            "gpt-4o",
            "z=gpt-4o a=gpt-4o",
        ),
        ("a openai;z openai gpt-*", "gpt-5.2", "z=gpt-5.2 a=gpt-5.2"),
        ("a openai m;b openai m 50", "m", "b=m a=m"),
        ("b openai m;a openai m", "m", "a=m b=m"),
        ("p openai fast=llama-8b", "fast", "p=llama-8b"),
        ("p openai fast=llama-8b", "llama-8b", "model_not_found"),
        ("a openai m=x;b openai m=y", "b/m", "b=y"),
        ("a openai;b openai", "b/gpt-4o-mini", "b=gpt-4o-mini"),
        ("or openai *", "or/meta/llama-3", "or=meta/llama-3"),
        (
            "acme openai x=from-acme;or openai acme/x=from-or",
            "acme/x",
            "acme=from-acme",
        ),
        (
            "acme openai y;or openai acme/x",
            "acme/x",
            "model_not_found",
        ),
        ("p openai llama-*", "gpt-4o", "provider_not_configured"),
        ("az azure gpt-4o=dep-1", "gpt-4o", "az=dep-1"),
        ("az azure", "gpt-4o", "provider_not_configured"),
        ("az azure", "az/dep-1", "az=dep-1"),
        ("a openai", "nobody/gpt-4o", "model_not_found"),
        ("a openai", "llama-3", "model_not_found"),
        ("a openai", "claude-opus-4-5", "provider_not_configured"),
        ("", "gpt-4o", "provider_not_configured"),
        ("a openai", "gpt-4", "a=gpt-4o"),
        ("c anthropic", "claude-3-opus", "c=claude-3-opus-20240229"),
        ("p openai Llama-3", "llama-3", "model_not_found"),
        ("p openai *", "a b", "model_not_found"),
    ] {
        assert_eq!(asked(providers, model), wanted, "{providers} {model}");
    }
}

#[test]
fn model_id_over_length_limit_is_refused() {
    let long = "m".repeat(256);
    assert_eq!(asked("p openai *", &long), format!("p={long}"));
    assert_eq!(asked("p openai *", &format!("{long}m")), "model_not_found");
}

#[test]
fn each_model_is_listed_once_with_owner() {
    let account = account("b openai m,fast=llama,mix-* 200;a openai m;g google");
    let listed = listed_models(&account);
    let owner = |model: &str| {
        let mut found = listed.iter().filter(|(id, _)| id == model);
        let owner = found.next().map(|(_, owner)| *owner);
        assert!(found.next().is_none(), "{model} is listed twice");
        owner
    };
    assert_eq!(owner("m"), Some("a"));
    assert_eq!(owner("fast"), Some("b"));
    assert_eq!(owner("gemini-pro"), Some("g"));
    for model in ["mix-*", "llama", "gpt-4o", "claude-3-opus"] {
        assert_eq!(owner(model), None, "{model}");
    }
}
