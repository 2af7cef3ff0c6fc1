//! A store in trouble under a running gateway: 503 while it lasts, nothing forwarded unrecorded, and
//! service resumes by itself.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::disk::{Disk, allow_writing, forbid_writing};
use crate::postgres::Postgres;
use crate::support::{Gateway, Provider, SSN_TEXT, ask};

/// A request waits two seconds for its record; the rest is for a busy machine.
const REFUSED_WITHIN: Duration = Duration::from_secs(6);

/// A gateway, and what its callers were told.
struct Scene {
    provider: Provider,
    gateway: Gateway,
    key: String,
    answered: Vec<String>,
    refused: Vec<String>,
}

impl Scene {
    fn new(settings: &[(&str, &str)]) -> Self {
        let provider = Provider::start();
        let gateway = Gateway::start_with(&provider, settings);
        let key = gateway.key();
        let mut scene = Self {
            provider,
            gateway,
            key,
            answered: Vec::new(),
            refused: Vec::new(),
        };
        assert!(scene.ask(), "works before the trouble");
        scene
    }

    /// With the data in a folder such as a small disk.
    fn in_folder(folder: &Path) -> Self {
        let (data, key) = (folder.join("data"), folder.join("data.key"));
        Self::new(&[
            ("PHIGATE_DATA", data.to_str().unwrap()),
            ("PHIGATE_MASTER_KEY_FILE", key.to_str().unwrap()),
        ])
    }

    /// One request with PHI; whether it was answered. A refusal comes in time and says why.
    fn ask(&mut self) -> bool {
        let started = Instant::now();
        let answer = self.gateway.chat(&self.key, &ask("gpt-4o", SSN_TEXT));
        if answer.status == 200 {
            self.answered.push(answer.request_id());
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
        self.refused.push(answer.request_id());
        false
    }

    /// Requests are refused; those that still get through are answered and recorded.
    fn is_refused(&mut self) {
        // On a full disk one record may still find room that another did not, so refusals need not follow one another.
        let tries = 500;
        let refused = (0..tries).filter(|_| !self.ask()).take(3).count();
        assert_eq!(refused, 3, "the trouble was not noticed, or did not last");
    }

    /// Service comes back by itself.
    fn resumes(&mut self) {
        let started = Instant::now();
        while !self.ask() {
            assert!(
                started.elapsed() < Duration::from_secs(40),
                "does not resume"
            );
        }
    }

    /// Everything the provider saw was answered and has its two records; what was refused has none,
    /// or two that say so.
    fn check(&self) {
        assert_eq!(
            self.provider.seen().len(),
            self.answered.len(),
            "forwarded and answered"
        );
        let records = self.settled_records();
        for id in &self.answered {
            assert_eq!(records[id], ["forwarded", "200"], "{id}");
        }
        for id in &self.refused {
            let found = records.get(id).cloned().unwrap_or_default();
            let is_honest = found.is_empty() || found.last().unwrap() == "503";
            assert!(is_honest, "{id}: {found:?}");
        }
        let verified = self.gateway.command(&["audit", "verify"]);
        assert!(verified.contains("intact"), "{verified}");
    }

    /// By request: the action of its decision and the status of its outcome. Outcomes that were kept
    /// in memory during the trouble are written soon after.
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
    let mut scene = Scene::new(&[]);
    let holder = rusqlite::Connection::open(scene.gateway.data().join("phigate.db")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    scene.is_refused();
    holder.execute_batch("ROLLBACK").unwrap();
    scene.resumes();
    scene.check();
}

#[test]
fn a_read_only_file_refuses_and_resumes() {
    let mut scene = Scene::new(&[]);
    let data = scene.gateway.data();
    let (database, log) = (data.join("phigate.db"), data.join("phigate.db-wal"));
    let files = [database.as_path(), log.as_path()];
    if !forbid_writing(&files) {
        return;
    }
    scene.is_refused();
    allow_writing(&files);
    scene.resumes();
    scene.check();
}

#[test]
fn a_full_disk_refuses_and_resumes() {
    let Some(disk) = Disk::small() else { return };
    let mut scene = Scene::in_folder(disk.path());
    let filler = disk.path().join("filler");
    let mut rest = std::fs::File::create(&filler).unwrap();
    while std::io::Write::write_all(&mut rest, &[0; 4_096]).is_ok() {}
    scene.is_refused();
    drop(rest);
    std::fs::remove_file(&filler).unwrap();
    scene.resumes();
    scene.check();
}

#[test]
fn a_disk_that_does_not_sync_refuses_and_resumes() {
    let Some(disk) = Disk::real() else { return };
    let mut scene = Scene::in_folder(disk.path());
    let frozen = disk.freeze();
    scene.is_refused();
    drop(frozen);
    scene.resumes();
    scene.check();
}

#[test]
fn a_stopped_or_frozen_postgresql_refuses_and_resumes() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let url = server.database("faults");
    let mut scene = Scene::new(&[("PHIGATE_DATABASE_URL", &url)]);
    server.crash();
    scene.is_refused();
    server.resume();
    scene.resumes();
    server.signal_all("STOP");
    scene.is_refused();
    server.signal_all("CONT");
    scene.resumes();
    scene.check();
}
