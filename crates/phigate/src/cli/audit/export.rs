//! `phigate audit export`: all records, for keeping elsewhere and for spreadsheets.

use std::io::{BufWriter, Write};

use clap::{Args, ValueEnum};

use super::filter::FilterArgs;
use crate::audit_csv;
use crate::cli::progress::Progress;
use crate::cli::store::Session;

#[derive(Args)]
pub(in crate::cli) struct Export {
    #[command(flatten)]
    filter: FilterArgs,
    /// jsonl can be verified again; csv is for spreadsheets
    #[arg(long, default_value = "jsonl")]
    format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Jsonl,
    Csv,
}

pub(super) async fn run(session: &Session, account: &str, export: Export) -> anyhow::Result<()> {
    let filter = export.filter.filter(session, account).await?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut progress = Progress::new("records");
    if matches!(export.format, Format::Csv) {
        out.write_all(audit_csv::header().as_bytes())?;
    }
    let (vault, actor) = (&session.vault, session.actor);
    let mut lines = vault.trail.audit_export(account, &filter, actor).await?;
    while let Some(line) = lines.next().await? {
        match (export.format, &line.record) {
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
