//! `phigate jwt`: issuers whose tokens act as API keys.

use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Subcommand;
use phigate_gateway::check_issuer;
use phigate_store::{IssuerConfig, StoreError};

use super::Global;
use super::sso::option;
use super::store::{Session, in_store, to_the_second};
use super::table::{Table, print_json};

#[derive(Subcommand)]
pub(super) enum Jwt {
    /// Let the tokens of an issuer act as an API key
    Set {
        /// A name for the entry
        name: String,
        /// Address of the issuer, exactly as its tokens write it
        #[arg(long, value_name = "URL")]
        issuer: String,
        /// Audience that the tokens must have
        #[arg(long, value_name = "A")]
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

fn claim(text: &str) -> anyhow::Result<(String, String)> {
    let pair = text.split_once('=');
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
            let config = IssuerConfig {
                issuer,
                audience,
                claims: claim.into_iter().collect(),
                key_id: key,
            };
            let allow_private = session.setup_rules().allow_private;
            check_issuer(&name, &config, allow_private).map_err(|error| option(&error))?;
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
        assert!(claim("azp").is_err() && claim("").is_err());
    }
}
