//! `phigate account`: create and list accounts.

use std::process::ExitCode;

use clap::Subcommand;

use super::Global;
use super::store::{ACTOR, with_store};

#[derive(Subcommand)]
pub(super) enum Account {
    /// Create an account
    Create {
        /// Its name
        name: String,
    },
    /// List all accounts
    List,
}

pub(super) fn run(account: Account, global: &Global) -> anyhow::Result<ExitCode> {
    with_store(global, async |session| {
        match account {
            Account::Create { name } => {
                session.vault.create_account(&name, ACTOR).await?;
            }
            Account::List => {
                for account in session.vault.accounts().await? {
                    println!("{}\t{}", account.name, account.created);
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}
