//! `phigate audit export`: all records, for archives and for spreadsheets.

use std::io::{BufWriter, Write};

use clap::{Args, ValueEnum};
use phigate_store::{AuditTable, ExportOrder};

use super::filter::FilterArgs;
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

impl Format {
    /// The format's name in the record of the export.
    fn code(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
        }
    }
}

impl Export {
    /// Whether it is about the installation's own records.
    pub(super) fn is_of_installation(&self) -> bool {
        self.filter.installation
    }
}

pub(super) async fn run(session: &Session, account: &str, export: Export) -> anyhow::Result<()> {
    let filter = export.filter.filter(session, account).await?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut progress = Progress::new("records");
    if matches!(export.format, Format::Csv) {
        out.write_all(AuditTable::header().as_bytes())?;
    }
    let order = ExportOrder {
        actor: session.actor(),
        format: export.format.code(),
    };
    let trail = &session.vault.trail;
    let mut lines = trail.audit_export(account, &filter, order).await?;
    let mut table = AuditTable::default();
    while let Some(line) = lines.next().await? {
        match (export.format, &line.record) {
            (Format::Jsonl, _) => writeln!(out, "{}", line.json)?,
            (Format::Csv, Some(record)) => {
                let line = table.line(record).unwrap_or_default();
                out.write_all(line.as_bytes())?;
            }
            // Chain data of omitted records is useless in a spreadsheet.
            (Format::Csv, None) => {}
        }
        progress.step();
    }
    out.write_all(table.rest().as_bytes())?;
    if matches!(export.format, Format::Csv) {
        lines.made_rows(table.rows());
    }
    progress.done();
    out.flush()?;
    Ok(lines.end(true).await?)
}
