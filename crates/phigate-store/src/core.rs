//! Shared state behind all handles of an open store: engine, keys, writer, clock.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::cause;
use crate::guard::{self, Guard};
use crate::item::Change;
use crate::keys::keyring::Keyring;
use crate::model::{AdminAct, RosterCache};
use crate::store::{CommitError, SYSTEM, Store};
use crate::writer::job::{Job, Waiter};
use crate::writer::{Writer, entry};
use crate::{Clock, Result, StoreError};

/// Timeout of an admin change.
const ADMIN: Duration = Duration::from_secs(10);

/// The inside of an open store.
pub(crate) struct Core {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) writer: Arc<Writer>,
    pub(crate) clock: Clock,
    /// Rosters that were read.
    pub(crate) rosters: RosterCache,
}

impl Core {
    /// The time, as records carry it.
    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Reads and writes authenticated rows.
    pub(crate) fn guard(&self) -> &Guard {
        self.keyring.guard()
    }

    /// Changes items and records the act, both or neither.
    pub(crate) async fn change(
        &self,
        account_id: &str,
        act: &AdminAct,
        changes: Vec<Change>,
        bump: bool,
    ) -> Result<()> {
        if !guard::concerns_listed(&changes) {
            let prepared = self.guard().prepare(&changes, None).await?;
            return self.submit(account_id, act, prepared.changes, bump).await;
        }
        let _turn = self.guard().turn().await;
        for _ in 0..guard::TRIES {
            let prepared = self.guard().prepare(&changes, Some(account_id)).await?;
            let act = AdminAct {
                number: prepared.number,
                ..act.clone()
            };
            let submitted = self.submit(account_id, &act, prepared.changes.clone(), bump);
            match submitted.await {
                Err(StoreError::Conflict(_)) if self.guard().has_moved(&prepared).await? => {}
                done => return done,
            }
        }
        Err(StoreError::Conflict("this"))
    }

    /// Hands changes that are ready to be written to the writer, with their record and the alert that the act causes. The
    /// alert comes first: a chain that was cut before its last record would otherwise look whole without it.
    pub(crate) async fn submit(
        &self,
        account_id: &str,
        act: &AdminAct,
        changes: Vec<Change>,
        bump: bool,
    ) -> Result<()> {
        let (waiter, mut wait) = Waiter::new(false);
        let mut job = Job::of(entry::admin(account_id, act), waiter);
        job.changes = changes;
        job.bump = bump;
        if let Some((alert, remembered)) = cause::caused(&*self.store, account_id, act).await {
            job.entries.insert(0, entry::alert(account_id, &alert));
            job.changes.push(remembered);
        }
        self.writer.queue.push(job).map_err(|refused| refused.1)?;
        match tokio::time::timeout(ADMIN, &mut wait.answer).await {
            Ok(answer) => answer.unwrap_or(Err(StoreError::Closed)),
            Err(_) if wait.abandon() => Err(StoreError::Timeout),
            Err(_) => wait.settled(),
        }
    }

    /// Changes items without a record, all or none. False if another process changed or removed an item in between.
    pub(crate) async fn change_quietly(&self, changes: Vec<Change>) -> Result<bool> {
        match self.guard().commit(&changes).await {
            Ok(()) => Ok(true),
            Err(CommitError::Stale) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes an admin act that changes nothing in the store. Without an account it belongs to the installation.
    pub(crate) async fn record_act(&self, account_id: Option<&str>, act: &AdminAct) -> Result<()> {
        self.change(account_id.unwrap_or(SYSTEM), act, Vec::new(), false)
            .await
    }

    /// Returns when everything queued before the call is on disk.
    pub(crate) async fn flush(&self) -> Result<()> {
        let (waiter, wait) = Waiter::new(true);
        self.writer.queue.push_always(Job::empty(waiter));
        wait.answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// The moment something ends that is valid for this long from now on.
    pub(crate) fn expiry(&self, valid: Option<SignedDuration>) -> Result<Option<Timestamp>> {
        let Some(valid) = valid else { return Ok(None) };
        let end = self.now().checked_add(valid);
        end.map(Some).map_err(|_| StoreError::Invalid {
            what: "duration",
            why: "too long",
        })
    }
}

/// Gives a conflict the name of its subject.
pub(crate) fn about(what: &'static str) -> impl Fn(StoreError) -> StoreError {
    move |error| match error {
        StoreError::Conflict(_) => StoreError::Conflict(what),
        other => other,
    }
}
