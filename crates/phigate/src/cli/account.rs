//! `phigate account`: create, list and delete accounts.

use std::process::ExitCode;

use clap::Subcommand;

use super::Global;
use super::store::{ACTOR, to_the_second, with_store};

#[derive(Subcommand)]
pub(super) enum Account {
    /// Create an account
    Create {
        /// Its name
        name: String,
    },
    /// List all accounts
    List,
    /// Delete an account: its users, its keys, and the keys without which its content is unreadable.
    /// Its records stay for their time
    Delete {
        /// Its name
        name: String,
        /// Say that it is meant; nothing can bring the content back
        #[arg(long)]
        yes: bool,
    },
}

pub(super) fn run(account: Account, global: &Global) -> anyhow::Result<ExitCode> {
    with_store(global, async |session| {
        match account {
            Account::Create { name } => {
                session.vault.accounts.create_account(&name, ACTOR).await?;
            }
            Account::Delete { name, yes } => {
                anyhow::ensure!(yes, "this cannot be undone; if it is meant, add --yes");
                let account = session.vault.accounts.find_account(Some(&name)).await?;
                session
                    .vault
                    .accounts
                    .delete_account(&account.id, ACTOR)
                    .await?;
            }
            Account::List => {
                for account in session.vault.accounts.accounts().await? {
                    println!("{}\t{}", account.name, to_the_second(account.created));
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}
