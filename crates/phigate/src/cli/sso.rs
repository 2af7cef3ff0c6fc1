//! `phigate sso`: single sign-on of the dashboard with the account's identity provider.

use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use clap::Subcommand;
use phigate_gateway::{BaseUrl, SignOnCheck, SignOnError};
use phigate_store::{AccountInfo, Filter, GroupRole, Record, RecordKind, SignOnConfig, SignOnInfo};
use phigate_types::Act;

use super::provider::gateway_of;
use super::store::{Session, in_store, to_the_second};
use super::{EXIT_NO, Global};

/// Longest client id, claim and level, in bytes.
const WORD_BYTES_MAX: usize = 500;
/// Most groups with a role.
const GROUPS_MAX: usize = 500;
/// Claim with the groups, unless another is set.
const GROUPS_CLAIM: &str = "groups";

#[derive(Subcommand)]
pub(super) enum Sso {
    /// Let people sign in to the dashboard with an identity provider; options not given keep their values
    Set {
        /// Address of the identity provider, exactly as its tokens write it
        #[arg(long, value_name = "URL")]
        issuer: Option<String>,
        /// Name of this gateway at the identity provider
        #[arg(long, value_name = "ID", value_parser = word)]
        client_id: Option<String>,
        /// Read the client's secret from standard input
        #[arg(long)]
        client_secret_stdin: bool,
        /// Role of the members of a group, such as auditor=Privacy; may be given several times and replaces all
        #[arg(long, value_name = "ROLE=GROUP", value_parser = role)]
        role: Vec<GroupRole>,
        /// Claim of the ID token with the groups [default: groups]
        #[arg(long, value_name = "CLAIM", value_parser = word)]
        groups_claim: Option<String>,
        /// Level of authentication that a sign-in must have, its claim acr; off requires none
        #[arg(long, value_name = "V", value_parser = word)]
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

fn word(text: &str) -> anyhow::Result<String> {
    let is_short = (1..=WORD_BYTES_MAX).contains(&text.len());
    let is_plain = is_short && !text.trim().is_empty() && !text.chars().any(char::is_control);
    ensure!(is_plain, "give 1 to {WORD_BYTES_MAX} bytes of text");
    Ok(text.to_owned())
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
            let given = Given {
                issuer,
                client_id,
                role,
                groups_claim,
                require_acr,
            };
            let config = given.over(old, session.setup_rules().allow_private)?;
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

/// The options that were given.
struct Given {
    issuer: Option<String>,
    client_id: Option<String>,
    role: Vec<GroupRole>,
    groups_claim: Option<String>,
    require_acr: Option<String>,
}

impl Given {
    /// The settings: the options over those stored.
    fn over(self, old: Option<SignOnConfig>, allow_private: bool) -> anyhow::Result<SignOnConfig> {
        let (mut issuer, mut client_id, mut roles) = (None, None, Vec::new());
        let (mut groups_claim, mut level) = (GROUPS_CLAIM.to_owned(), None);
        if let Some(old) = old {
            (issuer, client_id) = (Some(old.issuer), Some(old.client_id));
            (roles, groups_claim, level) = (old.role, old.groups_claim, old.require_acr);
        }
        let issuer = self.issuer.or(issuer).context("--issuer is missing")?;
        BaseUrl::parse(&issuer, allow_private).context("--issuer cannot be used")?;
        if !self.role.is_empty() {
            roles = self.role;
        }
        ensure!(roles.len() <= GROUPS_MAX, "at most {GROUPS_MAX} of --role");
        if roles.is_empty() {
            bail!("--role is missing: without a group that has a role nobody could sign in");
        }
        Ok(SignOnConfig {
            issuer,
            client_id: self
                .client_id
                .or(client_id)
                .context("--client-id is missing")?,
            role: roles,
            groups_claim: self.groups_claim.unwrap_or(groups_claim),
            require_acr: match self.require_acr {
                Some(level) if level == "off" => None,
                given => given.or(level),
            },
        })
    }
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
    // Without public hosts the address of the dashboard is not known here.
    let origin = host.map_or(String::new(), |host| format!("https://{host}"));
    let name = &account.name;
    session.tell(format_args!(
        "  redirect address:            {origin}/login/sso/{name}/callback\n  back-channel logout address: {origin}/login/sso/{name}/backchannel-logout"
    ));
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
    let mut checks = gateway_of(session)?.try_sign_on(&setup).await;
    checks.extend(last_failure(session, account).await?);
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

/// Cause of the last sign-in that failed: most mistakes are seen only then.
async fn last_failure(
    session: &Session,
    account: &AccountInfo,
) -> anyhow::Result<Option<SignOnCheck>> {
    let filter = Filter {
        record: Some(RecordKind::Admin),
        act: Some(Act::LoginFailed),
        ..Filter::default()
    };
    let trail = &session.vault.trail;
    let page = trail.audit_list(&account.id, &filter, None, 20).await?;
    let cause = page.items.iter().find_map(|record| match record {
        Record::Admin(act) => {
            let error = SignOnError::from_code(act.details.get("cause")?)?;
            Some((act.time, error))
        }
        _ => None,
    });
    Ok(cause.map(|(time, error)| SignOnCheck {
        works: None,
        title: format!(
            "The last sign-in that failed, at {}: {}",
            to_the_second(time),
            error.title()
        ),
        words: error.remedy().to_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(role: &[&str]) -> Given {
        Given {
            issuer: None,
            client_id: None,
            role: role.iter().map(|pair| pair.parse().unwrap()).collect(),
            groups_claim: None,
            require_acr: None,
        }
    }

    #[test]
    fn options_not_given_keep_their_values() {
        let first = Given {
            issuer: Some("https://idp.example".to_owned()),
            client_id: Some("gate".to_owned()),
            require_acr: Some("mfa".to_owned()),
            ..given(&["owner=Admins"])
        };
        let old = first.over(None, false).unwrap();
        assert_eq!(given(&[]).over(Some(old.clone()), false).unwrap(), old);
        let changed = Given {
            require_acr: Some("off".to_owned()),
            ..given(&["viewer=All"])
        };
        let new = changed.over(Some(old), false).unwrap();
        assert_eq!(new.role[0].to_string(), "viewer=All");
        assert_eq!(new.require_acr, None);
    }

    #[test]
    fn missing_options_are_named() {
        let names = |given: Given| given.over(None, false).unwrap_err().to_string();
        assert!(names(given(&["owner=g"])).contains("--issuer"));
        let issuer = Some("https://idp.example".to_owned());
        assert!(
            names(Given {
                issuer: issuer.clone(),
                ..given(&[])
            })
            .contains("--role")
        );
        assert!(
            names(Given {
                issuer,
                ..given(&["owner=g"])
            })
            .contains("--client-id")
        );
        let private = Some("https://127.0.0.1".to_owned());
        assert!(
            names(Given {
                issuer: private,
                ..given(&["owner=g"])
            })
            .contains("--issuer")
        );
    }
}
