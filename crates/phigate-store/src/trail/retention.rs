//! Retention: expired records and content are deleted in small batches, each recorded.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use phigate_types::Act;
use phigate_verify::write_ranges;

use crate::export_cursor::unsent;
use crate::item::Change;
use crate::minutes::{self, Minute};
use crate::model::{AdminAct, Retention};
use crate::rows::{Batch, RowKey};
use crate::store::SYSTEM;
use crate::trail::Expiry;
use crate::writer::entry;
use crate::writer::job::{Job, Waiter};
use crate::{Result, StoreError};

/// Most rows of one batch.
const BATCH: usize = 500;

impl Expiry {
    /// Deletes expired records and content of one account, one batch of each. Returns how many records were touched;
    /// call again, after a pause, until that is 0.
    pub async fn retain(&self, account_id: &str) -> Result<usize> {
        let (name, retention, conditions) = self.retention_of(account_id).await?;
        if retention.legal_hold {
            return Ok(0);
        }
        self.core.refuse_older_rows(account_id).await?;
        let records = self
            .core
            .store
            .old_records(account_id, self.cut(retention.metadata_days)?, BATCH)
            .await?;
        if !records.is_empty() {
            let places: Vec<(i64, i64)> = records.iter().map(|row| (row.lane, row.seq)).collect();
            let lost = unsent(&self.core, account_id, &places).await?;
            let mut job = self.deletion(account_id, &name, Act::RetentionRecords, &records, &lost);
            job.0.drop_records = Some((account_id.to_owned(), records.clone()));
            job.0.changes.clone_from(&conditions);
            self.finish_deletion(job).await?;
        }
        let contents = self
            .core
            .store
            .old_contents(account_id, self.cut(retention.content_days)?, BATCH)
            .await?;
        if !contents.is_empty() {
            let mut job = self.deletion(account_id, &name, Act::RetentionContent, &contents, &[]);
            job.0.drop_contents = Some((account_id.to_owned(), contents.clone()));
            job.0.changes = conditions;
            self.finish_deletion(job).await?;
        }
        Ok(records.len() + contents.len())
    }

    /// Deletes expired records and content of all accounts, with a pause after each batch; returns the number of
    /// records touched. Meant to be called repeatedly in the background.
    pub async fn retain_all(&self, pause: Duration) -> Result<usize> {
        let mut accounts = self.core.store.accounts_with_records().await?;
        let mut touched = 0;
        for account in &accounts {
            self.sweep_minutes(account).await?;
        }
        while let Some(account) = accounts.last() {
            let done = self.retain(account).await?;
            touched += done;
            if done == 0 {
                accounts.pop();
            } else {
                tokio::time::sleep(pause).await;
            }
        }
        Ok(touched)
    }

    /// Deletes counters per minute whose hour is over. They are not records, so their deletion is not recorded.
    async fn sweep_minutes(&self, account_id: &str) -> Result<()> {
        let hours = Minute::of(self.core.now()).swept();
        let batch = Batch {
            drop_counters: Some((account_id.to_owned(), minutes::PREFIX, hours)),
            ..Batch::default()
        };
        self.core.store.commit(Arc::new(batch)).await?;
        Ok(())
    }

    /// Name and retention of an account, and the condition that they still hold; deleted accounts
    /// and the installation itself keep the default.
    async fn retention_of(&self, account_id: &str) -> Result<(String, Retention, Vec<Change>)> {
        if account_id == SYSTEM {
            // Rows of accounts have no place in the installation's own, so looking for one finds a forgery.
            return Ok((String::new(), Retention::default(), Vec::new()));
        }
        match self.core.account_item(account_id).await {
            Ok((found, account)) => {
                let conditions = vec![found.unchanged()];
                Ok((account.name, account.settings.retention, conditions))
            }
            Err(StoreError::NotFound(_)) => {
                let name = self.core.guard().account_name(account_id).await?;
                Ok((name, Retention::default(), Vec::new()))
            }
            Err(error) => Err(error),
        }
    }

    fn deletion(
        &self,
        account_id: &str,
        name: &str,
        act: Act,
        rows: &[RowKey],
        lost: &[(String, usize)],
    ) -> (Job, crate::writer::job::Wait) {
        let places = write_ranges(rows.iter().map(|row| (row.lane, row.seq)).collect());
        let act = AdminAct::new(self.core.now(), name, "system", act)
            .detail("records", &rows.len())
            .detail("places", &places);
        // Exports that lag behind do not keep expired records; the record says what they will never have.
        let act = lost.iter().fold(act, |act, (target, count)| {
            act.detail(&format!("not exported to {target}"), count)
        });
        let (waiter, wait) = Waiter::new(true);
        (Job::of(entry::admin(account_id, &act), waiter), wait)
    }

    async fn finish_deletion(&self, (job, wait): (Job, crate::writer::job::Wait)) -> Result<()> {
        self.core.writer.queue.push_always(job);
        wait.answer.await.unwrap_or(Err(StoreError::Closed))
    }

    fn cut(&self, days: u32) -> Result<i64> {
        let age = SignedDuration::from_hours(24 * i64::from(days));
        let cut = self.core.now().checked_sub(age);
        Ok(cut
            .map_err(|_| StoreError::Invalid {
                what: "retention",
                why: "too long",
            })?
            .as_microsecond())
    }
}
