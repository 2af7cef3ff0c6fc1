//! `phigate jwt`: issuers whose tokens act as API keys.

use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use clap::Subcommand;
use phigate_gateway::BaseUrl;
use phigate_store::{IssuerConfig, StoreError};
use phigate_types::is_provider_name;

use super::Global;
use super::store::{Session, in_store, to_the_second};
use super::table::{Table, print_json};

/// Longest audience, claim and value of a claim, in bytes.
const WORD_BYTES_MAX: usize = 500;
/// Most claims of an issuer.
const CLAIMS_MAX: usize = 16;

#[derive(Subcommand)]
pub(super) enum Jwt {
    /// Let the tokens of an issuer act as an API key
    Set {
        /// A name for the entry
        #[arg(value_parser = name)]
        name: String,
        /// Address of the issuer, exactly as its tokens write it
        #[arg(long, value_name = "URL")]
        issuer: String,
        /// Audience that the tokens must have
        #[arg(long, value_name = "A", value_parser = audience)]
        audience: String,
        /// Claim that the tokens must have, such as azp=APP; may be given several times
        #[arg(long, value_name = "NAME=VALUE", value_parser = claim, value_delimiter = ',')]
        claim: Vec<(String, String)>,
        /// API key as which the tokens act: the part after `phg_`
        #[arg(long, value_name = "ID")]
        key: String,
    },
    /// List the issuers
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Remove an issuer: its tokens are refused from now on
    Remove {
        /// The entry's name
        name: String,
    },
}

fn name(text: &str) -> anyhow::Result<String> {
    if !is_provider_name(text) {
        bail!(
            "a name has 1 to 32 lower-case letters, digits and hyphens, and does not begin with a hyphen"
        );
    }
    Ok(text.to_owned())
}

fn is_word(text: &str) -> bool {
    let is_short = (1..=WORD_BYTES_MAX).contains(&text.len());
    is_short && !text.chars().any(char::is_control)
}

fn audience(text: &str) -> anyhow::Result<String> {
    ensure!(is_word(text), "an audience has 1 to {WORD_BYTES_MAX} bytes");
    Ok(text.to_owned())
}

fn claim(text: &str) -> anyhow::Result<(String, String)> {
    let pair = text.split_once('=');
    let pair = pair.filter(|(name, value)| is_word(name) && is_word(value));
    let (name, value) = pair.context("write a claim as NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

pub(super) fn run(jwt: Jwt, global: &Global) -> anyhow::Result<ExitCode> {
    let sets = matches!(jwt, Jwt::Set { .. });
    in_store(global, sets, async |session| act(jwt, &session).await)
}

/// Does what the command says.
pub(super) async fn act(jwt: Jwt, session: &Session) -> anyhow::Result<ExitCode> {
    let account = session.account().await?;
    let (issuers, actor) = (&session.vault.issuers, session.actor());
    match jwt {
        Jwt::Set {
            name,
            issuer,
            audience,
            claim,
            key,
        } => {
            let allow_private = session.setup_rules().allow_private;
            BaseUrl::parse(&issuer, allow_private).context("--issuer cannot be used")?;
            ensure!(claim.len() <= CLAIMS_MAX, "at most {CLAIMS_MAX} of --claim");
            let config = IssuerConfig {
                issuer,
                audience,
                claims: claim.into_iter().collect(),
                key_id: key,
            };
            match issuers.set(&account.id, &name, &config, actor).await {
                Err(StoreError::NotFound(_)) => {
                    bail!("--key: there is no such API key in this account")
                }
                set => set?,
            }
            session.tell(format_args!(
                "{name}: tokens of this issuer and audience act as key {} from now on",
                config.key_id
            ));
        }
        Jwt::List { json } => list(session, json).await?,
        Jwt::Remove { name } => {
            issuers.remove(&account.id, &name, actor).await?;
            session.tell(format_args!(
                "{name} removed: its tokens are refused from now on"
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(session: &Session, json: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let issuers = session.vault.issuers.list(&account.id).await?;
    if json {
        return print_json(&issuers);
    }
    let mut table = Table::new(&[
        "NAME", "ISSUER", "AUDIENCE", "CLAIMS", "KEY", "CHANGED", "BY",
    ]);
    for entry in issuers {
        let claims = entry.config.claims.iter();
        let claims: Vec<String> = claims
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        table.row([
            entry.name,
            entry.config.issuer,
            entry.config.audience,
            claims.join(","),
            entry.config.key_id,
            to_the_second(entry.updated),
            entry.updated_by,
        ]);
    }
    table.print("no issuers yet: phigate jwt set NAME --issuer URL --audience A --key ID");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_pairs() {
        assert_eq!(
            claim("azp=a=b").unwrap(),
            ("azp".to_owned(), "a=b".to_owned())
        );
        for text in ["azp", "=x", "azp=", "", "a=\n"] {
            assert!(claim(text).is_err(), "{text:?}");
        }
    }
}
