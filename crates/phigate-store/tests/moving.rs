//! Moving an installation from SQLite to PostgreSQL, and backups.

use crate::support::postgres::Postgres;
use crate::support::{Site, Watch, account, close, export, life};
use phigate_store::{Filter, MasterKeySource, Options, Retention, Target, Vault, Window};
use phigate_types::Role;

/// An installation with some of everything, some of it deleted by retention.
async fn lived_in(site: &Site) -> (String, uuid::Uuid, phigate_store::NewApiKey) {
    let retention = Retention {
        content_days: 60,
        metadata_days: 60,
        legal_hold: false,
    };
    let (vault, account, requests) = life::aged(site, &Watch::new(), retention, (10, 10)).await;
    let key = vault
        .access
        .create_api_key(&account, "app", None, "cli")
        .await
        .unwrap();
    life::provide(&vault, &account).await;
    let password = "correct horse battery".into();
    vault
        .people
        .create_user(&account, "jane@example.org", &password, Role::Owner, "cli")
        .await
        .unwrap();
    life::retain(&vault, &account).await;
    close(vault).await;
    (account, requests[9], key)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whole_installation_moves_from_sqlite_to_postgresql() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let old = Site::sqlite();
    let (account, request, key) = lived_in(&old).await;
    let before = old.open().await;
    let mut file = Vec::new();
    let records = before
        .installation
        .export_installation(&mut file, "cli")
        .await
        .unwrap();
    let stats = before.figures.stats(&account, Window::Month).await.unwrap();
    let lines = export(&before, &account, &Filter::default()).await;
    close(before).await;
    assert!(!String::from_utf8_lossy(&file).contains("900-55"));
    let options = Options::new(
        Target::Url(server.database("moved")),
        MasterKeySource::File(old.key_file()),
    );
    let report = Vault::import_installation(options.clone(), &mut file.as_slice(), "cli")
        .await
        .unwrap();
    assert!(report.is_intact(), "{report:?}");
    assert_eq!(report.records + report.deleted, records);
    assert!(report.outside_checkpoints > 0 && report.deleted > 0);
    let again = Vault::import_installation(options.clone(), &mut file.as_slice(), "cli").await;
    assert!(again.is_err(), "only into an empty store");
    let after = Vault::open(options).await.unwrap();
    assert!(!after.was_created());
    assert!(
        after
            .access
            .admit(key.key.expose())
            .await
            .unwrap()
            .account
            .providers
            .contains_key("openai")
    );
    let revealed = after.trail.reveal(&account, request, "cli", None).await;
    assert!(revealed.unwrap().original.is_some());
    assert_eq!(
        after
            .trail
            .find_identifiers(&account, &[("ssn", vec!["900551234".into()])], "cli")
            .await
            .unwrap()
            .len(),
        6
    );
    assert_eq!(
        after
            .figures
            .stats(&account, Window::Month)
            .await
            .unwrap()
            .requests,
        stats.requests
    );
    let moved = export(&after, &account, &Filter::default()).await;
    // The old store recorded its last export after the file was written.
    assert_eq!(moved[..lines.len() - 1], lines[..lines.len() - 1]);
    close(after).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_or_unfinished_import_is_refused() {
    let old = Site::sqlite();
    lived_in(&old).await;
    let vault = old.open().await;
    let mut file = Vec::new();
    vault
        .installation
        .export_installation(&mut file, "cli")
        .await
        .unwrap();
    close(vault).await;
    let text = String::from_utf8(file).unwrap();
    let cut: String = text
        .lines()
        .take(text.lines().count() - 1)
        .map(|line| format!("{line}\n"))
        .collect();
    let new = Site::sqlite();
    let options = Options {
        master_key: MasterKeySource::File(old.key_file()),
        ..new.options()
    };
    assert!(
        Vault::import_installation(options.clone(), &mut cut.as_bytes(), "cli")
            .await
            .is_err()
    );
    assert!(
        Vault::open(options).await.is_err(),
        "half a store is not opened"
    );
    let changed = text.replacen("\\\"masked\\\"", "\\\"blocked\\\"", 1);
    assert_ne!(changed, text);
    let new = Site::sqlite();
    let options = Options {
        master_key: MasterKeySource::File(old.key_file()),
        ..new.options()
    };
    let report = Vault::import_installation(options, &mut changed.as_bytes(), "cli")
        .await
        .unwrap();
    assert!(!report.is_intact(), "a changed record shows");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backup_of_open_store_restores_and_verifies() {
    let site = Site::sqlite();
    let vault = site.serve().await;
    let account = account(&vault).await;
    let mut requests = Vec::new();
    for number in 0..30 {
        requests.push(life::request(&vault, &account).await);
        if number == 14 {
            vault
                .installation
                .backup(&site.folder.path().join("backup.db"), "cli")
                .await
                .unwrap();
        }
    }
    let checkpoints = vault.trail.checkpoints().await.unwrap();
    close(vault).await;
    let restored = Site::sqlite();
    std::fs::create_dir(restored.data()).unwrap();
    std::fs::copy(
        site.folder.path().join("backup.db"),
        restored.data().join("phigate.db"),
    )
    .unwrap();
    std::fs::copy(site.key_file(), restored.key_file()).unwrap();
    let vault = restored.open().await;
    assert!(
        vault
            .trail
            .verify(None, &[], |_| {})
            .await
            .unwrap()
            .is_intact()
    );
    assert!(
        vault
            .trail
            .reveal(&account, requests[14], "cli", None)
            .await
            .is_ok()
    );
    assert!(
        vault
            .trail
            .audit_show(&account, requests[15])
            .await
            .is_err()
    );
    let fault = vault
        .trail
        .verify(None, &checkpoints, |_| {})
        .await
        .unwrap()
        .fault;
    assert!(
        fault.is_some(),
        "what the backup lacks is shown by a checkpoint kept elsewhere"
    );
    close(vault).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dump_of_postgresql_restores_and_verifies() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let site = Site::postgres(&server, "before");
    let vault = site.open().await;
    let account = account(&vault).await;
    let request = life::request(&vault, &account).await;
    close(vault).await;
    server.dump_and_restore("before", "after");
    let options = Options {
        target: Target::Url(server.url("after")),
        ..site.options()
    };
    let vault = Vault::open(options).await.unwrap();
    assert!(
        vault
            .trail
            .verify(None, &[], |_| {})
            .await
            .unwrap()
            .is_intact()
    );
    assert!(
        vault
            .trail
            .reveal(&account, request, "cli", None)
            .await
            .is_ok()
    );
    close(vault).await;
}
