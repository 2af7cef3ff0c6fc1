//! `phigate sso`: single sign-on of the dashboard with the account's identity provider.

use std::process::ExitCode;

use anyhow::Context;
use clap::Subcommand;
use phigate_gateway::{FieldError, SignOnCheck, SignOnEdit};
use phigate_store::{AccountInfo, GroupRole, SignOnInfo};

use super::provider::gateway_of;
use super::store::{Session, in_store, to_the_second};
use super::{EXIT_NO, Global};

#[derive(Subcommand)]
pub(super) enum Sso {
    /// Let people sign in to the dashboard with an identity provider; options not given keep their values
    Set {
        /// Address of the identity provider, exactly as its tokens write it
        #[arg(long, value_name = "URL")]
        issuer: Option<String>,
        /// Name of this gateway at the identity provider
        #[arg(long, value_name = "ID")]
        client_id: Option<String>,
        /// Read the client's secret from standard input
        #[arg(long)]
        client_secret_stdin: bool,
        /// Role of the members of a group, such as auditor=Privacy; may be given several times and replaces all
        #[arg(long, value_name = "ROLE=GROUP", value_parser = role)]
        role: Vec<GroupRole>,
        /// Claim of the ID token with the groups [default: groups]
        #[arg(long, value_name = "CLAIM")]
        groups_claim: Option<String>,
        /// Level of authentication that a sign-in must have, its claim acr; off requires none
        #[arg(long, value_name = "V")]
        require_acr: Option<String>,
    },
    /// Show the settings, without the secret
    Show {
        /// Print a JSON object
        #[arg(long)]
        json: bool,
    },
    /// Try the settings without a person, and say what is wrong
    Test,
    /// Turn single sign-on off: its sessions end, and passwords work again
    Off,
}

fn role(text: &str) -> anyhow::Result<GroupRole> {
    Ok(text.parse()?)
}

pub(super) fn run(sso: Sso, global: &Global) -> anyhow::Result<ExitCode> {
    let sets = matches!(sso, Sso::Set { .. });
    in_store(global, sets, async |session| act(sso, &session).await)
}

/// Does what the command says.
pub(super) async fn act(sso: Sso, session: &Session) -> anyhow::Result<ExitCode> {
    let account = session.account().await?;
    let (sign_on, actor) = (&session.vault.sign_on, session.actor());
    match sso {
        Sso::Set {
            issuer,
            client_id,
            client_secret_stdin,
            role,
            groups_claim,
            require_acr,
        } => {
            // A call of the admin API sets the whole entry.
            let old = match session.is_remote() {
                true => None,
                false => sign_on.info(&account.id).await?.map(|info| info.config),
            };
            let given = SignOnEdit {
                issuer,
                client_id,
                role,
                groups_claim,
                require_acr,
            };
            let config = given.over(old, session.setup_rules().allow_private);
            let config = config.map_err(|error| option(&error))?;
            let secret = match client_secret_stdin {
                true => Some(session.secret("client secret")?),
                false => None,
            };
            let set = sign_on.set(&account.id, &config, secret.as_ref(), actor);
            set.await?;
            tell(session, &account).await?;
        }
        Sso::Show { json } => show(session, &account, json).await?,
        Sso::Test => return test(session, &account).await,
        Sso::Off => {
            sign_on.remove(&account.id, actor).await?;
            session.tell(format_args!(
                "single sign-on is off: its sessions have ended, and passwords work again"
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The error of a setting, by the name of its option.
pub(super) fn option(error: &FieldError) -> anyhow::Error {
    let option = error.field.replace('_', "-");
    anyhow::anyhow!("--{option} {}", error.why)
}

/// Says what to enter at the identity provider, and who can sign in if it is down.
async fn tell(session: &Session, account: &AccountInfo) -> anyhow::Result<()> {
    session.tell(format_args!(
        "people of account {} sign in with the identity provider from now on, on the login page\nenter at the identity provider, after the address at which people open the dashboard:",
        account.name
    ));
    addresses(session, account);
    let users = session.vault.people.users(&account.id).await?;
    if !users.iter().any(|user| user.break_glass) {
        session.tell(format_args!(
            "warning: no owner is marked as break-glass; if the identity provider is down, nobody can sign in: phigate user set EMAIL --break-glass on"
        ));
    }
    Ok(())
}

fn addresses(session: &Session, account: &AccountInfo) {
    let host = session.config.public_hosts.first();
    let origin = host.map_or("https://HOST".to_owned(), |host| format!("https://{host}"));
    let name = &account.name;
    session.tell(format_args!(
        "  redirect address:            {origin}/login/sso/{name}/callback\n  back-channel logout address: {origin}/login/sso/{name}/backchannel-logout"
    ));
    if host.is_none() {
        session.tell(format_args!(
            "HOST is the name, with the port if there is one, by which people open the dashboard: it is not known here. Set public_hosts in phigate.toml (or PHIGATE_PUBLIC_HOSTS), and `phigate sso show` prints the whole addresses; Settings → Sign-in shows them as well"
        ));
    }
}

async fn show(session: &Session, account: &AccountInfo, json: bool) -> anyhow::Result<()> {
    let info = session.vault.sign_on.info(&account.id).await?;
    if json {
        println!("{}", serde_json::to_string_pretty(&info)?);
        return Ok(());
    }
    let Some(info) = info else {
        println!("off");
        return Ok(());
    };
    print(&info);
    addresses(session, account);
    Ok(())
}

fn print(info: &SignOnInfo) {
    let config = &info.config;
    println!("issuer        {}", config.issuer);
    println!("client id     {}", config.client_id);
    let secret = if info.has_secret { "stored" } else { "none" };
    println!("client secret {secret}");
    for pair in &config.role {
        println!("role          {pair}");
    }
    println!("groups claim  {}", config.groups_claim);
    if let Some(level) = &config.require_acr {
        println!("required acr  {level}");
    }
    let (updated, by) = (to_the_second(info.updated), &info.updated_by);
    println!("changed       {updated} by {by}");
}

async fn test(session: &Session, account: &AccountInfo) -> anyhow::Result<ExitCode> {
    let setup = session.vault.sign_on.setup(&account.id).await?;
    let setup = setup.context(
        "single sign-on is off: phigate sso set --issuer URL --client-id ID --role owner=GROUP",
    )?;
    let gateway = gateway_of(session)?;
    let single_sign_on = gateway.single_sign_on();
    let mut checks = single_sign_on.checks(&setup).await;
    checks.extend(single_sign_on.last_failure(&account.id).await?);
    let works = !checks.iter().any(|check| check.works == Some(false));
    for SignOnCheck {
        works,
        title,
        words,
    } in checks
    {
        let mark = match works {
            Some(true) => "ok  ",
            Some(false) => "FAIL",
            None => "note",
        };
        println!("{mark} {title}. {words}");
    }
    addresses(session, account);
    Ok(match works {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(EXIT_NO),
    })
}
