//! `phigate report`: signed reports for people outside, and their verification.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use phi_detect::PhiKind;
use phigate_report::{Ask, Identifier, Order, ReportFormat, Sources, make, month_of};
use phigate_store::{ReportFault, SecretString, verify_report};

use super::audit::{given_identifier, identifier_options, moment};
use super::secrets::secret_from_stdin;
use super::store::{Session, with_store};
use super::words::known;
use super::{EXIT_NO, Global};

#[derive(Subcommand)]
pub(super) enum Report {
    /// A patient asks: the requests that held an identifier, and who received it. Give - as the value, to type it or to
    /// read it from standard input; it is in no record
    Disclosures(Disclosures),
    /// A provider or a key had an incident: every request of a stretch of time
    Incident(Incident),
    /// The figures of a month
    Monthly(Monthly),
    /// The auditor comes: the controls in force now
    Controls(Output),
    /// Check that a report is as it was signed; exits with 1 for any change
    Verify(Verify),
}

/// Options of every report.
#[derive(Args)]
pub(super) struct Output {
    /// Format: a page to print, an object for programs, or tables for spreadsheets
    #[arg(long, default_value = "html", value_parser = known(ReportFormat::all(), ReportFormat::code))]
    format: ReportFormat,
    /// Your reference, such as a case number; printed on the report, and not recorded
    #[arg(long, value_name = "TEXT", value_parser = reference)]
    reference: Option<String>,
}

/// One identifier, from standard input.
pub(super) struct Disclosures {
    kind: PhiKind,
    given: SecretString,
    output: Output,
}

#[derive(Args)]
pub(super) struct Incident {
    /// From this time on: 2026-01-31T08:00:00Z or 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Timestamp,
    /// Before this time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    until: Timestamp,
    /// Only requests to this provider, fallbacks included
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Only requests with this API key
    #[arg(long, value_name = "ID")]
    key: Option<String>,
    #[command(flatten)]
    output: Output,
}

#[derive(Args)]
pub(super) struct Monthly {
    /// Month in UTC, such as 2026-01 [default: the last one that is over]
    #[arg(long, value_name = "MONTH", value_parser = month)]
    month: Option<Date>,
    #[command(flatten)]
    output: Output,
}

#[derive(Args)]
pub(super) struct Verify {
    /// A report, as it was made
    file: PathBuf,
    /// The key that `phigate audit public-key` prints [default: the one of the store]
    #[arg(long, value_name = "KEY")]
    public_key: Option<String>,
}

impl Args for Disclosures {
    fn augment_args(command: Command) -> Command {
        Output::augment_args(identifier_options(command))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Disclosures {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (kind, given) = given_identifier(matches)?;
        let output = Output::from_arg_matches(matches)?;
        Ok(Self {
            kind,
            given,
            output,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn month(text: &str) -> anyhow::Result<Date> {
    month_of(text).context("write a month such as 2026-01")
}

fn reference(text: &str) -> anyhow::Result<String> {
    let text = text.trim();
    let is_short = (1..=120).contains(&text.chars().count());
    ensure!(
        is_short && !text.contains(char::is_control),
        "a reference has 1 to 120 characters in one line"
    );
    Ok(text.to_owned())
}

pub(super) fn run(report: Report, global: &Global) -> anyhow::Result<ExitCode> {
    let (output, ask) = match report {
        Report::Verify(verify) => return self::verify(verify, global),
        Report::Disclosures(asked) => {
            let identifier = identifier(asked.kind, &asked.given)?;
            (asked.output, Ask::Disclosures(identifier))
        }
        Report::Incident(incident) => {
            let Incident {
                since,
                until,
                provider,
                key,
                output,
            } = incident;
            let ask = Ask::Incident {
                since,
                until,
                provider,
                key,
            };
            (output, ask)
        }
        Report::Monthly(monthly) => {
            let month = monthly.month.unwrap_or_else(last_month);
            (monthly.output, Ask::Monthly { month })
        }
        Report::Controls(output) => (output, Ask::Controls),
    };
    with_store(global, async |session| {
        let text = made(&session, &ask, &output).await?;
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Reads the identifier from standard input. On the command line every user of the machine could read it.
fn identifier(kind: PhiKind, given: &SecretString) -> anyhow::Result<Identifier> {
    let option = kind.code().replace('_', "-");
    ensure!(
        given.expose() == "-",
        "give --{option} - and the value on standard input, so that it stays out of the shell's history"
    );
    let value = secret_from_stdin(kind.label())?;
    Ok(Identifier::read(kind, &value)?)
}

/// The last month that is over.
fn last_month() -> Date {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let last = today.first_of_month().checked_sub(1.month());
    last.unwrap_or(today)
}

async fn made(session: &Session, ask: &Ask, output: &Output) -> anyhow::Result<String> {
    let account = session.account().await?;
    let sources = Sources::from(&*session.vault);
    let order = Order {
        account: &account,
        actor: session.actor(),
        reference: output.reference.as_deref(),
        now: Timestamp::now(),
        checkpoint_files: &session.config.checkpoint.files,
    };
    Ok(make(&sources, &order, ask, output.format).await?)
}

fn verify(verify: Verify, global: &Global) -> anyhow::Result<ExitCode> {
    let Verify { file, public_key } = verify;
    let report = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let public_key = match public_key {
        Some(key) => key,
        None => with_store(global, async |session| Ok(session.vault.trail.public_key()))?,
    };
    match verify_report(&report, public_key.trim()) {
        Ok(()) => {
            println!("the report is as it was signed");
            Ok(ExitCode::SUCCESS)
        }
        Err(ReportFault::NoKey) => Err(ReportFault::NoKey.into()),
        Err(fault) => {
            println!("NOT verified: {fault}");
            Ok(ExitCode::from(EXIT_NO))
        }
    }
}
