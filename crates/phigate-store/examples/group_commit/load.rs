//! Requests that wait for their decision record, a fixed number at any time.

use jiff::Timestamp;
use phigate_store::{Decision, NewDecision, SecretBytes, Sizes, Vault};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// Warm-up before the measurement: connections, keys and caches are made.
const WARM_UP: Duration = Duration::from_millis(500);

/// Amount of load.
pub(crate) struct Load {
    pub(crate) waiting: usize,
    pub(crate) seconds: u64,
    pub(crate) bytes: usize,
}

/// Results of a run under load.
pub(crate) struct Measured {
    /// Records acknowledged per second.
    pub(crate) rate: f64,
    /// Records per commit.
    pub(crate) group: f64,
    /// All records of the store.
    pub(crate) records: usize,
    pub(crate) cpu_us: f64,
    waits: Vec<Duration>,
}

impl Measured {
    pub(crate) fn wait_ms(&self, share: f64) -> f64 {
        self.waits[((self.waits.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3
    }
}

impl Load {
    /// Measures a store and closes it.
    pub(crate) async fn run(&self, vault: Vault, cpu: impl Fn() -> Duration) -> Measured {
        let vault = Arc::new(vault);
        let account = vault
            .accounts
            .find_account(Some("default"))
            .await
            .unwrap()
            .id;
        let begin = Instant::now() + WARM_UP;
        let end = begin + Duration::from_secs(self.seconds);
        let mut callers = tokio::task::JoinSet::new();
        for _ in 0..self.waiting {
            let (vault, account, bytes) = (vault.clone(), account.clone(), self.bytes);
            callers.spawn(async move {
                let mut waits = Vec::new();
                while Instant::now() < end {
                    let new = decision(&account, bytes);
                    let begun = Instant::now();
                    let patience = Duration::from_secs(60);
                    vault.trail.record_decision(new, patience).await.unwrap();
                    if begun >= begin {
                        waits.push(begun.elapsed());
                    }
                }
                waits
            });
        }
        tokio::time::sleep(WARM_UP).await;
        let used = cpu();
        let mut waits: Vec<Duration> = callers.join_all().await.into_iter().flatten().collect();
        let (elapsed, used) = (begin.elapsed(), cpu() - used);
        waits.sort_unstable();
        let commits = vault.commits();
        let verified = vault
            .trail
            .verify(Some(&account), &[], |_| {})
            .await
            .unwrap();
        assert!(verified.is_intact(), "{verified:?}");
        vault.close(Duration::from_secs(30)).await.unwrap();
        Measured {
            rate: waits.len() as f64 / elapsed.as_secs_f64(),
            group: verified.records as f64 / commits as f64,
            records: verified.records as usize,
            cpu_us: used.as_secs_f64() * 1e6 / waits.len() as f64,
            waits,
        }
    }
}

/// Processor time of this process so far, in user and system mode.
pub(crate) fn own_cpu() -> Duration {
    cpu_of("self").map_or(Duration::ZERO, |(_, cpu)| cpu)
}

/// Processor time of the children of a process.
pub(crate) fn cpu_below(parent: u32) -> Duration {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let of = |name: std::ffi::OsString| cpu_of(name.to_str()?);
    let children = processes.filter_map(|entry| of(entry.file_name()));
    children
        .filter(|(its_parent, _)| *its_parent == parent)
        .map(|(_, cpu)| cpu)
        .sum()
}

/// Parent and processor time of a process.
fn cpu_of(process: &str) -> Option<(u32, Duration)> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<&str> = text.rsplit_once(") ")?.1.split(' ').collect();
    let ticks: u64 = fields[11].parse::<u64>().ok()? + fields[12].parse::<u64>().ok()?;
    // A tick is a hundredth of a second on Linux.
    Some((fields[1].parse().ok()?, Duration::from_millis(ticks * 10)))
}

fn decision(account: &str, bytes: usize) -> NewDecision {
    let decision = Decision {
        request_id: Uuid::now_v7(),
        time: Timestamp::now(),
        account: "default".to_owned(),
        key_id: "abcdefghijkl".to_owned(),
        subject: None,
        mode: phigate_types::Mode::MASK,
        action: phigate_types::Action::MASKED,
        model: Some("gpt-4o".to_owned()),
        family: Some(phigate_types::ProviderKind::OpenAi),
        provider: Some("openai".to_owned()),
        stream: false,
        phi_detected: true,
        types: BTreeMap::from([("ssn".to_owned(), 1)]),
        allowed: BTreeMap::new(),
        findings: vec![phigate_types::Finding {
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
        sizes: Sizes::default(),
        detector_version: "1".to_owned(),
        door: Some("chat".into()),
        policy: None,
        conversation: None,
        terms: phigate_store::ProviderTerms::default(),
        error_code: None,
        sealed: None,
    };
    NewDecision {
        account_id: account.to_owned(),
        decision,
        original: Some(SecretBytes::new(vec![b'x'; bytes / 2])),
        sent: Some(SecretBytes::new(vec![b'y'; bytes / 2])),
        identifiers: Vec::new(),
        tokens: Vec::new(),
    }
}
