//! `phigate account`: create, list and delete accounts.

use std::process::ExitCode;

use clap::Subcommand;

use super::Global;
use super::store::{Session, in_store, to_the_second};
use super::table::{Table, print_json};

#[derive(Subcommand)]
pub(super) enum Account {
    /// Create an account
    Create {
        /// Account name
        name: String,
    },
    /// List all accounts
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Delete an account: its users, its keys, and the keys that decrypt its content. Its records are kept for their
    /// retention time
    Delete {
        /// Account name
        name: String,
        /// Confirm the deletion, which makes the content unreadable for good
        #[arg(long)]
        yes: bool,
    },
}

pub(super) fn run(account: Account, global: &Global) -> anyhow::Result<ExitCode> {
    let sets = matches!(account, Account::Create { .. });
    in_store(global, sets, async |session| act(account, &session).await)
}

/// Does what the command says.
pub(super) async fn act(account: Account, session: &Session) -> anyhow::Result<ExitCode> {
    let (accounts, actor) = (&session.vault.accounts, session.actor());
    match account {
        Account::Create { name } => {
            accounts.create_account(&name, actor).await?;
            session.tell(format_args!(
                "account {name} created; act on it with --account {name}"
            ));
        }
        Account::List { json } => list(session, json).await?,
        Account::Delete { name, yes } => {
            anyhow::ensure!(yes, "this cannot be undone; add --yes to confirm");
            let account = accounts.find_account(Some(&name)).await?;
            accounts.delete_account(&account.id, actor).await?;
            session.tell(format_args!(
                "account {name} deleted; its audit records are kept for their retention time"
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(session: &Session, json: bool) -> anyhow::Result<()> {
    let accounts = session.vault.accounts.accounts().await?;
    if json {
        return print_json(&accounts);
    }
    let mut table = Table::new(&["NAME", "CREATED"]);
    for account in accounts {
        table.row([account.name, to_the_second(account.created)]);
    }
    table.print("no accounts: phigate account create NAME");
    Ok(())
}
