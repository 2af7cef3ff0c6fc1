//! `phigate key`: API keys for callers.

use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Subcommand;
use jiff::{SignedDuration, Timestamp};

use phigate_gateway::Weaker;
use phigate_store::{ApiKeyInfo, By, NewApiKey};

use super::Global;
use super::confirm::reason_for;
use super::store::{Session, given_reason, in_store, to_the_second};
use super::table::{Table, print_json};

#[derive(Subcommand)]
pub(super) enum Key {
    /// Create a key and print it; it is shown only once
    Create {
        /// Purpose of the key
        #[arg(long)]
        name: Option<String>,
        /// Lifetime of the key: a number with s, m, h or d
        #[arg(long, value_name = "90d", value_parser = lifetime, allow_hyphen_values = true)]
        expires: Option<SignedDuration>,
        /// Group of keys that share words of the policy
        #[arg(long, value_name = "NAME")]
        group: Option<String>,
    },
    /// Move a key to a group, whose words of the policy then hold for it
    Set {
        /// Part of the key after `phg_`
        id: String,
        /// The group; empty for none
        #[arg(long, value_name = "NAME")]
        group: String,
        /// Why, in a few words, for the audit trail; needed when the key leaves a stricter group
        #[arg(long, value_name = "TEXT", value_parser = given_reason)]
        reason: Option<String>,
    },
    /// List the account's keys
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Make a key invalid at once
    Revoke {
        /// Part of the key after `phg_`
        id: String,
    },
    /// Print a new key; the old one works for a while longer
    Rotate {
        /// Part of the key after `phg_`
        id: String,
        /// Time for which the old key keeps working
        #[arg(long, default_value = "24h", value_parser = duration)]
        overlap: SignedDuration,
    },
}

pub(super) fn run(key: Key, global: &Global) -> anyhow::Result<ExitCode> {
    let sets = matches!(key, Key::Create { .. });
    in_store(global, sets, async |session| act(key, &session).await)
}

/// Does what the command says.
pub(super) async fn act(key: Key, session: &Session) -> anyhow::Result<ExitCode> {
    let account = session.account().await?;
    let (access, actor) = (&session.vault.access, session.actor());
    match key {
        Key::Create {
            name,
            expires,
            group,
        } => {
            let name = name.unwrap_or_default();
            let namesake = namesake(session, &account.id, &name).await?;
            let key = access
                .create_api_key_in(&account.id, group.as_deref(), &name, expires, actor)
                .await?;
            let until = key.expires.map_or("until it is revoked".into(), until);
            tell(
                session,
                &key,
                &format!("works {until}; it is shown only once"),
            );
            if let Some(id) = namesake {
                session.tell(format_args!(
                    "key {id} has the same name; another name would tell the two apart in the audit log"
                ));
            }
        }
        Key::Set { id, group, reason } => {
            set_group(session, &id, &group, reason.as_deref()).await?;
        }
        Key::List { json } => list(session, json).await?,
        Key::Revoke { id } => {
            access.revoke_api_key(&account.id, &id, actor).await?;
            session.tell(format_args!(
                "key {id} revoked: no request with it is let in from now on"
            ));
        }
        Key::Rotate { id, overlap } => {
            let rotated = access.rotate_api_key(&account.id, &id, overlap, actor);
            let key = rotated.await?;
            let end = until(Timestamp::now() + overlap);
            tell(session, &key, &format!("replaces {id}, which works {end}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Moves a key to a group, or out of its group.
async fn set_group(
    session: &Session,
    id: &str,
    group: &str,
    reason: Option<&str>,
) -> anyhow::Result<()> {
    let account = session.account().await?;
    let accounts = &session.vault.accounts;
    let words = accounts.policy(&account.id).await?;
    let group = Some(group).filter(|group| !group.is_empty());
    let weaker = Weaker::of_group(&words, id, group);
    let weaker = weaker.context("no such API key in this account")?;
    let subject = format!("key {id}");
    let reason = reason_for(session, &subject, &weaker, reason)?;
    let by = By {
        actor: session.actor(),
        reason: reason.as_deref(),
    };
    accounts.set_key_group(&account.id, id, group, by).await?;
    match group {
        Some(group) => session.tell(format_args!(
            "{subject} belongs to the group {group} from now on"
        )),
        None => session.tell(format_args!("{subject} belongs to no group from now on")),
    }
    Ok(())
}

/// A valid key of this name. Scripts may rely on creating two, so this is a note and not an error.
async fn namesake(session: &Session, account: &str, name: &str) -> anyhow::Result<Option<String>> {
    if name.is_empty() {
        return Ok(None);
    }
    let keys = session.vault.access.api_keys(account).await?;
    let now = Timestamp::now();
    let works =
        |key: &ApiKeyInfo| key.revoked.is_none() && key.expires.is_none_or(|expires| expires > now);
    let mut same = keys
        .into_iter()
        .filter(|key| key.name == name && works(key));
    Ok(same.next().map(|key| key.id))
}

/// Hands out the key, and prints its details on standard error.
fn tell(session: &Session, key: &NewApiKey, about: &str) {
    session.hand_out(key);
    session.tell(format_args!("key {} {about}", key.id));
}

fn until(time: Timestamp) -> String {
    format!("until {}", to_the_second(time))
}

async fn list(session: &Session, json: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let keys = session.vault.access.api_keys(&account.id).await?;
    if json {
        return print_json(&keys);
    }
    let mut table = Table::new(&["ID", "NAME", "GROUP", "STATE", "LAST USED", "CREATED", "BY"]);
    for key in keys {
        let used = key.last_used.map_or("never".into(), to_the_second);
        let (state, created) = (
            state_of(key.revoked, key.expires),
            to_the_second(key.created),
        );
        let group = key.group.unwrap_or_default();
        table.row([
            key.id,
            key.name,
            group,
            state,
            used,
            created,
            key.created_by,
        ]);
    }
    table.print("no API keys yet: phigate key create");
    Ok(())
}

/// The state of a key in words.
pub(super) fn state_of(revoked: Option<Timestamp>, expires: Option<Timestamp>) -> String {
    match (revoked, expires) {
        (Some(_), _) => "revoked".to_owned(),
        (None, Some(expires)) if expires <= Timestamp::now() => "expired".to_owned(),
        (None, Some(expires)) => format!("expires {}", to_the_second(expires)),
        (None, None) => "active".to_owned(),
    }
}

/// A duration greater than zero.
pub(super) fn lifetime(text: &str) -> anyhow::Result<SignedDuration> {
    let lifetime = duration(text)?;
    if lifetime.is_zero() {
        bail!("this key would never work; give it a longer time");
    }
    Ok(lifetime)
}

/// Reads `90d`, `24h`, `15m` or `30s`.
fn duration(text: &str) -> anyhow::Result<SignedDuration> {
    let unit_at = text.len().saturating_sub(1);
    let (number, unit) = text
        .split_at_checked(unit_at)
        .context("write a number with s, m, h or d")?;
    let number: i64 = number
        .parse()
        .context("write a number with s, m, h or d, such as 90d")?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => bail!("write a number with s, m, h or d, such as 90d"),
    };
    let seconds = number
        .checked_mul(seconds)
        .filter(|seconds| (0..=CENTURY_S).contains(seconds))
        .context("longer than a century")?;
    Ok(SignedDuration::from_secs(seconds))
}

const CENTURY_S: i64 = 100 * 366 * 86_400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_a_number_and_a_unit() {
        for (text, seconds) in [
            ("30s", 30),
            ("15m", 900),
            ("24h", 86_400),
            ("90d", 7_776_000),
        ] {
            assert_eq!(duration(text).unwrap().as_secs(), seconds);
        }
        for text in ["", "d", "90", "9 d", "-1d", "1w", "99999999999999999d", "é"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert!(duration("0s").is_ok() && lifetime("0s").is_err() && lifetime("1s").is_ok());
    }
}
