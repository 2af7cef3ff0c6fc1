//! How many decision records become durable per second, beside what the disk itself allows.
//!
//! `cargo run --release -p phigate-store --example group_commit -- [--store FOLDER|postgres://…]
//! [--waiting 256] [--seconds 5] [--bytes 1024]`
//!
//! Prints one line for a bare write-and-fsync loop on the same disk and one for the store: records
//! a second, the wait of one request (p50, p99), the size of the groups, the share of "group size ×
//! fsync rate" that was reached, and the CPU time of a record, which says more on a busy machine.

#![allow(
    clippy::unwrap_used,
    reason = "a measurement that cannot go on should stop"
)]

use jiff::Timestamp;
use phigate_store::{
    Decision, MasterKeySource, NewDecision, Options, SecretBytes, Sizes, Target, Vault,
};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// What to measure.
struct Settings {
    store: String,
    waiting: usize,
    seconds: u64,
    bytes: usize,
}

fn main() {
    let settings = read_settings();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(measure(&settings));
}

async fn measure(settings: &Settings) {
    let is_url = settings.store.contains("://");
    let folder = if is_url {
        std::env::temp_dir()
    } else {
        PathBuf::from(&settings.store)
    };
    let place = folder.join(format!("group-commit-{}", Uuid::now_v7().simple()));
    std::fs::create_dir_all(&place).unwrap();
    let fsyncs = bare_fsync(&place, settings);
    println!(
        "bare write+fdatasync   {fsyncs:>8.0}/s  ({} bytes each)",
        settings.bytes
    );
    let target = if is_url {
        Target::Url(settings.store.clone())
    } else {
        Target::Folder(place.join("data"))
    };
    let options = Options::new(target, MasterKeySource::File(place.join("data.key")));
    let vault = Arc::new(Vault::open(options).await.unwrap());
    let before = vault.checkpoints().await.unwrap();
    let used = cpu_time();
    let (waits, elapsed) = run(&vault, settings).await;
    let cpu_us = (cpu_time() - used).as_secs_f64() * 1e6 / waits.len() as f64;
    report(
        &vault,
        settings,
        fsyncs,
        &waits,
        elapsed,
        cpu_us,
        before.iter().map(|head| head.seq).sum(),
    )
    .await;
    vault.close(Duration::from_secs(30)).await.unwrap();
    std::fs::remove_dir_all(&place).unwrap();
}

/// Processor time of this process so far, in user and system mode.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = text.rsplit_once(") ").unwrap().1.split(' ').collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    // A tick is a hundredth of a second on Linux.
    Duration::from_millis(ticks * 10)
}

/// Syncs of one small append after the other.
fn bare_fsync(place: &Path, settings: &Settings) -> f64 {
    let mut file = std::fs::File::create(place.join("bare")).unwrap();
    let block = vec![7; settings.bytes];
    let (started, mut count) = (Instant::now(), 0u32);
    while started.elapsed() < Duration::from_secs(settings.seconds.min(3)) {
        file.write_all(&block).unwrap();
        file.sync_data().unwrap();
        count += 1;
    }
    f64::from(count) / started.elapsed().as_secs_f64()
}

/// So many requests wait at any time; each wait is noted.
async fn run(vault: &Arc<Vault>, settings: &Settings) -> (Vec<Duration>, Duration) {
    let account = vault.find_account(Some("default")).await.unwrap().id;
    let end = Instant::now() + Duration::from_secs(settings.seconds);
    let started = Instant::now();
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..settings.waiting {
        let (vault, account, bytes) = (vault.clone(), account.clone(), settings.bytes);
        callers.spawn(async move {
            let mut waits = Vec::new();
            while Instant::now() < end {
                let new = decision(&account, bytes);
                let begun = Instant::now();
                vault
                    .record_decision(new, Duration::from_secs(60))
                    .await
                    .unwrap();
                waits.push(begun.elapsed());
            }
            waits
        });
    }
    let mut waits: Vec<Duration> = callers.join_all().await.into_iter().flatten().collect();
    let elapsed = started.elapsed();
    waits.sort_unstable();
    (waits, elapsed)
}

async fn report(
    vault: &Vault,
    settings: &Settings,
    fsyncs: f64,
    waits: &[Duration],
    elapsed: Duration,
    cpu_us: f64,
    before: i64,
) {
    let rate = waits.len() as f64 / elapsed.as_secs_f64();
    let at = |share: f64| waits[((waits.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    // Every group ends with one signature, so counting them counts the groups.
    let verified = vault.verify(None, &[], |_| {}).await.unwrap();
    assert!(verified.is_intact(), "{verified:?}");
    let written = verified.records.cast_signed() - before;
    let group = written as f64 / verified.signatures as f64;
    let share = rate / (group * fsyncs) * 100.0;
    println!(
        "{:<9} {:>4} waiting  {rate:>8.0} records/s  p50 {:>7.2} ms  p99 {:>7.2} ms  {group:>6.1} records/group  \
         {share:.0} % of group size x fsync rate  {cpu_us:.0} CPU-us/record",
        vault.engine(),
        settings.waiting,
        at(0.5),
        at(0.99),
    );
}

fn decision(account: &str, bytes: usize) -> NewDecision {
    let decision = Decision {
        request_id: Uuid::now_v7(),
        time: Timestamp::now(),
        account: "default".to_owned(),
        key_id: "abcdefghijkl".to_owned(),
        mode: "mask".to_owned(),
        action: "masked".to_owned(),
        model: Some("gpt-4o".to_owned()),
        family: Some("openai".to_owned()),
        stream: false,
        phi_detected: true,
        types: BTreeMap::from([("ssn".to_owned(), 1)]),
        findings: Vec::new(),
        unscannable: Vec::new(),
        sizes: Sizes::default(),
        detector_version: "1".to_owned(),
        error_code: None,
        sealed: None,
    };
    NewDecision {
        account_id: account.to_owned(),
        decision,
        original: Some(SecretBytes::new(vec![b'x'; bytes / 2])),
        sent: Some(SecretBytes::new(vec![b'y'; bytes / 2])),
        identifiers: Vec::new(),
    }
}

fn read_settings() -> Settings {
    let mut settings = Settings {
        store: ".".to_owned(),
        waiting: 256,
        seconds: 5,
        bytes: 1_024,
    };
    let mut words = std::env::args().skip(1);
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        match name.as_str() {
            "--store" => settings.store = value,
            "--waiting" => settings.waiting = value.parse().unwrap(),
            "--seconds" => settings.seconds = value.parse().unwrap(),
            "--bytes" => settings.bytes = value.parse().unwrap(),
            other => panic!("unknown option {other}"),
        }
    }
    settings
}
