//! Changes the master key without downtime and without rewriting sealed content.

use std::path::Path;

use phigate_types::Act;

use crate::core::about;
use crate::installation::Installation;
use crate::keys::master::{MasterKey, MasterKeySource, write_new};
use crate::model::AdminAct;
use crate::store::SYSTEM;
use crate::{Result, StoreError};

impl Installation {
    /// Public label of the master key in use.
    pub fn master_key_id(&self) -> String {
        self.core.keyring.master_id()
    }

    /// Wraps all data keys with another master key, in one transaction. The new key is read from `new`, or created if
    /// that file does not exist. Returns the label of the new key.
    ///
    /// Running processes keep working. They read the new key from the configured source of the old one when they next
    /// need it, so replace it there before they restart or a month begins.
    pub async fn rotate_master_key(
        &self,
        new: &MasterKeySource,
        data: Option<&Path>,
        actor: &str,
    ) -> Result<String> {
        let key = match new.read(data)? {
            Some(key) => key,
            None => new.create(data)?,
        };
        self.rotate_to(key, actor).await
    }

    /// Replaces the master key in a file by a new one. The old key stays beside it as `FILE.old` until an operator
    /// removes it.
    pub async fn rotate_master_key_file(&self, file: &Path, actor: &str) -> Result<String> {
        let unwritable = |error: std::io::Error| StoreError::MasterKey {
            place: file.display().to_string(),
            why: error.kind().to_string(),
        };
        let (fresh, old) = (
            file.with_added_extension("new"),
            file.with_added_extension("old"),
        );
        let key = match MasterKeySource::File(fresh.clone()).read(None)? {
            // Left by an interrupted rotation; it may be in force already.
            Some(key) => key,
            None => {
                let key = MasterKey::generate();
                write_new(&fresh, &key).map_err(unwritable)?;
                key
            }
        };
        let id = self.rotate_to(key, actor).await?;
        std::fs::rename(file, &old).map_err(unwritable)?;
        std::fs::rename(&fresh, file).map_err(unwritable)?;
        Ok(id)
    }

    async fn rotate_to(&self, key: MasterKey, actor: &str) -> Result<String> {
        let (from, to) = (self.core.keyring.master_id(), key.id());
        let changes = self.core.keyring.rewrap(&key).await?;
        let act =
            AdminAct::new(self.core.now(), "", actor, Act::MasterKeyRotate).change(&from, &to);
        self.core
            .change(SYSTEM, &act, changes, false)
            .await
            .map_err(about("a data key"))?;
        self.core.keyring.switch(key).await?;
        Ok(to)
    }
}
