//! Retention, deletion, rotation.

use std::time::Duration;

use crate::support::{
    PATIENCE, Site, Watch, account, answered, attempt_at, close, export, life, masked,
};
use jiff::SignedDuration;
use phigate_store::{
    AdminAct, ExportVerifier, Filter, INSTALLATION, MasterKeySource, Options, Record, Retention,
    Settings, StoreError, Vault,
};
use phigate_types::Act;
use uuid::Uuid;

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
        .find_identifiers(&account, &[("ssn", vec!["900551234".into()])], "cli")
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
}

pub async fn erased_content_is_gone_and_the_trail_still_verifies(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let (new, other) = (masked(&account), masked(&account));
    let (id, kept) = (new.decision.request_id, other.decision.request_id);
    let mut attempt = attempt_at("cellar", &account, &new.decision);
    attempt.sent.clone_from(&new.sent);
    let outcome = answered(id);
    for new in [new, other] {
        vault.trail.record_decision(new, PATIENCE).await.unwrap();
    }
    vault.trail.record_attempt(attempt, PATIENCE).await.unwrap();
    let reply = b"Jane Roe".as_slice().into();
    let replies = &vault.replies;
    let written = replies.record_outcome_with_reply(&account, outcome, &reply, PATIENCE);
    written.await.unwrap();
    let erase = async |id| {
        vault
            .expiry
            .erase(&account, id, "cli: test", "a request of 3 May")
            .await
    };
    let set_hold = async |hold: bool| {
        let change = |settings: &mut Settings| settings.retention.legal_hold = hold;
        let accounts = &vault.accounts;
        accounts
            .edit_settings(&account, change, "cli")
            .await
            .unwrap();
    };
    set_hold(true).await;
    assert!(matches!(erase(id).await, Err(StoreError::LegalHold)));
    assert!(vault.trail.reveal(&account, id, "cli", None).await.is_ok());
    set_hold(false).await;
    assert_eq!(erase(id).await.unwrap(), 3, "decision, attempt and reply");
    let reveal = vault.trail.reveal(&account, id, "cli", None);
    assert!(matches!(reveal.await, Err(StoreError::Erased)));
    assert!(erase(id).await.is_err() && erase(Uuid::now_v7()).await.is_err());
    let untouched = vault.trail.reveal(&account, kept, "cli", None);
    assert!(untouched.await.is_ok());
    let records = vault.trail.audit_show(&account, id).await.unwrap();
    let told = records.iter().find_map(|record| match record {
        Record::Admin(act) if act.act == Act::ContentErase => act.reason.clone(),
        _ => None,
    });
    assert_eq!(told.as_deref(), Some("a request of 3 May"));
    let report = vault.trail.verify(None, &[], |_| {}).await.unwrap();
    assert!(report.is_intact(), "{report:?}");
    let lines = export(&vault, &account, &Filter::default()).await;
    let mut verifier = ExportVerifier::new(&vault.trail.public_key(), &[]).unwrap();
    lines.iter().for_each(|line| verifier.line(line));
    assert!(verifier.finish().is_intact());
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
