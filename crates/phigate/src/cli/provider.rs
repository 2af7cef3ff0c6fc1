//! `phigate provider`: keys and addresses of the model providers.

use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Subcommand;
use phigate_core::wire::{self, FORMATS, WireFormat};

use crate::provider::{BaseUrl, check_key};

use super::Global;
use super::secrets::secret_from_stdin;
use super::store::{ACTOR, Session, with_store};

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
    List,
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
    with_store(global, async |session| {
        let account = session.account().await?;
        match provider {
            Provider::Set {
                family,
                key_stdin,
                base_url,
            } => set(&session, &account.id, family, key_stdin, base_url).await?,
            Provider::List => {
                for provider in session.vault.access.providers(&account.id).await? {
                    let format = wire::format_with_id(&provider.family);
                    let own = format.map_or("", WireFormat::default_base_url);
                    let address = provider.base_url.as_deref().unwrap_or(own);
                    let key = key_words(&provider.last4);
                    println!("{}\t{address}\t{key}", provider.family);
                }
            }
            Provider::Remove { family } => {
                session
                    .vault
                    .access
                    .remove_provider(&account.id, family, ACTOR)
                    .await?;
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn set(
    session: &Session,
    account_id: &str,
    family: &str,
    key_stdin: bool,
    base_url: Option<String>,
) -> anyhow::Result<()> {
    if let Some(url) = &base_url {
        BaseUrl::parse(url, session.config.allow_private_providers)?;
    }
    let stored = session
        .vault
        .access
        .providers(account_id)
        .await?
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
    session
        .vault
        .access
        .set_provider(account_id, family, key.as_ref(), base_url.as_deref(), ACTOR)
        .await?;
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
