//! The one writer of this process: takes what is queued, chains it, commits it as one group.
//!
//! Hundreds of waiting requests share one fsync. A job whose caller gave up before its group began
//! is not written; one whose caller gave up while the group was being written gets an outcome that
//! says so. A group whose commit gave no answer is looked up by its place in the chain before
//! anything else happens, so nothing is lost or written twice.

pub(crate) mod entry;
pub(crate) mod job;
pub(crate) mod lane;
pub(crate) mod queue;
pub(crate) mod thread;

use crate::chain;
use crate::keys::keyring::Keyring;
use crate::store::{Batch, CommitError, CounterRow, NewRecord, OpenRow, Store};
use crate::{Clock, Result, StoreError};
use job::{Effect, Entry, Job, Waiter};
use lane::Lane;
use queue::{Bounds, Queue};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// Most that one transaction takes.
const GROUP: Bounds = Bounds {
    jobs: 512,
    bytes: 16 << 20,
};
/// Groups smaller than this are not worth waiting for.
const GATHER_FROM: usize = 8;
const GATHER_MAX: Duration = Duration::from_millis(2);
/// Nor is it worth it after a commit that took hardly any time.
const GATHER_MIN: Duration = Duration::from_micros(500);
const PAUSE_MIN: Duration = Duration::from_millis(25);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// The writer and what it needs.
pub(crate) struct Writer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) clock: Clock,
    pub(crate) instance: Uuid,
    pub(crate) queue: Queue,
    /// API keys used since the last heartbeat: id → account and time.
    pub(crate) used: std::sync::Mutex<HashMap<String, (String, i64)>>,
    /// Leases of other processes: the version last seen, and since when.
    pub(crate) seen: std::sync::Mutex<HashMap<i64, (i64, Instant)>>,
    /// Keep a lane and look for the requests of dead processes, as a server does.
    pub(crate) serve: bool,
    pub(crate) give_up: AtomicBool,
}

/// Why a group could not be written now.
enum Trouble {
    Down(StoreError),
    LaneTaken,
    NotOpen(Vec<Uuid>),
    Stale,
    Rejected(StoreError),
}

impl Writer {
    /// Writes until the queue is closed and empty.
    pub(crate) async fn run(self: Arc<Self>) {
        let mut lane = None;
        let mut beats = tokio::time::interval(lane::BEAT);
        beats.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = self.queue.wait() => {}
                _ = beats.tick() => {
                    self.beat(&mut lane).await;
                    continue;
                }
            }
            let group = self.queue.take(GROUP);
            if group.is_empty() && self.queue.is_closed() && self.queue.is_empty() {
                break;
            }
            let (size, begun) = (group.len(), Instant::now());
            self.write(&mut lane, group).await;
            self.gather(size, begun.elapsed() / 4).await;
        }
        self.touch_used().await;
        self.release(lane).await;
    }

    /// After a large group its callers are about to come back: lets most of them in before the next
    /// one begins, or groups would be alternately large and small.
    async fn gather(&self, size: usize, patience: Duration) {
        let patience = patience.min(GATHER_MAX);
        if size >= GATHER_FROM && patience >= GATHER_MIN {
            let most = self.queue.wait_for(size * 3 / 4);
            // Going on with fewer is fine.
            let _ = tokio::time::timeout(patience, most).await;
        }
    }

    /// Writes one group, for as long as it takes.
    async fn write(&self, lane: &mut Option<Lane>, mut group: Vec<Job>) {
        let (mut pause, mut failures) = (PAUSE_MIN, 0);
        loop {
            group.retain(|job| !job.waiter.is_abandoned());
            if group.is_empty() {
                return;
            }
            match self.attempt(lane, &group).await {
                Ok(()) => return self.settle(group),
                Err(Trouble::LaneTaken) => *lane = None,
                Err(Trouble::NotOpen(requests)) => drop_closed(&mut group, &requests),
                Err(Trouble::Stale) => {
                    for mut job in group {
                        job.waiter.settle(Err(StoreError::Conflict("this")));
                    }
                    return;
                }
                // One record the database cannot take must not stop the others.
                Err(Trouble::Rejected(_)) if group.len() > 1 => {
                    for job in group {
                        Box::pin(self.write(lane, vec![job])).await;
                    }
                    return;
                }
                Err(Trouble::Rejected(error)) => {
                    tracing::error!("a record cannot be written: {error}");
                    for mut job in group {
                        job.waiter.settle(Err(error.clone()));
                    }
                    return;
                }
                Err(Trouble::Down(error)) => {
                    failures += 1;
                    if failures > 1 || self.give_up.load(Ordering::Acquire) {
                        self.refuse(&mut group, &error);
                    }
                    self.queue.forget_abandoned();
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
            }
        }
    }

    /// The store is down: callers who can be told so are told; the rest is kept and tried again.
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

    async fn attempt(&self, lane: &mut Option<Lane>, group: &[Job]) -> Result<(), Trouble> {
        let nothing = group
            .iter()
            .all(|job| job.entries.is_empty() && !job.stands_alone());
        if nothing {
            return Ok(());
        }
        if lane.is_none() {
            *lane = Some(self.acquire().await.map_err(Trouble::Down)?);
            self.recover().await;
        }
        let Some(lane) = lane.as_mut() else {
            return Err(Trouble::LaneTaken);
        };
        self.load_heads(lane, group).await.map_err(Trouble::Down)?;
        let batch = Arc::new(self.batch(lane, group));
        let result = match self.store.commit(batch.clone()).await {
            Ok(()) => Ok(()),
            Err(CommitError::Unknown(error)) => self.find_out(&batch, error).await,
            Err(CommitError::Failed(error)) => Err(Trouble::Down(error)),
            // The place may be taken by this very group, from a commit that seemed to fail.
            Err(CommitError::LaneTaken) => {
                let taken = StoreError::Conflict("place in the chain");
                self.find_out(&batch, taken).await
            }
            Err(CommitError::NotOpen(requests)) => Err(Trouble::NotOpen(requests)),
            Err(CommitError::Stale) => Err(Trouble::Stale),
            Err(CommitError::Rejected(error)) => Err(Trouble::Rejected(error)),
        };
        if result.is_err() {
            // Where these chains end is asked of the store before the next attempt.
            for new in &batch.records {
                lane.linker.heads.remove(&new.row.account);
            }
        }
        result
    }

    /// Looks whether a group whose commit gave no answer is there.
    async fn find_out(&self, batch: &Batch, error: StoreError) -> Result<(), Trouble> {
        let Some(NewRecord { row, link, .. }) = batch.records.first() else {
            return Err(Trouble::Down(error));
        };
        let mut pause = PAUSE_MIN;
        loop {
            match self
                .store
                .link_digest(&row.account, link.lane, link.seq)
                .await
            {
                Ok(Some(digest)) if digest == link.digest => return Ok(()),
                Ok(Some(_)) => return Err(Trouble::LaneTaken),
                Ok(None) => return Err(Trouble::Down(error)),
                Err(_) if self.give_up.load(Ordering::Acquire) => return Err(Trouble::Down(error)),
                Err(_) => {
                    self.queue.forget_abandoned();
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
            }
        }
    }

    async fn load_heads(&self, lane: &mut Lane, group: &[Job]) -> Result<()> {
        for entry in group.iter().flat_map(|job| &job.entries) {
            let account = &entry.row.account;
            if !lane.linker.heads.contains_key(account) {
                let head = self.store.head(account, lane.linker.lane).await?;
                let end = head.map_or((0, chain::START), |head| (head.seq, head.digest));
                lane.linker.heads.insert(account.clone(), end);
            }
        }
        Ok(())
    }

    fn batch(&self, lane: &mut Lane, group: &[Job]) -> Batch {
        let mut batch = Batch::default();
        let mut opened: BTreeMap<Uuid, OpenRow> = BTreeMap::new();
        let mut counters: BTreeMap<(&str, i64, &str), i64> = BTreeMap::new();
        for job in group {
            batch.changes.extend(job.changes.iter().cloned());
            batch.bump |= job.bump;
            batch.drop_contents = batch.drop_contents.or_else(|| job.drop_contents.clone());
            batch.drop_records = batch.drop_records.or_else(|| job.drop_records.clone());
            for entry in &job.entries {
                let link =
                    lane.linker
                        .append(&self.keyring.root.chain, &entry.row.account, entry.leaf);
                batch.records.push(NewRecord {
                    row: entry.row.clone(),
                    link,
                    contents: entry.contents.clone(),
                });
                batch.tokens.extend(entry.tokens.iter().cloned());
                match entry.effect {
                    Effect::Opens(request) => {
                        opened.insert(request, self.open_row(entry, request));
                    }
                    // Decided and ended within one group: it never was open.
                    Effect::Closes(request) if opened.remove(&request).is_some() => {}
                    Effect::Closes(request) => {
                        batch.closed.push((entry.row.account.clone(), request));
                    }
                    Effect::Neither => {}
                }
                let hour = entry.row.time_us.div_euclid(3_600_000_000);
                for (name, count) in &entry.counters {
                    *counters
                        .entry((&entry.row.account, hour, name))
                        .or_default() += count;
                }
            }
        }
        batch.opened = opened.into_values().collect();
        chain::sign_ends(&self.keyring.root.signing, &mut batch.records);
        let number = lane.linker.lane;
        let row = |((account, hour, name), count): ((&str, i64, &str), i64)| CounterRow {
            account: account.to_owned(),
            hour,
            lane: number,
            name: name.to_owned(),
            count,
        };
        batch.counters = counters.into_iter().map(row).collect();
        batch
    }

    fn open_row(&self, entry: &Entry, request: Uuid) -> OpenRow {
        OpenRow {
            account: entry.row.account.clone(),
            request,
            time_us: entry.row.time_us,
            instance: self.instance,
        }
    }

    /// Tells everybody that their group is on disk.
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

    /// A decision was written after its caller had given up: the request went nowhere, and the trail says so.
    pub(crate) fn not_forwarded(&self, entry: &Entry) {
        if let Effect::Opens(request) = entry.effect {
            let outcome = entry::ended(
                request,
                (self.clock)(),
                &entry.account_name,
                Some(503),
                "audit_unavailable",
            );
            let entry = entry::outcome(&entry.row.account, &outcome);
            self.queue.push_always(Job::of(entry, Waiter::none()));
        }
    }
}

/// Outcomes of requests that have one already are not written again.
fn drop_closed(group: &mut [Job], requests: &[Uuid]) {
    for job in group {
        job.entries.retain(
            |entry| !matches!(entry.effect, Effect::Closes(request) if requests.contains(&request)),
        );
    }
}
