//! The writer of this process: takes queued jobs, links their records and commits them in groups.
//!
//! Hundreds of waiting requests share one fsync, and the next group is filled while one is being committed. A job whose
//! caller gave up before its group began is not written; if the caller gave up during the write, the request gets an
//! outcome that says so. A group whose commit had no reply is looked up by its position in the chain before anything
//! else is written, so nothing is lost or written twice.

mod batch;
pub(crate) mod entry;
mod group;
pub(crate) mod job;
pub(crate) mod join;
pub(crate) mod lane;
pub(crate) mod queue;
mod recover;
mod retry;
mod rollback;
#[cfg(test)]
mod tests;
pub(crate) mod thread;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use phigate_types::ErrorCode;
use smol_str::SmolStr;
use tokio::time::Instant;
use uuid::Uuid;

use crate::keys::keyring::Keyring;
use crate::store::Store;
use crate::{Clock, StoreError};
use job::{Effect, Entry, Job, Waiter};
use queue::Queue;

/// Delay for records without a waiting caller, so that more can share their commit.
const LINGER: Duration = Duration::from_millis(5);
/// Number of queued records that counts as busy, and the longer delay in that case: one sync for all of them.
const CROWD: usize = 8;
const LINGER_IN_CROWD: Duration = Duration::from_millis(15);

/// The writer with its dependencies.
pub(crate) struct Writer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) clock: Clock,
    pub(crate) instance: Uuid,
    pub(crate) queue: Queue,
    /// API keys used since the last heartbeat: id → account and time.
    pub(crate) used: std::sync::Mutex<HashMap<String, (String, i64)>>,
    /// Uses of allowed values since the last heartbeat: account and entry → count, and time of the last.
    pub(crate) allowed: std::sync::Mutex<HashMap<(String, SmolStr), (u64, i64)>>,
    /// Leases of other processes: the last version, and the time it was first seen.
    pub(crate) seen: std::sync::Mutex<HashMap<i64, (i64, Instant)>>,
    /// Whether to keep a lane and close the requests of dead processes, as a server does.
    pub(crate) serve: bool,
    pub(crate) give_up: AtomicBool,
    /// Number of committed groups.
    pub(crate) commits: AtomicU64,
    /// Ends of chains as they were acknowledged.
    pub(crate) acknowledged: std::sync::Mutex<rollback::Acknowledged>,
    /// Number of connections when these ends were last compared with the store.
    pub(crate) compared: AtomicU64,
    /// Number of chains found without records that were acknowledged.
    pub(crate) rollbacks: AtomicU64,
}

impl Writer {
    /// Writes until the queue is closed and empty.
    pub(crate) async fn run(self: Arc<Self>) {
        let mut lane = None;
        let mut beats = tokio::time::interval(lane::BEAT);
        beats.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                // First, regardless of the queue: if the lease expired, other processes would end our requests.
                biased;
                _ = beats.tick() => {
                    self.beat(&mut lane).await;
                    continue;
                }
                () = self.queue.wait() => {}
            }
            // Woken without jobs: the queue is closed.
            if self.queue.is_empty() {
                break;
            }
            self.linger().await;
            self.write_groups(&mut lane, Instant::now() + lane::BEAT)
                .await;
        }
        self.touch_used().await;
        self.touch_allowed().await;
        self.release(lane).await;
    }

    /// Delays records without a waiting caller, so that they share a commit.
    async fn linger(&self) {
        let urgency = || self.queue.wait_for_urgency();
        let _ = tokio::time::timeout(LINGER, urgency()).await;
        if self.queue.len() >= CROWD {
            let _ = tokio::time::timeout(LINGER_IN_CROWD, urgency()).await;
        }
    }

    /// Reports to all callers of a group that it is on disk.
    fn settle(&self, group: Vec<Job>) {
        for mut job in group {
            let somebody_waited = job.waiter.settle(Ok(()));
            if !somebody_waited {
                for entry in &job.entries {
                    self.not_forwarded(entry);
                }
            }
        }
    }

    /// Refuses the callers of a group that is written, but that a failover may lose. Records without a caller stay.
    fn refuse_unconfirmed(&self, group: Vec<Job>, error: &StoreError) {
        for mut job in group {
            let is_lazy = job.waiter.must;
            job.waiter.settle(Err(error.clone()));
            for entry in job.entries.iter().filter(|_| !is_lazy) {
                self.not_forwarded(entry);
            }
        }
    }

    /// Records the outcome of a decision that was written after its caller gave up: the request was not forwarded.
    pub(crate) fn not_forwarded(&self, entry: &Entry) {
        if let Effect::Opens(request) = entry.effect {
            let outcome = entry::ended(
                request,
                (self.clock)(),
                &entry.account_name,
                Some(503),
                ErrorCode::AuditUnavailable,
            );
            let entry = entry::outcome(&entry.row.account, &outcome);
            self.queue.push_always(Job::of(entry, Waiter::none()));
        }
    }
}
