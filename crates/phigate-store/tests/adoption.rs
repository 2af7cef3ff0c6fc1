//! A store from before rows were authenticated is taken over at its first start, once.

use crate::support::life::recorded;
use crate::support::{PATIENCE, Site, account, clean, close};
use jiff::{SignedDuration, Timestamp};
use phigate_store::{Filter, Login, LoginOutcome, Options, ProviderConfig, StoreError, Vault};
use phigate_types::{Mode, ProviderKind};
use rusqlite::Connection;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

const OLD: &str = include_str!("data/before_row_hashes.sql");
const MASTER_KEY: &str = "lR4cxOHhxQzJeUA3jUADePUwtRvv0tPyvzgYYPiSdik=";
const API_KEY: &str = "phg_4ozdzd86731e_zXgyOSJVbkvZ9m9iX9Q8xscuLYHFazQS3j1QSasGrTA3XFP8Q";
const OWNER_LINK: &str = "Ju1f0u1YP2KJQx8MN2kXlmrhV8z1fkHdsgwezEApuev";

fn old_store() -> Site {
    let site = Site::sqlite();
    std::fs::create_dir(site.data()).unwrap();
    database(&site).execute_batch(OLD).unwrap();
    std::fs::write(site.key_file(), MASTER_KEY).unwrap();
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(site.key_file(), private).unwrap();
    site
}

fn database(site: &Site) -> Connection {
    Connection::open(site.data().join("phigate.db")).unwrap()
}

async fn sign_in(vault: &Vault) -> LoginOutcome {
    let login = Login {
        email: "jane@example.org",
        password: &"correct horse battery".into(),
        origin: "192.0.2.1",
        device: None,
    };
    vault.people.verify_login(&login).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_store_goes_on_working() {
    let site = old_store();
    let (one, two) = tokio::join!(site.serve(), site.serve());
    for vault in [one, two] {
        let admission = vault.access.admit(API_KEY).await.unwrap();
        let provider = &admission.account.providers["openai"];
        let secret = provider.secret.as_ref().unwrap();
        assert_eq!(secret.expose(), "sk-test-000000000000");
        let config = ProviderConfig::new(ProviderKind::OpenAi).at("https://models.example");
        assert_eq!(provider.config, config);
        assert_eq!(admission.account.mode, Mode::MASK);
        assert!(matches!(sign_in(&vault).await, LoginOutcome::Right(_)));
        assert!(vault.links.link(OWNER_LINK).await.unwrap().is_none());
        let report = vault.trail.verify(None, &[], |_| {}).await.unwrap();
        assert!(report.is_intact(), "{report:?}");
        close(vault).await;
    }
    let hash: String = database(&site)
        .query_row("SELECT body FROM item WHERE kind = 'user'", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert!(hash.contains("secret1$argon2id"), "hashed anew: {hash}");
    let adoptions: i64 = database(&site)
        .query_row(
            "SELECT count(*) FROM audit_record WHERE act = 'rows.adopt'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(adoptions, 1, "once, though two started at the same moment");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn store_made_to_look_older_is_refused() {
    let site = old_store();
    close(site.open().await).await;
    // The attacker kept a copy from before the upgrade, the wrapped root key included.
    let copy = Connection::open_in_memory().unwrap();
    copy.execute_batch(OLD).unwrap();
    let root: String = copy
        .query_row(
            "SELECT body FROM item WHERE kind = 'data_key' AND account = ''",
            [],
            |row| row.get(0),
        )
        .unwrap();
    let database = database(&site);
    let sql = "UPDATE item SET body = ?1 WHERE kind = 'data_key' AND account = ''";
    database.execute(sql, [root]).unwrap();
    database
        .execute_batch("UPDATE item SET mac = NULL; DELETE FROM item WHERE kind = 'roll'")
        .unwrap();
    drop(database);
    let refused = Vault::open(Options { ..site.options() }).await;
    assert!(matches!(refused, Err(StoreError::Tampered { .. })));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_without_hash_is_refused_after_upgrade() {
    let site = old_store();
    let vault = site.open().await;
    let account = account(&vault).await;
    close(vault).await;
    let sql = "UPDATE item SET mac = NULL WHERE kind = 'user'";
    assert_eq!(database(&site).execute(sql, []).unwrap(), 1);
    let vault = site.open().await;
    assert!(matches!(
        vault.people.users(&account).await,
        Err(StoreError::Tampered { .. })
    ));
    let filter = Filter::default();
    let records = vault.trail.audit_list(&account, &filter, None, 10).await;
    assert!(records.is_ok(), "the trail can still be read");
    close(vault).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hashes_of_identifiers_are_joined_by_request() {
    let site = old_store();
    let rows = "INSERT INTO audit_token SELECT 'bewxdhrs7scv', column1, 7, column2 FROM
                (VALUES (X'00ff00ff00ff00ff00ff00ff00ff00ff', X'01'), (X'80220a2780220a2780220a2780220a27', X'01'),
                        (X'00ff00ff00ff00ff00ff00ff00ff00ff', X'02'))";
    assert_eq!(database(&site).execute(rows, []).unwrap(), 3);
    close(site.open().await).await;
    let joined = |request: u8| -> (i64, Vec<u8>) {
        let sql = "SELECT time, tokens FROM audit_token WHERE request = ?1";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        database(&site).query_row(sql, [[request]], read).unwrap()
    };
    let (time, mut both) = joined(1);
    both.sort_unstable();
    let mut expected = [[0x00, 0xff].repeat(8), [0x80, 0x22, 0x0a, 0x27].repeat(4)].concat();
    expected.sort_unstable();
    assert_eq!((time, both), (7, expected));
    assert_eq!(joined(2), (7, [0x00, 0xff].repeat(8)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn identifier_hashes_are_sorted_when_idle() {
    let site = old_store();
    let rows = "WITH RECURSIVE each(number) AS (VALUES (1) UNION ALL SELECT number + 1 FROM each WHERE number < 10000)
                INSERT INTO audit_token
                SELECT 'bewxdhrs7scv', randomblob(16), number, randomblob(16) FROM each";
    assert_eq!(database(&site).execute(rows, []).unwrap(), 10_000);
    let vault = site.serve().await;
    let account = account(&vault).await;
    recorded(&vault, clean(&account)).await;
    let started = Instant::now();
    loop {
        let sql = "SELECT coalesce(max(last), 0), count(*) FROM audit_token_segment";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let (last, count): (i64, i64) = database(&site).query_row(sql, [], read).unwrap();
        if count == 2 {
            assert_eq!(last, 8_192);
            break;
        }
        assert!(
            started.elapsed() < PATIENCE,
            "{last} after {count} segments"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    close(vault).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hours_with_missing_counters_are_searched_whole() {
    let site = Site::sqlite();
    let vault = site.open().await;
    let account = account(&vault).await;
    let start = Timestamp::now() - SignedDuration::from_hours(400);
    for number in 0..40 {
        let mut new = clean(&account);
        new.decision.time = start + SignedDuration::from_hours(10 * number);
        let wait = Duration::from_secs(10);
        vault.trail.record_decision(new, wait).await.unwrap();
    }
    close(vault).await;
    // The version that served half of the time did not count by key and model.
    let half = (start.as_second() + 200 * 3_600) / 3_600;
    let sql =
        "DELETE FROM audit_counter WHERE hour < ?1 AND (name LIKE 'key%' OR name LIKE 'model%')";
    assert_eq!(database(&site).execute(sql, [half]).unwrap(), 40);
    let vault = site.open().await;
    for (model, found) in [("gpt-4o", 40), ("unheard-of", 0)] {
        let filter = Filter {
            model: Some(model.to_owned()),
            ..Filter::default()
        };
        let page = vault.trail.request_list(&account, &filter, None, 100);
        assert_eq!(page.await.unwrap().items.len(), found);
        let count = vault.figures.count(&account, &filter, 100).await.unwrap();
        assert_eq!((count.number, count.is_least), (found as u64, false));
    }
    close(vault).await;
}
