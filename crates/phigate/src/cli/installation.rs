//! `phigate backup`, `export` and `import`: the whole installation, as a copy or on its way to another database.

use std::fs::OpenOptions;
use std::io::{BufReader, BufWriter};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use phigate_store::Vault;

use crate::app;
use crate::config::Config;

use super::store::{ACTOR, with_store};
use super::{EXIT_NO, Global};

/// The one argument of these commands.
#[derive(Args)]
pub(super) struct File {
    /// The file; the master key is never in it
    #[arg(value_name = "FILE")]
    path: PathBuf,
}

pub(super) fn backup(file: &File, global: &Global) -> anyhow::Result<ExitCode> {
    with_store(global, async |session| {
        session.vault.backup(&file.path, ACTOR).await?;
        eprintln!(
            "copied to {}; keep the master key elsewhere",
            file.path.display()
        );
        Ok(ExitCode::SUCCESS)
    })
}

pub(super) fn export(file: &File, global: &Global) -> anyhow::Result<ExitCode> {
    // A file of ours alone, and never in place of another.
    let target = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&file.path)
        .with_context(|| format!("cannot write {}", file.path.display()))?;
    with_store(global, async |session| {
        let mut out = BufWriter::new(target);
        let records = session.vault.export_installation(&mut out, ACTOR).await?;
        out.get_ref().sync_all()?;
        eprintln!("{records} records written to {}", file.path.display());
        Ok(ExitCode::SUCCESS)
    })
}

pub(super) fn import(file: &File, global: &Global) -> anyhow::Result<ExitCode> {
    let config = Config::load(global.flags())?;
    let source = std::fs::File::open(&file.path)
        .with_context(|| format!("cannot read {}", file.path.display()))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let options = app::vault_options(&config, app::Role::Command);
    let mut source = BufReader::new(source);
    let report = runtime.block_on(Vault::import_installation(options, &mut source))?;
    if let Some(fault) = report.fault {
        eprintln!("the trail does not verify: {fault}");
        return Ok(ExitCode::from(EXIT_NO));
    }
    eprintln!(
        "{} records in {} chains imported and verified",
        report.records, report.chains
    );
    Ok(ExitCode::SUCCESS)
}
