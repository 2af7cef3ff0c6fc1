//! Opens the keys of a store, its master key and its root key, and creates both in an empty store.

use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use phigate_verify::chain::hex;
use zeroize::Zeroizing;

use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::master::{MasterKey, MasterKeySource};
use crate::keys::seal::KeyId;
use crate::keys::wrapped::{GUARDED, MASTER, MasterMark, Purpose, put_mark, wrap};
use crate::keys::{Key, random};
use crate::rows::Batch;
use crate::store::{CommitError, SYSTEM, Store};
use crate::{Result, StoreError};

/// Writes the master key's mark and the root key of an empty store. False if another process did.
pub(super) async fn create(
    store: &Arc<dyn Store>,
    source: &MasterKeySource,
    data: Option<&Path>,
) -> Result<bool> {
    let master = match source.read(data)? {
        Some(master) => master,
        None => source.create(data)?,
    };
    let root: Key = Zeroizing::new(random());
    let id: KeyId = random();
    let batch = Batch {
        changes: vec![
            put_mark(&master, Expect::Absent),
            Change::Put(
                wrap(&master, SYSTEM, &hex(&id), Purpose::Root, GUARDED, &root),
                Expect::Absent,
            ),
        ],
        ..Batch::default()
    };
    match store.commit(Arc::new(batch)).await {
        Ok(()) => Ok(true),
        Err(CommitError::Stale) => Ok(false),
        Err(
            CommitError::Failed(error)
            | CommitError::Unconfirmed(error)
            | CommitError::Unknown(error)
            | CommitError::Rejected(error),
        ) => Err(error),
        Err(CommitError::LaneTaken | CommitError::RolledBack | CommitError::NotOpen(_)) => {
            Err(StoreError::Conflict("store"))
        }
    }
}

/// The item that holds the root key.
pub(super) async fn root_item(store: &Arc<dyn Store>) -> Result<Item> {
    let roots = store.items(Some(SYSTEM), ItemKind::DataKey).await?;
    let root = roots.into_iter().next();
    root.ok_or(StoreError::Unreadable("root key"))
}

/// The master key, and the version of the mark that matches it.
pub(super) async fn load_master(
    store: &Arc<dyn Store>,
    source: &MasterKeySource,
    data: Option<&Path>,
) -> Result<(i64, MasterKey)> {
    let item = store
        .item(SYSTEM, ItemKind::Meta, MASTER)
        .await?
        .ok_or(StoreError::Unreadable("master key mark"))?;
    let mark: MasterMark =
        serde_json::from_str(&item.body).map_err(|_| StoreError::Unreadable("master key mark"))?;
    let master = source
        .read(data)?
        .ok_or_else(|| StoreError::MissingMasterKey(source.describe()))?;
    if STANDARD.encode(master.check()) != mark.check {
        return Err(StoreError::WrongMasterKey { expected: mark.id });
    }
    Ok((item.version, master))
}
