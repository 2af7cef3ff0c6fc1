//! `phigate audit erase`: the content of one request, deleted for ever.

use clap::Args;
use uuid::Uuid;

use super::request_id;
use crate::cli::store::{Session, given_reason};

#[derive(Args)]
pub(in crate::cli) struct Erase {
    /// Id of the request, from the X-Gateway-Request-Id header
    #[arg(value_parser = request_id)]
    request_id: Uuid,
    /// Why it must go, in a few words; the audit trail keeps it
    #[arg(long, value_name = "TEXT", value_parser = given_reason)]
    reason: String,
}

pub(super) async fn run(session: &Session, account: &str, erase: &Erase) -> anyhow::Result<()> {
    let (id, actor) = (erase.request_id, session.actor());
    let expiry = &session.vault.expiry;
    expiry.erase(account, id, actor, &erase.reason).await?;
    eprintln!("the content of request {id} is erased for ever; its records stay and say so");
    eprintln!(
        "backups made before still hold it, and anybody with the master key can read it there"
    );
    Ok(())
}
