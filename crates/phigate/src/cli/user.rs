//! `phigate user`: the people who may log in to the dashboard.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Subcommand;
use phigate_store::Role;

use super::Global;
use super::secrets::secret_from_stdin;
use super::store::{ACTOR, with_store};

#[derive(Subcommand)]
pub(super) enum User {
    /// Add a person
    Add {
        /// Their e-mail address
        email: String,
        /// Read their password from standard input; on a terminal it is asked for anyway
        #[arg(long)]
        password_stdin: bool,
        /// What they may do: an owner everything, an auditor read the audit trail
        #[arg(long, default_value = "owner", value_parser = ["owner", "auditor"])]
        role: String,
    },
    /// List the people of the account
    List,
    /// Remove a person and end their sessions
    Remove {
        /// Their e-mail address
        email: String,
    },
}

pub(super) fn run(user: User, global: &Global) -> anyhow::Result<ExitCode> {
    with_store(global, async |session| {
        let account = session.account().await?;
        match user {
            User::Add {
                email,
                password_stdin,
                role,
            } => {
                if !password_stdin && !std::io::stdin().is_terminal() {
                    bail!("give the password on standard input with --password-stdin");
                }
                let password = secret_from_stdin("password")?;
                let role = Role::from_code(&role).context("the roles are owner and auditor")?;
                session
                    .vault
                    .people
                    .create_user(&account.id, &email, &password, role, ACTOR)
                    .await?;
            }
            User::List => {
                for user in session.vault.people.users(&account.id).await? {
                    println!("{}\t{}", user.email, user.role.code());
                }
            }
            User::Remove { email } => {
                session
                    .vault
                    .people
                    .remove_user(&account.id, &email, ACTOR)
                    .await?;
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}
