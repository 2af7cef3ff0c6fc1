//! `phigate roster`: the patients of the account, by keyed codes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Subcommand;
use phigate_core::roster::{Columns, read_patients};
use phigate_gateway::Weaker;
use phigate_store::By;

use super::Global;
use super::confirm::reason_for;
use super::store::{Session, given_reason, to_the_second, with_new_store, with_store};
use super::table::{Table, print_json};

#[derive(Subcommand)]
pub(super) enum Roster {
    /// Look for the patients of a file, for every request from now on; replaces the roster of that name
    Import {
        /// Name of the roster: 1 to 32 letters, digits, dots, hyphens or underscores
        name: String,
        /// File with comma-separated values and a first line of column names
        file: PathBuf,
        /// Columns of the fields given, family, dob, mrn, phone and email
        #[arg(long, value_name = "FIELD=COLUMN,…", value_parser = Columns::read)]
        map: Columns,
    },
    /// List the rosters with their numbers of patients
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Stop looking for the patients of a roster
    Remove {
        /// Name of the roster
        name: String,
        /// Why, in a few words, for the audit trail
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

pub(super) fn run(roster: &Roster, global: &Global) -> anyhow::Result<ExitCode> {
    match roster {
        Roster::Import { name, file, map } => with_new_store(global, async |session| {
            import(&session, name, file, map).await
        }),
        Roster::List { json } => with_store(global, async |session| list(&session, *json).await),
        Roster::Remove { name, reason } => with_store(global, async |session| {
            remove(&session, name, reason.as_deref()).await
        }),
    }?;
    Ok(ExitCode::SUCCESS)
}

async fn import(
    session: &Session,
    name: &str,
    path: &Path,
    columns: &Columns,
) -> anyhow::Result<()> {
    let account = session.account().await?;
    let shown = path.display();
    let file = std::fs::read(path).with_context(|| format!("cannot read {shown}"))?;
    let rosters = &session.vault.rosters;
    let mut draft = rosters.draft(&account.id);
    let patients = read_patients(&file, columns, &mut |words| draft.add(words));
    let patients = patients.with_context(|| format!("{shown} is no roster"))?;
    drop(file);
    let draft = (draft, patients);
    rosters
        .import(&account.id, name, draft, session.actor())
        .await?;
    eprintln!(
        "account {}: {patients} patients of roster {name} are looked for, for every request from now on",
        account.name
    );
    Ok(())
}

async fn list(session: &Session, as_json: bool) -> anyhow::Result<()> {
    let account = session.account().await?;
    let rosters = session.vault.rosters.list(&account.id).await?;
    if as_json {
        return print_json(&rosters);
    }
    let mut table = Table::new(&["NAME", "PATIENTS", "IMPORTED", "IMPORTED BY"]);
    for roster in rosters {
        table.row([
            roster.name.into(),
            roster.patients.to_string(),
            to_the_second(roster.imported),
            roster.imported_by,
        ]);
    }
    table.print("there are no rosters: phigate roster import NAME FILE.csv --map family=COLUMN,…");
    Ok(())
}

async fn remove(session: &Session, name: &str, reason: Option<&str>) -> anyhow::Result<()> {
    let account = session.account().await?;
    let rosters = &session.vault.rosters;
    let known = rosters.list(&account.id).await?;
    let is_known = known.iter().any(|roster| roster.name == name);
    anyhow::ensure!(is_known, "the account has no roster {name:?}");
    let subject = format!("account {}", account.name);
    let reason = reason.map(given_reason).transpose()?;
    let reason = reason_for(session, &subject, &[Weaker::Roster], reason.as_deref())?;
    let by = By {
        actor: session.actor(),
        reason: reason.as_deref(),
    };
    rosters.remove(&account.id, name, by).await?;
    eprintln!("{subject}: the patients of roster {name} are no longer looked for");
    Ok(())
}
