//! `phigate user`: the people who may log in to the dashboard.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::bail;
use clap::Subcommand;
use phigate_store::{AccountInfo, User};
use phigate_types::Role;

use super::Global;
use super::store::{Session, in_store, to_the_second};
use super::table::{Table, print_json};

#[derive(Subcommand)]
pub(super) enum Users {
    /// Add a person
    Add {
        /// E-mail address
        email: String,
        /// Read their password from standard input; on a terminal it is asked for anyway
        #[arg(long)]
        password_stdin: bool,
        #[arg(long, default_value = Role::Owner.code(), help = roles(), value_parser = role)]
        role: Role,
        /// Whether an owner may sign in with the password although the account has single sign-on
        #[arg(long, value_name = "on|off", num_args = 0..=1, default_missing_value = "on", value_parser = on_or_off)]
        break_glass: Option<bool>,
    },
    /// Change a person's role, password or break-glass mark and end their sessions
    Set {
        /// E-mail address
        email: String,
        /// Whether an owner may sign in with the password although the account has single sign-on
        #[arg(long, value_name = "on|off", num_args = 0..=1, default_missing_value = "on", value_parser = on_or_off)]
        break_glass: Option<bool>,
        #[arg(long, help = roles(), value_parser = role)]
        role: Option<Role>,
        /// Read a new password from standard input
        #[arg(long)]
        password_stdin: bool,
        /// Change the only owner too; afterwards no user can change users in the dashboard
        #[arg(long)]
        last_owner: bool,
    },
    /// List the people of the account
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Remove a person and end their sessions
    Remove {
        /// E-mail address, or the id of a person of the identity provider
        email: String,
        /// Remove the only owner too; afterwards no user can change anything in the dashboard
        #[arg(long)]
        last_owner: bool,
    },
}

pub(super) fn run(user: Users, global: &Global) -> anyhow::Result<ExitCode> {
    let sets = matches!(user, Users::Add { .. });
    if let Users::Add { password_stdin, .. } = &user
        && !password_stdin
        && !std::io::stdin().is_terminal()
    {
        bail!("give the password on standard input with --password-stdin");
    }
    in_store(global, sets, async |session| act(user, &session).await)
}

/// Does what the command says.
pub(super) async fn act(user: Users, session: &Session) -> anyhow::Result<ExitCode> {
    match user {
        Users::Add {
            email,
            password_stdin,
            role,
            break_glass,
        } => {
            if break_glass == Some(true) && role != Role::Owner {
                bail!("--break-glass: only owners may have the mark");
            }
            // A call of the admin API may leave the password out.
            let has_password = password_stdin || !session.is_remote();
            add(session, &email, role, has_password).await?;
            if break_glass == Some(true) {
                set_break_glass(session, &email, true).await?;
            }
        }
        Users::Set {
            email,
            break_glass,
            role,
            password_stdin,
            last_owner,
        } => {
            if role.is_none() && !password_stdin && break_glass.is_none() {
                bail!("nothing to change: give --role, --password-stdin or --break-glass");
            }
            if let Some(role) = role {
                set_role(session, &email, role, last_owner).await?;
            }
            if password_stdin {
                set_password(session, &email).await?;
            }
            if let Some(is_marked) = break_glass {
                set_break_glass(session, &email, is_marked).await?;
            }
        }
        Users::List { json } => list(session, json).await?,
        Users::Remove { email, last_owner } => remove(session, &email, last_owner).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn add(session: &Session, email: &str, role: Role, has_password: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let (people, actor) = (&session.vault.people, session.actor());
    let user = match has_password {
        true => {
            let password = session.secret("password")?;
            let created = people.create_user(&account.id, email, &password, role, actor);
            created.await?
        }
        false => {
            let created = people.create_user_without_password(&account.id, email, role, actor);
            created.await?
        }
    };
    session.tell(format_args!(
        "{} can now log in to account {} as {}",
        user.email,
        account.name,
        role.code()
    ));
    Ok(())
}

async fn list(session: &Session, json: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let users = session.vault.people.users(&account.id).await?;
    if json {
        return print_json(&users);
    }
    let header = [
        "EMAIL OR ID",
        "ROLE",
        "SECOND FACTOR",
        "BREAK GLASS",
        "LAST LOGIN",
        "IDENTITY",
    ];
    let mut table = Table::new(&header);
    for user in users {
        let factor = match (&user.subject, user.has_totp) {
            (Some(_), _) => "-",
            (None, true) => "on",
            (None, false) => "off",
        };
        let mark = if user.break_glass { "on" } else { "-" };
        let last = user.last_login.map_or("never".into(), to_the_second);
        let subject = user.subject.as_ref();
        let identity = subject.map_or(String::new(), |subject| {
            format!("{} ({subject})", user.email)
        });
        table.row([
            user.key().to_owned(),
            user.roles.codes(),
            factor.into(),
            mark.into(),
            last,
            identity,
        ]);
    }
    table.print("nobody can log in yet: phigate user add EMAIL");
    Ok(())
}

async fn set_role(
    session: &Session,
    email: &str,
    role: Role,
    last_owner: bool,
) -> anyhow::Result<()> {
    let account = session.account().await?;
    let users = session.vault.people.users(&account.id).await?;
    let is_this = |user: &&User| user.key().eq_ignore_ascii_case(email.trim());
    if users
        .iter()
        .find(is_this)
        .is_some_and(|user| user.roles == role.into())
    {
        session.tell(format_args!("{email} is {role} already"));
        return Ok(());
    }
    if role != Role::Owner {
        leaves_no_owner(session, &account, email, last_owner).await?;
    }
    let (people, actor) = (&session.vault.people, session.actor());
    people.set_role(&account.id, email, role, actor).await?;
    session.tell(format_args!(
        "{email} is {role} now; their sessions have ended"
    ));
    Ok(())
}

/// Reads a switch.
fn on_or_off(word: &str) -> Result<bool, String> {
    match word {
        "on" | "true" => Ok(true),
        "off" | "false" => Ok(false),
        _ => Err("write on or off".to_owned()),
    }
}

async fn set_break_glass(session: &Session, email: &str, is_marked: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let people = &session.vault.people;
    let set = people.set_break_glass(&account.id, email, is_marked, None, session.actor());
    set.await?;
    let words = match is_marked {
        true => "may sign in with the password beside single sign-on",
        false => "is not marked as break-glass",
    };
    session.tell(format_args!("{email} {words}"));
    Ok(())
}

async fn set_password(session: &Session, email: &str) -> anyhow::Result<()> {
    let account = session.account().await?;
    let (people, password) = (&session.vault.people, session.secret("password")?);
    let set = people.set_password(&account.id, email, &password, None, session.actor());
    set.await?;
    session.tell(format_args!(
        "{email} has a new password; their sessions have ended"
    ));
    Ok(())
}

/// Whether a person is the only owner of the account; an error unless that is confirmed.
async fn leaves_no_owner(
    session: &Session,
    account: &AccountInfo,
    email: &str,
    is_confirmed: bool,
) -> anyhow::Result<bool> {
    let users = session.vault.people.users(&account.id).await?;
    let mut owners = users.iter().filter(|user| user.is_owner());
    let is_this = |user: &User| user.key().eq_ignore_ascii_case(email.trim());
    let is_only = owners.next().is_some_and(is_this) && owners.next().is_none();
    if is_only && !is_confirmed {
        bail!(
            "{email} is the only owner of account {}: add another first with `phigate user add EMAIL`, or confirm with --last-owner that no owner will be left",
            account.name
        );
    }
    Ok(is_only)
}

/// The roles and their rights, for the help.
pub(super) fn roles() -> String {
    let roles = Role::all().map(|role| format!("{}: {}", role.code(), role.summary()));
    roles.collect::<Vec<_>>().join("\n")
}

/// Reads a role.
pub(super) fn role(code: &str) -> Result<Role, String> {
    code.parse().map_err(|_| {
        let codes: Vec<_> = Role::all().map(Role::code).collect();
        format!("the roles are {}", codes.join(", "))
    })
}

async fn remove(session: &Session, email: &str, last_owner: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let leaves_nobody = leaves_no_owner(session, &account, email, last_owner).await?;
    let (vault, actor) = (&session.vault, session.actor());
    vault.people.remove_user(&account.id, email, actor).await?;
    session.tell(format_args!("{email} removed; their sessions have ended"));
    if leaves_nobody {
        session.tell(format_args!(
            "account {} has no owner now; `phigate user add EMAIL` makes one",
            account.name
        ));
    }
    Ok(())
}
