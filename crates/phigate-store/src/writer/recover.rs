//! Work for other processes: closes the requests of dead processes, and writes the last use of keys.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use phigate_types::ErrorCode;
use uuid::Uuid;

use crate::Result;
use crate::item::{Change, Expect, Item, ItemKind};
use crate::rows::Batch;
use crate::writer::job::{Job, Waiter};
use crate::writer::{Writer, entry};

impl Writer {
    /// Gives the open requests of dead processes the outcome `interrupted`.
    pub(super) async fn recover(&self) {
        if let Err(error) = self.try_recover().await {
            tracing::warn!("cannot look for interrupted requests: {error}");
        }
    }

    async fn try_recover(&self) -> Result<()> {
        let leases = self.leases().await?;
        let mut alive: Vec<Uuid> = leases
            .iter()
            .filter(|lane| !self.is_over(lane))
            .map(|(_, _, lease)| lease.instance)
            .collect();
        alive.push(self.instance);
        let open = self.store.open_requests(&alive, 10_000).await?;
        let mut names: HashMap<String, String> = HashMap::new();
        for row in &open {
            if !names.contains_key(&row.account) {
                let name = self.keyring.guard().account_name(&row.account).await?;
                names.insert(row.account.clone(), name);
            }
            let outcome = entry::ended(
                row.request,
                (self.clock)(),
                &names[&row.account],
                None,
                ErrorCode::Interrupted,
            );
            self.queue.push_always(Job::of(
                entry::outcome(&row.account, &outcome),
                Waiter::none(),
            ));
        }
        if !open.is_empty() {
            tracing::info!(
                requests.n = open.len(),
                "requests of an ended process are recorded as interrupted"
            );
        }
        Ok(())
    }

    /// Writes the last use of API keys. The loss of a few seconds is harmless.
    pub(super) async fn touch_used(&self) {
        let used = std::mem::take(&mut *self.used.lock().unwrap_or_else(PoisonError::into_inner));
        if used.is_empty() {
            return;
        }
        let put = |(id, (account, time_us)): (String, (String, i64))| {
            let item = Item::new(&account, ItemKind::ApiKeyUsed, &id, None, &time_us);
            Change::Put(item, Expect::Any)
        };
        let batch = Batch {
            changes: used.into_iter().map(put).collect(),
            ..Batch::default()
        };
        let _ = self.store.commit(Arc::new(batch)).await;
    }

    /// Adds uses of allowed values to their counts. Counts that another process changed meanwhile wait for the next
    /// heartbeat.
    pub(super) async fn touch_allowed(&self) {
        let take = |allowed: &mut HashMap<_, _>| std::mem::take(allowed);
        let used = take(&mut self.allowed.lock().unwrap_or_else(PoisonError::into_inner));
        for ((account, id), (hits, last_us)) in used {
            if self
                .add_uses(&account, &id, (hits, last_us))
                .await
                .is_some()
            {
                continue;
            }
            let mut waiting = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
            let (count, latest) = waiting.entry((account, id)).or_default();
            *count += hits;
            *latest = last_us.max(*latest);
        }
    }

    /// Adds uses of an entry to its count; `None` if another process changed it at the same moment.
    async fn add_uses(&self, account: &str, id: &str, (hits, last_us): (u64, i64)) -> Option<()> {
        let kind = ItemKind::AllowUsed;
        let old = self.store.item(account, kind, id).await.ok()?;
        let before: Option<(u64, i64)> = old.as_ref().and_then(|item| item.read().ok());
        let (count, latest) = before.unwrap_or_default();
        let uses = (count + hits, last_us.max(latest));
        let expect = old.map_or(Expect::Absent, |item| Expect::Version(item.version));
        let batch = Batch {
            changes: vec![Change::Put(
                Item::new(account, kind, id, None, &uses),
                expect,
            )],
            ..Batch::default()
        };
        self.store.commit(Arc::new(batch)).await.ok()
    }
}
