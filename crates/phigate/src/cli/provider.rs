//! `phigate provider`: keys and addresses of the model providers.

use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Subcommand;
use phigate_core::wire::{self, FORMATS, WireFormat};
use phigate_store::ProviderInfo;

use crate::provider::{BaseUrl, check_key};

use super::Global;
use super::secrets::secret_from_stdin;
use super::store::{Session, to_the_second, with_new_store, with_store};
use super::table::{Table, print_json};

#[derive(Subcommand)]
pub(super) enum Provider {
    /// Set a family's key and address
    Set {
        /// openai, anthropic or google
        #[arg(value_parser = family)]
        family: &'static str,
        /// Read the provider's key from standard input; without it the stored key is kept
        #[arg(long)]
        key_stdin: bool,
        /// Root of the provider's API, when it is not the provider's own
        #[arg(long, value_name = "URL")]
        base_url: Option<String>,
    },
    /// List the configured providers
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Forget a family's key and address
    Remove {
        /// openai, anthropic or google
        #[arg(value_parser = family)]
        family: &'static str,
    },
}

fn family(text: &str) -> anyhow::Result<&'static str> {
    let known: Vec<&str> = FORMATS.iter().map(|format| format.id()).collect();
    let format = wire::format_with_id(text)
        .with_context(|| format!("the families are {}", known.join(", ")))?;
    Ok(format.id())
}

pub(super) fn run(provider: Provider, global: &Global) -> anyhow::Result<ExitCode> {
    match provider {
        Provider::Set {
            family,
            key_stdin,
            base_url,
        } => {
            if !key_stdin && base_url.is_none() {
                bail!(
                    "nothing to change for {family}: give its key with --key-stdin, or its address with --base-url URL"
                );
            }
            with_new_store(global, async |session| {
                set(&session, family, key_stdin, base_url).await
            })
        }
        Provider::List { json } => with_store(global, async |session| list(&session, json).await),
        Provider::Remove { family } => with_store(global, async |session| {
            let account = session.account().await?;
            let (vault, actor) = (&session.vault, session.actor);
            vault
                .access
                .remove_provider(&account.id, family, actor)
                .await?;
            eprintln!("{family} removed: requests for its models are refused from now on");
            Ok(())
        }),
    }?;
    Ok(ExitCode::SUCCESS)
}

async fn list(session: &Session, json: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let providers = session.vault.access.providers(&account.id).await?;
    if json {
        return print_json(&providers);
    }
    let mut table = Table::new(&["PROVIDER", "ADDRESS", "KEY", "CHANGED", "BY"]);
    for provider in providers {
        let address = address(&provider).to_owned();
        let (key, changed) = (key_words(&provider.last4), to_the_second(provider.updated));
        table.row([provider.family, address, key, changed, provider.updated_by]);
    }
    table.print("no providers yet: phigate provider set openai --key-stdin");
    Ok(())
}

/// Where a provider is: the address that was set, or the family's own.
pub(super) fn address(provider: &ProviderInfo) -> &str {
    let own = wire::format_with_id(&provider.family).map_or("", WireFormat::default_base_url);
    provider.base_url.as_deref().unwrap_or(own)
}

/// An address that only needs the operator's word is refused with how to give it.
fn check_address(url: &str, allow_private: bool) -> anyhow::Result<()> {
    match BaseUrl::parse(url, allow_private) {
        Ok(_) => Ok(()),
        Err(error) if BaseUrl::parse(url, true).is_ok() => bail!(
            "{error}; where it is meant, start the gateway with --allow-private-providers, or set PHIGATE_ALLOW_PRIVATE_PROVIDERS=true for this command too"
        ),
        Err(error) => Err(error.into()),
    }
}

async fn set(
    session: &Session,
    family: &str,
    key_stdin: bool,
    base_url: Option<String>,
) -> anyhow::Result<()> {
    let account = session.account().await?;
    if let Some(url) = &base_url {
        check_address(url, session.allow_private_providers())?;
    }
    let stored = session.vault.access.providers(&account.id).await?;
    let stored = stored
        .into_iter()
        .find(|provider| provider.family == family);
    if !key_stdin && stored.is_none() {
        bail!("no key is stored for {family}: give it on standard input with --key-stdin");
    }
    let key = if key_stdin {
        let key = secret_from_stdin("provider key")?;
        check_key(key.expose())?;
        Some(key)
    } else {
        None
    };
    let base_url = base_url.or(stored.and_then(|provider| provider.base_url));
    let (vault, actor) = (&session.vault, session.actor);
    vault
        .access
        .set_provider(
            &account.id,
            family,
            key.as_ref(),
            base_url.as_deref(),
            actor,
        )
        .await?;
    eprintln!(
        "{family} set for account {}; `phigate doctor` asks it whether the key works",
        account.name
    );
    Ok(())
}

/// How a stored key is told from others. Short keys have no last four characters that could be shown.
pub(super) fn key_words(last4: &str) -> String {
    if last4.is_empty() {
        "key set".to_owned()
    } else {
        format!("key …{last4}")
    }
}
