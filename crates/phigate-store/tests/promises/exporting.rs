//! Exports: durable places, one holder, lines that verify.

use crate::support::life::{self, recorded};
use crate::support::{Site, Watch, account, clean, close, masked};
use jiff::SignedDuration;
use phigate_store::{
    ExportBatch, ExportConfig, ExportRun, ExportVerifier, Report, Retention, SecretString, Vault,
};
use phigate_types::{ExportOnly, ExportRecord};

const NAME: &str = "siem";

fn config() -> ExportConfig {
    ExportConfig {
        to: "file:///tmp/lines".to_owned(),
        records: ExportRecord::all().collect(),
        only: None,
        checkpoints: false,
        lock_hours: None,
        region: None,
        base_url: None,
    }
}

async fn add(vault: &Vault, account: &str, config: &ExportConfig) {
    let added = vault.exports.add(account, NAME, config, None, "cli");
    added.await.unwrap();
}

async fn take(vault: &Vault, account: &str) -> ExportRun {
    let taken = vault.exports.take(account, NAME).await.unwrap();
    taken.expect("the export is free")
}

async fn next(run: &mut ExportRun) -> ExportBatch {
    run.next(500, 1 << 20, false).await.unwrap()
}

fn texts(batch: &ExportBatch) -> Vec<String> {
    batch.lines.iter().map(|line| line.json.clone()).collect()
}

fn verify(vault: &Vault, lines: &[String]) -> Report {
    let mut verifier = ExportVerifier::new(&vault.trail.public_key(), &[]).unwrap();
    for line in lines {
        verifier.line(line);
    }
    verifier.finish()
}

pub async fn target_can_verify_what_it_receives(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let before = life::request(&vault, &account).await.to_string();
    add(&vault, &account, &config()).await;
    let after = life::request(&vault, &account).await.to_string();
    let mut run = take(&vault, &account).await;
    let batch = next(&mut run).await;
    let mut lines = texts(&batch);
    assert!(lines[0].starts_with(r#"{"record":"gap""#), "{}", lines[0]);
    let all = lines.join("\n");
    assert!(all.contains(&after) && !all.contains(&before));
    assert!(all.contains("export.add"), "the act itself follows it");
    assert!(!all.contains("Jane Roe") && !all.contains("900-55"));
    assert!(run.delivered(&batch).await.unwrap());
    life::request(&vault, &account).await;
    let batch = next(&mut run).await;
    assert_eq!(batch.lines.len(), 2, "only what is new");
    lines.extend(texts(&batch));
    let report = verify(&vault, &lines);
    assert!(report.is_intact() && report.earlier > 0, "{report:?}");
    lines.remove(2);
    assert!(!verify(&vault, &lines).is_intact());
    // Each delivery verifies alone if it is kept apart.
    assert!(run.delivered(&batch).await.unwrap());
    life::request(&vault, &account).await;
    let batch = run.next(500, 1 << 20, true).await.unwrap();
    let report = verify(&vault, &texts(&batch));
    assert!(report.is_intact() && report.records == 2, "{report:?}");
    close(vault).await;
}

pub async fn choice_leaves_gaps_that_verify(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    for (only, chosen) in [(ExportOnly::Phi, 6), (ExportOnly::Blocked, 0)] {
        let config = ExportConfig {
            only: Some(only),
            ..config()
        };
        add(&vault, &account, &config).await;
        for number in 0..6 {
            let new = match number % 2 {
                0 => masked(&account),
                _ => clean(&account),
            };
            recorded(&vault, new).await;
        }
        let mut run = take(&vault, &account).await;
        let mut lines = Vec::new();
        // Small batches, which end in the middle of everything.
        loop {
            let batch = run.next(1, 1, false).await.unwrap();
            if batch.lines.is_empty() {
                break;
            }
            lines.extend(texts(&batch));
            assert!(run.delivered(&batch).await.unwrap());
        }
        let is_gap = |line: &&String| line.starts_with(r#"{"record":"gap""#);
        assert_eq!(lines.len() - lines.iter().filter(is_gap).count(), chosen);
        let report = verify(&vault, &lines);
        assert!(report.is_intact(), "{only}: {report:?}");
        run.release().await.unwrap();
        vault.exports.remove(&account, NAME, "cli").await.unwrap();
    }
    close(vault).await;
}

pub async fn interrupted_export_repeats_the_same_lines(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let only = Some(ExportOnly::Phi);
    add(&vault, &account, &ExportConfig { only, ..config() }).await;
    for number in 0..8 {
        let new = match number % 3 {
            0 => masked(&account),
            _ => clean(&account),
        };
        recorded(&vault, new).await;
    }
    let mut run = take(&vault, &account).await;
    let first = run.next(2, 1 << 20, false).await.unwrap();
    assert!(run.delivered(&first).await.unwrap());
    let lost = texts(&next(&mut run).await);
    // The process dies before the place is saved; more is written; another one goes on.
    drop(run);
    life::request(&vault, &account).await;
    let mut run = take(&vault, &account).await;
    let again = texts(&next(&mut run).await);
    assert!(!lost.is_empty() && again.len() > lost.len());
    assert_eq!(again[..lost.len()], lost[..]);
    let mut all = texts(&first);
    all.extend(again);
    let report = verify(&vault, &all);
    assert!(report.is_intact(), "{report:?}");
    close(vault).await;
}

pub async fn one_process_holds_an_export(site: Site) {
    let (one, two) = (site.serve().await, site.serve().await);
    let account = account(&one).await;
    add(&one, &account, &config()).await;
    let mut run = take(&one, &account).await;
    assert!(two.exports.take(&account, NAME).await.unwrap().is_none());
    one.exports
        .pause(&account, NAME, true, "cli")
        .await
        .unwrap();
    run.release().await.unwrap();
    assert!(two.exports.take(&account, NAME).await.unwrap().is_none());
    two.exports
        .pause(&account, NAME, false, "cli")
        .await
        .unwrap();
    run = take(&two, &account).await;
    assert!(one.exports.take(&account, NAME).await.unwrap().is_none());
    // A stop without a release: the process is gone.
    let batch = next(&mut run).await;
    drop(run);
    close(two).await;
    let mut run = take(&one, &account).await;
    assert_eq!(
        texts(&next(&mut run).await)[..batch.lines.len()],
        texts(&batch)[..]
    );
    close(one).await;
}

pub async fn rewound_export_sends_from_a_time_on(site: Site) {
    let watch = Watch::new();
    let options = phigate_store::Options {
        clock: watch.clock(),
        ..site.options()
    };
    let vault = Vault::open(options).await.unwrap();
    let account = account(&vault).await;
    let mut requests = Vec::new();
    let mut times = Vec::new();
    for _ in 0..4 {
        watch.advance(SignedDuration::from_hours(1));
        let mut new = masked(&account);
        new.decision.time = watch.now();
        times.push(watch.now());
        requests.push(recorded(&vault, new).await.to_string());
    }
    watch.advance(SignedDuration::from_hours(1));
    add(&vault, &account, &config()).await;
    let mut run = take(&vault, &account).await;
    let batch = next(&mut run).await;
    assert!(run.delivered(&batch).await.unwrap());
    let exports = &vault.exports;
    exports
        .rewind(&account, NAME, times[2], "cli")
        .await
        .unwrap();
    let batch = ExportBatch::default();
    assert!(!run.is_ours().await.unwrap());
    assert!(!run.delivered(&batch).await.unwrap(), "the run is over");
    let mut run = take(&vault, &account).await;
    let lines = texts(&next(&mut run).await);
    let all = lines.join("\n");
    let has: Vec<bool> = requests.iter().map(|one| all.contains(one)).collect();
    assert_eq!(has, [false, false, true, true]);
    assert!(verify(&vault, &lines).is_intact());
    let beginning = jiff::Timestamp::UNIX_EPOCH;
    exports
        .rewind(&account, NAME, beginning, "cli")
        .await
        .unwrap();
    let mut run = take(&vault, &account).await;
    let report = verify(&vault, &texts(&next(&mut run).await));
    assert!(report.is_intact() && report.earlier == 0, "{report:?}");
    close(vault).await;
}

pub async fn retention_records_what_a_target_never_had(site: Site) {
    let watch = Watch::new();
    let retention = Retention {
        metadata_days: 30,
        content_days: 30,
        legal_hold: false,
    };
    let (vault, account, _) = life::aged(&site, &watch, retention, (1, 1)).await;
    add(&vault, &account, &config()).await;
    let mut new = masked(&account);
    new.decision.time = watch.now();
    recorded(&vault, new).await;
    watch.advance(SignedDuration::from_hours(24 * 60));
    while vault.expiry.retain(&account).await.unwrap() > 0 {}
    let mut run = take(&vault, &account).await;
    let lines = texts(&next(&mut run).await);
    let all = lines.join("\n");
    assert!(all.contains(r#""not exported to siem":"#), "{all}");
    assert!(all.contains(r#""why":"deleted""#), "{all}");
    assert!(verify(&vault, &lines).is_intact());
    close(vault).await;
}

pub async fn secret_opens_only_for_its_target(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let secret = SecretString::from("whsec-of-no-value");
    let exports = &vault.exports;
    exports
        .add(&account, NAME, &config(), Some(&secret), "cli")
        .await
        .unwrap();
    let (info, opened) = exports.target(&account, NAME).await.unwrap();
    assert_eq!(opened.as_ref(), Some(&secret));
    assert!(!format!("{info:?}").contains("whsec"));
    assert!(
        exports
            .add(&account, NAME, &config(), None, "cli")
            .await
            .is_err()
    );
    let state = exports.state(&account, NAME).await.unwrap();
    assert!(state.problem.is_none() && state.rejected == 0, "{state:?}");
    exports.remove(&account, NAME, "cli").await.unwrap();
    assert!(exports.target(&account, NAME).await.is_err());
    close(vault).await;
}
