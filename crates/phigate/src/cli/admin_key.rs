//! `phigate admin-key`: keys of the admin API.

use std::process::ExitCode;

use clap::Subcommand;
use jiff::SignedDuration;
use phigate_store::NewAdminKey;
use phigate_types::Role;

use super::Global;
use super::key::{lifetime, state_of};
use super::store::{Session, in_store, to_the_second};
use super::table::{Table, print_json};
use super::user::{role, roles};

#[derive(Subcommand)]
pub(super) enum AdminKey {
    /// Create a key and print it; it is shown only once
    Create {
        #[arg(long, help = roles(), value_parser = role)]
        role: Role,
        /// Purpose of the key
        #[arg(long, default_value = "")]
        name: String,
        /// Lifetime of the key: a number with s, m, h or d
        #[arg(long, value_name = "90d", value_parser = lifetime, allow_hyphen_values = true)]
        expires: Option<SignedDuration>,
        /// Let the key create, list and delete accounts as well
        #[arg(long)]
        installation: bool,
    },
    /// List the account's admin keys
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Make a key invalid at once
    Revoke {
        /// Part of the key after `pha_`
        id: String,
    },
}

pub(super) fn run(key: AdminKey, global: &Global) -> anyhow::Result<ExitCode> {
    let sets = matches!(key, AdminKey::Create { .. });
    in_store(global, sets, async |session| act(key, &session).await)
}

/// Does what the command says.
pub(super) async fn act(key: AdminKey, session: &Session) -> anyhow::Result<ExitCode> {
    let account = session.account().await?;
    let (keys, actor) = (&session.vault.admin_keys, session.actor());
    match key {
        AdminKey::Create {
            role,
            name,
            expires,
            installation,
        } => {
            let new = NewAdminKey {
                name: &name,
                role,
                installation,
                valid: expires,
            };
            let key = keys.create(&account.id, &new, actor).await?;
            session.hand_out(&key);
            session.tell(format_args!(
                "admin key {} is {role} of account {}; it is shown only once",
                key.id, account.name
            ));
        }
        AdminKey::List { json } => list(session, json).await?,
        AdminKey::Revoke { id } => {
            keys.revoke(&account.id, &id, actor).await?;
            session.tell(format_args!(
                "admin key {id} revoked: no call with it is let in from now on"
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(session: &Session, json: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let keys = session.vault.admin_keys.list(&account.id).await?;
    if json {
        return print_json(&keys);
    }
    let mut table = Table::new(&["ID", "NAME", "ROLE", "STATE", "LAST USED", "CREATED", "BY"]);
    for key in keys {
        let used = key.last_used.map_or("never".into(), to_the_second);
        let role = match key.installation {
            true => format!("{}, installation", key.role),
            false => key.role.to_string(),
        };
        let state = state_of(key.revoked, key.expires);
        let created = to_the_second(key.created);
        table.row([key.id, key.name, role, state, used, created, key.created_by]);
    }
    table.print("no admin keys yet: phigate admin-key create --role ROLE");
    Ok(())
}
