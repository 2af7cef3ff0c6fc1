//! Every kind of tampering, tried on the database file itself, is found and named.

use crate::support::{Site, account, close, life};
use phigate_store::{Checkpoint, FaultKind, Report};
use rusqlite::Connection;

/// Attacks with access to the file, and the fault that must be found with its place. The trail has one chain: place 1
/// is the creation of the account, then decisions (even) and outcomes (odd) up to 13.
const ATTACKS: &[(&str, &[&str], FaultKind, i64)] = &[
    // Name, statements, fault, place.
    (
        "the text of a record is changed",
        &["UPDATE audit_record SET body = replace(body, 'masked', 'blocked') WHERE seq = 4"],
        FaultKind::Changed,
        4,
    ),
    ("a search column is changed", &["UPDATE audit_record SET action = 'forwarded' WHERE seq = 6"], FaultKind::Changed, 6),
    ("an API key id is changed", &["UPDATE audit_record SET key_id = 'zzzzzzzzzzzz' WHERE seq = 2"], FaultKind::Changed, 2),
    ("the time is changed", &["UPDATE audit_record SET time = time + 1 WHERE seq = 6"], FaultKind::Inserted, 6),
    (
        "the time is changed everywhere",
        &["UPDATE audit_record SET time = time + 1 WHERE seq = 6", "UPDATE audit_chain SET time = time + 1 WHERE seq = 6"],
        FaultKind::Changed,
        6,
    ),
    ("a record is deleted", &["DELETE FROM audit_record WHERE seq = 5"], FaultKind::Missing, 5),
    (
        "a record is deleted with its place",
        &["DELETE FROM audit_record WHERE seq = 5", "DELETE FROM audit_chain WHERE seq = 5"],
        FaultKind::Missing,
        5,
    ),
    (
        "a record is deleted and those after it move up",
        &[
            "DELETE FROM audit_record WHERE seq = 5",
            "DELETE FROM audit_chain WHERE seq = 5",
            "UPDATE audit_chain SET seq = -seq WHERE seq > 5",
            "UPDATE audit_chain SET seq = -seq - 1 WHERE seq < 0",
            "UPDATE audit_record SET seq = seq - 1 WHERE seq > 5",
        ],
        FaultKind::Reordered,
        5,
    ),
    (
        "two records are exchanged",
        &[
            "UPDATE audit_chain SET seq = -4 WHERE seq = 4",
            "UPDATE audit_chain SET seq = 4 WHERE seq = 8",
            "UPDATE audit_chain SET seq = 8 WHERE seq = -4",
            "UPDATE audit_record SET seq = -4 WHERE seq = 4",
            "UPDATE audit_record SET seq = 4 WHERE seq = 8",
            "UPDATE audit_record SET seq = 8 WHERE seq = -4",
        ],
        FaultKind::Reordered,
        4,
    ),
    (
        "a record is put in without a place",
        &["INSERT INTO audit_record SELECT NULL, account, time, randomblob(16), kind, request, key_id, mode, action, model,
           types, act, lane, 99, body FROM audit_record WHERE seq = 4"],
        FaultKind::Inserted,
        99,
    ),
    (
        "a record is put in at the end",
        &[
            "INSERT INTO audit_chain SELECT account, lane, 14, record, time, leaf, randomblob(32), randomblob(16), NULL
             FROM audit_chain WHERE seq = 13",
        ],
        FaultKind::Inserted,
        14,
    ),
    (
        "a record is put in between",
        &[
            "UPDATE audit_chain SET seq = -seq WHERE seq >= 6",
            "UPDATE audit_chain SET seq = -seq + 1 WHERE seq < 0",
            "UPDATE audit_record SET seq = seq + 1 WHERE seq >= 6",
            "INSERT INTO audit_chain SELECT account, lane, 6, randomblob(16), time, randomblob(32), randomblob(32),
             randomblob(16), NULL FROM audit_chain WHERE seq = 5",
        ],
        FaultKind::Inserted,
        6,
    ),
    ("a digest is changed", &["UPDATE audit_chain SET digest = randomblob(32) WHERE seq = 7"], FaultKind::Changed, 7),
    ("a keyed hash is changed", &["UPDATE audit_chain SET mac = randomblob(16) WHERE seq = 7"], FaultKind::Changed, 7),
    ("a signature is changed", &["UPDATE audit_chain SET signature = randomblob(64) WHERE seq = 7"], FaultKind::Changed, 7),
    ("the last signature is removed", &["UPDATE audit_chain SET signature = NULL WHERE seq = 13"], FaultKind::Truncated, 14),
    (
        "sealed content is changed",
        &["UPDATE audit_content SET sent = randomblob(80) WHERE number = (SELECT number FROM audit_record WHERE seq = 8)"],
        FaultKind::Changed,
        8,
    ),
    (
        "the lookup hash of an identifier is deleted",
        &["DELETE FROM audit_token WHERE request = (SELECT request FROM audit_record WHERE seq = 8)"],
        FaultKind::Changed,
        8,
    ),
    (
        "the lookup hash of an identifier is changed",
        &["UPDATE audit_token SET tokens = randomblob(16) WHERE request = (SELECT request FROM audit_record WHERE seq = 8)"],
        FaultKind::Changed,
        8,
    ),
    (
        "rows are said to be in an index that does not have them",
        &["INSERT INTO audit_token_segment (first, last, newest) VALUES (1, 1000, 9000000000000000000)"],
        FaultKind::Changed,
        0,
    ),
    (
        "one of two sealed contents is deleted",
        &["UPDATE audit_content SET sent = NULL WHERE number = (SELECT number FROM audit_record WHERE seq = 8)"],
        FaultKind::Changed,
        8,
    ),
    (
        "sealed content is deleted",
        &["DELETE FROM audit_content WHERE number = (SELECT number FROM audit_record WHERE seq = 8)"],
        FaultKind::Changed,
        8,
    ),
    (
        "sealed content is taken from another record",
        &["UPDATE audit_content SET original = (SELECT original FROM audit_content
           WHERE number = (SELECT number FROM audit_record WHERE seq = 6))
           WHERE number = (SELECT number FROM audit_record WHERE seq = 8)"],
        FaultKind::Changed,
        8,
    ),
];

/// A store with one decision and one outcome per request, and its checkpoints.
async fn filled() -> (Site, Vec<Checkpoint>) {
    let site = Site::sqlite();
    let vault = site.open().await;
    let account = account(&vault).await;
    for _ in 0..6 {
        life::request(&vault, &account).await;
    }
    let checkpoints = vault.trail.checkpoints().await.unwrap();
    close(vault).await;
    (site, checkpoints)
}

fn tamper(site: &Site, statements: &[&str]) {
    let connection = Connection::open(site.data().join("phigate.db")).unwrap();
    for statement in statements {
        assert!(
            connection.execute(statement, []).unwrap() > 0,
            "does nothing: {statement}"
        );
    }
}

async fn verify(site: &Site, outside: &[Checkpoint]) -> Report {
    let vault = site.open().await;
    let report = vault.trail.verify(None, outside, |_| {}).await.unwrap();
    close(vault).await;
    report
}

#[tokio::test]
async fn every_file_attack_is_found_and_named() {
    let (honest, _) = filled().await;
    assert!(verify(&honest, &[]).await.is_intact());
    for (name, statements, kind, place) in ATTACKS {
        let copy = honest.copy();
        tamper(&copy, statements);
        let report = verify(&copy, &[]).await;
        let fault = report.fault.unwrap_or_else(|| panic!("not found: {name}"));
        assert_eq!((fault.kind, fault.seq), (*kind, *place), "{name}: {fault}");
    }
}

#[tokio::test]
async fn trail_truncation_shows_only_against_outside_checkpoint() {
    let (site, checkpoints) = filled().await;
    tamper(
        &site,
        &[
            "DELETE FROM audit_record WHERE seq > 11",
            "DELETE FROM audit_chain WHERE seq > 11",
            // Otherwise the figures would show the truncation.
            "UPDATE audit_counter SET count = count - CASE name WHEN 'tokens' THEN 10 ELSE 1 END
             WHERE rowid IN (SELECT min(rowid) FROM audit_counter GROUP BY name)",
        ],
    );
    let alone = verify(&site, &[]).await;
    assert!(
        alone.is_intact() && alone.outside_checkpoints == 0,
        "the report says that nothing was compared"
    );
    let fault = verify(&site, &checkpoints).await.fault.unwrap();
    assert_eq!((fault.kind, fault.seq), (FaultKind::Truncated, 12));
}

#[tokio::test]
async fn older_store_copy_is_found_by_checkpoint() {
    let (site, _) = filled().await;
    let old = site.copy();
    let vault = site.open().await;
    vault
        .accounts
        .create_account("clinic", "cli")
        .await
        .unwrap();
    let account = vault
        .accounts
        .find_account(Some("default"))
        .await
        .unwrap()
        .id;
    vault
        .access
        .create_api_key(&account, "", None, "cli")
        .await
        .unwrap();
    let checkpoints = vault.trail.checkpoints().await.unwrap();
    close(vault).await;
    assert!(verify(&site, &checkpoints).await.is_intact());
    let fault = verify(&old, &checkpoints).await.fault.unwrap();
    assert_eq!(fault.kind, FaultKind::Truncated);
}

#[tokio::test]
async fn removed_chain_is_found_through_joined_chain() {
    let (site, _) = filled().await;
    let (one, two) = (site.open().await, site.serve().await);
    let account = account(&one).await;
    one.access
        .create_api_key(&account, "first lane", None, "cli")
        .await
        .unwrap();
    two.access
        .create_api_key(&account, "second lane", None, "cli")
        .await
        .unwrap();
    close(one).await;
    close(two).await;
    // The second server start names the ends of all other chains.
    let holder = site.open().await;
    holder
        .access
        .create_api_key(&account, "holds the first lane", None, "cli")
        .await
        .unwrap();
    let server = site.serve().await;
    server
        .access
        .create_api_key(&account, "second lane again", None, "cli")
        .await
        .unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    server.flush().await.unwrap();
    close(server).await;
    close(holder).await;
    assert!(verify(&site, &[]).await.is_intact());
    tamper(
        &site,
        &[
            "DELETE FROM audit_record WHERE lane = 1",
            "DELETE FROM audit_chain WHERE lane = 1",
        ],
    );
    let fault = verify(&site, &[]).await.fault.unwrap();
    assert_eq!(
        (fault.kind, fault.lane),
        (FaultKind::Truncated, 1),
        "{fault}"
    );
}
