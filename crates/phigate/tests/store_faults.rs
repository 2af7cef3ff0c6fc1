//! A store in trouble under a gateway with many callers: 503 while it lasts, nothing forwarded unrecorded, and
//! service resumes by itself.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::disk::{Disk, allow_writing, forbid_writing};
use crate::postgres::Postgres;
use crate::support::{Gateway, Provider, SSN_TEXT, ask};

/// A request waits two seconds for its record; the rest is for a busy machine.
const REFUSED_WITHIN: Duration = Duration::from_secs(6);
/// Callers that repeat requests before, during and after the trouble.
const CALLERS: usize = 6;

/// A gateway, and the answers that its callers received.
struct Scene {
    provider: Provider,
    gateway: Gateway,
    key: String,
    answered: Mutex<Vec<String>>,
    refused: Mutex<Vec<String>>,
}

/// Stops the callers on drop, also when a check fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Scene {
    fn new(settings: &[(&str, &str)]) -> Self {
        let provider = Provider::start();
        let busy = [("PHIGATE_LIMITS_KEY_REQUESTS_PER_MINUTE", "1000000")];
        let gateway = Gateway::start_with(&provider, &[settings, &busy].concat());
        let key = gateway.key();
        let scene = Self {
            provider,
            gateway,
            key,
            answered: Mutex::default(),
            refused: Mutex::default(),
        };
        assert!(scene.ask(), "works before the trouble");
        scene
    }

    /// Starts a scene with the data in a folder such as a small disk.
    fn in_folder(folder: &Path) -> Self {
        let (data, key) = (folder.join("data"), folder.join("data.key"));
        Self::new(&[
            ("PHIGATE_DATA", data.to_str().unwrap()),
            ("PHIGATE_MASTER_KEY_FILE", key.to_str().unwrap()),
        ])
    }

    /// Trouble while callers ask.
    fn under_load(&self, trouble: impl FnOnce()) {
        let is_over = AtomicBool::new(false);
        let refused = std::thread::scope(|scope| {
            let call = || {
                let mut refused = 0;
                while !is_over.load(Ordering::Relaxed) {
                    refused += usize::from(!self.ask());
                    std::thread::sleep(Duration::from_millis(20));
                }
                refused
            };
            let callers: Vec<_> = (0..CALLERS).map(|_| scope.spawn(call)).collect();
            let over = Over(&is_over);
            trouble();
            drop(over);
            let refused = callers.into_iter().map(|caller| caller.join().unwrap());
            refused.sum::<usize>()
        });
        assert!(refused > 0, "callers noticed nothing");
    }

    /// One request with PHI; whether it was answered. A refusal comes in time and says why.
    fn ask(&self) -> bool {
        let started = Instant::now();
        let answer = self.gateway.chat(&self.key, &ask("gpt-4o", SSN_TEXT));
        if answer.status == 200 {
            self.answered.lock().unwrap().push(answer.request_id());
            return true;
        }
        let told = ("gateway_error".to_owned(), "audit_unavailable".to_owned());
        let (status, kind, code) = answer.error();
        assert_eq!((status, (kind, code)), (503, told));
        assert!(
            started.elapsed() < REFUSED_WITHIN,
            "took {:?}",
            started.elapsed()
        );
        self.refused.lock().unwrap().push(answer.request_id());
        false
    }

    /// Requests are refused; those that still get through are answered and recorded.
    fn is_refused(&self) {
        // On a full disk one record may still find room that another did not, so refusals need not follow one another.
        let tries = 500;
        let refused = (0..tries).filter(|_| !self.ask()).take(3).count();
        assert_eq!(refused, 3, "the trouble was not noticed, or did not last");
    }

    /// Service comes back by itself.
    fn resumes(&self) {
        let started = Instant::now();
        while !self.ask() {
            assert!(
                started.elapsed() < Duration::from_secs(40),
                "does not resume"
            );
        }
    }

    /// Checks that every request that the provider saw was answered and has its two records, and that refused requests
    /// have no record, or two that say so.
    fn check(&self) {
        let answered = self.answered.lock().unwrap();
        let forwarded = self.provider.seen().len();
        assert_eq!(forwarded, answered.len(), "forwarded and answered");
        let records = self.settled_records();
        for id in answered.iter() {
            assert_eq!(records[id], ["forwarded", "200"], "{id}");
        }
        for id in self.refused.lock().unwrap().iter() {
            let found = records.get(id).cloned().unwrap_or_default();
            let is_honest = found.is_empty() || found.last().unwrap() == "503";
            assert!(is_honest, "{id}: {found:?}");
        }
        let verified = self.gateway.command(&["audit", "verify"]);
        assert!(verified.contains("intact"), "{verified}");
    }

    /// Action of the decision and status of the outcome, by request. Outcomes that were kept in memory during the
    /// trouble are written soon after.
    fn settled_records(&self) -> HashMap<String, Vec<String>> {
        let mut found: HashMap<String, Vec<String>> = HashMap::new();
        for _ in 0..50 {
            found.clear();
            for line in self.gateway.command(&["audit", "export"]).lines() {
                let record: serde_json::Value = serde_json::from_str(line).unwrap();
                let word = match record["record"].as_str() {
                    Some("decision") => record["action"].as_str().unwrap().to_owned(),
                    Some("outcome") => record["status"].to_string(),
                    _ => continue,
                };
                let request = record["request_id"].as_str().unwrap().to_owned();
                found.entry(request).or_default().push(word);
            }
            if found.values().all(|words| words.len() == 2) {
                break;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        assert!(found.values().all(|words| words.len() == 2), "{found:?}");
        found
    }
}

#[test]
fn a_locked_database_refuses_and_resumes() {
    let scene = Scene::new(&[]);
    scene.under_load(|| {
        let holder = rusqlite::Connection::open(scene.gateway.data().join("phigate.db")).unwrap();
        holder.busy_timeout(Duration::from_secs(20)).unwrap();
        holder.execute_batch("BEGIN IMMEDIATE").unwrap();
        scene.is_refused();
        holder.execute_batch("ROLLBACK").unwrap();
        scene.resumes();
    });
    scene.check();
}

#[test]
fn a_read_only_file_refuses_and_resumes() {
    let scene = Scene::new(&[]);
    let data = scene.gateway.data();
    let (database, log) = (data.join("phigate.db"), data.join("phigate.db-wal"));
    let files = [database.as_path(), log.as_path()];
    if !forbid_writing(&files) {
        return;
    }
    allow_writing(&files);
    scene.under_load(|| {
        assert!(forbid_writing(&files));
        scene.is_refused();
        allow_writing(&files);
        scene.resumes();
    });
    scene.check();
}

#[test]
fn a_full_disk_refuses_and_resumes() {
    let Some(disk) = Disk::in_memory(24) else {
        return;
    };
    let scene = Scene::in_folder(disk.path());
    scene.under_load(|| {
        let filler = disk.path().join("filler");
        let mut rest = std::fs::File::create(&filler).unwrap();
        while std::io::Write::write_all(&mut rest, &[0; 4_096]).is_ok() {}
        scene.is_refused();
        drop(rest);
        std::fs::remove_file(&filler).unwrap();
        scene.resumes();
    });
    scene.check();
}

#[test]
fn frozen_disk_refuses_requests_until_thaw() {
    let Some(disk) = Disk::real() else { return };
    let scene = Scene::in_folder(disk.path());
    scene.under_load(|| {
        let frozen = disk.freeze();
        scene.is_refused();
        drop(frozen);
        scene.resumes();
    });
    scene.check();
}

#[test]
fn postgresql_outage_refuses_requests_until_recovery() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let url = server.database("faults");
    let scene = Scene::new(&[("PHIGATE_DATABASE_URL", &url)]);
    scene.under_load(|| {
        server.crash();
        scene.is_refused();
        server.resume();
        scene.resumes();
        server.signal_all("STOP");
        scene.is_refused();
        server.signal_all("CONT");
        scene.resumes();
    });
    scene.check();
}
