//! `phigate export`, `import` and `backup`: the installation as a whole.

use std::fs::OpenOptions;
use std::io::{BufReader, BufWriter};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use phigate_store::Vault;

use crate::app::{self, Role};
use crate::config::Config;

use super::person::actor;
use super::store::with_store;
use super::{EXIT_NO, Global};

#[derive(Args)]
pub(super) struct To {
    /// A file that does not exist yet
    file: PathBuf,
}

#[derive(Args)]
pub(super) struct From {
    /// A file written by `phigate export`
    file: PathBuf,
}

pub(super) fn export(to: &To, global: &Global) -> anyhow::Result<ExitCode> {
    let records = with_store(global, async |session| {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&to.file)
            .with_context(|| format!("cannot create {}", to.file.display()))?;
        let (vault, actor) = (&session.vault, session.actor());
        let mut file = BufWriter::new(file);
        Ok(vault
            .installation
            .export_installation(&mut file, actor)
            .await?)
    })?;
    println!("{records} records exported; the master key is not included");
    Ok(ExitCode::SUCCESS)
}

pub(super) fn import(from: &From, global: &Global) -> anyhow::Result<ExitCode> {
    let file = std::fs::File::open(&from.file)
        .with_context(|| format!("cannot read {}", from.file.display()))?;
    let config = Config::load(global.flags())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let options = app::vault_options(&config, Role::Command);
    let report = runtime.block_on(Vault::import_installation(
        options,
        &mut BufReader::new(file),
        actor(),
    ))?;
    if !report.is_intact() {
        println!(
            "imported, but the trail does not verify: do not use this store, and check the file"
        );
        return Ok(ExitCode::from(EXIT_NO));
    }
    println!("{} records imported and verified", report.records);
    Ok(ExitCode::SUCCESS)
}

pub(super) fn backup(to: &To, global: &Global) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        !to.file.exists(),
        "cannot write {}: it already exists; name a file that does not exist",
        to.file.display()
    );
    with_store(global, async |session| {
        Ok(session
            .vault
            .installation
            .backup(&to.file, session.actor())
            .await?)
    })?;
    println!(
        "{} written; keep the master key somewhere else",
        to.file.display()
    );
    Ok(ExitCode::SUCCESS)
}
