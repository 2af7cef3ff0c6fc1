//! `phigate user`: the people who may log in to the dashboard.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Subcommand;
use phigate_store::Role;

use super::Global;
use super::secrets::secret_from_stdin;
use super::store::{Session, to_the_second, with_new_store, with_store};
use super::table::{Table, print_json};

#[derive(Subcommand)]
pub(super) enum User {
    /// Add a person
    Add {
        /// E-mail address
        email: String,
        /// Read their password from standard input; on a terminal it is asked for anyway
        #[arg(long)]
        password_stdin: bool,
        /// Role: an owner may do everything, an auditor may read the audit trail
        #[arg(long, default_value = "owner", value_parser = ["owner", "auditor"])]
        role: String,
    },
    /// List the people of the account
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Remove a person and end their sessions
    Remove {
        /// E-mail address
        email: String,
        /// Remove the only owner too; afterwards no user can change anything in the dashboard
        #[arg(long)]
        last_owner: bool,
    },
}

pub(super) fn run(user: User, global: &Global) -> anyhow::Result<ExitCode> {
    match user {
        User::Add {
            email,
            password_stdin,
            role,
        } => {
            if !password_stdin && !std::io::stdin().is_terminal() {
                bail!("give the password on standard input with --password-stdin");
            }
            let role = Role::from_code(&role).context("the roles are owner and auditor")?;
            with_new_store(global, async |session| add(&session, &email, role).await)
        }
        User::List { json } => with_store(global, async |session| list(&session, json).await),
        User::Remove { email, last_owner } => with_store(global, async |session| {
            remove(&session, &email, last_owner).await
        }),
    }?;
    Ok(ExitCode::SUCCESS)
}

async fn add(session: &Session, email: &str, role: Role) -> anyhow::Result<()> {
    let account = session.account().await?;
    let password = secret_from_stdin("password")?;
    let (vault, actor) = (&session.vault, session.actor);
    let user = vault
        .people
        .create_user(&account.id, email, &password, role, actor)
        .await?;
    eprintln!(
        "{} can now log in to account {} as {}",
        user.email,
        account.name,
        role.code()
    );
    Ok(())
}

async fn list(session: &Session, json: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let users = session.vault.people.users(&account.id).await?;
    if json {
        return print_json(&users);
    }
    let mut table = Table::new(&["EMAIL", "ROLE", "SECOND FACTOR", "LAST LOGIN"]);
    for user in users {
        let factor = if user.has_totp { "on" } else { "off" };
        let last = user.last_login.map_or("never".into(), to_the_second);
        table.row([user.email, user.role.code().into(), factor.into(), last]);
    }
    table.print("nobody can log in yet: phigate user add EMAIL");
    Ok(())
}

async fn remove(session: &Session, email: &str, last_owner: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let users = session.vault.people.users(&account.id).await?;
    let is_owner = |email: &str| {
        users
            .iter()
            .any(|user| user.role == Role::Owner && user.email.eq_ignore_ascii_case(email))
    };
    let owners = users.iter().filter(|user| user.role == Role::Owner).count();
    let leaves_nobody = owners == 1 && is_owner(email.trim());
    if leaves_nobody && !last_owner {
        bail!(
            "{email} is the only owner of account {}: add another first with `phigate user add EMAIL`, or confirm with --last-owner that no owner will be left",
            account.name
        );
    }
    let (vault, actor) = (&session.vault, session.actor);
    vault.people.remove_user(&account.id, email, actor).await?;
    eprintln!("{email} removed; their sessions have ended");
    if leaves_nobody {
        eprintln!(
            "account {} has no owner now; `phigate user add EMAIL` makes one",
            account.name
        );
    }
    Ok(())
}
