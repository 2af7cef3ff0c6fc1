//! `phigate audit find`: was this identifier ever sent, and where did it go?

use std::process::ExitCode;

use anyhow::Context;
use clap::{Arg, ArgGroup, ArgMatches, Args, Command, FromArgMatches};
use phi_detect::PhiKind;
use phigate_core::protect;
use phigate_store::SecretString;

use crate::cli::secrets::secret_from_stdin;
use crate::cli::store::Session;

/// One identifier; `-` reads it from standard input. What is looked for is compared by keyed hashes and stored nowhere.
pub(in crate::cli) struct Find {
    kind: PhiKind,
    value: SecretString,
}

impl Args for Find {
    /// One option per kind of PHI, so that a new kind can be looked up without a word here.
    fn augment_args(command: Command) -> Command {
        let options = PhiKind::all().map(|kind| {
            Arg::new(kind.code())
                .long(&*kind.code().replace('_', "-").leak())
                .value_name("VALUE")
                .group("identifier")
                .help(kind.label())
        });
        command
            .args(options)
            .group(ArgGroup::new("identifier").required(true))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Find {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = PhiKind::all().find_map(|kind| {
            let value: &String = matches.get_one(kind.code())?;
            let value = SecretString::new(value.clone());
            Some(Self { kind, value })
        });
        given.ok_or_else(|| clap::Error::new(clap::error::ErrorKind::MissingRequiredArgument))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

pub(super) async fn run(session: &Session, account: &str, find: Find) -> anyhow::Result<ExitCode> {
    let value = match find.value.expose() {
        "-" => secret_from_stdin(find.kind.label())?,
        _ => find.value,
    };
    let value = SecretString::from(protect::normalise(value.expose()));
    let (vault, actor) = (&session.vault, session.actor);
    let disclosures = vault
        .trail
        .find_identifier(account, find.kind.code(), &value, actor)
        .await
        .context("the identifier could not be looked up")?;
    if disclosures.is_empty() {
        eprintln!("found in no request of this account");
    }
    for disclosure in disclosures {
        println!("{}", serde_json::to_string(&disclosure)?);
    }
    Ok(ExitCode::SUCCESS)
}
