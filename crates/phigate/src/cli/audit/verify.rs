//! `phigate audit verify`: checks that the trail is intact.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use phigate_store::{Checkpoint, ExportVerifier, Report, StoreError, read_checkpoints};

use crate::cli::progress::Progress;
use crate::cli::store::with_store;
use crate::cli::{EXIT_NO, Global};

#[derive(Args)]
pub(in crate::cli) struct Verify {
    /// An export to check instead of the store
    file: Option<PathBuf>,
    /// The key from `phigate audit public-key`; with it an export is checked without the store
    #[arg(long, value_name = "KEY", requires = "file")]
    public_key: Option<String>,
    /// Checkpoints kept elsewhere: they show a trail that was cut at its end or rolled back
    #[arg(long, value_name = "FILE")]
    checkpoints: Option<PathBuf>,
}

pub(super) fn run(verify: &Verify, global: &Global) -> anyhow::Result<ExitCode> {
    let outside = match &verify.checkpoints {
        Some(path) => checkpoints(path)?,
        None => Vec::new(),
    };
    let report = match (&verify.file, &verify.public_key) {
        (Some(file), Some(key)) => export(file, key, &outside)?,
        (Some(file), None) => {
            let key = with_store(global, async |session| Ok(session.vault.trail.public_key()))?;
            export(file, &key, &outside)?
        }
        (None, _) => match store(global, &outside) {
            Err(error) if is_damage(&error) => {
                println!("the store is NOT intact: {error}");
                return Ok(ExitCode::from(EXIT_NO));
            }
            report => report?,
        },
    };
    Ok(tell(&report))
}

/// Whether the store was readable but has content that the gateway did not write.
fn is_damage(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(StoreError::Tampered { .. } | StoreError::Unreadable(_) | StoreError::Unknown(_))
    )
}

fn checkpoints(path: &Path) -> anyhow::Result<Vec<Checkpoint>> {
    std::fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    read_checkpoints(path)
        .ok()
        .with_context(|| format!("{} does not hold one checkpoint per line", path.display()))
}

fn store(global: &Global, outside: &[Checkpoint]) -> anyhow::Result<Report> {
    with_store(global, async |session| {
        let mut progress = Progress::new("records");
        let report = session
            .vault
            .trail
            .verify(None, outside, |count| progress.reach(count))
            .await?;
        progress.done();
        session.vault.verifications.alert(&report).await?;
        Ok(report)
    })
}

fn export(file: &Path, public_key: &str, outside: &[Checkpoint]) -> anyhow::Result<Report> {
    let lines =
        std::fs::File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut verifier = ExportVerifier::new(public_key, outside)?;
    let mut progress = Progress::new("records");
    let mut is_export = false;
    let mut is_empty = true;
    for line in std::io::BufReader::new(lines).split(b'\n') {
        let line = line.with_context(|| format!("cannot read {}", file.display()))?;
        // A byte that is not UTF-8 was not written by the gateway; its replacement breaks the record's digest.
        let line = String::from_utf8_lossy(&line);
        is_empty &= line.trim().is_empty();
        is_export = is_export || is_export_line(&line);
        verifier.line(&line);
        progress.step();
    }
    progress.done();
    anyhow::ensure!(!is_empty, "{} is empty", file.display());
    anyhow::ensure!(
        is_export,
        "{} is not a JSONL export of the audit trail; make one with `phigate audit export --format jsonl` (a CSV export is for spreadsheets and cannot be verified)",
        file.display()
    );
    Ok(verifier.finish())
}

/// Whether a line has the form of an export's line. If no line has, the file is not an export; otherwise every defect
/// is a fault of the trail.
fn is_export_line(line: &str) -> bool {
    let value: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
    value["record"].is_string() && value["chain"].is_object()
}

fn tell(report: &Report) -> ExitCode {
    let Report {
        records,
        chains,
        deleted,
        left_out,
        earlier,
        outside_checkpoints,
        ..
    } = report;
    let Some(fault) = &report.fault else {
        println!("the trail is intact: {records} records in {chains} chains");
        if deleted + left_out > 0 {
            println!(
                "{deleted} deleted by retention, {left_out} left out of the export, all accounted for"
            );
        }
        if *earlier > 0 {
            println!(
                "a part of the trail: the {earlier} records before its first lines are not in it, and its beginning is proven by signature"
            );
        }
        if *outside_checkpoints == 0 {
            println!(
                "no checkpoint from elsewhere was compared (--checkpoints FILE): a trail cut at its end or rolled back to an older copy would not be noticed"
            );
        }
        return ExitCode::SUCCESS;
    };
    let what = fault.kind.words();
    if let Some(row) = &fault.row {
        println!("the store is NOT intact: {row} {what}");
        println!("account {}", account_of(&fault.account));
        return ExitCode::from(EXIT_NO);
    }
    let id = |id: Option<uuid::Uuid>| id.map_or("unknown".into(), |id| id.to_string());
    println!(
        "the trail is NOT intact: record {} of chain {} {what}",
        fault.seq, fault.lane
    );
    println!(
        "account {}, record {}, request {}",
        account_of(&fault.account),
        id(fault.record),
        id(fault.request_id)
    );
    println!(
        "proven by signature up to record {} of that chain",
        fault.proven_to
    );
    ExitCode::from(EXIT_NO)
}

fn account_of(id: &str) -> &str {
    match id {
        "" => "none (the installation itself)",
        id => id,
    }
}
