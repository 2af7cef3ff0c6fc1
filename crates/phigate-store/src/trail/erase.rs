//! Erasure of the content of one request for ever. Its records stay, and a further record names the actor and the
//! reason.

use phigate_types::Act;
use phigate_verify::write_ranges;
use uuid::Uuid;

use crate::model::AdminAct;
use crate::trail::Expiry;
use crate::writer::entry;
use crate::writer::job::{Job, Waiter};
use crate::{Result, StoreError};

impl Expiry {
    /// Deletes the sealed content of a request: what was received, what was sent to each provider, and the reply. The
    /// record of it and the deletion are one commit. Refused under a legal hold. Returns how many records lost content.
    ///
    /// Copies made before, such as backups, still hold it.
    pub async fn erase(
        &self,
        account_id: &str,
        request_id: Uuid,
        actor: &str,
        reason: &str,
    ) -> Result<usize> {
        let store = &self.core.store;
        let records = store.requests(account_id, &[request_id]).await?;
        if records.is_empty() {
            return Err(StoreError::NotFound("request"));
        }
        let (found, account) = self.core.account_item(account_id).await?;
        if account.settings.retention.legal_hold {
            return Err(StoreError::LegalHold);
        }
        let rows = store.contents_of(account_id, request_id).await?;
        if rows.is_empty() {
            return Err(StoreError::NotFound("content of this request"));
        }
        let places = write_ranges(rows.iter().map(|row| (row.lane, row.seq)).collect());
        let mut act = AdminAct::new(self.core.now(), &account.name, actor, Act::ContentErase)
            .detail("records", &rows.len())
            .detail("places", &places);
        act.request_id = Some(request_id);
        act.reason = Some(reason.to_owned());
        let count = rows.len();
        let (waiter, wait) = Waiter::new(true);
        let mut job = Job::of(entry::admin(account_id, &act), waiter);
        job.drop_contents = Some((account_id.to_owned(), rows));
        // A hold that is set at this moment wins.
        job.changes = vec![found.unchanged()];
        self.core.writer.queue.push_always(job);
        wait.answer.await.unwrap_or(Err(StoreError::Closed))?;
        Ok(count)
    }
}
