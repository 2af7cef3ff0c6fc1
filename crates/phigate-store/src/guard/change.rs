//! Changes authenticated rows: every row gets its keyed hash, and the rolls change with the rows they list.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::MutexGuard;

use crate::guard::roll::{self, Roll, TOP, Top};
use crate::guard::{Guard, is_listed};
use crate::item::{Change, Expect, Item, ItemKind, Protection};
use crate::rows::Batch;
use crate::store::{CommitError, SYSTEM};
use crate::{Result, StoreError};

/// Attempts while other replicas change the same rolls.
pub(crate) const TRIES: usize = 16;

/// Changes ready to be written, with the versions that they depend on.
pub(crate) struct Prepared {
    /// The changes, with keyed hashes and rolls.
    pub(crate) changes: Vec<Change>,
    /// The number of the act, if it changes listed rows of its account.
    pub(crate) number: Option<u64>,
    /// The versions of the top rolls that the changes depend on, by account.
    relied_on: BTreeMap<String, Option<i64>>,
}

/// The rolls that a list of changes affects, by account and kind.
type Touched = BTreeSet<(String, ItemKind)>;

impl Guard {
    /// Waits until no other change of listed rows is in progress in this process.
    pub(crate) async fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Hashes changed rows and updates their rolls. With an account, its act gets a number.
    pub(crate) async fn prepare(
        &self,
        changes: &[Change],
        act_of: Option<&str>,
    ) -> Result<Prepared> {
        let mut prepared = Prepared {
            changes: changes.iter().map(|change| self.hashed(change)).collect(),
            number: None,
            relied_on: BTreeMap::new(),
        };
        let touched = touched(changes);
        let accounts: BTreeSet<&str> = touched.iter().map(|(of, _)| of.as_str()).collect();
        for account in accounts {
            let kinds: Vec<ItemKind> = touched
                .iter()
                .filter(|(of, _)| of == account)
                .map(|(_, kind)| *kind)
                .collect();
            // The installation's roll lists the accounts, but their rows belong to the accounts.
            let read: Vec<ItemKind> = kinds
                .iter()
                .copied()
                .filter(|kind| account != SYSTEM || *kind != ItemKind::Account)
                .collect();
            let rolls = self.load(account, &read).await?.rolls;
            let mut top = rolls.top();
            for kind in kinds {
                let mut roll = rolls.roll(kind);
                enter(&mut roll, account, kind, &prepared.changes);
                let expect = expect(rolls.of.get(&kind).map(|(version, _)| *version));
                top.rolls
                    .insert(kind.code().to_owned(), expect.next_version());
                let item = Item::new(account, ItemKind::Roll, kind.code(), None, &roll);
                let put = self.hashed(&Change::Put(item, expect));
                prepared.changes.push(put);
            }
            if act_of == Some(account) {
                top.acts += 1;
                let heads = self.store.heads(Some(account)).await?;
                top.note(heads.iter().map(|head| head.lane));
                prepared.number = Some(top.acts);
            }
            let version = rolls.top.map(|(version, _)| version);
            prepared.changes.push(self.put_top(account, version, &top));
            prepared.relied_on.insert(account.to_owned(), version);
        }
        Ok(prepared)
    }

    /// Whether another replica changed a roll that prepared changes depend on, so that a retry is worthwhile.
    pub(crate) async fn has_moved(&self, prepared: &Prepared) -> Result<bool> {
        for (account, version) in &prepared.relied_on {
            let now = self.store.item(account, ItemKind::Roll, TOP).await?;
            if now.map(|item| item.version) != *version {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Writes changes without a record, all or none.
    pub(crate) async fn commit(&self, changes: &[Change]) -> Result<(), CommitError> {
        let _turn = match touched(changes).is_empty() {
            true => None,
            false => Some(self.turn().await),
        };
        for _ in 0..TRIES {
            let prepared = self.prepare(changes, None).await;
            let prepared = prepared.map_err(CommitError::Failed)?;
            let batch = Batch {
                changes: prepared.changes.clone(),
                ..Batch::default()
            };
            match self.store.commit(Arc::new(batch)).await {
                Err(CommitError::Stale) => {
                    let has_moved = self.has_moved(&prepared).await;
                    if !has_moved.map_err(CommitError::Failed)? {
                        return Err(CommitError::Stale);
                    }
                }
                done => return done,
            }
        }
        Err(CommitError::Stale)
    }

    /// Adds new chains to the roll of their account. On a conflict the next call will add them.
    pub(crate) async fn note_chains(&self, account: &str, chains: &[i64]) -> Result<()> {
        let Some((version, mut top)) = self.top(account).await? else {
            return Ok(());
        };
        if !top.note(chains.iter().copied()) {
            return Ok(());
        }
        let batch = Batch {
            changes: vec![self.put_top(account, Some(version), &top)],
            ..Batch::default()
        };
        match self.store.commit(Arc::new(batch)).await {
            Ok(()) | Err(CommitError::Stale) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn put_top(&self, account: &str, version: Option<i64>, top: &Top) -> Change {
        let item = Item::new(account, ItemKind::Roll, TOP, None, top);
        self.hashed(&Change::Put(item, expect(version)))
    }

    /// The change with the keyed hash of the new row.
    pub(super) fn hashed(&self, change: &Change) -> Change {
        match change {
            Change::Put(item, expect) if item.kind.protection() != Protection::None => {
                let mut item = Item {
                    version: expect.next_version(),
                    ..item.clone()
                };
                item.mac = Some(self.mac(&item));
                Change::Put(item, *expect)
            }
            other => other.clone(),
        }
    }
}

pub(super) fn expect(version: Option<i64>) -> Expect {
    version.map_or(Expect::Absent, Expect::Version)
}

/// Whether changes affect listed rows.
pub(crate) fn concerns_listed(changes: &[Change]) -> bool {
    !touched(changes).is_empty()
}

fn touched(changes: &[Change]) -> Touched {
    let mut touched = Touched::new();
    for change in changes {
        let (account, kind) = match change {
            Change::Put(item, _) => (&item.account, item.kind),
            Change::Delete { account, kind, .. } => (account, *kind),
            // An account's rolls are deleted with the account; only the roll of accounts changes.
            Change::Shred { .. } => {
                touched.insert((SYSTEM.to_owned(), ItemKind::Account));
                continue;
            }
            Change::Restore(_) | Change::Check { .. } => continue,
        };
        let is_new = matches!(change, Change::Put(_, Expect::Absent));
        if kind == ItemKind::Account && is_new {
            touched.insert((SYSTEM.to_owned(), ItemKind::Account));
        }
        if is_listed(account, kind) {
            touched.insert((account.clone(), kind));
        }
    }
    touched
}

/// Applies changes to the roll of a kind.
fn enter(roll: &mut Roll, account: &str, kind: ItemKind, changes: &[Change]) {
    let is_of_accounts = account == SYSTEM && kind == ItemKind::Account;
    for change in changes {
        match change {
            Change::Put(item, _) if item.kind == kind && is_of_accounts => {
                roll.insert(item.id.clone(), String::new());
            }
            Change::Put(item, _) if item.kind == kind && item.account == account => {
                roll.insert(item.id.clone(), roll::entry(item));
            }
            Change::Delete {
                account: of,
                kind: its,
                id,
            } if of == account && *its == kind => {
                roll.remove(id);
            }
            Change::Shred { account: gone } if is_of_accounts => {
                roll.remove(gone);
            }
            _ => {}
        }
    }
}

impl From<CommitError> for StoreError {
    /// A default conversion without details.
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Failed(error)
            | CommitError::Unconfirmed(error)
            | CommitError::Unknown(error)
            | CommitError::Rejected(error) => error,
            CommitError::RolledBack
            | CommitError::LaneTaken
            | CommitError::NotOpen(_)
            | CommitError::Stale => Self::Conflict("item"),
        }
    }
}
