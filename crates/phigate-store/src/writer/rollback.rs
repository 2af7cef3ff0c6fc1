//! Notices that acknowledged records are gone, as after a failover to a server with an older copy.
//!
//! The writer remembers the end of each chain as it was acknowledged, and the requests of the latest records. A chain
//! that now ends earlier takes no further record: its lane is retired, an alert in another chain names the requests that
//! were lost, and the writer goes on in a new lane.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use phigate_types::AlertCode;
use uuid::Uuid;

use crate::Result;
use crate::cause;
use crate::model::Alert;
use crate::rows::{Batch, ChainEnd};
use crate::writer::job::{Job, Waiter};
use crate::writer::lane::Lane;
use crate::writer::{Writer, entry};

/// Most records whose requests are remembered, over all chains.
const REMEMBERED: usize = 65_536;
/// Most requests that one alert names; further ones are named by further alerts.
const NAMED: usize = 1_000;

/// Place and digest of a chain's last record.
type End = (i64, [u8; 32]);

/// Ends of chains as they were acknowledged, and the requests of the latest records.
#[derive(Default)]
pub(crate) struct Acknowledged {
    /// By account and lane.
    ends: HashMap<Arc<str>, HashMap<i64, End>>,
    latest: VecDeque<Latest>,
}

/// An acknowledged record of a request.
struct Latest {
    account: Arc<str>,
    lane: i64,
    seq: i64,
    request: Uuid,
}

impl Acknowledged {
    fn add(&mut self, batch: &Batch) {
        for record in &batch.records {
            let (row, link) = (&record.row, &record.link);
            let known = self.ends.get_key_value(row.account.as_str());
            let account =
                known.map_or_else(|| row.account.as_str().into(), |(name, _)| name.clone());
            let chains = self.ends.entry(Arc::clone(&account)).or_default();
            chains.insert(link.lane, (link.seq, link.digest));
            if let Some(request) = row.request {
                let (lane, seq) = (link.lane, link.seq);
                self.latest.push_back(Latest {
                    account,
                    lane,
                    seq,
                    request,
                });
            }
        }
        let excess = self.latest.len().saturating_sub(REMEMBERED);
        self.latest.drain(..excess);
    }

    fn end(&self, account: &str, lane: i64) -> Option<End> {
        self.ends.get(account)?.get(&lane).copied()
    }

    fn all(&self) -> Vec<ChainEnd> {
        let chains = self.ends.iter().flat_map(|(account, chains)| {
            chains.iter().map(|(lane, (seq, digest))| ChainEnd {
                account: account.to_string(),
                lane: *lane,
                seq: *seq,
                digest: *digest,
            })
        });
        chains.collect()
    }

    /// The requests with records after a place, each once, oldest first.
    fn requests_after(&self, end: &ChainEnd, seq: i64) -> Vec<Uuid> {
        let mut seen = BTreeSet::new();
        let is_lost =
            |one: &&Latest| *one.account == *end.account && one.lane == end.lane && one.seq > seq;
        let lost = self.latest.iter().filter(is_lost).map(|one| one.request);
        lost.filter(|request| seen.insert(*request)).collect()
    }

    fn forget(&mut self, end: &ChainEnd) {
        if let Some(chains) = self.ends.get_mut(end.account.as_str()) {
            chains.remove(&end.lane);
        }
        self.latest
            .retain(|one| *one.account != *end.account || one.lane != end.lane);
    }
}

/// Acknowledged records of one chain that are gone.
struct Loss {
    end: ChainEnd,
    /// The place where the chain ends now.
    found: i64,
    account_name: String,
    requests: Vec<Uuid>,
}

impl Writer {
    /// Remembers records that were acknowledged, if the store could lose them.
    pub(super) fn acknowledge(&self, batches: &[Arc<Batch>]) {
        if self.store.connections().is_none() {
            return;
        }
        let mut acknowledged = self.acknowledged();
        for batch in batches {
            acknowledged.add(batch);
        }
    }

    /// Whether a chain that ends here lacks acknowledged records.
    pub(super) fn is_behind(&self, account: &str, lane: i64, (seq, digest): End) -> bool {
        let known = self.acknowledged().end(account, lane);
        known.is_some_and(|(last, end)| last > seq || (last == seq && end != digest))
    }

    /// Looks for lost records after connections were opened, which may lead to another server.
    pub(super) async fn compare_after_reconnect(&self, lane: &mut Option<Lane>) {
        let opened = self.store.connections();
        if opened.unwrap_or_default() == self.compared.load(Ordering::Acquire) {
            return;
        }
        if let Err(error) = self.leave_rolled_back(lane).await {
            tracing::warn!("acknowledged records were not looked for: {error}");
        }
    }

    /// Retires the lanes whose chains lack acknowledged records, and queues an alert for each of these chains.
    pub(super) async fn leave_rolled_back(&self, lane: &mut Option<Lane>) -> Result<()> {
        let opened = self.store.connections().unwrap_or_default();
        let losses = self.losses().await?;
        let lanes: BTreeSet<i64> = losses.iter().map(|loss| loss.end.lane).collect();
        let held = lane.as_ref().map(|lane| lane.linker.lane);
        if !lanes.is_empty() && held.is_none_or(|held| lanes.contains(&held)) {
            // First the new lane: without one, other processes would end the requests of this one. Other lanes may have
            // lost records as well, so none of them is used again.
            *lane = Some(self.acquire_new().await?);
        }
        for lane in lanes {
            self.retire(lane).await?;
        }
        for loss in losses {
            self.raise(&loss);
            self.acknowledged().forget(&loss.end);
        }
        self.compared.store(opened, Ordering::Release);
        Ok(())
    }

    /// The chains that lack acknowledged records.
    async fn losses(&self) -> Result<Vec<Loss>> {
        let ends = self.acknowledged().all();
        let mut losses = Vec::new();
        if ends.is_empty() {
            return Ok(losses);
        }
        for end in self.store.missing_ends(&ends).await? {
            let head = self.store.head(&end.account, end.lane).await?;
            let found = head.map_or(0, |head| head.seq.min(end.seq - 1));
            losses.push(Loss {
                account_name: self.keyring.guard().account_name(&end.account).await?,
                requests: self.acknowledged().requests_after(&end, found),
                found,
                end,
            });
        }
        Ok(losses)
    }

    /// Queues the alerts about one chain.
    fn raise(&self, loss: &Loss) {
        let (lane, lost) = (loss.end.lane, loss.end.seq - loss.found);
        tracing::error!(
            chain = lane,
            records.n = lost,
            requests.n = loss.requests.len(),
            "audit_rollback: acknowledged records are missing from the store, as after a failover without enough \
             standbys; the alert in the audit trail names their requests, and a new chain was begun"
        );
        self.rollbacks.fetch_add(1, Ordering::Relaxed);
        let mut rest = loss.requests.as_slice();
        loop {
            let (named, further) = rest.split_at(rest.len().min(NAMED));
            let alert = Alert::new((self.clock)(), &loss.account_name, AlertCode::AuditRollback)
                .subject(&format!("chain {lane}"))
                .requests(named)
                .detail("records_lost", &lost)
                .detail("acknowledged", &loss.end.seq)
                .detail("found", &loss.found);
            let entry = entry::alert(&loss.end.account, &alert);
            let mut job = Job::of(entry, Waiter::none());
            job.changes = vec![cause::remembered(&loss.end.account, &alert)];
            self.queue.push_always(job);
            rest = further;
            if rest.is_empty() {
                return;
            }
        }
    }

    fn acknowledged(&self) -> MutexGuard<'_, Acknowledged> {
        self.acknowledged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
