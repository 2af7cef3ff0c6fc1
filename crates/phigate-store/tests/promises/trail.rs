//! Proving the trail.

use crate::support::life::recorded;
use crate::support::{Site, account, clean, close, export, masked};
use phigate_store::{ExportVerifier, FaultKind, Filter, Report, Vault};

async fn fill(vault: &Vault, account: &str, requests: usize) {
    for number in 0..requests {
        let new = if number % 2 == 0 {
            masked(account)
        } else {
            clean(account)
        };
        recorded(vault, new).await;
    }
}

fn verify(key: &str, lines: &[String]) -> Report {
    let mut verifier = ExportVerifier::new(key, &[]).unwrap();
    for line in lines {
        verifier.line(line);
    }
    verifier.finish()
}

pub async fn an_honest_trail_verifies_in_the_store_and_offline(site: Site) {
    let (vault, other) = (site.open().await, site.open().await);
    let account = account(&vault).await;
    fill(&vault, &account, 10).await;
    fill(&other, &account, 10).await;
    let report = vault.trail.verify(None, &[], |_| {}).await.unwrap();
    assert!(report.is_intact(), "{report:?}");
    let lines = export(&vault, &account, &Filter::default()).await;
    let report = verify(&vault.trail.public_key(), &lines);
    assert!(report.is_intact(), "{report:?}");
    assert!(
        report.records >= 40 && report.chains == 2 && report.signatures > 0,
        "{report:?}"
    );
    let times: Vec<String> = lines
        .iter()
        .map(|line| line.split("\"time\":\"").nth(1).unwrap()[..19].to_owned())
        .collect();
    assert!(times.is_sorted(), "records come in the order of time");
    assert!(
        !lines
            .iter()
            .any(|line| line.contains("900-55") || line.contains("Jane Roe"))
    );
    let stranger = site_of_another().await;
    assert!(
        !verify(&stranger, &lines).is_intact(),
        "another installation's key proves nothing"
    );
    close(vault).await;
    close(other).await;
}

async fn site_of_another() -> String {
    let site = Site::sqlite();
    let vault = site.open().await;
    let key = vault.trail.public_key();
    close(vault).await;
    key
}

pub async fn a_filtered_export_verifies_too(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    fill(&vault, &account, 12).await;
    let filter = Filter {
        phi_type: Some("ssn".to_owned()),
        ..Filter::default()
    };
    let mut lines = export(&vault, &account, &filter).await;
    let report = verify(&vault.trail.public_key(), &lines);
    assert!(report.is_intact(), "{report:?}");
    // Six requests, each with its outcome.
    assert_eq!(report.records, 12);
    assert!(report.left_out >= 12, "{report:?}");
    let at = lines
        .iter()
        .position(|line| line.contains("\"masked\""))
        .unwrap();
    lines[at] = lines[at].replace("\"masked\"", "\"blocked\"");
    assert!(!verify(&vault.trail.public_key(), &lines).is_intact());
    close(vault).await;
}

pub async fn every_change_to_an_export_is_found(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    fill(&vault, &account, 6).await;
    let lines = export(&vault, &account, &Filter::default()).await;
    let key = vault.trail.public_key();
    assert!(verify(&key, &lines).is_intact());
    for at in 0..lines.len() {
        let mut missing = lines.clone();
        missing.remove(at);
        let fault = verify(&key, &missing).fault;
        // Cut at the end of a group, the rest is an intact trail: only a checkpoint shows the cut.
        let is_last = at + 1 == lines.len();
        assert!(
            is_last || fault.is_some_and(|fault| fault.kind == FaultKind::Missing),
            "line {at} missing"
        );
        let mut twice = lines.clone();
        twice.insert(at, lines[at].clone());
        assert!(!verify(&key, &twice).is_intact(), "line {at} twice");
        for other in at + 1..lines.len() {
            let mut swapped = lines.clone();
            swapped.swap(at, other);
            assert!(
                !verify(&key, &swapped).is_intact(),
                "lines {at} and {other} swapped"
            );
        }
    }
    let line = lines.len() / 2;
    for position in 0..lines[line].len() {
        let mut bytes = lines[line].clone().into_bytes();
        bytes[position] ^= 1;
        let mut changed = lines.clone();
        changed[line] = String::from_utf8_lossy(&bytes).into_owned();
        assert!(
            !verify(&key, &changed).is_intact(),
            "byte {position} of line {line} changed"
        );
    }
    close(vault).await;
}

pub async fn a_cut_trail_is_found_by_a_checkpoint_kept_elsewhere(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    fill(&vault, &account, 3).await;
    let before = vault.trail.checkpoints().await.unwrap();
    fill(&vault, &account, 3).await;
    let lines = export(&vault, &account, &Filter::default()).await;
    let after = vault.trail.checkpoints().await.unwrap();
    let file = site.folder.path().join("checkpoints.jsonl");
    phigate_store::append_checkpoints(&file, &before).unwrap();
    phigate_store::append_checkpoints(&file, &after).unwrap();
    let outside = phigate_store::read_checkpoints(&file).unwrap();
    let report = vault.trail.verify(None, &outside, |_| {}).await.unwrap();
    assert!(
        report.is_intact() && report.outside_checkpoints > 0,
        "{report:?}"
    );
    let mut verifier = ExportVerifier::new(&vault.trail.public_key(), &outside).unwrap();
    for line in &lines[..lines.len() - 2] {
        verifier.line(line);
    }
    let fault = verifier.finish().fault.unwrap();
    assert_eq!(fault.kind, FaultKind::Truncated);
    let mut forged = outside.clone();
    forged[0].seq += 1;
    assert!(!forged[0].is_signed_by(&vault.trail.public_key()));
    close(vault).await;
}
