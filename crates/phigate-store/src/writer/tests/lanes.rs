//! Lanes and leases: the chain of a process, detection of dead processes, and recovery of their requests.

use std::time::Duration;

use phigate_types::Act;
use uuid::Uuid;

use crate::item::{Change, Expect, Item, ItemKind};
use crate::model::Record;
use crate::rows::Batch;
use crate::store::{Lifecycle, SYSTEM};
use crate::writer::join::heads_in;
use crate::writer::lane::Lease;
use crate::writer::tests::{Process, SOON, Site, pass};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);

impl Process {
    fn instance(&self) -> Uuid {
        self.core.writer.instance
    }
}

impl Lease {
    fn is_held_by(&self, process: &Process) -> bool {
        self.instance == process.instance() && !self.released
    }
}

#[tokio::test(start_paused = true)]
async fn each_process_holds_and_releases_a_lane() {
    let site = Site::new().await;
    assert!(site.leases()[&1].1.released);
    let [one, two] = [site.start(false).await, site.start(false).await];
    pass(SOON).await;
    assert!(
        site.leases()[&1].1.released,
        "whoever writes nothing holds none"
    );
    one.decided().await;
    two.decided().await;
    let leases = site.leases();
    assert!(leases[&1].1.is_held_by(&one) && leases[&2].1.is_held_by(&two));
    let held = site.memory.with(|state| state.held.clone());
    assert!(held.contains(&one.instance()) && held.contains(&two.instance()));
    assert_eq!(site.lanes(&one), [1, 2]);
    one.close().await;
    assert!(site.leases()[&1].1.released);
    let three = site.start(false).await;
    three.decided().await;
    assert!(site.leases()[&1].1.is_held_by(&three));
    pass(SECOND * 60).await;
    three.decided().await;
    two.decided().await;
    assert_eq!(site.lanes(&three), [1, 2], "the chains go on");
    assert_eq!(site.leases().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn running_server_holds_a_lane_and_counts() {
    let site = Site::new().await;
    let (one, two) = (site.start(true).await, site.start(true).await);
    let tool = site.start(false).await;
    tool.decided().await;
    pass(SECOND * 60).await;
    assert_eq!(site.leases().len(), 3);
    let servers = async || tool.core.writer.servers().await.unwrap();
    assert_eq!(servers().await, 2);
    one.close().await;
    assert_eq!(servers().await, 1);
    two.kill();
    pass(SECOND * 10).await;
    assert_eq!(servers().await, 1, "its lease still runs");
    pass(SECOND * 15).await;
    assert_eq!(servers().await, 0);
}

#[tokio::test(start_paused = true)]
async fn only_dead_processes_have_requests_interrupted() {
    let site = Site::new().await;
    let (dead, alive) = (site.start(false).await, site.start(false).await);
    let (cut, under_way) = (dead.decided().await, alive.decided().await);
    dead.kill();
    let server = site.start(true).await;
    let own = server.decided().await;
    pass(SECOND * 15).await;
    assert_eq!(site.ends(cut), [], "it may be alive");
    pass(SECOND * 15).await;
    assert_eq!(site.ends(cut), [None]);
    let Some(Record::Outcome(outcome)) = site.records(cut).pop() else {
        panic!("the outcome is the last")
    };
    assert_eq!(outcome.account, "clinic");
    pass(SECOND * 60).await;
    for request in [under_way, own] {
        assert!(site.is_open(request));
        assert_eq!(site.ends(request), []);
    }
    // If the engine knows that a process is gone, its lease need not expire.
    let gone = alive.instance();
    alive.kill();
    site.memory.with(|state| state.gone.push(gone));
    pass(SECOND * 6).await;
    assert_eq!(site.ends(under_way), [None]);
    assert_eq!(site.ends(own), []);
    site.lanes(&server);
}

#[tokio::test(start_paused = true)]
async fn taking_a_lane_recovers_dead_requests() {
    let site = Site::new().await;
    let dead = site.start(false).await;
    let cut = dead.decided().await;
    dead.close().await;
    let tool = site.start(false).await;
    pass(SECOND).await;
    assert_eq!(site.ends(cut), [], "it has written nothing yet");
    tool.decided().await;
    pass(SOON).await;
    assert_eq!(site.ends(cut), [None]);
}

#[tokio::test(start_paused = true)]
async fn lost_lane_is_replaced_and_requests_kept() {
    let site = Site::new().await;
    let server = site.start(true).await;
    let request = server.decided().await;
    let (version, _) = site.leases()[&1];
    // Another process has taken the lane, as after a long sleep.
    let other = Lease {
        instance: Uuid::now_v7(),
        released: false,
        serves: false,
        retired: false,
    };
    let item = Item::new(SYSTEM, ItemKind::Lane, "1", None, &other);
    let batch = Batch {
        changes: vec![Change::Put(item, Expect::Version(version))],
        ..Batch::default()
    };
    site.memory.commit(batch.into()).await.unwrap();
    pass(SECOND * 12).await;
    assert_eq!(site.ends(request), []);
    assert!(site.leases()[&2].1.is_held_by(&server));
    server.decided().await;
    assert_eq!(site.lanes(&server), [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn brief_renewal_failure_keeps_the_lease() {
    let site = Site::new().await;
    let process = site.start(true).await;
    process.decided().await;
    site.memory.with(|state| state.is_down = true);
    pass(SECOND * 12).await;
    site.memory.with(|state| state.is_down = false);
    pass(SECOND * 12).await;
    process.decided().await;
    assert_eq!((site.lanes(&process), site.leases().len()), (vec![1], 1));
}

/// The heads in the acts that join chains: lane and position.
fn joins(site: &Site) -> Vec<Vec<(i64, i64)>> {
    let records = site.memory.with(|state| state.rows.records.clone());
    let acts =
        records
            .iter()
            .filter_map(|new| match serde_json::from_str(&new.row.body).unwrap() {
                Record::Admin(act) if act.act == Act::ChainJoin => Some(act),
                _ => None,
            });
    let ends = acts.map(|act| {
        heads_in(&act)
            .iter()
            .map(|(lane, seq, _)| (*lane, *seq))
            .collect()
    });
    ends.collect()
}

#[tokio::test(start_paused = true)]
async fn server_joins_chains_at_start_and_hourly() {
    let site = Site::new().await;
    let other = site.start(false).await;
    other.decided().await;
    pass(SOON).await;
    assert_eq!(site.memory.with(|state| state.tidied), 0, "not for a tool");
    let server = site.start(true).await;
    pass(SECOND).await;
    assert_eq!(joins(&site), [vec![(1, 2)]]);
    pass(HOUR).await;
    assert_eq!(joins(&site), [vec![(1, 2)]], "nothing new");
    other.decided().await;
    pass(HOUR / 2).await;
    assert_eq!(joins(&site), [vec![(1, 2)]], "not yet");
    pass(HOUR).await;
    assert_eq!(joins(&site), [vec![(1, 2)], vec![(1, 3)]]);
    let tidied = site.memory.with(|state| state.tidied);
    assert_eq!(tidied, 3);
    let guard = server.core.keyring.guard();
    let (_, top) = guard.top(&site.account).await.unwrap().unwrap();
    assert_eq!(top.chains, [1, 2], "no chain can disappear unseen");
    site.lanes(&server);
}

#[tokio::test(start_paused = true)]
async fn key_use_is_written_periodically() {
    let site = Site::new().await;
    let process = site.start(false).await;
    process.decided().await;
    let used = |id: &str| {
        let used = (site.account.clone(), 7);
        let mut all = process.core.writer.used.lock().unwrap();
        all.insert(id.to_owned(), used);
    };
    let noted = || {
        let items = site.memory.with(|state| state.rows.items.clone());
        let uses = items
            .into_values()
            .filter(|item| item.kind == ItemKind::ApiKeyUsed);
        let words = uses.map(|item| format!("{} {}", item.id, item.body));
        words.collect::<Vec<_>>()
    };
    used("first");
    pass(SECOND * 6).await;
    assert_eq!(noted(), ["first 7"]);
    used("second");
    process.core.writer.queue.close();
    pass(SOON).await;
    assert_eq!(noted(), ["first 7", "second 7"]);
}
