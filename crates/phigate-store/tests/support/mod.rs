//! A place for a store of either engine, and records to put in it.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(unreachable_pub, reason = "shared by the test files")]

use jiff::{SignedDuration, Timestamp};
use phigate_store::{
    Attempt, Clock, Decision, Filter, Identifier, MasterKeySource, NewAttempt, NewDecision,
    Options, Outcome, Record, SecretBytes, Sizes, Target, Usage, Vault,
};
use phigate_types::{Action, Finding, Mode, ProviderKind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use uuid::Uuid;

/// Timeout of a record in tests on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub mod disk;
pub mod life;
pub mod postgres;

/// Folder and address for a store.
pub struct Site {
    pub folder: TempDir,
    target: Target,
}

impl Site {
    pub fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let target = Target::Folder(folder.path().join("data"));
        Self { folder, target }
    }

    /// Prepares a site in an existing folder, such as a small disk.
    pub fn in_folder(folder: &Path) -> Self {
        let own = tempfile::tempdir_in(folder).unwrap();
        let target = Target::Folder(own.path().join("data"));
        Self {
            folder: own,
            target,
        }
    }

    /// Copies the keys to a site with a database elsewhere.
    pub fn at(&self, url: String) -> Self {
        let copy = Self::sqlite();
        std::fs::copy(self.key_file(), copy.key_file()).unwrap();
        Self {
            target: Target::Url(url),
            ..copy
        }
    }

    /// Copies the store to another folder.
    pub fn copy(&self) -> Self {
        let copy = Self::sqlite();
        std::fs::create_dir(copy.data()).unwrap();
        std::fs::copy(self.key_file(), copy.key_file()).unwrap();
        for entry in std::fs::read_dir(self.data()).unwrap() {
            let entry = entry.unwrap();
            if entry.path().is_file() {
                std::fs::copy(entry.path(), copy.data().join(entry.file_name())).unwrap();
            }
        }
        copy
    }

    /// Creates a separate database on a server.
    pub fn postgres(server: &postgres::Postgres, name: &str) -> Self {
        // PostgreSQL cuts longer names off.
        let name = &name[..name.len().min(60)];
        Self {
            folder: tempfile::tempdir().unwrap(),
            target: Target::Url(server.database(name)),
        }
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn key_file(&self) -> PathBuf {
        self.folder.path().join("data.key")
    }

    pub fn options(&self) -> Options {
        Options::new(self.target.clone(), MasterKeySource::File(self.key_file()))
    }

    pub async fn open(&self) -> Vault {
        Vault::open(self.options()).await.unwrap()
    }

    /// Opens as a server does.
    pub async fn serve(&self) -> Vault {
        Vault::open(Options {
            serve: true,
            ..self.options()
        })
        .await
        .unwrap()
    }
}

pub async fn close(vault: Vault) {
    vault.close(PATIENCE).await.unwrap();
}

/// The only account's id.
pub async fn account(vault: &Vault) -> String {
    vault.accounts.find_account(None).await.unwrap().id
}

/// A decision with PHI in mask mode.
pub fn masked(account_id: &str) -> NewDecision {
    let decision = Decision {
        request_id: Uuid::now_v7(),
        time: Timestamp::now(),
        account: "default".to_owned(),
        key_id: "abcdefghijkl".to_owned(),
        subject: None,
        mode: Mode::MASK,
        action: Action::MASKED,
        model: Some("gpt-4o".to_owned()),
        family: Some(ProviderKind::OpenAi),
        provider: Some("openai".to_owned()),
        stream: false,
        phi_detected: true,
        types: BTreeMap::from([("ssn".to_owned(), 1), ("name".to_owned(), 1)]),
        allowed: BTreeMap::new(),
        findings: vec![Finding {
            kind: "ssn".into(),
            path: "messages[0].content".into(),
            start: 4,
            end: 15,
            score: 0.99,
            rule: "ssn".into(),
            action: None,
            by: None,
        }],
        unscannable: Vec::new(),
        sizes: Sizes {
            body: 100,
            text: 30,
            sent: Some(90),
        },
        detector_version: "1".to_owned(),
        door: Some("chat".into()),
        policy: None,
        conversation: None,
        terms: phigate_store::ProviderTerms::default(),
        error_code: None,
        sealed: None,
    };
    NewDecision {
        account_id: account_id.to_owned(),
        decision,
        original: Some(SecretBytes::from(&b"Jane Roe, SSN 900-55-1234"[..])),
        sent: Some(SecretBytes::from(&b"[NAME], SSN [SSN]"[..])),
        identifiers: vec![Identifier {
            kind: "ssn",
            value: "900551234".into(),
        }],
        tokens: Vec::new(),
    }
}

/// A decision about a clean request.
pub fn clean(account_id: &str) -> NewDecision {
    let mut new = masked(account_id);
    new.decision.mode = Mode::FLAG;
    new.decision.action = Action::FORWARDED;
    new.decision.phi_detected = false;
    new.decision.types.clear();
    new.decision.findings.clear();
    NewDecision {
        original: None,
        sent: None,
        identifiers: Vec::new(),
        tokens: Vec::new(),
        ..new
    }
}

/// A further attempt at a request, at this provider.
pub fn attempt_at(provider: &str, account_id: &str, decision: &Decision) -> NewAttempt {
    NewAttempt {
        account_id: account_id.to_owned(),
        sent: None,
        attempt: Attempt {
            request_id: decision.request_id,
            time: decision.time,
            account: decision.account.clone(),
            key_id: decision.key_id.clone(),
            number: 2,
            action: Action::FORWARDED,
            model: Some("llama".to_owned()),
            family: Some(ProviderKind::OpenAi),
            provider: provider.to_owned(),
            terms: decision.terms.clone(),
            sizes: decision.sizes,
            sealed: None,
        },
    }
}

/// The outcome of an answered request.
pub fn answered(request_id: Uuid) -> Outcome {
    Outcome {
        request_id,
        time: Timestamp::now(),
        account: "default".to_owned(),
        key_id: None,
        status: Some(200),
        provider_status: Some(200),
        served_model: Some("gpt-4o-2024-08-06".to_owned()),
        finish_reason: Some("stop".to_owned()),
        usage: Some(Usage {
            prompt_tokens: 7,
            completion_tokens: 3,
            total_tokens: 10,
        }),
        error_code: None,
        first_byte_ms: Some(120),
        total_ms: Some(340),
        added_ms: None,
        attempts: Vec::new(),
        reply: phigate_store::ReplyFacts::default(),
        sealed: None,
    }
}

/// A clock that moves only when set.
#[derive(Clone)]
pub struct Watch(Arc<Mutex<Timestamp>>);

impl Watch {
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(
            Timestamp::from_second(1_767_225_600).unwrap(),
        )))
    }

    pub fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }

    pub fn advance(&self, by: SignedDuration) {
        let mut now = self.0.lock().unwrap();
        *now = now.checked_add(by).unwrap();
    }

    pub fn clock(&self) -> Clock {
        let watch = self.clone();
        Arc::new(move || watch.now())
    }
}

/// The statuses of a request's outcomes.
pub async fn outcomes(vault: &Vault, account_id: &str, request: Uuid) -> Vec<Option<u16>> {
    let records = vault
        .trail
        .audit_show(account_id, request)
        .await
        .unwrap_or_default();
    let status = |record: Record| match record {
        Record::Outcome(outcome) => Some(outcome.status),
        Record::Decision(_) | Record::Attempt(_) | Record::Admin(_) | Record::Alert(_) => None,
    };
    records.into_iter().filter_map(status).collect()
}

/// The lines of an export.
pub async fn export(vault: &Vault, account_id: &str, filter: &Filter) -> Vec<String> {
    let mut export = vault
        .trail
        .audit_export(account_id, filter, "cli")
        .await
        .unwrap();
    let mut lines = Vec::new();
    while let Some(line) = export.next().await.unwrap() {
        lines.push(line.json);
    }
    lines
}
