//! Standbys that must confirm commits, and failovers to an older copy.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use phigate_store::{Filter, MasterKeySource, Options, StoreError, Target, Vault};
use phigate_types::AlertCode;
use uuid::Uuid;

use crate::support::postgres::Postgres;
use crate::support::{PATIENCE, Site, account, answered, export, masked, outcomes};

const WAITING: &str = "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

async fn open(site: &Site, standbys: u32) -> Arc<Vault> {
    let opened = Vault::open(Options {
        serve: true,
        standbys,
        ..site.options()
    });
    Arc::new(opened.await.unwrap())
}

/// Starts to record a decision with a long deadline.
fn recording(vault: &Arc<Vault>, account: &str) -> tokio::task::JoinHandle<(Uuid, bool)> {
    let (vault, new) = (Arc::clone(vault), masked(account));
    tokio::spawn(async move {
        let request = new.decision.request_id;
        let recorded = vault.trail.record_decision(new, PATIENCE).await;
        (request, recorded.is_ok())
    })
}

/// Records one request completely, within a while.
async fn record(vault: &Arc<Vault>, account: &str) -> Uuid {
    let started = Instant::now();
    loop {
        let new = masked(account);
        let request = new.decision.request_id;
        let recorded = vault
            .trail
            .record_decision(new, Duration::from_secs(5))
            .await;
        if recorded.is_ok() {
            let outcome = answered(request);
            let ended = vault.trail.record_outcome(account, &outcome, PATIENCE);
            ended.await.unwrap();
            return request;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "not recorded");
    }
}

async fn is_intact(vault: &Vault) -> bool {
    let report = vault.trail.verify(None, &[], |_| {}).await.unwrap();
    report.is_intact()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unconfirmed_commits_count_as_not_written() {
    let Some(primary) = Postgres::start() else {
        return;
    };
    let site = Site::postgres(&primary, "standbys");
    let standby = primary.standby("s1");
    primary.set("synchronous_standby_names", "*");
    let vault = open(&site, 1).await;
    let account = account(&vault).await;
    record(&vault, &account).await;
    let mut refused = Vec::new();
    for sql in [
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
        "ALTER SYSTEM SET synchronous_standby_names = ''",
    ] {
        standby.signal_all("STOP");
        let recording = recording(&vault, &account);
        primary.wait(WAITING, "t");
        assert!(primary.psql("postgres", sql));
        assert!(primary.psql("postgres", "SELECT pg_reload_conf()"));
        let (request, is_recorded) = recording.await.unwrap();
        assert!(!is_recorded, "{sql}");
        refused.push(request);
        standby.signal_all("CONT");
    }
    let ping = vault.health.ping().await;
    assert!(matches!(ping, Err(StoreError::Standbys(_))), "{ping:?}");
    primary.set("synchronous_standby_names", "FIRST 1 (s1)");
    record(&vault, &account).await;
    vault.flush().await.unwrap();
    for request in refused {
        assert_eq!(outcomes(&vault, &account, request).await, [Some(503)]);
    }
    assert!(is_intact(&vault).await);
    vault.close(PATIENCE).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_records_are_named_after_a_failover() {
    let Some(primary) = Postgres::start() else {
        return;
    };
    let first = Site::postgres(&primary, "failover");
    let standby = primary.standby("s1");
    let url = format!(
        "postgres://postgres@127.0.0.1:{},127.0.0.1:{}/failover?target_session_attrs=read-write",
        primary.port(),
        standby.port()
    );
    let vault = open(&first, 0).await;
    let account = account(&vault).await;
    vault.close(PATIENCE).await.unwrap();
    let site = first.at(url);
    let vault = open(&site, 0).await;
    let kept = record(&vault, &account).await;
    vault.flush().await.unwrap();
    let behind = "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn < pg_current_wal_lsn()";
    primary.wait(behind, "0");
    standby.crash();
    let mut lost = Vec::new();
    for _ in 0..3 {
        lost.push(record(&vault, &account).await);
    }
    primary.crash();
    standby.resume();
    standby.promote();
    let after = record(&vault, &account).await;
    vault.flush().await.unwrap();
    let lines = export(&vault, &account, &Filter::default()).await;
    let lines: Vec<serde_json::Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let lane_of = |request: Uuid| {
        let request = request.to_string();
        let decision = lines.iter().find(|line| line["request_id"] == *request);
        decision.map(|line| line["chain"]["lane"].clone())
    };
    assert!(lane_of(kept).is_some() && lane_of(lost[0]).is_none());
    assert_ne!(lane_of(kept), lane_of(after), "the old chain went on");
    let mut alerts = lines.iter().filter(|line| line["record"] == "alert");
    let alert = alerts.next().expect("an alert");
    assert_eq!(alert["alert"], AlertCode::AuditRollback.code());
    assert_eq!(alert["requests"], serde_json::json!(lost));
    assert!(alerts.next().is_none(), "one alert per chain");
    assert_eq!(vault.health.retired_chains().await.unwrap().len(), 1);
    assert!(is_intact(&vault).await);
    vault.close(PATIENCE).await.unwrap();
}

#[tokio::test]
async fn embedded_store_with_standbys_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = Vault::open(Options {
        standbys: 1,
        ..Options::new(
            Target::Folder(folder.path().join("data")),
            MasterKeySource::File(folder.path().join("data.key")),
        )
    });
    let error = refused.await.err().unwrap().to_string();
    assert!(error.contains("store.standbys"), "{error}");
}

/// Decisions that callers of a vault acknowledge while the load runs.
struct Load {
    stop: Arc<AtomicBool>,
    callers: tokio::task::JoinSet<Vec<Uuid>>,
}

impl Load {
    fn start(vault: &Arc<Vault>, account: &str) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let mut callers = tokio::task::JoinSet::new();
        for _ in 0..6 {
            let (vault, account, stop) = (vault.clone(), account.to_owned(), stop.clone());
            callers.spawn(async move {
                let mut written = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let new = masked(&account);
                    let request = new.decision.request_id;
                    let recorded = vault.trail.record_decision(new, Duration::from_secs(2));
                    if recorded.await.is_ok() {
                        vault.trail.queue_outcome(&account, &answered(request));
                        written.push(request);
                    }
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                written
            });
        }
        Self { stop, callers }
    }

    async fn end(self) -> Vec<Uuid> {
        self.stop.store(true, Ordering::Relaxed);
        self.callers.join_all().await.concat()
    }
}

/// The requests that have a record of this kind, which must be one each.
fn requests_with(lines: &[String], record: &str) -> BTreeSet<String> {
    let mut requests = BTreeSet::new();
    for line in lines {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        if line["record"] == record {
            let request = line["request_id"].as_str().unwrap().to_owned();
            assert!(requests.insert(request), "a second {record}");
        }
    }
    requests
}

/// Number of failovers of the longer test, as `make failover` sets it.
fn failovers() -> usize {
    let given = std::env::var("PHIGATE_FAILOVERS").ok();
    given.map_or(1, |count| count.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failovers_with_a_standby_lose_nothing() {
    let Some(mut primary) = Postgres::start() else {
        return;
    };
    let first = Site::postgres(&primary, "failovers");
    let vault = open(&first, 0).await;
    let account = account(&vault).await;
    vault.close(PATIENCE).await.unwrap();
    let mut standby = primary.standby("s1");
    let (mut all, rounds) = (0, failovers());
    primary.set("synchronous_standby_names", "*");
    for round in 0..rounds {
        let hosts = [&primary, &standby].map(|server| format!("127.0.0.1:{}", server.port()));
        let site = first.at(format!("postgres://postgres@{}/failovers", hosts.join(",")));
        let vault = open(&site, 1).await;
        record(&vault, &account).await;
        let load = Load::start(&vault, &account);
        tokio::time::sleep(Duration::from_millis(500)).await;
        if round % 2 == 1 {
            // Frozen for a while, then gone: its standby must not hear from it once another leads.
            primary.signal_all("STOP");
            tokio::time::sleep(Duration::from_millis(300)).await;
            primary.signal_all("KILL");
        }
        primary.crash();
        standby.promote();
        let next = standby.standby(&format!("s{}", round + 2));
        (primary, standby) = (standby, next);
        primary.set("synchronous_standby_names", "*");
        record(&vault, &account).await;
        let written = load.end().await;
        vault.flush().await.unwrap();
        let lines = export(&vault, &account, &Filter::default()).await;
        for record in ["decision", "outcome"] {
            let known = requests_with(&lines, record);
            let is_kept = |request: &Uuid| known.contains(&request.to_string());
            assert!(written.iter().all(is_kept), "round {round}: {record}");
        }
        assert!(vault.health.retired_chains().await.unwrap().is_empty());
        assert!(is_intact(&vault).await, "round {round}");
        vault.close(PATIENCE).await.unwrap();
        all += written.len();
    }
    println!("{rounds} failovers, {all} requests acknowledged, 0 lost");
}
