//! While the store cannot be written nothing counts as written; when it can again, service resumes by itself.

use crate::support::disk::{Disk, allow_writing, forbid_writing};
use crate::support::postgres::Postgres;
use crate::support::{PATIENCE, Site, account, answered, clean, close, masked, outcomes};
use phigate_store::{Options, StoreError, Vault};
use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// Time that a request waits for its record.
const DEADLINE: Duration = Duration::from_secs(2);

/// One refused request: an error, in time, and nothing that looks like a forwarded request.
async fn refused(vault: &Vault, account: &str) -> Uuid {
    let new = masked(account);
    let request = new.decision.request_id;
    let started = Instant::now();
    let result = vault.trail.record_decision(new, DEADLINE).await;
    assert!(result.is_err(), "not written");
    assert!(
        started.elapsed() < DEADLINE + Duration::from_secs(1),
        "took {:?}",
        started.elapsed()
    );
    request
}

/// One request that is recorded completely, within a while.
async fn resumes(vault: &Vault, account: &str) -> Uuid {
    let started = Instant::now();
    loop {
        let new = masked(account);
        let request = new.decision.request_id;
        if vault.trail.record_decision(new, DEADLINE).await.is_ok() {
            vault
                .trail
                .record_outcome(account, &answered(request), PATIENCE)
                .await
                .unwrap();
            return request;
        }
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "does not resume"
        );
    }
}

/// Checks that refused requests are missing or have their outcome, and that the trail is intact.
async fn check(vault: &Vault, account: &str, refused: &[Uuid]) {
    vault.flush().await.unwrap();
    vault.flush().await.unwrap();
    for request in refused {
        let records = vault
            .trail
            .audit_show(account, *request)
            .await
            .unwrap_or_default();
        if !records.is_empty() {
            assert_eq!(outcomes(vault, account, *request).await, [Some(503)]);
        }
    }
    let report = vault.trail.verify(None, &[], |_| {}).await.unwrap();
    assert!(report.is_intact(), "{report:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_database_refuses_and_resumes() {
    let site = Site::sqlite();
    let vault = site.serve().await;
    let account = account(&vault).await;
    resumes(&vault, &account).await;
    let lazily = clean(&account);
    let lazy_id = lazily.decision.request_id;
    let holder = Connection::open(site.data().join("phigate.db")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    vault
        .trail
        .record_decision_lazily(lazily, DEADLINE)
        .await
        .unwrap();
    vault.trail.queue_outcome(&account, &answered(lazy_id));
    let refused = [
        refused(&vault, &account).await,
        refused(&vault, &account).await,
    ];
    assert!(vault.health.ping().await.is_err(), "health shows it");
    assert!(
        vault
            .access
            .create_api_key(&account, "", None, "cli")
            .await
            .is_err()
    );
    holder.execute_batch("ROLLBACK").unwrap();
    resumes(&vault, &account).await;
    check(&vault, &account, &refused).await;
    assert_eq!(
        outcomes(&vault, &account, lazy_id).await,
        [Some(200)],
        "what was queued was kept"
    );
    close(vault).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_refuses_and_resumes() {
    let Some(disk) = Disk::in_memory(4) else {
        return;
    };
    let site = Site::in_folder(disk.path());
    let vault = site.serve().await;
    let account = account(&vault).await;
    resumes(&vault, &account).await;
    let filler = disk.path().join("filler");
    let mut rest = std::fs::File::create(&filler).unwrap();
    while std::io::Write::write_all(&mut rest, &[0; 4_096]).is_ok() {}
    let mut refused_ids = Vec::new();
    for _ in 0..200 {
        let new = masked(&account);
        let request = new.decision.request_id;
        match vault.trail.record_decision(new, DEADLINE).await {
            Ok(_) => vault.trail.queue_outcome(&account, &answered(request)),
            Err(_) => refused_ids.push(request),
        }
        if refused_ids.len() > 3 {
            break;
        }
    }
    assert!(!refused_ids.is_empty(), "a full disk was never noticed");
    drop(rest);
    std::fs::remove_file(&filler).unwrap();
    resumes(&vault, &account).await;
    check(&vault, &account, &refused_ids).await;
    close(vault).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_only_file_refuses_and_resumes() {
    let site = Site::sqlite();
    let vault = site.serve().await;
    let account = account(&vault).await;
    resumes(&vault, &account).await;
    let (database, log) = (
        site.data().join("phigate.db"),
        site.data().join("phigate.db-wal"),
    );
    let files = [database.as_path(), log.as_path()];
    if !forbid_writing(&files) {
        return;
    }
    let refused = [
        refused(&vault, &account).await,
        refused(&vault, &account).await,
    ];
    assert!(vault.health.ping().await.is_err(), "health shows it");
    allow_writing(&files);
    resumes(&vault, &account).await;
    check(&vault, &account, &refused).await;
    close(vault).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_hangs_refuses_and_resumes() {
    let Some(disk) = Disk::real() else {
        return;
    };
    let site = Site::in_folder(disk.path());
    let vault = site.serve().await;
    let account = account(&vault).await;
    resumes(&vault, &account).await;
    let frozen = disk.freeze();
    let refused = [
        refused(&vault, &account).await,
        refused(&vault, &account).await,
    ];
    drop(frozen);
    resumes(&vault, &account).await;
    check(&vault, &account, &refused).await;
    close(vault).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_syncs_succeed_until_deadline_then_refuse() {
    let site = Site::sqlite();
    // Slow, but within the deadline: fifty requests at once share the syncs and are all recorded, which one after the
    // other they could not be. The deadline is a long one, for a busy machine.
    const LONG_DEADLINE: Duration = Duration::from_secs(10);
    let vault = slow(&site, 300).await;
    let account = account(&vault).await;
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let (vault, new) = (vault.clone(), masked(&account));
        callers.spawn(async move { vault.trail.record_decision(new, LONG_DEADLINE).await });
    }
    assert!(callers.join_all().await.iter().all(Result::is_ok));
    vault.close(PATIENCE).await.unwrap();
    // Slower than the deadline: refused in time, and records that were written after all say so.
    let vault = slow(&site, 2_500).await;
    let refused = [
        refused(&vault, &account).await,
        refused(&vault, &account).await,
    ];
    check(&vault, &account, &refused).await;
    vault.close(PATIENCE).await.unwrap();
}

async fn slow(site: &Site, milliseconds: u64) -> Arc<Vault> {
    let opened = Vault::open(Options {
        sync_delay: Duration::from_millis(milliseconds),
        ..site.options()
    });
    Arc::new(opened.await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgresql_outage_refuses_requests_until_recovery() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let site = Site::postgres(&server, "faults");
    let vault = Arc::new(site.serve().await);
    let account = account(&vault).await;
    let key = vault
        .access
        .create_api_key(&account, "", None, "cli")
        .await
        .unwrap();
    resumes(&vault, &account).await;
    server.crash();
    let mut refused_ids = vec![
        refused(&vault, &account).await,
        refused(&vault, &account).await,
    ];
    assert!(
        vault.access.admit(key.key.expose()).await.is_err(),
        "settings that cannot be checked are not used"
    );
    server.resume();
    resumes(&vault, &account).await;
    server.signal_all("STOP");
    refused_ids.push(refused(&vault, &account).await);
    server.signal_all("CONT");
    resumes(&vault, &account).await;
    assert!(vault.access.admit(key.key.expose()).await.is_ok());
    // Requests without pause while the server restarts: each is recorded once or not at all.
    let over = Arc::new(AtomicBool::new(false));
    let load = tokio::spawn(load(vault.clone(), account.clone(), over.clone()));
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(400)).await;
        server.crash();
        server.resume();
    }
    resumes(&vault, &account).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    over.store(true, Ordering::Relaxed);
    let (told, given_up) = load.await.unwrap();
    assert!(
        told.len() > 10,
        "the load was served in between: {}",
        told.len()
    );
    for request in &told {
        assert_eq!(outcomes(&vault, &account, *request).await, [Some(200)]);
        assert_eq!(
            vault
                .trail
                .audit_show(&account, *request)
                .await
                .unwrap()
                .len(),
            2,
            "neither lost nor doubled"
        );
    }
    refused_ids.extend(given_up);
    check(&vault, &account, &refused_ids).await;
    vault.close(PATIENCE).await.unwrap();
}

/// A server with a database whose commits take this long, so that the next group is sent meanwhile.
async fn slow_commits(server: &Postgres, milliseconds: u32) -> (Arc<Vault>, String) {
    let site = Site::postgres(server, "slow");
    for setting in [
        format!("commit_delay = {}", milliseconds * 1_000),
        "commit_siblings = 0".to_owned(),
    ] {
        assert!(server.psql("postgres", &format!("ALTER DATABASE slow SET {setting}")));
    }
    let vault = Arc::new(site.serve().await);
    let account = account(&vault).await;
    (vault, account)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outcome_waits_for_commit_of_its_decision() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let (vault, account) = slow_commits(&server, 60).await;
    let mut requests = Vec::new();
    for _ in 0..5 {
        let group: Vec<_> = (0..40).map(|_| clean(&account)).collect();
        let ids: Vec<Uuid> = group.iter().map(|new| new.decision.request_id).collect();
        for new in group {
            vault
                .trail
                .record_decision_lazily(new, DEADLINE)
                .await
                .unwrap();
        }
        // By now they are being committed.
        tokio::time::sleep(Duration::from_millis(30)).await;
        for request in &ids {
            vault.trail.queue_outcome(&account, &answered(*request));
        }
        requests.extend(ids);
    }
    vault.flush().await.unwrap();
    for request in requests {
        assert_eq!(outcomes(&vault, &account, request).await, [Some(200)]);
    }
    check(&vault, &account, &[]).await;
    vault.close(PATIENCE).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_connections_neither_lose_nor_double_records() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let (vault, account) = slow_commits(&server, 5).await;
    let over = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = (0..48)
        .map(|_| tokio::spawn(load(vault.clone(), account.clone(), over.clone())))
        .collect();
    let cut =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'phigate'";
    let begun = Instant::now();
    let mut cuts = 0;
    while begun.elapsed() < Duration::from_secs(7)
        || (cuts <= 10 && begun.elapsed() < Duration::from_secs(60))
    {
        tokio::time::sleep(Duration::from_millis(150)).await;
        cuts += u32::from(server.psql("slow", cut));
    }
    over.store(true, Ordering::Relaxed);
    let (mut told, mut given_up) = (Vec::new(), Vec::new());
    for caller in callers {
        let (its_told, its_given_up) = caller.await.unwrap();
        told.extend(its_told);
        given_up.extend(its_given_up);
    }
    assert!(cuts > 10 && told.len() > 100, "{cuts}, {}", told.len());
    for request in &told {
        let records = vault.trail.audit_show(&account, *request).await.unwrap();
        assert_eq!(records.len(), 2, "neither lost nor doubled");
    }
    check(&vault, &account, &given_up).await;
    vault.close(PATIENCE).await.unwrap();
}

async fn load(vault: Arc<Vault>, account: String, over: Arc<AtomicBool>) -> (Vec<Uuid>, Vec<Uuid>) {
    let (mut told, mut given_up) = (Vec::new(), Vec::new());
    while !over.load(Ordering::Relaxed) {
        let new = masked(&account);
        let request = new.decision.request_id;
        match vault.trail.record_decision(new, DEADLINE).await {
            Ok(_) => {
                vault
                    .trail
                    .record_outcome(&account, &answered(request), PATIENCE)
                    .await
                    .unwrap();
                told.push(request);
            }
            Err(_) => given_up.push(request),
        }
    }
    (told, given_up)
}

#[tokio::test]
async fn close_gives_up_unwritable_records_in_time() {
    let site = Site::sqlite();
    let vault = site.open().await;
    let account = account(&vault).await;
    let holder = Connection::open(site.data().join("phigate.db")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    vault
        .trail
        .record_decision_lazily(clean(&account), DEADLINE)
        .await
        .unwrap();
    let started = Instant::now();
    let closed = vault.close(Duration::from_secs(1)).await;
    assert!(
        matches!(closed, Err(StoreError::Timeout)),
        "the caller is told"
    );
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_full_queue_refuses_instead_of_growing() {
    let site = Site::sqlite();
    let vault = Vault::open(Options {
        queue_records: 8,
        ..site.options()
    })
    .await
    .unwrap();
    let account = account(&vault).await;
    let holder = Connection::open(site.data().join("phigate.db")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut refusals = 0;
    for _ in 0..40 {
        let queued = vault
            .trail
            .record_decision_lazily(clean(&account), Duration::from_millis(10))
            .await;
        refusals += usize::from(queued.is_err());
    }
    assert!(
        refusals >= 20 && vault.queued() <= 8,
        "{refusals} refused, {} queued",
        vault.queued()
    );
    holder.execute_batch("ROLLBACK").unwrap();
    close(vault).await;
}
