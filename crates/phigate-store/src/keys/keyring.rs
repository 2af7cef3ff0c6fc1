//! Data keys: one per account, purpose and month, stored wrapped by the master key and cached unwrapped.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use phigate_verify::chain::hex;
use zeroize::Zeroizing;

use crate::guard::Guard;
use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::master::{MasterKey, MasterKeySource};
use crate::keys::opening::{create, load_master, root_item};
use crate::keys::root::RootKeys;
use crate::keys::seal::{self, KeyId, Place};
use crate::keys::wrapped::{
    GUARDED, IMPORT, MASTER, Purpose, WrappedKey, parse_id, put_mark, unwrap, wrap,
};
use crate::keys::{Key, random};
use crate::store::{CommitError, SYSTEM, Store};
use crate::{Result, SecretBytes, StoreError};

/// The keys of an open store.
pub(crate) struct Keyring {
    store: Arc<dyn Store>,
    source: MasterKeySource,
    data: Option<PathBuf>,
    master: RwLock<(MasterKey, i64)>,
    open: RwLock<HashMap<(String, KeyId), Key>>,
    /// Keys that seal new values, by account. Every request reads this.
    current: RwLock<HashMap<String, Vec<Current>>>,
    making: tokio::sync::Mutex<()>,
    guard: Arc<Guard>,
    pub(crate) root: RootKeys,
}

/// A key that seals new values.
struct Current {
    purpose: Purpose,
    month: Option<Date>,
    id: KeyId,
    key: Key,
}

impl Keyring {
    /// Opens the keys of a store, and creates them if the store is empty. The flag is set if they were created.
    pub(crate) async fn open(
        store: Arc<dyn Store>,
        source: MasterKeySource,
        data: Option<PathBuf>,
    ) -> Result<(Self, bool)> {
        if store.item(SYSTEM, ItemKind::Meta, IMPORT).await?.is_some() {
            let why = "an import into it was not finished; empty it and import again";
            return Err(StoreError::Invalid { what: "store", why });
        }
        let mut created = false;
        if store.item(SYSTEM, ItemKind::Meta, MASTER).await?.is_none() {
            created = create(&store, &source, data.as_deref()).await?;
        }
        let (mark, master) = load_master(&store, &source, data.as_deref()).await?;
        let root = root_item(&store).await?;
        let (_, key) = unwrap(&master, &root)?;
        let root = RootKeys::from(&key);
        let keyring = Self {
            guard: Arc::new(Guard::new(store.clone(), root.rows.clone())),
            store,
            source,
            data,
            master: RwLock::new((master, mark)),
            open: RwLock::default(),
            current: RwLock::default(),
            making: tokio::sync::Mutex::default(),
            root,
        };
        Ok((keyring, created))
    }

    /// The key that seals new values of a purpose, created if there is none for this month.
    pub(crate) async fn current(
        &self,
        account: &str,
        purpose: Purpose,
        now: Timestamp,
    ) -> Result<(KeyId, Key)> {
        let month = (purpose == Purpose::Content)
            .then(|| now.to_zoned(TimeZone::UTC).date().first_of_month());
        match self.cached(account, purpose, month) {
            Some(found) => Ok(found),
            // Boxed: rare, and inline it would enlarge every request's future.
            None => Box::pin(self.read_current(account, purpose, month)).await,
        }
    }

    async fn read_current(
        &self,
        account: &str,
        purpose: Purpose,
        month: Option<Date>,
    ) -> Result<(KeyId, Key)> {
        // Only one creation at a time, so that a busy start does not create a key per request.
        let _making = self.making.lock().await;
        if let Some(found) = self.cached(account, purpose, month) {
            return Ok(found);
        }
        let name = month.map_or(String::new(), |month| month.strftime("%Y-%m").to_string());
        let (id, key) = match self.stored(account, purpose, &name).await? {
            Some(found) => found,
            None => self.make(account, purpose, &name).await?,
        };
        self.remember(account, id, &key);
        let current = Current {
            purpose,
            month,
            id,
            key: key.clone(),
        };
        let mut all = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let keys = all.entry(account.to_owned()).or_default();
        keys.retain(|old| old.purpose != purpose);
        keys.push(current);
        Ok((id, key))
    }

    /// The key that sealed a value.
    pub(super) async fn by_id(&self, account: &str, id: KeyId) -> Result<Key> {
        if let Some(key) = self
            .open
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&(account.to_owned(), id))
        {
            return Ok(key.clone());
        }
        let item = self
            .store
            .item(account, ItemKind::DataKey, &hex(&id))
            .await?;
        let item = item.ok_or(StoreError::Unreadable("content"))?;
        let (_, key) = self.unwrap_fresh(&item).await?;
        self.remember(account, id, &key);
        Ok(key)
    }

    /// Opens a sealed value.
    pub(crate) async fn unseal(&self, place: Place<'_>, sealed: &[u8]) -> Result<SecretBytes> {
        let key = self.by_id(place.account, seal::key_id(sealed)?).await?;
        seal::open(&key, place, sealed)
    }

    /// Seals a value under the current key of a purpose.
    pub(crate) async fn seal(
        &self,
        purpose: Purpose,
        now: Timestamp,
        place: Place<'_>,
        plain: &[u8],
    ) -> Result<Vec<u8>> {
        let (id, key) = self.current(place.account, purpose, now).await?;
        Ok(seal::seal(&key, id, place, plain))
    }

    /// Drops the cached keys of a shredded account.
    pub(crate) fn forget(&self, account: &str) {
        self.open
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|(of, _), _| of != account);
        self.current
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(account);
    }

    /// Public label of the master key in use.
    pub(crate) fn master_id(&self) -> String {
        self.master().0.id()
    }

    /// The guard, which reads and writes authenticated rows.
    pub(crate) fn guard(&self) -> &Arc<Guard> {
        &self.guard
    }

    /// The change that marks a store as authenticating its rows; `None` if it is already marked.
    pub(crate) async fn mark_guarded(&self) -> Result<Option<Change>> {
        let item = root_item(&self.store).await?;
        let (wrapped, key) = self.unwrap_fresh(&item).await?;
        if wrapped.month == GUARDED {
            return Ok(None);
        }
        let (master, _) = self.master();
        let marked = wrap(&master, SYSTEM, &item.id, Purpose::Root, GUARDED, &key);
        Ok(Some(Change::Put(marked, Expect::Version(item.version))))
    }

    /// The changes that wrap every data key with another master key.
    pub(crate) async fn rewrap(&self, new: &MasterKey) -> Result<Vec<Change>> {
        let (old, mark) = self.master();
        let mut changes = vec![put_mark(new, Expect::Version(mark))];
        for item in self.store.items(None, ItemKind::DataKey).await? {
            let (wrapped, key) = unwrap(&old, &item)?;
            let version = item.version;
            changes.push(Change::Put(
                wrap(
                    new,
                    &item.account,
                    &item.id,
                    wrapped.purpose,
                    &wrapped.month,
                    &key,
                ),
                Expect::Version(version),
            ));
        }
        Ok(changes)
    }

    /// Replaces the master key.
    pub(crate) async fn switch(&self, new: MasterKey) -> Result<()> {
        let item = self
            .store
            .item(SYSTEM, ItemKind::Meta, MASTER)
            .await?
            .ok_or(StoreError::Unreadable("master key mark"))?;
        *self.master.write().unwrap_or_else(PoisonError::into_inner) = (new, item.version);
        Ok(())
    }

    /// The master key, and the version of its mark.
    fn master(&self) -> (MasterKey, i64) {
        let master = self.master.read();
        master.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn cached(&self, account: &str, purpose: Purpose, month: Option<Date>) -> Option<(KeyId, Key)> {
        let all = self.current.read().unwrap_or_else(PoisonError::into_inner);
        let found = all
            .get(account)?
            .iter()
            .find(|current| current.purpose == purpose && current.month == month)?;
        Some((found.id, found.key.clone()))
    }

    async fn stored(
        &self,
        account: &str,
        purpose: Purpose,
        month: &str,
    ) -> Result<Option<(KeyId, Key)>> {
        for item in self.store.items(Some(account), ItemKind::DataKey).await? {
            let (wrapped, key) = self.unwrap_fresh(&item).await?;
            if wrapped.purpose == purpose && wrapped.month == month {
                return Ok(Some((parse_id(&item.id)?, key)));
            }
        }
        Ok(None)
    }

    async fn make(&self, account: &str, purpose: Purpose, month: &str) -> Result<(KeyId, Key)> {
        for _ in 0..3 {
            let id: KeyId = random();
            let key: Key = Zeroizing::new(random());
            let (master, version) = self.master();
            let check = Change::Check {
                account: SYSTEM.to_owned(),
                kind: ItemKind::Meta,
                id: MASTER.to_owned(),
                version,
            };
            let put = Change::Put(
                wrap(&master, account, &hex(&id), purpose, month, &key),
                Expect::Absent,
            );
            match self.guard.commit(&[check, put]).await {
                Ok(()) => return Ok((id, key)),
                Err(CommitError::Stale) => {
                    self.reload().await?;
                    if let Some(found) = self.stored(account, purpose, month).await? {
                        return Ok(found);
                    }
                }
                Err(
                    CommitError::Failed(error)
                    | CommitError::Unconfirmed(error)
                    | CommitError::Unknown(error)
                    | CommitError::Rejected(error),
                ) => return Err(error),
                Err(CommitError::LaneTaken | CommitError::RolledBack | CommitError::NotOpen(_)) => {
                    break;
                }
            }
        }
        Err(StoreError::Unavailable(
            "cannot store a new data key".to_owned(),
        ))
    }

    /// Reads the master key again: another process may have rotated it, and its file then has the new one.
    async fn reload(&self) -> Result<()> {
        let (mark, master) = load_master(&self.store, &self.source, self.data.as_deref()).await?;
        *self.master.write().unwrap_or_else(PoisonError::into_inner) = (master, mark);
        Ok(())
    }

    async fn unwrap_fresh(&self, item: &Item) -> Result<(WrappedKey, Key)> {
        let (master, _) = self.master();
        match unwrap(&master, item) {
            Ok(opened) => Ok(opened),
            Err(_) => {
                self.reload().await?;
                let (master, _) = self.master();
                unwrap(&master, item)
            }
        }
    }

    fn remember(&self, account: &str, id: KeyId, key: &Key) {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        open.insert((account.to_owned(), id), key.clone());
    }
}
