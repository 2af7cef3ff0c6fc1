//! Retention, deletion, rotation.

use std::time::Duration;

use crate::support::{Site, Watch, account, close, export, life};
use jiff::SignedDuration;
use phigate_store::{
    AdminAct, ExportVerifier, Filter, INSTALLATION, MasterKeySource, Options, Retention,
    StoreError, Vault,
};
use phigate_types::Act;

pub async fn retention_deletes_what_is_due_and_the_trail_still_verifies(site: Site) {
    let watch = Watch::new();
    let retention = Retention {
        content_days: 3,
        metadata_days: 4,
        legal_hold: false,
    };
    let (vault, account, requests) = life::aged(&site, &watch, retention, (5, 1)).await;
    life::retain(&vault, &account).await;
    assert!(
        vault.trail.audit_show(&account, requests[0]).await.is_err(),
        "too old"
    );
    assert!(vault.trail.audit_show(&account, requests[1]).await.is_ok());
    assert!(
        vault
            .trail
            .reveal(&account, requests[1], "cli", None)
            .await
            .is_err(),
        "its content is too old"
    );
    assert!(
        vault
            .trail
            .reveal(&account, requests[3], "cli", None)
            .await
            .is_ok()
    );
    let report = vault.trail.verify(None, &[], |_| {}).await.unwrap();
    assert!(report.is_intact() && report.deleted >= 2, "{report:?}");
    let lines = export(&vault, &account, &Filter::default()).await;
    let mut verifier = ExportVerifier::new(&vault.trail.public_key(), &[]).unwrap();
    lines.iter().for_each(|line| verifier.line(line));
    let report = verifier.finish();
    assert!(report.is_intact() && report.deleted >= 2, "{report:?}");
    let found = vault
        .trail
        .find_identifier(&account, "ssn", &["900551234".into()], "cli")
        .await
        .unwrap();
    assert_eq!(found.len(), 4, "lookup forgets with the records");
    close(vault).await;
}

pub async fn records_of_the_installation_expire(site: Site) {
    let watch = Watch::new();
    let options = Options {
        clock: watch.clock(),
        ..site.options()
    };
    let vault = Vault::open(options).await.unwrap();
    vault
        .accounts
        .create_account("clinic", "cli")
        .await
        .unwrap();
    let refused = || AdminAct::new(watch.now(), "", "caller", Act::KeyRefused);
    let bad_key = async || vault.trail.record_admin(None, &refused()).await.unwrap();
    let kept = async || {
        let filter = Filter {
            act: Some(Act::KeyRefused),
            ..Filter::default()
        };
        let page = vault.trail.audit_list(INSTALLATION, &filter, None, 10);
        page.await.unwrap().items.len()
    };
    bad_key().await;
    assert_eq!(vault.expiry.retain_all(Duration::ZERO).await.unwrap(), 0);
    assert_eq!(kept().await, 1);
    let days = i64::from(Retention::default().metadata_days);
    watch.advance(SignedDuration::from_hours(24 * (days + 1)));
    bad_key().await;
    assert!(vault.expiry.retain_all(Duration::ZERO).await.unwrap() > 0);
    assert_eq!(kept().await, 1, "the old record is gone, the new one stays");
    let report = vault.trail.verify(None, &[], |_| {}).await.unwrap();
    assert!(report.is_intact() && report.deleted >= 1, "{report:?}");
    close(vault).await;
}

pub async fn legal_hold_keeps_everything(site: Site) {
    let watch = Watch::new();
    let retention = Retention {
        content_days: 0,
        metadata_days: 0,
        legal_hold: true,
    };
    let (vault, account, requests) = life::aged(&site, &watch, retention, (5, 1)).await;
    life::retain(&vault, &account).await;
    assert!(
        vault
            .trail
            .reveal(&account, requests[0], "cli", None)
            .await
            .is_ok()
    );
    let refused = vault.accounts.delete_account(&account, "cli").await;
    assert!(refused.is_err(), "nor is the account deleted");
    close(vault).await;
}

pub async fn a_deleted_account_cannot_be_read_any_more(site: Site) {
    let vault = site.open().await;
    let clinic = vault
        .accounts
        .create_account("clinic", "cli")
        .await
        .unwrap()
        .id;
    let key = vault
        .access
        .create_api_key(&clinic, "", None, "cli")
        .await
        .unwrap();
    let request = life::request(&vault, &clinic).await;
    vault.accounts.delete_account(&clinic, "cli").await.unwrap();
    assert!(vault.access.admit(key.key.expose()).await.is_err());
    assert!(
        vault
            .trail
            .reveal(&clinic, request, "cli", None)
            .await
            .is_err()
    );
    assert!(
        vault
            .accounts
            .accounts()
            .await
            .unwrap()
            .iter()
            .all(|account| account.name != "clinic")
    );
    let report = vault.trail.verify(None, &[], |_| {}).await.unwrap();
    assert!(report.is_intact(), "{report:?}");
    vault
        .accounts
        .create_account("clinic", "cli")
        .await
        .unwrap();
    close(vault).await;
}

pub async fn a_rotated_master_key_opens_everything_and_the_old_one_nothing(site: Site) {
    let (vault, running) = (site.open().await, site.open().await);
    let account = account(&vault).await;
    let key = vault
        .access
        .create_api_key(&account, "", None, "cli")
        .await
        .unwrap();
    life::provide(&vault, &account).await;
    let request = life::request(&vault, &account).await;
    let before = vault.installation.master_key_id();
    let after = vault
        .installation
        .rotate_master_key_file(&site.key_file(), "cli")
        .await
        .unwrap();
    assert_ne!(before, after);
    // A process that was running goes on, also with keys it had not opened before.
    assert!(running.access.admit(key.key.expose()).await.is_ok());
    assert!(
        running
            .trail
            .reveal(&account, request, "cli", None)
            .await
            .is_ok()
    );
    let clinic = running
        .accounts
        .create_account("clinic", "cli")
        .await
        .unwrap()
        .id;
    life::provide(&running, &clinic).await;
    close(vault).await;
    close(running).await;
    let old = MasterKeySource::File(site.folder.path().join("data.key.old"));
    let refused = Vault::open(Options {
        master_key: old,
        ..site.options()
    })
    .await
    .err();
    assert!(matches!(refused, Some(StoreError::WrongMasterKey { expected }) if expected == after));
    let vault = site.open().await;
    assert!(vault.access.admit(key.key.expose()).await.is_ok());
    assert!(
        vault
            .trail
            .reveal(&account, request, "cli", None)
            .await
            .is_ok()
    );
    assert!(
        vault
            .trail
            .verify(None, &[], |_| {})
            .await
            .unwrap()
            .is_intact()
    );
    close(vault).await;
}
