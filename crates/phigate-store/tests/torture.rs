//! kill -9 at random moments under load: what was acknowledged is there, once, and the trail is whole.
//!
//! A short run is part of the tests; `PHIGATE_TORTURE=500` asks for as many kills per engine.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod support;

use phigate_store::{MasterKeySource, Options, Record, Target, Vault};
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use support::postgres::Postgres;
use support::{PATIENCE, Site, account, answered, clean, masked};
use uuid::Uuid;

const STORE: &str = "PHIGATE_TORTURE_STORE";
const KEY: &str = "PHIGATE_TORTURE_KEY";
/// So many that the next group is on its way while one is committed.
const CALLERS: usize = 96;

/// Opens the store named by the environment and writes until it is killed. Each line says what was
/// acknowledged: `D` a decision, `O` its outcome.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by the tests below, in a process of its own"]
async fn writer_in_a_process_of_its_own() {
    let store = std::env::var(STORE).unwrap();
    let key = MasterKeySource::File(PathBuf::from(std::env::var(KEY).unwrap()));
    let target = if store.contains("://") {
        Target::Url(store)
    } else {
        Target::Folder(store.into())
    };
    let vault = Arc::new(
        Vault::open(Options {
            serve: true,
            ..Options::new(target, key)
        })
        .await
        .unwrap(),
    );
    let account = account(&vault).await;
    let tell = |what: &str, request: Uuid| {
        let mut out = std::io::stdout().lock();
        // One write per line, so that a kill cannot mix two.
        out.write_all(format!("\n{what} {request}\n").as_bytes())
            .unwrap();
        out.flush().unwrap();
    };
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..CALLERS {
        let (vault, account) = (vault.clone(), account.clone());
        callers.spawn(async move {
            loop {
                let new = if caller % 4 == 0 {
                    clean(&account)
                } else {
                    masked(&account)
                };
                let request = new.decision.request_id;
                vault.trail.record_decision(new, PATIENCE).await.unwrap();
                tell("D", request);
                vault
                    .trail
                    .record_outcome(&account, &answered(request), PATIENCE)
                    .await
                    .unwrap();
                tell("O", request);
            }
        });
    }
    callers.join_all().await;
}

fn rounds() -> u64 {
    std::env::var("PHIGATE_TORTURE")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(6)
}

/// Starts a writer, kills it after a while, and returns what it had been told.
fn kill_one(store: &str, key: &std::path::Path, round: u64) -> (Vec<Uuid>, Vec<Uuid>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "writer_in_a_process_of_its_own",
            "--ignored",
            "--nocapture",
        ])
        .env(STORE, store)
        .env(KEY, key)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (mut decisions, mut outcomes) = (Vec::new(), Vec::new());
    let mut take = |line: String| match line.split_once(' ') {
        Some(("D", id)) => decisions.extend(Uuid::try_parse(id)),
        Some(("O", id)) => outcomes.extend(Uuid::try_parse(id)),
        _ => {}
    };
    // Only a kill with work under way counts, so the first acknowledgement is waited for.
    for line in lines.by_ref() {
        let line = line.unwrap();
        let is_first = line.starts_with("D ");
        take(line);
        if is_first {
            break;
        }
    }
    std::thread::sleep(Duration::from_micros(round * 7_919 % 60_000));
    child.kill().unwrap();
    lines.map_while(Result::ok).for_each(&mut take);
    child.wait().unwrap();
    (decisions, outcomes)
}

/// After the kills: one server start, and everything is accounted for.
async fn check(site: &Site, decisions: &[Uuid], outcomes: &[Uuid]) {
    let vault = site.serve().await;
    let account = account(&vault).await;
    let mut found: HashMap<Uuid, (usize, Vec<Option<u16>>)> = HashMap::new();
    for _ in 0..300 {
        vault.flush().await.unwrap();
        found.clear();
        let mut export = vault
            .trail
            .audit_export(&account, &phigate_store::Filter::default(), "cli")
            .await
            .unwrap();
        while let Some(line) = export.next().await.unwrap() {
            match line.record {
                Some(Record::Decision(decision)) => {
                    found.entry(decision.request_id).or_default().0 += 1;
                }
                Some(Record::Outcome(outcome)) => found
                    .entry(outcome.request_id)
                    .or_default()
                    .1
                    .push(outcome.status),
                Some(Record::Attempt(_) | Record::Admin(_)) | None => {}
            }
        }
        // On PostgreSQL the dead process is known to be dead once its lease has run out.
        if found.values().all(|(_, outcomes)| !outcomes.is_empty()) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let outcomes: HashSet<&Uuid> = outcomes.iter().collect();
    for request in decisions {
        assert!(
            found.contains_key(request),
            "acknowledged decision {request} is lost"
        );
    }
    for (request, (decided, ended)) in &found {
        assert_eq!(
            (*decided, ended.len()),
            (1, 1),
            "request {request} has one decision and one outcome"
        );
        let was_told = outcomes.contains(request);
        assert!(
            !was_told || ended[0] == Some(200),
            "acknowledged outcome of {request} is lost"
        );
    }
    let report = vault.trail.verify(None, &[], |_| {}).await.unwrap();
    assert!(report.is_intact(), "{report:?}");
    vault.close(PATIENCE).await.unwrap();
}

async fn torture(site: &Site, store: &str) {
    support::close(site.open().await).await;
    let (mut decisions, mut outcomes) = (Vec::new(), Vec::new());
    for round in 0..rounds() {
        let (decided, ended) = kill_one(store, &site.key_file(), round);
        assert!(
            !decided.is_empty(),
            "a kill before anything was written proves nothing"
        );
        decisions.extend(decided);
        outcomes.extend(ended);
    }
    println!(
        "{} kills, {} decisions and {} outcomes acknowledged",
        rounds(),
        decisions.len(),
        outcomes.len()
    );
    check(site, &decisions, &outcomes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_by_kills_on_sqlite() {
    let site = Site::sqlite();
    torture(&site, site.data().to_str().unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_by_kills_on_postgresql() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let site = Site::postgres(&server, "torture");
    torture(&site, &server.url("torture")).await;
}
