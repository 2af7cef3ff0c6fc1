//! `phigate audit find`: was this identifier ever sent, and where did it go?

use clap::{Arg, ArgGroup, ArgMatches, Args, Command, FromArgMatches};
use phi_detect::PhiKind;
use phigate_core::protect::identifier;
use phigate_store::SecretString;

use crate::cli::secrets::secret_from_stdin;
use crate::cli::store::Session;

/// One identifier; `-` reads it from standard input. What is looked for is compared by keyed hashes and stored nowhere.
pub(in crate::cli) struct Find {
    kind: PhiKind,
    value: SecretString,
}

impl Args for Find {
    /// Adds one option per kind of PHI, so that new kinds need no change here.
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

pub(super) async fn run(session: &Session, account: &str, find: Find) -> anyhow::Result<()> {
    let value = match find.value.expose() {
        "-" => secret_from_stdin(find.kind.label())?,
        _ => find.value,
    };
    let question = identifier::question(find.kind, value.expose())?;
    let forms: Vec<SecretString> = question
        .forms()
        .iter()
        .map(|form| SecretString::from(form.as_str()))
        .collect();
    let (vault, actor) = (&session.vault, session.actor);
    let found = vault
        .trail
        .find_identifier(account, find.kind.code(), &forms, actor)
        .await?;
    match found.len() {
        0 => eprintln!("not found in the requests that the audit trail still holds"),
        1 => eprintln!("found in 1 request"),
        many => eprintln!("found in {many} requests"),
    }
    eprintln!("tried: {}", question.ways());
    if found.is_empty() {
        eprintln!(
            "not covered: records deleted at the end of their retention, text that the detector did not recognise, attachments"
        );
    }
    for disclosure in found {
        println!("{}", serde_json::to_string(&disclosure)?);
    }
    Ok(())
}
