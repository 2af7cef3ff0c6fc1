//! Adopts a store from before its rows were authenticated: once, at the first start, with a record.

use std::collections::BTreeSet;

use phigate_types::{Act, Role};

use crate::core::Core;
use crate::item::{Change, Item, ItemKind};
use crate::model::{AdminAct, Filter, LinkPurpose};
use crate::people::{LinkBody, UserBody};
use crate::store::SYSTEM;
use crate::{Result, StoreError};

/// Attempts while other processes start too.
const TRIES: usize = 16;

impl Core {
    /// Gives the rows of an older store their keyed hashes. Does nothing in a store that already has them.
    pub(crate) async fn adopt_rows(&self) -> Result<()> {
        for _ in 0..TRIES {
            let Some(mark) = self.keyring.mark_guarded().await? else {
                return Ok(());
            };
            match self.adopt(mark).await {
                Err(StoreError::Conflict(_)) => {}
                // After any error: another process may have adopted the rows meanwhile.
                Err(error) if self.keyring.mark_guarded().await?.is_some() => return Err(error),
                Err(_) | Ok(()) => return Ok(()),
            }
        }
        Err(StoreError::Conflict("store"))
    }

    /// Writes the mark together with its record. A store with the record but without the mark was made to look older
    /// than it is.
    async fn adopt(&self, mark: Change) -> Result<()> {
        if self.was_adopted().await? {
            return Err(StoreError::Tampered {
                kind: ItemKind::DataKey.label(),
                id: "root".to_owned(),
                account: "?".to_owned(),
            });
        }
        let mut changes = vec![mark];
        let items = self.rows_to_adopt(&mut changes).await?;
        let heads = self.store.heads(None).await?;
        changes.extend(self.guard().adopt(&items, &heads));
        let act =
            AdminAct::new(self.now(), "", "system", Act::RowsAdopt).detail("rows", &items.len());
        self.submit(SYSTEM, &act, changes, true).await
    }

    /// Whether the trail has the record of the adoption.
    async fn was_adopted(&self) -> Result<bool> {
        let filter = Filter {
            act: Some(Act::RowsAdopt),
            ..Filter::default()
        };
        Ok(!self.store.list(SYSTEM, &filter, None, 1).await?.is_empty())
    }

    /// All rows to adopt, with provider keys bound to their addresses. Owner links of accounts that have an owner are
    /// deleted, and so are rows that no older version can have written.
    async fn rows_to_adopt(&self, changes: &mut Vec<Change>) -> Result<Vec<Item>> {
        let all = self.store.all_items().await?;
        let mut owned = BTreeSet::new();
        for item in all.iter().filter(|item| item.kind == ItemKind::User) {
            if item.read::<UserBody>()?.all_roles().has(Role::Owner) {
                owned.insert(item.account.clone());
            }
        }
        let mut kept = Vec::new();
        for item in all {
            let is_late = item.kind == ItemKind::Link
                && owned.contains(&item.account)
                && item.read::<LinkBody>()?.purpose == LinkPurpose::Owner;
            match item.kind {
                ItemKind::Roll => changes.push(item.deleted()),
                _ if is_late => changes.push(item.deleted()),
                ItemKind::Provider => kept.push(self.bind_key(&item).await?),
                _ => kept.push(item),
            }
        }
        Ok(kept)
    }
}
