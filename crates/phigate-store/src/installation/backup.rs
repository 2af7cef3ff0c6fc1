//! Copies of a running store.

use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use phigate_types::Act;

use crate::installation::Installation;
use crate::model::AdminAct;
use crate::{Result, StoreError};

/// The path from the root of the file system, so that a drill finds the file from anywhere.
fn from_root(file: &Path) -> PathBuf {
    std::path::absolute(file).unwrap_or_else(|_| file.to_owned())
}

impl Installation {
    /// Copies the running store to a new file (SQLite). The copy does not contain the master key.
    pub async fn backup(&self, file: &Path, actor: &str) -> Result<()> {
        let path = file.to_owned();
        let made = tokio::task::spawn_blocking(move || {
            let mut options = std::fs::OpenOptions::new();
            options.write(true).create_new(true).mode(0o600).open(path)
        });
        let made = made
            .await
            .unwrap_or_else(|_| Err(std::io::ErrorKind::Other.into()));
        made.map_err(|error| {
            StoreError::Unavailable(format!("cannot write the backup: {}", error.kind()))
        })?;
        let act = AdminAct::new(self.core.now(), "", actor, Act::InstallationBackup)
            .target(&from_root(file).display().to_string());
        self.core.record_act(None, &act).await?;
        self.core.store.backup(file).await
    }
}
