//! `phigate audit`: the trail of what was decided and done.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum};
use jiff::Timestamp;
use phigate_store::{Filter, Record};
use uuid::Uuid;

use super::Global;
use super::store::{ACTOR, Session, with_store};

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
    Verify {
        /// An export to check instead of the store
        file: Option<PathBuf>,
    },
    /// Print the original and the sent content of a request; this is recorded
    Reveal {
        /// Its id
        request_id: Uuid,
        /// Why you need to see it
        #[arg(long, default_value = "")]
        reason: String,
    },
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Format {
    Jsonl,
    Csv,
}

#[derive(Args)]
pub(super) struct FilterArgs {
    /// Only requests with this type of PHI
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Only this action: forwarded, blocked, redacted, masked or refused
    #[arg(long)]
    action: Option<String>,
    /// Only under this mode
    #[arg(long)]
    mode: Option<String>,
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

fn time(text: &str) -> anyhow::Result<Timestamp> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    let date: jiff::civil::Date = text.parse().context("write a time such as 2026-01-31T08:00:00Z or a date")?;
    Ok(date.to_zoned(jiff::tz::TimeZone::UTC)?.timestamp())
}

impl FilterArgs {
    fn filter(self) -> Filter {
        Filter {
            since: self.since,
            until: self.until,
            phi_type: self.kind,
            action: self.action,
            mode: self.mode,
            key_id: self.key,
            model: self.model,
            ..Filter::default()
        }
    }
}
pub(super) fn run(audit: Audit, global: &Global) -> anyhow::Result<ExitCode> { let _=(audit,global); bail!("x") }
