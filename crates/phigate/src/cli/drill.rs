//! `phigate drill`: whether the newest backup can be restored, and how long that takes.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use clap::Args;
use phigate_store::{Options, Target, Vault};

use super::store::{Session, with_store};
use super::{EXIT_NO, Global};
use crate::app::{CLOSING, Role, vault_options};

/// Name of the database in a data folder.
const DATABASE: &str = "phigate.db";

/// First bytes of an embedded store.
const EMBEDDED: &[u8] = b"SQLite format 3\0";

#[derive(Args)]
pub(super) struct Drill {
    /// A file that `backup` or `export` wrote [default: the newest backup that `backup` recorded]
    file: Option<PathBuf>,
    /// Folder for the scratch copy; it needs room for the whole store, and is left empty [default: the system's]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
}

/// A folder that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(above: &Path) -> anyhow::Result<Self> {
        let path = above.join(format!("phigate-drill-{}", uuid::Uuid::now_v7()));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("cannot make a scratch folder in {}", above.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if fs::remove_dir_all(&self.0).is_err() {
            eprintln!("{} could not be removed", self.0.display());
        }
    }
}

/// A backup that was restored and verified.
struct Restored {
    records: u64,
    restored_in: Duration,
    verified_in: Duration,
}

pub(super) fn run(drill: &Drill, global: &Global) -> anyhow::Result<ExitCode> {
    with_store(global, async |session| {
        let file = match &drill.file {
            Some(file) => file.clone(),
            None => newest(&session).await?,
        };
        let above = drill.scratch.clone().unwrap_or_else(std::env::temp_dir);
        let tried = restore(&session, &file, &above).await;
        let mut details = vec![("verdict", "restored and intact".to_owned())];
        match &tried {
            Ok(restored) => details.extend([
                ("records", restored.records.to_string()),
                ("restored_ms", restored.restored_in.as_millis().to_string()),
                ("verified_ms", restored.verified_in.as_millis().to_string()),
            ]),
            Err(error) => details[0].1 = format!("failed: {error}"),
        }
        let actor = session.actor();
        let installation = &session.vault.installation;
        // With several accounts and none named, the installation's trail alone has it.
        let account = session.account().await.ok();
        let recorded = installation.record_drill(&file, account.as_ref(), actor, &details);
        recorded.await?;
        Ok(tell(&file, tried))
    })
}

async fn newest(session: &Session) -> anyhow::Result<PathBuf> {
    let newest = session.vault.installation.newest_backup().await?;
    newest.context(
        "no backup is recorded with its file: make one with `phigate backup FILE`, or name a file",
    )
}

fn tell(file: &Path, tried: anyhow::Result<Restored>) -> ExitCode {
    match tried {
        Ok(restored) => {
            println!(
                "{} restored in {} ms and verified in {} ms: {} records, intact",
                file.display(),
                restored.restored_in.as_millis(),
                restored.verified_in.as_millis(),
                restored.records
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("the drill FAILED: {error:#}");
            ExitCode::from(EXIT_NO)
        }
    }
}

/// Restores a backup into a scratch folder and verifies it.
async fn restore(session: &Session, file: &Path, above: &Path) -> anyhow::Result<Restored> {
    let began = Instant::now();
    let scratch = Scratch::new(above)?;
    let options = Options {
        target: Target::Folder(scratch.0.join("data")),
        ..vault_options(&session.config, Role::Command)
    };
    let vault = match is_embedded(file)? {
        true => opened(file, &scratch.0.join("data"), options).await?,
        false => imported(file, options).await?,
    };
    let restored_in = began.elapsed();
    let judged = judged(&vault).await;
    vault.close(CLOSING).await?;
    Ok(Restored {
        records: judged?,
        restored_in,
        verified_in: began.elapsed().saturating_sub(restored_in),
    })
}

fn is_embedded(file: &Path) -> anyhow::Result<bool> {
    use std::io::Read;
    let mut first = Vec::new();
    let opened = fs::File::open(file).and_then(|file| {
        let mut head = file.take(EMBEDDED.len() as u64);
        head.read_to_end(&mut first)
    });
    opened.with_context(|| format!("cannot read the backup {}", file.display()))?;
    Ok(first == EMBEDDED)
}

async fn opened(file: &Path, data: &Path, options: Options) -> anyhow::Result<Vault> {
    DirBuilder::new().mode(0o700).create(data)?;
    fs::copy(file, data.join(DATABASE)).context("cannot copy the backup")?;
    let options = Options {
        create: false,
        ..options
    };
    Ok(Vault::open(options).await?)
}

async fn imported(file: &Path, options: Options) -> anyhow::Result<Vault> {
    let lines = fs::File::open(file).context("cannot read the backup")?;
    let mut lines = std::io::BufReader::new(lines);
    let report = Vault::import_installation(options.clone(), &mut lines, "drill").await?;
    ensure!(report.is_intact(), "its trail is not intact");
    Ok(Vault::open(options).await?)
}

/// Verifies the restored store. Returns the number of its records.
async fn judged(vault: &Vault) -> anyhow::Result<u64> {
    let report = vault.trail.verify(None, &[], |_| {}).await?;
    if let Some(fault) = &report.fault {
        bail!("its trail is not intact: {fault}");
    }
    Ok(report.records)
}
