//! Lanes: the chain that this process writes to, and leases that show which processes are alive.
//!
//! A process leases a lane before its first write and renews the lease while it runs. Lanes are reused, so the number
//! of chains is the largest number of concurrent writers. A lease is only a hint: if two processes hold one lane, the
//! unique position in the chain lets only one of them write.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use uuid::Uuid;

use crate::chain::Linker;
use crate::item::{Change, Expect, Item, ItemKind};
use crate::rows::{Batch, Head};
use crate::store::{CommitError, SYSTEM};
use crate::writer::job::{Job, Waiter};
use crate::writer::{Writer, entry, join};
use crate::{Result, StoreError};

/// Interval between renewals of a lease.
pub(super) const BEAT: Duration = Duration::from_secs(5);
/// Time without renewal after which a lane is free. Each process measures it with its own clock, from the renewals it
/// saw, so clock differences between machines do not matter.
const LEASE: Duration = Duration::from_secs(20);
/// Interval at which chains are joined and the database is maintained.
const HOUR: Duration = Duration::from_secs(3_600);

/// A lane held by this process.
pub(crate) struct Lane {
    pub(crate) linker: Linker,
    /// Alternates with every transaction, see [`Lane::counter_row`].
    is_odd: bool,
    version: i64,
    /// Heads of other chains at the last join: account and lane → position.
    joined: HashMap<(String, i64), i64>,
    hour_ends: Option<Instant>,
}

impl Lane {
    /// Starts another transaction; the one before may still be committing.
    pub(crate) fn turn(&mut self) {
        self.is_odd = !self.is_odd;
    }

    /// The counter rows of the transaction. Consecutive transactions use different rows; otherwise the second would
    /// wait for the first.
    pub(super) fn counter_row(&self) -> i64 {
        self.linker.lane * 2 + i64::from(self.is_odd)
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct Lease {
    pub(super) instance: Uuid,
    pub(super) released: bool,
    /// Whether the process serves requests, so that replicas can count each other.
    #[serde(default)]
    pub(super) serves: bool,
    /// Whether its chains lost records, so that no process may write to them again.
    #[serde(default)]
    pub(super) retired: bool,
}

impl Writer {
    /// Leases a free lane or a new one.
    pub(super) async fn acquire(&self) -> Result<Lane> {
        self.lease(true).await
    }

    /// Leases a new lane.
    pub(super) async fn acquire_new(&self) -> Result<Lane> {
        self.lease(false).await
    }

    async fn lease(&self, reuses: bool) -> Result<Lane> {
        self.store.hold(self.instance)?;
        loop {
            let lanes = self.leases().await?;
            let free = lanes
                .iter()
                .find(|lane| reuses && !lane.2.retired && self.is_over(lane));
            let (number, expect) = match free {
                Some((number, version, _)) => (*number, Expect::Version(*version)),
                None => (
                    lanes.iter().map(|(number, ..)| *number).max().unwrap_or(0) + 1,
                    Expect::Absent,
                ),
            };
            match self.put_lease(number, false, expect).await {
                Ok(version) => {
                    return Ok(Lane {
                        linker: Linker {
                            lane: number,
                            heads: HashMap::new(),
                        },
                        is_odd: false,
                        version,
                        joined: HashMap::new(),
                        hour_ends: None,
                    });
                }
                Err(CommitError::Stale) => {}
                Err(
                    CommitError::Failed(error)
                    | CommitError::Unconfirmed(error)
                    | CommitError::Unknown(error)
                    | CommitError::Rejected(error),
                ) => return Err(error),
                Err(CommitError::LaneTaken | CommitError::RolledBack | CommitError::NotOpen(_)) => {
                    return Err(StoreError::Conflict("lane"));
                }
            }
        }
    }

    /// Renews the lease and runs the periodic work.
    pub(super) async fn beat(&self, lane: &mut Option<Lane>) {
        if lane.is_none() && self.serve {
            *lane = self.acquire().await.ok();
        }
        let Some(held) = lane.as_mut() else { return };
        match self
            .put_lease(held.linker.lane, false, Expect::Version(held.version))
            .await
        {
            Ok(version) => held.version = version,
            Err(CommitError::Stale) => *lane = None,
            Err(_) => return,
        }
        self.compare_after_reconnect(lane).await;
        self.touch_used().await;
        self.touch_allowed().await;
        if self.serve {
            self.recover().await;
            if let Some(held) = lane.as_mut() {
                self.hourly(held).await;
            }
        }
    }

    /// Runs a server's hourly work, also at start.
    async fn hourly(&self, lane: &mut Lane) {
        if lane.hour_ends.is_some_and(|end| end > Instant::now()) {
            return;
        }
        lane.hour_ends = Some(Instant::now() + HOUR);
        if let Err(error) = self.store.tidy().await {
            tracing::warn!("store housekeeping failed: {error}");
        }
        self.join(lane).await;
    }

    /// Records the heads of the other chains in this chain.
    async fn join(&self, lane: &mut Lane) {
        let Ok(heads) = self.store.heads(None).await else {
            return;
        };
        self.note_chains(&heads).await;
        let mut news: BTreeMap<String, Vec<Head>> = BTreeMap::new();
        for head in heads
            .into_iter()
            .filter(|head| head.lane != lane.linker.lane)
        {
            let before = lane
                .joined
                .insert((head.account.clone(), head.lane), head.seq);
            if before != Some(head.seq) {
                news.entry(head.account.clone()).or_default().push(head);
            }
        }
        for (account, heads) in news {
            if let Ok(name) = self.keyring.guard().account_name(&account).await {
                let act = join::act((self.clock)(), &name, &heads);
                self.queue
                    .push_always(Job::of(entry::admin(&account, &act), Waiter::none()));
            }
        }
    }

    /// Adds new chains to the rolls of their accounts, so that the loss of a chain is detected.
    async fn note_chains(&self, heads: &[Head]) {
        let mut chains: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
        for head in heads {
            chains.entry(&head.account).or_default().push(head.lane);
        }
        for (account, chains) in chains {
            if let Err(error) = self.keyring.guard().note_chains(account, &chains).await {
                tracing::warn!("cannot note the chains of an account: {error}");
            }
        }
    }

    /// Releases the lane.
    pub(super) async fn release(&self, lane: Option<Lane>) {
        if let Some(lane) = lane {
            // If this fails, the lease expires.
            let _ = self
                .put_lease(lane.linker.lane, true, Expect::Version(lane.version))
                .await;
        }
    }

    /// The number of processes that serve requests on this store.
    pub(crate) async fn servers(&self) -> Result<usize> {
        let leases = self.leases().await?;
        let serves = |lane: &&(i64, i64, Lease)| lane.2.serves && !self.is_over(lane);
        Ok(leases.iter().filter(serves).count())
    }

    /// Whether a process is alive, as far as its lease shows.
    pub(crate) async fn is_alive(&self, instance: Uuid) -> Result<bool> {
        if instance == self.instance {
            return Ok(true);
        }
        let leases = self.leases().await?;
        let mut own = leases.iter().filter(|lane| lane.2.instance == instance);
        Ok(own.any(|lane| !self.is_over(lane)))
    }

    /// All leases: number, version, lease.
    pub(super) async fn leases(&self) -> Result<Vec<(i64, i64, Lease)>> {
        let read = |item: Item| {
            let lease = serde_json::from_str(&item.body).ok()?;
            Some((item.id.parse().ok()?, item.version, lease))
        };
        let items = self.store.items(Some(SYSTEM), ItemKind::Lane).await?;
        Ok(items.into_iter().filter_map(read).collect())
    }

    async fn put_lease(
        &self,
        number: i64,
        released: bool,
        expect: Expect,
    ) -> Result<i64, CommitError> {
        let lease = Lease {
            instance: self.instance,
            released,
            serves: self.serve,
            retired: false,
        };
        self.put(number, &lease, expect).await
    }

    /// Ends a lane for good. A process that holds it takes another one.
    pub(super) async fn retire(&self, number: i64) -> Result<()> {
        let lease = Lease {
            instance: self.instance,
            released: true,
            serves: false,
            retired: true,
        };
        self.put(number, &lease, Expect::Any).await?;
        Ok(())
    }

    /// Numbers of the lanes that were ended for good.
    pub(crate) async fn retired(&self) -> Result<Vec<i64>> {
        let leases = self.leases().await?;
        let retired = leases.into_iter().filter(|(_, _, lease)| lease.retired);
        Ok(retired.map(|(number, ..)| number).collect())
    }

    async fn put(&self, number: i64, lease: &Lease, expect: Expect) -> Result<i64, CommitError> {
        let item = Item::new(SYSTEM, ItemKind::Lane, &number.to_string(), None, lease);
        let batch = Batch {
            changes: vec![Change::Put(item, expect)],
            ..Batch::default()
        };
        match self.store.commit(Arc::new(batch)).await {
            // A lease that a failover loses is renewed or taken again.
            Ok(()) | Err(CommitError::Unconfirmed(_)) => Ok(expect.next_version()),
            Err(error) => Err(error),
        }
    }

    /// Whether a lease has ended.
    pub(super) fn is_over(&self, (number, version, lease): &(i64, i64, Lease)) -> bool {
        if lease.instance == self.instance {
            return false;
        }
        if lease.released || self.store.is_gone(lease.instance) {
            return true;
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, since) = seen
            .entry(*number)
            .or_insert_with(|| (*version, Instant::now()));
        if known != version {
            (*known, *since) = (*version, Instant::now());
        }
        since.elapsed() > LEASE
    }
}
