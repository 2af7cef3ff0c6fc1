//! `phigate master-key`: the key that wraps all other keys.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Subcommand;

use crate::config::MasterKeySource;

use super::Global;
use super::store::with_store;

#[derive(Subcommand)]
pub(super) enum MasterKey {
    /// Put all data keys under a new master key; servers keep running
    Rotate {
        /// File with the new key, created if it does not exist [default: in place; the old key is kept as FILE.old]
        #[arg(long, value_name = "FILE")]
        new_key_file: Option<PathBuf>,
    },
}

pub(super) fn run(master_key: &MasterKey, global: &Global) -> anyhow::Result<ExitCode> {
    let MasterKey::Rotate { new_key_file } = master_key;
    with_store(global, async |session| {
        let (vault, actor) = (&session.vault, session.actor());
        let id = match (new_key_file, &session.config.master_key) {
            (Some(file), _) => {
                let new = phigate_store::MasterKeySource::File(file.clone());
                let data = Some(session.config.data.as_path());
                vault
                    .installation
                    .rotate_master_key(&new, data, actor)
                    .await?
            }
            (None, MasterKeySource::File(file)) => {
                vault
                    .installation
                    .rotate_master_key_file(file, actor)
                    .await?
            }
            (None, MasterKeySource::Env(_) | MasterKeySource::Command(_)) => {
                bail!(
                    "the master key does not come from a file: name the new one with --new-key-file"
                )
            }
        };
        println!("{id}");
        eprintln!(
            "this is the label of the new master key; keep the old key as long as you keep backups made under it"
        );
        Ok(ExitCode::SUCCESS)
    })
}
