//! `phigate account`: create, list and delete accounts.

use std::process::ExitCode;

use clap::Subcommand;

use super::Global;
use super::store::{Session, to_the_second, with_new_store, with_store};
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
    match account {
        Account::Create { name } => with_new_store(global, async |session| {
            session
                .vault
                .accounts
                .create_account(&name, session.actor)
                .await?;
            eprintln!("account {name} created; act on it with --account {name}");
            Ok(())
        }),
        Account::List { json } => with_store(global, async |session| list(&session, json).await),
        Account::Delete { name, yes } => with_store(global, async |session| {
            anyhow::ensure!(yes, "this cannot be undone; add --yes to confirm");
            let account = session.vault.accounts.find_account(Some(&name)).await?;
            let (vault, actor) = (&session.vault, session.actor);
            vault.accounts.delete_account(&account.id, actor).await?;
            eprintln!(
                "account {name} deleted; its audit records are kept for their retention time"
            );
            Ok(())
        }),
    }?;
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
