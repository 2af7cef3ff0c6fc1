//! The writer on an in-memory engine. Tokio's paused time advances only when no task can run.

mod groups;
mod lanes;
mod memory;
mod queue;
mod retries;
mod waiters;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_lc_rs::signature::KeyPair;
use jiff::Timestamp;
use phigate_types::{Act, Action, ErrorCode, Mode};
use phigate_verify::{Follower, Link};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::Result;
use crate::accounts::Accounts;
use crate::core::Core;
use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::keyring::Keyring;
use crate::keys::master::MasterKeySource;
use crate::model::{AdminAct, Decision, NewDecision, Outcome, Record, Sizes};
use crate::store::SYSTEM;
use crate::trail::Trail;
use crate::writer::lane::Lease;
use crate::writer::queue::{Bounds, Queue};
use crate::writer::{Writer, entry};
use memory::Memory;

/// Longest wait of a request for its record.
const LIMIT: Duration = Duration::from_secs(2);
/// Long enough for everything that is not delayed.
const SOON: Duration = Duration::from_millis(100);
/// Number of initial records: the creation of the account.
const FIRST: usize = 1;

/// A store, and an account in it.
struct Site {
    memory: Arc<Memory>,
    folder: TempDir,
    account: String,
}

/// A process that writes to it.
struct Process {
    core: Arc<Core>,
    trail: Trail,
    account: String,
    task: JoinHandle<()>,
}

impl Site {
    async fn new() -> Self {
        let mut site = Self {
            memory: Arc::default(),
            folder: tempfile::tempdir().unwrap(),
            account: String::new(),
        };
        let first = site.start(false).await;
        let accounts = Accounts::new(first.core.clone());
        let made = accounts.create_account("clinic", "cli").await;
        site.account = made.unwrap().id;
        first.close().await;
        site.memory.with(|state| state.groups.clear());
        site
    }

    /// Starts a process; with `serve` it serves requests.
    async fn start(&self, serve: bool) -> Process {
        let source = MasterKeySource::File(self.folder.path().join("key"));
        let opened = Keyring::open(self.memory.clone(), source, None).await;
        let keyring = Arc::new(opened.unwrap().0);
        let clock: crate::Clock = Arc::new(|| Timestamp::UNIX_EPOCH);
        let bounds = Bounds {
            jobs: 1_000,
            bytes: 1 << 20,
        };
        let writer = Arc::new(Writer {
            store: self.memory.clone(),
            keyring: keyring.clone(),
            clock: clock.clone(),
            instance: Uuid::now_v7(),
            queue: Queue::new(bounds),
            used: Mutex::default(),
            allowed: Mutex::default(),
            seen: Mutex::default(),
            serve,
            give_up: AtomicBool::new(false),
            commits: AtomicU64::new(0),
            acknowledged: Mutex::default(),
            compared: AtomicU64::new(0),
            rollbacks: AtomicU64::new(0),
        });
        let core = Arc::new(Core {
            store: self.memory.clone(),
            keyring,
            writer: writer.clone(),
            clock,
            rosters: crate::model::RosterCache::default(),
        });
        Process {
            trail: Trail::new(core.clone()),
            core,
            account: self.account.clone(),
            task: tokio::spawn(writer.run()),
        }
    }

    /// The records of a request, oldest first.
    fn records(&self, request: Uuid) -> Vec<Record> {
        let all = self.memory.with(|state| state.rows.records.clone());
        let its = all.iter().filter(|new| new.row.request == Some(request));
        its.map(|new| serde_json::from_str(&new.row.body).unwrap())
            .collect()
    }

    /// The outcomes of a request, which must have one decision.
    fn ends(&self, request: Uuid) -> Vec<Option<u16>> {
        let records = self.records(request);
        let decisions = records
            .iter()
            .filter(|one| matches!(one, Record::Decision(_)));
        assert_eq!(decisions.count(), 1, "{records:?}");
        let outcomes = records.iter().filter_map(|record| match record {
            Record::Outcome(outcome) => Some(outcome.status),
            Record::Decision(_) | Record::Attempt(_) | Record::Admin(_) | Record::Alert(_) => None,
        });
        outcomes.collect()
    }

    /// The lanes with records of the account. Every chain of every account must verify.
    fn lanes(&self, process: &Process) -> Vec<i64> {
        let signing = &process.core.keyring.root.signing;
        let public = signing.public_key().as_ref().to_vec();
        let mut chains: BTreeMap<(String, i64), Follower> = BTreeMap::new();
        for new in self.memory.with(|state| state.rows.records.clone()) {
            let (account, lane) = (new.row.account.clone(), new.link.lane);
            let link = Link {
                seq: new.link.seq,
                leaf: new.link.leaf,
                digest: new.link.digest,
                signature: new.link.signature,
                authentic: None,
                record: Some(new.row.id),
                request_id: new.row.request,
            };
            let follower = chains
                .entry((account.clone(), lane))
                .or_insert_with(|| Follower::new(&account, lane));
            follower.follow(&public, link).unwrap();
        }
        for follower in chains.values_mut() {
            follower.finish().unwrap();
        }
        let lanes = chains.into_keys().filter(|one| one.0 == self.account);
        lanes.map(|(_, lane)| lane).collect()
    }

    fn groups(&self) -> Vec<usize> {
        self.memory.with(|state| state.groups.clone())
    }

    /// The leases, by lane.
    fn leases(&self) -> BTreeMap<i64, (i64, Lease)> {
        let items = self.memory.with(|state| state.rows.items.clone());
        let leases = items
            .into_values()
            .filter(|item| item.kind == ItemKind::Lane);
        let read = |item: Item| {
            (
                item.id.parse().unwrap(),
                (item.version, item.read().unwrap()),
            )
        };
        leases.map(read).collect()
    }

    fn is_open(&self, request: Uuid) -> bool {
        let open = self.memory.with(|state| state.rows.open.clone());
        open.iter().any(|row| row.request == request)
    }
}

impl Process {
    async fn close(self) {
        self.core.writer.queue.close();
        self.task.await.unwrap();
    }

    /// Ends the process abruptly, as by `kill -9`.
    fn kill(self) {
        self.task.abort();
    }

    fn new_decision(&self) -> NewDecision {
        NewDecision {
            account_id: self.account.clone(),
            decision: Decision {
                request_id: Uuid::now_v7(),
                time: Timestamp::UNIX_EPOCH,
                account: "clinic".to_owned(),
                key_id: "abcdefghijkl".to_owned(),
                subject: None,
                mode: Mode::FLAG,
                policy: None,
                action: Action::FORWARDED,
                model: None,
                family: None,
                provider: None,
                stream: false,
                phi_detected: false,
                types: BTreeMap::new(),
                allowed: BTreeMap::new(),
                findings: Vec::new(),
                unscannable: Vec::new(),
                sizes: Sizes::default(),
                detector_version: "1".to_owned(),
                door: None,
                conversation: None,
                terms: crate::model::ProviderTerms::default(),
                error_code: None,
                sealed: None,
            },
            original: None,
            sent: None,
            identifiers: Vec::new(),
            tokens: Vec::new(),
        }
    }

    /// Starts a request that waits for its decision to be recorded, in a task.
    fn decide_within(&self, limit: Duration) -> (Uuid, JoinHandle<Result<()>>) {
        self.start(self.new_decision(), limit)
    }

    /// Starts a request of another account.
    fn decide_for(&self, account: &str) -> (Uuid, JoinHandle<Result<()>>) {
        let mut new = self.new_decision();
        new.account_id = account.to_owned();
        self.start(new, LIMIT)
    }

    fn start(&self, new: NewDecision, limit: Duration) -> (Uuid, JoinHandle<Result<()>>) {
        let trail = self.trail.clone();
        let request = new.decision.request_id;
        let task = async move { trail.record_decision(new, limit).await.map(|_| ()) };
        (request, tokio::spawn(task))
    }

    fn decide(&self) -> (Uuid, JoinHandle<Result<()>>) {
        self.decide_within(LIMIT)
    }

    async fn decided(&self) -> Uuid {
        let (request, task) = self.decide();
        task.await.unwrap().unwrap();
        request
    }

    /// Starts a request that does not wait.
    async fn decide_lazily(&self) -> Uuid {
        let new = self.new_decision();
        let request = new.decision.request_id;
        let queued = self.trail.record_decision_lazily(new, LIMIT);
        queued.await.unwrap();
        request
    }

    fn answer(&self, request: Uuid) -> Outcome {
        let time = Timestamp::UNIX_EPOCH;
        let code = ErrorCode::Interrupted;
        Outcome {
            error_code: None,
            ..entry::ended(request, time, "clinic", Some(200), code)
        }
    }

    fn end_lazily(&self, request: Uuid) {
        let outcome = self.answer(request);
        self.trail.queue_outcome(&self.account, &outcome);
    }

    /// Starts a change of settings, in a task; it expects a version.
    fn change(&self, name: &str, expect: Expect) -> JoinHandle<Result<()>> {
        let act = AdminAct::new(Timestamp::UNIX_EPOCH, "clinic", "cli", Act::ModeSet);
        let item = Item::new(SYSTEM, ItemKind::Meta, name, None, &name);
        let (core, account) = (self.core.clone(), self.account.clone());
        let changes = vec![Change::Put(item, expect)];
        tokio::spawn(async move { core.submit(&account, &act, changes, false).await })
    }

    fn commits(&self) -> u64 {
        self.core.writer.commits.load(Ordering::Relaxed)
    }
}

async fn all_ok(tasks: Vec<(Uuid, JoinHandle<Result<()>>)>) -> BTreeSet<Uuid> {
    let mut requests = BTreeSet::new();
    for (request, task) in tasks {
        task.await.unwrap().unwrap();
        requests.insert(request);
    }
    requests
}

async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}
