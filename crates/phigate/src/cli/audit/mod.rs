//! `phigate audit`: the trail of what was decided and done.

mod resolve;
mod verify;

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use anyhow::Context;
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use jiff::Timestamp;
use phi_detect::PhiKind;
use phigate_core::protect;
use phigate_store::{Filter, Record, RequestRow, SecretString};
use phigate_types::{Action, Mode};
use uuid::Uuid;

use crate::audit_csv;

use super::Global;
use super::progress::Progress;
use super::secrets::secret_from_stdin;
use super::store::{ACTOR, Session, to_the_second, with_store};
use super::words::known;

#[derive(Subcommand)]
pub(super) enum Audit {
    /// List decisions, newest first
    List {
        #[command(flatten)]
        filter: FilterArgs,
        /// Print whole records as JSON lines
        #[arg(long)]
        json: bool,
        /// At most this many
        #[arg(long, default_value_t = 100)]
        limit: usize,
    },
    /// Show all records of one request; never content
    Show {
        /// Its id, from the X-Gateway-Request-Id header
        #[arg(value_parser = request_id)]
        request_id: Uuid,
    },
    /// Write all records to standard output; never content
    Export {
        #[command(flatten)]
        filter: FilterArgs,
        /// jsonl can be verified again; csv is for spreadsheets
        #[arg(long, default_value = "jsonl")]
        format: Format,
    },
    /// Check that no record was changed, removed, reordered or inserted
    Verify(verify::Verify),
    /// Print the key that verifies exports and checkpoints; it is no secret
    PublicKey,
    /// Print the original and the sent content of a request; this is recorded
    Reveal {
        /// Its id, from the X-Gateway-Request-Id header
        #[arg(value_parser = request_id)]
        request_id: Uuid,
        /// Why you need to see it; the audit trail keeps it
        #[arg(long)]
        reason: Option<String>,
    },
    /// Print what a token of a masked request stood for; this is recorded
    Resolve(resolve::Resolve),
    /// Which requests held an identifier, when, and where it went; this is recorded.
    /// Give - as its value to type it or to read it from standard input, so that it stays out of the shell's history
    #[command(group(ArgGroup::new("identifier").required(true)))]
    Find(FindArgs),
}

/// One identifier; `-` reads it from standard input. What is looked for is compared by a keyed hash and stored nowhere.
#[derive(Args)]
pub(super) struct FindArgs {
    #[arg(long, group = "identifier")]
    ssn: Option<String>,
    #[arg(long, group = "identifier")]
    mrn: Option<String>,
    #[arg(long, group = "identifier")]
    medicare_id: Option<String>,
    #[arg(long, group = "identifier")]
    phone: Option<String>,
    #[arg(long, group = "identifier")]
    email: Option<String>,
    #[arg(long, group = "identifier")]
    name: Option<String>,
    #[arg(long, group = "identifier")]
    dob: Option<String>,
    #[arg(long, group = "identifier")]
    address: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Format {
    Jsonl,
    Csv,
}

#[derive(Args)]
pub(super) struct FilterArgs {
    /// Only requests with this type of PHI
    #[arg(long = "type", value_name = "TYPE", value_parser = known(PhiKind::all(), PhiKind::code))]
    kind: Option<PhiKind>,
    /// Only requests with which this was done
    #[arg(long, value_parser = known(Action::all(), Action::code))]
    action: Option<Action>,
    /// Only under this mode
    #[arg(long, value_parser = known(Mode::all(), Mode::code))]
    mode: Option<Mode>,
    /// Only with this API key
    #[arg(long, value_name = "ID")]
    key: Option<String>,
    /// Only for this model
    #[arg(long)]
    model: Option<String>,
    /// Not before: 2026-01-31T08:00:00Z or 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<Timestamp>,
    /// Before
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<Timestamp>,
}

fn request_id(text: &str) -> anyhow::Result<Uuid> {
    Uuid::try_parse(text)
        .ok()
        .context("a request id looks like 01890000-0000-7000-8000-000000000000")
}

fn time(text: &str) -> anyhow::Result<Timestamp> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    let date: jiff::civil::Date = text
        .parse()
        .context("write a time such as 2026-01-31T08:00:00Z or a date")?;
    Ok(date.to_zoned(jiff::tz::TimeZone::UTC)?.timestamp())
}

impl FilterArgs {
    fn filter(self) -> Filter {
        Filter {
            since: self.since,
            until: self.until,
            phi_type: self.kind.map(|kind| kind.code().to_owned()),
            action: self.action,
            mode: self.mode,
            key_id: self.key,
            model: self.model,
            ..Filter::default()
        }
    }
}

pub(super) fn run(audit: Audit, global: &Global) -> anyhow::Result<ExitCode> {
    // Verifying an export needs no store, so it must not make one.
    if let Audit::Verify(verify) = &audit {
        return verify::run(verify, global);
    }
    with_store(global, async |session| {
        let account = session.account().await?.id;
        match audit {
            Audit::List {
                filter,
                json,
                limit,
            } => list(&session, &account, filter.filter(), json, limit).await?,
            Audit::Show { request_id } => show(&session, &account, request_id).await?,
            Audit::Export { filter, format } => {
                export(&session, &account, filter.filter(), format).await?;
            }
            Audit::Verify(_) => {}
            Audit::PublicKey => println!("{}", session.vault.public_key()),
            Audit::Reveal { request_id, reason } => {
                reveal(&session, &account, request_id, reason.as_deref()).await?;
            }
            Audit::Resolve(resolve) => return resolve::run(&resolve, &session, &account).await,
            Audit::Find(identifier) => find(&session, &account, identifier).await?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn list(
    session: &Session,
    account: &str,
    filter: Filter,
    json: bool,
    limit: usize,
) -> anyhow::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let (mut cursor, mut left) = (None, limit);
    while left > 0 {
        let page = session
            .vault
            .request_list(account, &filter, cursor, left.min(500))
            .await?;
        left -= page.items.len();
        for row in &page.items {
            if json {
                writeln!(
                    out,
                    "{}",
                    serde_json::to_string(&Record::Decision(row.decision.clone()))?
                )?;
            } else {
                writeln!(out, "{}", line(row))?;
            }
        }
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    out.flush()?;
    Ok(())
}

fn line(row: &RequestRow) -> String {
    let decision = &row.decision;
    // Lists of types are written in the order of the table.
    let types: Vec<&str> = PhiKind::all()
        .map(PhiKind::code)
        .filter(|code| decision.types.contains_key(*code))
        .collect();
    let status = row.outcome.as_ref().and_then(|outcome| outcome.status);
    let fields = [
        to_the_second(decision.time),
        decision.request_id.to_string(),
        decision.action.to_string(),
        decision.mode.to_string(),
        if types.is_empty() {
            "-".into()
        } else {
            types.join(",")
        },
        decision.model.clone().unwrap_or_else(|| "-".into()),
        decision.key_id.clone(),
        status.map_or("-".into(), |status| status.to_string()),
    ];
    fields.join("\t")
}

async fn show(session: &Session, account: &str, request_id: Uuid) -> anyhow::Result<()> {
    for record in session.vault.audit_show(account, request_id).await? {
        println!("{}", serde_json::to_string_pretty(&record)?);
    }
    Ok(())
}

async fn reveal(
    session: &Session,
    account: &str,
    request_id: Uuid,
    reason: Option<&str>,
) -> anyhow::Result<()> {
    let reason = reason.filter(|reason| !reason.is_empty());
    let revealed = session
        .vault
        .reveal(account, request_id, ACTOR, reason)
        .await?;
    let text = |content: Option<phigate_store::SecretBytes>| {
        content.map(|content| String::from_utf8_lossy(content.expose()).into_owned())
    };
    let (original, sent) = (text(revealed.original), text(revealed.sent));
    let mut shown =
        serde_json::json!({ "request_id": request_id, "original": original, "sent": sent });
    if let Some(reply) = text(revealed.reply) {
        shown["reply"] = reply.into();
    }
    println!("{shown}");
    Ok(())
}

async fn find(session: &Session, account: &str, identifier: FindArgs) -> anyhow::Result<()> {
    let given = [
        ("ssn", identifier.ssn),
        ("mrn", identifier.mrn),
        ("medicare_id", identifier.medicare_id),
        ("phone", identifier.phone),
        ("email", identifier.email),
        ("name", identifier.name),
        ("dob", identifier.dob),
        ("address", identifier.address),
    ];
    let found = given
        .into_iter()
        .find_map(|(kind, value)| Some((kind, value?)));
    let (kind, value) =
        found.context("name the identifier to look for, such as --ssn 000-00-0000")?;
    let value = match value.as_str() {
        "-" => secret_from_stdin(kind)?,
        _ => SecretString::new(value),
    };
    let value = SecretString::from(protect::normalise(value.expose()));
    let disclosures = session
        .vault
        .find_identifier(account, kind, &value, ACTOR)
        .await?;
    if disclosures.is_empty() {
        eprintln!("found in no request of this account");
    }
    for disclosure in disclosures {
        println!("{}", serde_json::to_string(&disclosure)?);
    }
    Ok(())
}

async fn export(
    session: &Session,
    account: &str,
    filter: Filter,
    format: Format,
) -> anyhow::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut progress = Progress::new("records");
    if matches!(format, Format::Csv) {
        out.write_all(audit_csv::header().as_bytes())?;
    }
    let mut lines = session.vault.audit_export(account, &filter, ACTOR).await?;
    while let Some(line) = lines.next().await? {
        match (format, &line.record) {
            (Format::Jsonl, _) => writeln!(out, "{}", line.json)?,
            (Format::Csv, Some(record)) => out.write_all(audit_csv::row(record).as_bytes())?,
            // What the chain needs where records were left out is nothing for a spreadsheet.
            (Format::Csv, None) => {}
        }
        progress.step();
    }
    progress.done();
    out.flush()?;
    Ok(())
}
