//! `phigate provider`: addresses of models, authentication there, and permission to receive PHI.

mod set;
mod show;
mod test;

pub(super) use test::gateway_of;

use std::process::ExitCode;

use anyhow::bail;
use clap::Subcommand;
use phigate_store::{ProviderInfo, StoreError};
use phigate_types::is_provider_name;

use super::Global;
use super::store::{Session, in_store};

#[derive(Subcommand)]
pub(super) enum Provider {
    /// Add a provider, or change it; options that are not given keep their values
    Set(Box<set::Set>),
    /// List the providers
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Show a provider's settings
    Show {
        /// The provider's name
        name: String,
    },
    /// Remove a provider and delete its secret
    Remove {
        /// The provider's name
        name: String,
    },
    /// Test the connection to a provider and its credentials
    Test {
        /// The provider's name
        name: String,
        /// Ask this model for one word, which costs a few tokens
        #[arg(long, value_name = "M")]
        model: Option<String>,
    },
}

/// A valid provider name.
fn name(text: &str) -> anyhow::Result<String> {
    if !is_provider_name(text) {
        bail!(
            "a name has 1 to 32 lower-case letters, digits and hyphens, and does not begin with a hyphen"
        );
    }
    Ok(text.to_owned())
}

pub(super) fn run(provider: Provider, global: &Global) -> anyhow::Result<ExitCode> {
    let sets = matches!(provider, Provider::Set(_));
    in_store(global, sets, async |session| act(provider, &session).await)
}

/// Does what the command says.
pub(super) async fn act(provider: Provider, session: &Session) -> anyhow::Result<ExitCode> {
    match provider {
        Provider::Set(set) => set::run(session, &set).await?,
        Provider::List { json } => show::list(session, json).await?,
        Provider::Show { name } => show::one(session, &name).await?,
        Provider::Remove { name } => remove(session, &name).await?,
        Provider::Test { name, model } => {
            return test::run(session, &name, model.as_deref()).await;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn remove(session: &Session, name: &str) -> anyhow::Result<()> {
    let account = session.account().await?;
    let (vault, actor) = (&session.vault, session.actor());
    let removed = vault.access.remove_provider(&account.id, name, actor).await;
    if matches!(removed, Err(StoreError::NotFound(_))) {
        bail!("{}", unknown(name));
    }
    removed?;
    session.tell(format_args!(
        "{name} removed: nothing is sent there from now on"
    ));
    Ok(())
}

/// The provider of a name.
async fn find(session: &Session, account_id: &str, name: &str) -> anyhow::Result<ProviderInfo> {
    match session.vault.access.provider(account_id, name).await? {
        Some(provider) => Ok(provider),
        None => bail!("{}", unknown(name)),
    }
}

fn unknown(name: &str) -> String {
    format!("there is no provider {name}; `phigate provider list` shows the providers")
}

/// A description of a stored secret. Short keys have no last four characters to show.
pub(super) fn secret_words(provider: &ProviderInfo) -> String {
    match (provider.has_secret, provider.last4.as_str()) {
        (true, "") => "key set".to_owned(),
        (true, last4) => format!("key …{last4}"),
        (false, _) if provider.config.auth().secret().can_be_ambient() => {
            "the machine's own identity".to_owned()
        }
        (false, _) => "no key".to_owned(),
    }
}

/// The address of a provider: configured, or the operator's.
pub(super) fn address(provider: &ProviderInfo) -> String {
    provider.config.address().unwrap_or_default()
}
