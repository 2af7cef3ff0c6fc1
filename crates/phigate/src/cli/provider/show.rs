//! `phigate provider list` and `show`.

use jiff::Timestamp;
use phigate_store::{ProviderConfig, ProviderInfo};
use phigate_types::ProviderOption;

use super::{address, find, secret_words};
use crate::cli::store::{Session, to_the_second};
use crate::cli::table::{Table, print_json};

pub(super) async fn list(session: &Session, json: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let providers = session.vault.access.providers(&account.id).await?;
    if json {
        return print_json(&providers);
    }
    let mut table = Table::new(&[
        "PROVIDER", "KIND", "ADDRESS", "MODELS", "PRIORITY", "PHI", "KEY", "CHANGED", "BY",
    ]);
    let now = Timestamp::now();
    for provider in providers {
        let config = &provider.config;
        table.row([
            provider.name.clone(),
            config.kind.to_string(),
            address(&provider),
            some_models(&provider),
            config.priority.to_string(),
            phi_words(config, now),
            secret_words(&provider),
            to_the_second(provider.updated),
            provider.updated_by,
        ]);
    }
    table.print("no providers yet: phigate provider set openai --key-stdin");
    Ok(())
}

/// PHI that the operator may receive now, and the reason if it differs from the setting.
fn phi_words(config: &ProviderConfig, now: Timestamp) -> String {
    let phi = config.phi_now(now);
    match config.agreement_expires.filter(|_| config.is_expired(now)) {
        Some(end) => format!("{phi} (ended {end})"),
        None => phi.to_string(),
    }
}

/// The first entries of a list, and how many more there are.
fn some_models(provider: &ProviderInfo) -> String {
    const SHOWN: usize = 3;
    let models = &provider.config.models;
    let shown: Vec<String> = models.iter().take(SHOWN).map(ToString::to_string).collect();
    match models.len().saturating_sub(SHOWN) {
        0 => shown.join(","),
        more => format!("{} and {more} more", shown.join(",")),
    }
}

pub(super) async fn one(session: &Session, name: &str) -> anyhow::Result<()> {
    let account = session.account().await?;
    let provider = find(session, &account.id, name).await?;
    let config = &provider.config;
    let models: Vec<String> = config.models.iter().map(ToString::to_string).collect();
    let expires = config.agreement_expires.map(|date| date.to_string());
    let mut table = Table::new(&["", ""]);
    let mut line = |what: &str, value: String| table.row([what.to_owned(), value]);
    line("name", provider.name.clone());
    line("kind", config.kind.to_string());
    line("address", address(&provider));
    line("auth", config.auth().to_string());
    line("key", secret_words(&provider));
    for option in ProviderOption::all().filter(|option| *option != ProviderOption::BaseUrl) {
        if let Some(value) = config.option(option) {
            line(option.code(), value.to_owned());
        }
    }
    line("models", models.join(","));
    line("priority", config.priority.to_string());
    line("phi", phi_words(config, Timestamp::now()));
    line("agreement", config.agreement.clone().unwrap_or_default());
    line("agreement-expires", expires.unwrap_or_default());
    line("changed", to_the_second(provider.updated));
    line("by", provider.updated_by.clone());
    table.print_without_heads();
    Ok(())
}
