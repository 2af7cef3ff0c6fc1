//! Authenticates the rows that control access: without the master key, write access to the database grants nothing.
//!
//! Every such row has a keyed hash over its account, kind, id, lookup value, version and text, so that an inserted,
//! changed, copied or moved row is refused. The rows that grant something (accounts with their mode, users, keys,
//! providers, links) are also listed in a roll per account and kind, which is itself such a row, so that a row that was
//! deleted or replaced by an older version is refused too. All reads of these rows go through this module.

mod adopt;
mod change;
mod check;
mod names;
mod roll;

pub(crate) use change::{TRIES, concerns_listed};
pub(crate) use check::Seen;
pub(crate) use roll::Top;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_lc_rs::hmac;

use crate::item::{Item, ItemKind, Protection};
use crate::store::Store;
use crate::{Result, StoreError};
use roll::Rolls;

/// Reads and writes authenticated rows.
pub(crate) struct Guard {
    store: Arc<dyn Store>,
    key: hmac::Key,
    /// Newest version of the top roll that this process has seen, by account; an older one is a rollback.
    newest: Mutex<HashMap<String, i64>>,
    /// Serialises changes of listed rows in this process; between replicas versions decide.
    turn: tokio::sync::Mutex<()>,
}

/// Authenticated rows of one account from one snapshot.
struct Rows {
    items: Vec<Item>,
    rolls: Rolls,
}

impl Guard {
    pub(crate) fn new(store: Arc<dyn Store>, key: hmac::Key) -> Self {
        Self {
            store,
            key,
            newest: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }

    /// One row.
    pub(crate) async fn item(
        &self,
        account: &str,
        kind: ItemKind,
        id: &str,
    ) -> Result<Option<Item>> {
        if kind.protection() == Protection::Listed {
            let rows = self.items(account, kind).await?;
            return Ok(rows.into_iter().find(|item| item.id == id));
        }
        let found = self.store.item(account, kind, id).await?;
        found.map(|item| self.genuine(item)).transpose()
    }

    /// One row by its lookup value.
    pub(crate) async fn find(&self, kind: ItemKind, lookup: &str) -> Result<Option<Item>> {
        let Some(found) = self.store.find(kind, lookup).await? else {
            return Ok(None);
        };
        let found = self.genuine(found)?;
        if kind.protection() != Protection::Listed {
            return Ok(Some(found));
        }
        let listed = self.items(&found.account, kind).await?;
        let is_this = |item: &Item| item.lookup.as_deref() == Some(lookup);
        Ok(listed.into_iter().find(is_this))
    }

    /// All rows of a kind of one account.
    pub(crate) async fn items(&self, account: &str, kind: ItemKind) -> Result<Vec<Item>> {
        self.rows(account, &[kind]).await
    }

    /// All rows of some kinds of one account, from one snapshot.
    pub(crate) async fn rows(&self, account: &str, kinds: &[ItemKind]) -> Result<Vec<Item>> {
        Ok(self.load(account, kinds).await?.items)
    }

    /// Rows of a kind of all accounts. Each is authenticated; missing rows are detected only per account.
    pub(crate) async fn items_of_all(&self, kind: ItemKind) -> Result<Vec<Item>> {
        let items = self.store.items(None, kind).await?;
        items.into_iter().map(|item| self.genuine(item)).collect()
    }

    /// Whether there are accounts, or there should be.
    pub(crate) async fn has_accounts(&self) -> Result<bool> {
        if !self.store.items(None, ItemKind::Account).await?.is_empty() {
            return Ok(true);
        }
        match self.load(crate::store::SYSTEM, &[]).await {
            Ok(rows) => Ok(!rows.rolls.roll(ItemKind::Account).is_empty()),
            // An attacker who deleted the accounts must not get a new one by it.
            Err(StoreError::Tampered { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// The top roll of an account and its version, if it has one.
    pub(crate) async fn top(&self, account: &str) -> Result<Option<(i64, Top)>> {
        Ok(self.load(account, &[]).await?.rolls.top)
    }

    /// Reads rows and the rolls of their account, and refuses rows that fail authentication.
    async fn load(&self, account: &str, kinds: &[ItemKind]) -> Result<Rows> {
        let mut wanted = kinds.to_vec();
        wanted.push(ItemKind::Roll);
        // Concurrent reads can finish out of order, so only a version seen before this read began must be included.
        let seen_before = self.newest().get(account).copied().unwrap_or_default();
        let all = self.store.account_items(account, &wanted).await?;
        let all = all
            .into_iter()
            .map(|item| self.genuine(item))
            .collect::<Result<Vec<Item>>>()?;
        let (rolls, items): (Vec<Item>, Vec<Item>) = all
            .into_iter()
            .partition(|item| item.kind == ItemKind::Roll);
        let rolls = Rolls::read(&rolls).map_err(|id| tampered(account, ItemKind::Roll, &id))?;
        for kind in kinds {
            if is_listed(account, *kind)
                && let Some((id, _)) = rolls.odd_row(*kind, &items)
            {
                return Err(tampered(account, *kind, &id));
            }
        }
        let version = rolls.top.as_ref().map_or(0, |(version, _)| *version);
        if version < seen_before {
            return Err(tampered(account, ItemKind::Roll, roll::TOP));
        }
        let mut newest = self.newest();
        let known = newest.entry(account.to_owned()).or_default();
        *known = version.max(*known);
        Ok(Rows { items, rolls })
    }

    /// Drops the recorded version of a deleted account.
    pub(crate) fn forget(&self, account: &str) {
        self.newest().remove(account);
    }

    fn newest(&self) -> MutexGuard<'_, HashMap<String, i64>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The row, if its keyed hash is valid.
    fn genuine(&self, item: Item) -> Result<Item> {
        if self.is_genuine(&item) {
            Ok(item)
        } else {
            Err(tampered(&item.account, item.kind, &item.id))
        }
    }

    fn is_genuine(&self, item: &Item) -> bool {
        if item.kind.protection() == Protection::None || is_exempt(&item.account, item.kind) {
            return true;
        }
        let given = item.mac.as_deref().unwrap_or_default();
        hmac::verify(&self.key, &statement(item), given).is_ok()
    }

    /// The keyed hash of a row.
    fn mac(&self, item: &Item) -> Vec<u8> {
        hmac::sign(&self.key, &statement(item)).as_ref().to_vec()
    }
}

/// Whether a row has no keyed hash. The root key's row is sealed under the master key instead: without it there is no
/// key to hash with.
fn is_exempt(account: &str, kind: ItemKind) -> bool {
    kind == ItemKind::DataKey && account == crate::store::SYSTEM
}

/// Whether the rows of a kind are listed in a roll of this account.
fn is_listed(account: &str, kind: ItemKind) -> bool {
    kind.protection() == Protection::Listed && !is_exempt(account, kind)
}

/// All fields of a row, length-prefixed, so that different rows never have the same bytes.
fn statement(item: &Item) -> Vec<u8> {
    let mut bytes = b"phigate row v1".to_vec();
    let lookup = item.lookup.as_deref();
    for part in [
        &item.account,
        item.kind.code(),
        &item.id,
        lookup.unwrap_or_default(),
        &item.body,
    ] {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes.push(u8::from(lookup.is_some()));
    bytes.extend_from_slice(&item.version.to_be_bytes());
    bytes
}

/// The error for a row that fails authentication. An attacker may have chosen the id, so only plain ids are shown.
fn tampered(account: &str, kind: ItemKind, id: &str) -> StoreError {
    StoreError::Tampered {
        kind: kind.label(),
        id: plain(id),
        account: plain(account),
    }
}

fn plain(text: &str) -> String {
    let is_plain = !text.is_empty()
        && text.len() <= 64
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if is_plain { text } else { "?" }.to_owned()
}
