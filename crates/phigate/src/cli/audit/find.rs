//! `phigate audit find`: past requests that sent an identifier, and their destinations.

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, FromArgMatches};
use jiff::Timestamp;
use phi_detect::PhiKind;
use phigate_core::protect::identifier::{self, Question};
use phigate_store::{Disclosure, SecretString};

use super::filter::time;
use crate::cli::secrets::secret_from_stdin;
use crate::cli::store::{Session, to_the_second};
use crate::cli::table::Table;

const JSON: &str = "json";
const LIMIT: &str = "limit";
const SINCE: &str = "since";

/// One identifier; `-` reads it from standard input. What is looked for is compared by keyed hashes and stored nowhere.
pub(in crate::cli) struct Find {
    kind: PhiKind,
    value: SecretString,
    since: Option<Timestamp>,
    limit: usize,
    json: bool,
}

impl Args for Find {
    /// Adds one option per kind of PHI, so that new kinds need no change here.
    fn augment_args(command: Command) -> Command {
        let since = Arg::new(SINCE)
            .long(SINCE)
            .value_name("TIME")
            .value_parser(time)
            .help("Only requests from this time on: 2026-01-31T08:00:00Z or 2026-01-31");
        let limit = Arg::new(LIMIT)
            .long(LIMIT)
            .value_name("N")
            .default_value("100")
            .value_parser(clap::value_parser!(u64).range(1..))
            .help("At most this many, newest first");
        let json = Arg::new(JSON)
            .long(JSON)
            .action(ArgAction::SetTrue)
            .help("Print JSON lines");
        identifier_options(command).args([since, limit, json])
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Find {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let limit: u64 = matches.get_one(LIMIT).copied().unwrap_or(u64::MAX);
        let (kind, value) = given_identifier(matches)?;
        Ok(Self {
            kind,
            value,
            since: matches.get_one(SINCE).copied(),
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            json: matches.get_flag(JSON),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Adds one option per kind of PHI, of which one must be given.
pub(in crate::cli) fn identifier_options(command: Command) -> Command {
    let options = PhiKind::all().map(|kind| {
        Arg::new(kind.code())
            .long(&*kind.code().replace('_', "-").leak())
            .value_name("VALUE")
            .group("identifier")
            .help(kind.label())
    });
    let group = ArgGroup::new("identifier").required(true);
    command.args(options).group(group)
}

/// The identifier among the options, as it was given.
pub(in crate::cli) fn given_identifier(
    matches: &ArgMatches,
) -> Result<(PhiKind, SecretString), clap::Error> {
    let given = PhiKind::all().find_map(|kind| {
        let value: &String = matches.get_one(kind.code())?;
        Some((kind, SecretString::new(value.clone())))
    });
    given.ok_or_else(|| clap::Error::new(clap::error::ErrorKind::MissingRequiredArgument))
}

pub(super) async fn run(session: &Session, account: &str, find: Find) -> anyhow::Result<()> {
    let value = match find.value.expose() {
        "-" => secret_from_stdin(find.kind.label())?,
        _ => find.value,
    };
    let questions = identifier::questions(find.kind, value.expose())?;
    let asked: Vec<(&str, Vec<SecretString>)> = questions.iter().map(sought).collect();
    let (vault, actor) = (&session.vault, session.actor());
    let found = vault.trail.find_identifiers(account, &asked, actor).await?;
    let is_wanted = |one: &Disclosure| find.since.is_none_or(|since| one.time >= since);
    let found: Vec<Disclosure> = found.into_iter().filter(is_wanted).collect();
    tell(&found, &questions);
    if found.len() > find.limit {
        eprintln!(
            "the newest {} are listed; raise --limit for more",
            find.limit
        );
    }
    let mut table = Table::new(&[
        "TIME", "REQUEST", "ACTION", "FOUND AS", "SENT TO", "MODEL", "KEY", "STATUS",
    ]);
    for disclosure in found.into_iter().take(find.limit) {
        match find.json {
            true => println!("{}", serde_json::to_string(&disclosure)?),
            false => table.row(cells(disclosure)),
        }
    }
    if !find.json {
        table.print("no request matches");
    }
    Ok(())
}

/// Code of the kind, and the forms of the identifier to look for.
fn sought(question: &Question) -> (&'static str, Vec<SecretString>) {
    let forms = question.forms().iter();
    let forms = forms.map(|form| SecretString::from(form.as_str()));
    (question.kind().code(), forms.collect())
}

/// Prints the number of matches and the forms that were tried.
fn tell(found: &[Disclosure], questions: &[Question]) {
    match found.len() {
        0 => eprintln!("not found in the requests that the audit trail still holds"),
        1 => eprintln!("found in 1 request"),
        many => eprintln!("found in {many} requests"),
    }
    if let Some(asked) = questions.first() {
        let label = asked.kind().label();
        for kind in found_elsewhere(found, asked.kind()) {
            eprintln!("found as {}, not only as {label}", kind.label());
        }
        eprintln!("tried: {}", asked.ways());
    }
    let others: Vec<&str> = questions
        .iter()
        .skip(1)
        .map(|one| one.kind().label())
        .collect();
    if !others.is_empty() {
        eprintln!("also tried as: {}", others.join(", "));
    }
    if found.is_empty() {
        eprintln!(
            "not covered: records deleted at the end of their retention, text that the detector did not recognise, attachments"
        );
    }
}

/// The other kinds that an identifier was found as.
fn found_elsewhere(found: &[Disclosure], asked: PhiKind) -> impl Iterator<Item = PhiKind> {
    PhiKind::all().filter(move |kind| {
        let mut kinds = found.iter().flat_map(|one| &one.found_as);
        *kind != asked && kinds.any(|code| code == kind.code())
    })
}

fn cells(found: Disclosure) -> [String; 8] {
    let further = found.attempts.into_iter().map(|attempt| attempt.provider);
    let recipients: Vec<String> = found.provider.into_iter().chain(further).collect();
    [
        to_the_second(found.time),
        found.request_id.to_string(),
        found
            .action
            .map_or_else(String::new, |action| action.to_string()),
        found.found_as.join(","),
        recipients.join(","),
        found.model.unwrap_or_default(),
        found.key_id.unwrap_or_default(),
        found
            .provider_status
            .map_or_else(String::new, |status| status.to_string()),
    ]
}
