//! `phigate settings`: every setting of an account, by name.

use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use phigate_gateway::{AccountField, AccountSettings, Weaker, account_field, account_fields};
use phigate_store::{By, Settings};

use super::Global;
use super::confirm::reason_for;
use super::store::{Session, given_reason, with_new_store, with_store};

#[derive(Args)]
pub(super) struct SettingsArgs {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    /// Print one setting's value, or all settings as NAME=VALUE
    Get {
        /// The setting
        name: Option<String>,
    },
    /// Change settings, for every request from now on
    Set(Set),
}

#[derive(Args)]
struct Set {
    /// A setting and its new value; nothing after = restores the default of a threshold, a limit or a list
    #[arg(required = true, value_name = "NAME=VALUE")]
    values: Vec<String>,
    /// Why, in a few words, for the audit trail; needed where protection becomes weaker
    #[arg(long, value_name = "TEXT", value_parser = given_reason)]
    reason: Option<String>,
}

pub(super) fn run(args: &SettingsArgs, global: &Global) -> anyhow::Result<ExitCode> {
    match &args.verb {
        None => with_store(global, async |session| get(&session, None).await),
        Some(Verb::Get { name }) => {
            with_store(global, async |session| get(&session, name.as_deref()).await)
        }
        Some(Verb::Set(change)) => {
            let values = values(&change.values)?;
            let reason = change.reason.as_deref();
            with_new_store(global, async |session| set(&session, &values, reason).await)
        }
    }?;
    Ok(ExitCode::SUCCESS)
}

/// Does what the command says, for a call of the admin API.
pub(super) async fn act(args: &SettingsArgs, session: &Session) -> anyhow::Result<ExitCode> {
    if let Some(Verb::Set(change)) = &args.verb {
        let values = values(&change.values)?;
        set(session, &values, change.reason.as_deref()).await?;
    }
    Ok(ExitCode::SUCCESS)
}

fn values(texts: &[String]) -> anyhow::Result<Vec<(AccountField, &str)>> {
    texts.iter().map(|text| named(text)).collect()
}

/// The setting of a name.
fn field(name: &str) -> anyhow::Result<AccountField> {
    account_field(name).with_context(|| {
        let names: Vec<String> = account_fields().map(|field| field.name()).collect();
        format!(
            "there is no setting {name:?}; there are {}",
            names.join(", ")
        )
    })
}

fn named(text: &str) -> anyhow::Result<(AccountField, &str)> {
    let (name, value) = text.split_once('=').context("write NAME=VALUE")?;
    Ok((field(name)?, value))
}

/// The account's settings as they are.
pub(crate) async fn stored(session: &Session, account_id: &str) -> anyhow::Result<AccountSettings> {
    let accounts = &session.vault.accounts;
    Ok(AccountSettings {
        mode: accounts.mode(account_id).await?.mode,
        settings: accounts.settings(account_id).await?,
    })
}

async fn get(session: &Session, name: Option<&str>) -> anyhow::Result<()> {
    let account = session.account().await?;
    let all = stored(session, &account.id).await?;
    match name {
        Some(name) => println!("{}", field(name)?.get(&all)),
        None => {
            for field in account_fields() {
                println!("{}={}", field.name(), field.get(&all));
            }
        }
    }
    Ok(())
}

/// Lays values over settings.
fn lay(values: &[(AccountField, &str)], all: &mut AccountSettings) -> anyhow::Result<()> {
    for (field, value) in values {
        let set = field.set(all, value);
        set.with_context(|| format!("{} cannot be set", field.name()))?;
    }
    Ok(())
}

async fn set(
    session: &Session,
    values: &[(AccountField, &str)],
    reason: Option<&str>,
) -> anyhow::Result<()> {
    let account = session.account().await?;
    let before = stored(session, &account.id).await?;
    let mut after = before.clone();
    lay(values, &mut after)?;
    let subject = format!("account {}", account.name);
    let reason = reason_for(session, &subject, &Weaker::of(&before, &after), reason)?;
    let by = By {
        actor: session.actor(),
        reason: reason.as_deref(),
    };
    let accounts = &session.vault.accounts;
    if before.settings != after.settings {
        // Another process may have changed other settings meanwhile.
        let change = |settings: &mut Settings| {
            let mut all = AccountSettings {
                mode: after.mode,
                settings: settings.clone(),
            };
            if lay(values, &mut all).is_ok() {
                *settings = all.settings;
            }
        };
        accounts.edit_settings(&account.id, change, by).await?;
    }
    if before.mode != after.mode {
        accounts.set_mode(&account.id, after.mode, by).await?;
    }
    if before == after && session.is_remote() {
        return Ok(());
    }
    if before == after {
        bail!("{subject}: nothing to change, the settings have these values");
    }
    for (field, _) in values {
        let (old, new) = (field.get(&before), field.get(&after));
        let shown = |value: String| {
            if value.is_empty() {
                "default".into()
            } else {
                value
            }
        };
        session.tell(format_args!(
            "{subject}: {} {} → {}",
            field.name(),
            shown(old),
            shown(new)
        ));
    }
    Ok(())
}
