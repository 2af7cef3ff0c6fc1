//! Groups of jobs that share a transaction. While one is being committed, the next one is filled.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use uuid::Uuid;

use crate::rows::Batch;
use crate::store::{CommitError, Transaction};
use crate::writer::Writer;
use crate::writer::job::{Effect, Job};
use crate::writer::lane::Lane;
use crate::writer::queue::Bounds;

/// Size limit of a transaction.
const GROUP: Bounds = Bounds {
    jobs: 512,
    bytes: 16 << 20,
};
/// Fewest jobs worth adding to the next transaction during a commit.
const AHEAD_FROM: usize = 16;
/// Longest wait for the callers of a large group, and the duration and size of a commit that makes it worthwhile. The
/// wait is small against a long commit, but would dominate a short one.
const GATHER: Duration = Duration::from_millis(2);
const GATHER_AFTER: Duration = Duration::from_millis(10);
const GATHER_FROM: usize = 8;

/// A transaction with its batches. It begins with the first batch.
#[derive(Default)]
pub(super) struct Open<'a> {
    batches: Vec<Arc<Batch>>,
    transaction: Option<Box<dyn Transaction + 'a>>,
}

/// The result of a transaction, with its batches.
pub(super) struct GroupResult {
    pub(super) batches: Vec<Arc<Batch>>,
    pub(super) result: Result<(), CommitError>,
}

/// Jobs and their shared transaction. After a failure it cannot be committed.
#[derive(Default)]
struct Group<'a> {
    jobs: Vec<Job>,
    open: Open<'a>,
    failure: Option<CommitError>,
}

impl Open<'_> {
    pub(super) async fn commit(self) -> GroupResult {
        let result = match self.transaction {
            Some(transaction) => transaction.commit().await,
            None => Ok(()),
        };
        GroupResult {
            batches: self.batches,
            result,
        }
    }

    /// Ends the transaction with an error.
    pub(super) fn fail(self, error: CommitError) -> GroupResult {
        GroupResult {
            batches: self.batches,
            result: Err(error),
        }
    }
}

impl Group<'_> {
    /// Remaining capacity of the transaction.
    fn room(&self) -> Bounds {
        let bytes: usize = self.jobs.iter().map(Job::bytes).sum();
        Bounds {
            jobs: GROUP.jobs.saturating_sub(self.jobs.len()),
            bytes: GROUP.bytes.saturating_sub(bytes),
        }
    }

    /// Requests that are open only after this commit.
    fn opened(&self) -> HashSet<Uuid> {
        let batches = self.open.batches.iter();
        let opened = batches.flat_map(|batch| batch.opened.iter().map(|row| row.request));
        opened.collect()
    }
}

impl Writer {
    /// Writes queued jobs, group after group, until nothing is urgent or `due` has passed.
    pub(super) async fn write_groups(&self, lane: &mut Option<Lane>, due: Instant) {
        let mut group = Group::default();
        self.take(lane, &mut group, |_| true).await;
        while !group.jobs.is_empty() {
            let begun = Instant::now();
            let (opened, size) = (group.opened(), group.jobs.len());
            let over = Notify::new();
            let committing = async {
                let ended = match group.failure {
                    Some(error) => group.open.fail(error),
                    None => group.open.commit().await,
                };
                over.notify_one();
                ended
            };
            let may_pass = |job: &Job| begun < due && !job.stands_alone() && !closes(job, &opened);
            let filling = self.fill(lane, size, may_pass, &over);
            let (ended, next) = tokio::join!(committing, filling);
            if ended.result.is_ok() {
                self.count(&ended);
                self.settle(group.jobs);
                group = next;
                let is_slow = begun.elapsed() >= GATHER_AFTER && size >= GATHER_FROM;
                if is_slow && Instant::now() < due && !self.store.overlaps() {
                    self.gather(lane, &mut group, size).await;
                }
            } else {
                // The group filled ahead links to records that were not written.
                self.take_back(lane, next);
                let result = self.judge(lane, ended).await;
                self.write(lane, group.jobs, result).await;
                group = Group::default();
            }
            if group.jobs.is_empty() && Instant::now() < due && self.queue.is_urgent() {
                self.take(lane, &mut group, |_| true).await;
            }
        }
    }

    /// Fills a group with jobs that may overtake the running commit, until that ends.
    async fn fill<'a>(
        &'a self,
        lane: &mut Option<Lane>,
        size: usize,
        may_pass: impl Fn(&Job) -> bool,
        over: &Notify,
    ) -> Group<'a> {
        let mut group = Group::default();
        loop {
            tokio::select! {
                biased;
                () = over.notified() => return group,
                () = self.queue.wait_for(AHEAD_FROM.max(size / 4)) => {}
            }
            if !self.take(lane, &mut group, &may_pass).await {
                return group;
            }
        }
    }

    /// Waits for the callers of a large group, which are about to send again. If the store commits one transaction at a
    /// time, half of them join the next one, so that fewer syncs suffice.
    async fn gather<'a>(&'a self, lane: &mut Option<Lane>, group: &mut Group<'a>, size: usize) {
        let end = Instant::now() + GATHER;
        let enough = group.jobs.len() + size / 2;
        while group.failure.is_none() && group.jobs.len() < enough {
            let some = self.queue.wait_for(AHEAD_FROM.max(size / 4));
            if tokio::time::timeout_at(end, some).await.is_err()
                || !self.take(lane, group, |job| !job.stands_alone()).await
            {
                return;
            }
        }
    }

    /// Moves queued jobs that fit into a group. False if there were none, or the group failed.
    async fn take<'a>(
        &'a self,
        lane: &mut Option<Lane>,
        group: &mut Group<'a>,
        fits: impl Fn(&Job) -> bool,
    ) -> bool {
        let jobs = self.queue.take(group.room(), fits);
        let is_some = !jobs.is_empty();
        group.failure = self.add(lane, &mut group.open, &jobs).await.err();
        group.jobs.extend(jobs);
        is_some && group.failure.is_none()
    }

    /// Links jobs to the heads of their chains and adds them to a transaction.
    pub(super) async fn add<'a>(
        &'a self,
        lane: &mut Option<Lane>,
        open: &mut Open<'a>,
        jobs: &[Job],
    ) -> Result<(), CommitError> {
        // Every change has a record, so without records there is nothing to write.
        if jobs.iter().all(|job| job.entries.is_empty()) {
            return Ok(());
        }
        if lane.is_none() {
            *lane = Some(self.acquire().await.map_err(CommitError::Failed)?);
            self.recover().await;
        }
        let Some(lane) = lane.as_mut() else {
            return Err(CommitError::LaneTaken);
        };
        self.load_heads(lane, jobs).await?;
        if open.batches.is_empty() {
            lane.turn();
        }
        let batch = Arc::new(self.batch(lane, jobs));
        open.batches.push(batch.clone());
        let transaction = match &mut open.transaction {
            Some(transaction) => transaction,
            none => none.insert(self.store.begin().await?),
        };
        transaction.add(batch).await
    }

    /// Returns the jobs of a group that was filled ahead to the queue.
    fn take_back(&self, lane: &mut Option<Lane>, group: Group<'_>) {
        forget_heads(lane, &group.open.batches);
        self.queue.put_back(group.jobs);
    }

    pub(super) fn count(&self, ended: &GroupResult) {
        let committed = u64::from(!ended.batches.is_empty());
        self.commits.fetch_add(committed, Ordering::Relaxed);
        self.acknowledge(&ended.batches);
    }
}

/// Forgets the heads of these chains, so that they are read again before the next record is linked.
pub(super) fn forget_heads(lane: &mut Option<Lane>, batches: &[Arc<Batch>]) {
    if let Some(lane) = lane {
        for new in batches.iter().flat_map(|batch| &batch.records) {
            lane.linker.heads.remove(&new.row.account);
        }
    }
}

/// Whether a job closes one of these requests.
fn closes(job: &Job, opened: &HashSet<Uuid>) -> bool {
    job.entries
        .iter()
        .any(|entry| matches!(entry.effect, Effect::Closes(request) if opened.contains(&request)))
}
