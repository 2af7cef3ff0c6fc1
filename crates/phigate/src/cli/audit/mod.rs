//! `phigate audit`: the trail of decisions and acts.

mod erase;
mod export;
mod filter;
mod find;
mod list;
mod resolve;
mod reveal;
mod verify;

pub(super) use filter::time as moment;
pub(super) use find::{given_identifier, identifier_options};

use std::process::ExitCode;

use anyhow::Context;
use clap::Subcommand;
use phigate_store::INSTALLATION;
use uuid::Uuid;

use super::Global;
use super::store::with_store;

#[derive(Subcommand)]
pub(super) enum Audit {
    /// List decisions, or the installation's own records, newest first
    List(list::List),
    /// Show all records of one request; never content
    Show {
        /// The request's id, from the X-Gateway-Request-Id header
        #[arg(value_parser = request_id)]
        request_id: Uuid,
    },
    /// Write all records to standard output; never content
    Export(export::Export),
    /// Check that no record was changed, removed, reordered or inserted
    Verify(verify::Verify),
    /// Print the key that verifies exports and checkpoints; it is not a secret
    PublicKey,
    /// Print the original and the sent content of a request; this is recorded with your name and the reason
    Reveal(reveal::Reveal),
    /// Delete the content of a request for ever; its records stay, and this is recorded with your name and the reason.
    /// Refused under a legal hold
    Erase(erase::Erase),
    /// Print the value of a token of a masked request; this is recorded with your name and the reason
    Resolve(resolve::Resolve),
    /// Find the requests that held an identifier, with time and provider; this is recorded. Give - as the value to type
    /// it or to read it from standard input, so that it stays out of the shell's history
    Find(find::Find),
}

impl Audit {
    /// Whether it is about the installation's own records instead of an account's.
    fn is_of_installation(&self) -> bool {
        match self {
            Self::List(list) => list.is_of_installation(),
            Self::Export(export) => export.is_of_installation(),
            _ => false,
        }
    }
}

fn request_id(text: &str) -> anyhow::Result<Uuid> {
    Uuid::try_parse(text)
        .ok()
        .context("a request id looks like 01890000-0000-7000-8000-000000000000")
}

pub(super) fn run(audit: Audit, global: &Global) -> anyhow::Result<ExitCode> {
    // Verifying an export with a public key needs no store.
    if let Audit::Verify(verify) = &audit {
        return verify::run(verify, global);
    }
    with_store(global, async |session| {
        let account = match audit.is_of_installation() {
            true => INSTALLATION.to_owned(),
            false => session.account().await?.id,
        };
        match audit {
            Audit::List(list) => list::run(&session, &account, list).await?,
            Audit::Show { request_id } => {
                for record in session.vault.trail.audit_show(&account, request_id).await? {
                    println!("{}", serde_json::to_string_pretty(&record)?);
                }
            }
            Audit::Export(export) => export::run(&session, &account, export).await?,
            Audit::Verify(_) => {}
            Audit::PublicKey => println!("{}", session.vault.trail.public_key()),
            Audit::Reveal(reveal) => return reveal::run(&session, &account, &reveal).await,
            Audit::Erase(erase) => erase::run(&session, &account, &erase).await?,
            Audit::Resolve(resolve) => return resolve::run(&session, &account, &resolve).await,
            Audit::Find(find) => find::run(&session, &account, find).await?,
        }
        Ok(ExitCode::SUCCESS)
    })
}
