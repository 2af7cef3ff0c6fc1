//! Handles a group that could not be written: looks it up, tries again, or refuses it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use uuid::Uuid;

use crate::StoreError;
use crate::rows::{Batch, NewRecord};
use crate::store::CommitError;
use crate::writer::Writer;
use crate::writer::group::{GroupResult, Open, forget_heads};
use crate::writer::job::{Effect, Job};
use crate::writer::lane::Lane;

const PAUSE_MIN: Duration = Duration::from_millis(25);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// The reason why a group could not be written.
pub(super) enum GroupError {
    Down(StoreError),
    /// Written, but not confirmed by the standbys.
    Unconfirmed(StoreError),
    /// The lane was replaced, because records of its chains are gone.
    Replaced,
    LaneTaken,
    NotOpen(Vec<Uuid>),
    Stale,
    Rejected(StoreError),
}

impl Writer {
    /// Handles the result of a write, and retries until the group is settled.
    pub(super) async fn write(
        &self,
        lane: &mut Option<Lane>,
        mut group: Vec<Job>,
        mut result: Result<(), GroupError>,
    ) {
        let (mut pause, mut failures) = (PAUSE_MIN, 0);
        loop {
            match result {
                Ok(()) => return self.settle(group),
                Err(GroupError::Unconfirmed(error)) => {
                    return self.refuse_unconfirmed(group, &error);
                }
                Err(GroupError::Replaced) => tokio::time::sleep(PAUSE_MIN).await,
                Err(GroupError::LaneTaken) => *lane = None,
                Err(GroupError::NotOpen(requests)) => drop_closed(&mut group, &requests),
                Err(GroupError::Stale) => {
                    return refuse_all(group, &StoreError::Conflict("this"));
                }
                // One record that the database rejects must not block the others.
                Err(GroupError::Rejected(_)) if group.len() > 1 => {
                    for job in group {
                        let one = vec![job];
                        let result = self.attempt(lane, &one).await;
                        Box::pin(self.write(lane, one, result)).await;
                    }
                    return;
                }
                Err(GroupError::Rejected(error)) => {
                    tracing::error!("a record cannot be written: {error}");
                    return refuse_all(group, &error);
                }
                // Another transaction was first: retried for as long as the callers wait.
                Err(GroupError::Down(StoreError::Busy(_)))
                    if !self.give_up.load(Ordering::Acquire) =>
                {
                    self.queue.forget_abandoned();
                    tokio::time::sleep(PAUSE_MIN).await;
                }
                Err(GroupError::Down(error)) => {
                    failures += 1;
                    if failures > 1 || self.give_up.load(Ordering::Acquire) {
                        self.refuse(&mut group, &error);
                    }
                    self.queue.forget_abandoned();
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
            }
            group.retain(|job| !job.waiter.is_abandoned());
            if group.is_empty() {
                return;
            }
            result = self.attempt(lane, &group).await;
        }
    }

    /// Writes a group while no other transaction is open.
    async fn attempt(&self, lane: &mut Option<Lane>, group: &[Job]) -> Result<(), GroupError> {
        let mut open = Open::default();
        let ended = match self.add(lane, &mut open, group).await {
            Ok(()) => open.commit().await,
            Err(error) => open.fail(error),
        };
        self.judge(lane, ended).await
    }

    /// Classifies the end of a transaction.
    pub(super) async fn judge(
        &self,
        lane: &mut Option<Lane>,
        ended: GroupResult,
    ) -> Result<(), GroupError> {
        let GroupResult { batches, result } = &ended;
        let Err(error) = result.clone() else {
            self.count(&ended);
            return Ok(());
        };
        forget_heads(lane, batches);
        match error {
            CommitError::Unknown(error) => self.find_out(batches, error).await,
            CommitError::Failed(error) => Err(GroupError::Down(error)),
            CommitError::Unconfirmed(error) => Err(GroupError::Unconfirmed(error)),
            CommitError::RolledBack => match self.leave_rolled_back(lane).await {
                Ok(()) => Err(GroupError::Replaced),
                Err(error) => Err(GroupError::Down(error)),
            },
            // The position may be taken by this very group, from a commit that seemed to fail.
            CommitError::LaneTaken => {
                let taken = StoreError::Conflict("place in the chain");
                self.find_out(batches, taken).await
            }
            CommitError::NotOpen(requests) => Err(GroupError::NotOpen(requests)),
            CommitError::Stale => Err(GroupError::Stale),
            CommitError::Rejected(error) => Err(GroupError::Rejected(error)),
        }
    }

    /// Reports to the waiting callers that the store is down. Jobs that must be written are kept and tried again.
    fn refuse(&self, group: &mut Vec<Job>, error: &StoreError) {
        let all = self.give_up.load(Ordering::Acquire);
        if all {
            tracing::error!(
                jobs.n = group.len(),
                "records given up at shutdown: {error}"
            );
        }
        group.retain_mut(|job| {
            let keep = job.waiter.must && !all;
            if !keep {
                job.waiter.settle(Err(error.clone()));
            }
            keep
        });
    }

    /// Checks whether a group was written, after its commit had no reply.
    async fn find_out(&self, batches: &[Arc<Batch>], error: StoreError) -> Result<(), GroupError> {
        let first = batches.iter().find_map(|batch| batch.records.first());
        let Some(NewRecord { row, link, .. }) = first else {
            return Err(GroupError::Down(error));
        };
        let mut pause = PAUSE_MIN;
        loop {
            match self
                .store
                .link_digest(&row.account, link.lane, link.seq)
                .await
            {
                Ok(Some(digest)) if digest == link.digest => {
                    // The primary has the record; the standbys may not.
                    let confirmed = self.store.confirm().await;
                    confirmed.map_err(GroupError::Unconfirmed)?;
                    self.acknowledge(batches);
                    return Ok(());
                }
                Ok(Some(_)) => return Err(GroupError::LaneTaken),
                Ok(None) => return Err(GroupError::Down(error)),
                Err(_) if self.give_up.load(Ordering::Acquire) => {
                    return Err(GroupError::Down(error));
                }
                Err(_) => {
                    self.queue.forget_abandoned();
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
            }
        }
    }
}

/// Drops outcomes of requests that already have one.
fn drop_closed(group: &mut [Job], requests: &[Uuid]) {
    for job in group {
        job.entries.retain(
            |entry| !matches!(entry.effect, Effect::Closes(request) if requests.contains(&request)),
        );
    }
}

fn refuse_all(group: Vec<Job>, error: &StoreError) {
    for mut job in group {
        job.waiter.settle(Err(error.clone()));
    }
}
