//! Attacks on the rows that grant access, by an attacker who can write to the database but does not have the master
//! key. Every attack is refused by a gateway that starts and named by `verify`. One more attack is one more row.

use std::time::Duration;

use crate::support::postgres::Postgres;
use crate::support::{Site, Watch, account, close, life};
use jiff::SignedDuration;
use phigate_store::{
    FaultKind, Invite, LinkPurpose, NewSecret, Options, ProviderConfig, Retention, SessionPolicy,
    Settings, StoreError, Vault,
};
use phigate_types::{Mode, ProviderKind, Role};

const PASSWORD: &str = "correct horse battery";

/// Copy of the rows that the attacker puts back later.
const BEFORE: &str = "CREATE TABLE loot AS SELECT * FROM item";

/// An attack, with the expected report of `verify` and its row.
struct Attack {
    name: &'static str,
    statements: &'static [&'static str],
    what: FaultKind,
    row: &'static str,
}

const ATTACKS: &[Attack] = &[
    // In the order of the rows they touch.
    Attack {
        name: "another mode is written into an account",
        statements: &[
            "UPDATE item SET body = replace(body, '\"mode\":\"mask\"', '\"mode\":\"flag\"') WHERE kind = 'account'",
        ],
        what: FaultKind::Changed,
        row: "account",
    },
    Attack {
        name: "an account is put back to the mode it had",
        statements: &[
            "UPDATE item SET body = (SELECT body FROM loot WHERE loot.kind = 'account'), version = (SELECT version FROM loot WHERE loot.kind = 'account'), mac = (SELECT mac FROM loot WHERE loot.kind = 'account') WHERE kind = 'account'",
        ],
        what: FaultKind::Changed,
        row: "account",
    },
    Attack {
        name: "a keyed hash is emptied",
        statements: &["UPDATE item SET mac = NULL WHERE kind = 'account'"],
        what: FaultKind::Changed,
        row: "account",
    },
    Attack {
        name: "an account is deleted with everything in it",
        statements: &["DELETE FROM item WHERE account <> ''"],
        what: FaultKind::Missing,
        row: "account",
    },
    Attack {
        name: "a provider's address is changed",
        statements: &[
            "UPDATE item SET body = replace(body, 'https://models.example', 'https://evil.example') WHERE kind = 'provider'",
        ],
        what: FaultKind::Changed,
        row: "provider openai",
    },
    Attack {
        name: "a provider is removed",
        statements: &["DELETE FROM item WHERE kind = 'provider'"],
        what: FaultKind::Missing,
        row: "provider openai",
    },
    Attack {
        name: "a provider is copied to another family",
        statements: &[
            "INSERT INTO item (account, kind, id, lookup, version, body, mac) SELECT account, kind, 'google', lookup, version, body, mac FROM item WHERE kind = 'provider'",
        ],
        what: FaultKind::Inserted,
        row: "provider google",
    },
    Attack {
        name: "a revoked key is put back",
        statements: &[
            "DELETE FROM item WHERE kind = 'api_key'",
            "INSERT INTO item (account, kind, id, lookup, version, body, mac) SELECT account, kind, id, lookup, version, body, mac FROM loot WHERE kind = 'api_key'",
        ],
        what: FaultKind::Changed,
        row: "API key",
    },
    Attack {
        name: "a revoked key is put back with its roll",
        statements: &[
            "DELETE FROM item WHERE kind = 'api_key' OR (kind = 'roll' AND id = 'api_key')",
            "INSERT INTO item (account, kind, id, lookup, version, body, mac) SELECT account, kind, id, lookup, version, body, mac FROM loot WHERE kind = 'api_key' OR (kind = 'roll' AND id = 'api_key')",
        ],
        what: FaultKind::Changed,
        row: "roll api_key",
    },
    Attack {
        name: "all rows of an account are put back",
        statements: &[
            "DELETE FROM item WHERE account <> ''",
            "INSERT INTO item (account, kind, id, lookup, version, body, mac) SELECT account, kind, id, lookup, version, body, mac FROM loot WHERE account <> ''",
        ],
        what: FaultKind::RolledBack,
        row: "the rows of account",
    },
    Attack {
        name: "a key is given to another account",
        statements: &["UPDATE item SET account = '' WHERE kind = 'api_key'"],
        what: FaultKind::Inserted,
        row: "API key",
    },
    Attack {
        name: "an auditor is made an owner",
        statements: &[
            "UPDATE item SET body = replace(body, '\"auditor\"', '\"owner\"') WHERE kind = 'user' AND lookup = 'sam@example.org'",
        ],
        what: FaultKind::Changed,
        row: "user",
    },
    Attack {
        name: "somebody takes over an owner's password",
        statements: &[
            "UPDATE item SET body = (SELECT i.body FROM item i WHERE i.lookup = 'sam@example.org') WHERE lookup = 'jane@example.org'",
        ],
        what: FaultKind::Changed,
        row: "user",
    },
    Attack {
        name: "a user is inserted",
        statements: &[
            "INSERT INTO item (account, kind, id, lookup, version, body) SELECT account, kind, 'intruder', 'eve@example.org', 1, body FROM item WHERE kind = 'user' LIMIT 1",
        ],
        what: FaultKind::Inserted,
        row: "user intruder",
    },
    Attack {
        name: "a removed user is put back",
        statements: &[
            "INSERT INTO item (account, kind, id, lookup, version, body, mac) SELECT account, kind, id, lookup, version, body, mac FROM loot WHERE lookup = 'gone@example.org'",
        ],
        what: FaultKind::Inserted,
        row: "user",
    },
    Attack {
        name: "all users are deleted with their roll",
        statements: &["DELETE FROM item WHERE kind = 'user' OR (kind = 'roll' AND id = 'user')"],
        what: FaultKind::Changed,
        row: "roll user",
    },
    Attack {
        name: "a used link is put back",
        statements: &[
            "INSERT INTO item (account, kind, id, lookup, version, body, mac) SELECT account, kind, id, lookup, version, body, mac FROM loot WHERE kind = 'link'",
        ],
        what: FaultKind::Inserted,
        row: "link",
    },
    Attack {
        name: "a session is inserted",
        statements: &[
            "INSERT INTO item (account, kind, id, lookup, version, body, mac) SELECT account, kind, 'intruder', 'a-hash', version, body, mac FROM item WHERE kind = 'session' LIMIT 1",
        ],
        what: FaultKind::Inserted,
        row: "session intruder",
    },
    Attack {
        name: "a session is given to another user",
        statements: &["UPDATE item SET lookup = 'a-hash' WHERE kind = 'session'"],
        what: FaultKind::Inserted,
        row: "session",
    },
    Attack {
        name: "a data key is deleted",
        statements: &["DELETE FROM item WHERE kind = 'data_key' AND account <> ''"],
        what: FaultKind::Missing,
        row: "data key",
    },
    Attack {
        name: "the rolls are deleted",
        statements: &["DELETE FROM item WHERE kind = 'roll'"],
        what: FaultKind::Inserted,
        row: "account",
    },
    Attack {
        name: "figures are raised",
        statements: &["UPDATE audit_counter SET count = count + 1 WHERE name = 'requests'"],
        what: FaultKind::Changed,
        row: "the figures of",
    },
    Attack {
        name: "figures are lowered",
        statements: &["UPDATE audit_counter SET count = 0 WHERE name = 'with_phi'"],
        what: FaultKind::Changed,
        row: "the figures of",
    },
    Attack {
        name: "figures are invented",
        statements: &[
            "INSERT INTO audit_counter (account, hour, lane, name, count) SELECT account, 1, lane, name, 7 FROM audit_counter LIMIT 1",
        ],
        what: FaultKind::Changed,
        row: "the figures of",
    },
    Attack {
        name: "figures are deleted",
        statements: &["DELETE FROM audit_counter"],
        what: FaultKind::Changed,
        row: "the figures of",
    },
    Attack {
        name: "the whole trail is deleted",
        statements: &[
            "DELETE FROM audit_record",
            "DELETE FROM audit_chain",
            "DELETE FROM audit_counter",
        ],
        what: FaultKind::Truncated,
        row: "",
    },
    Attack {
        name: "the trail of an account is deleted",
        statements: &[
            "DELETE FROM audit_record WHERE account <> ''",
            "DELETE FROM audit_chain WHERE account <> ''",
            "DELETE FROM audit_counter",
        ],
        what: FaultKind::Truncated,
        row: "",
    },
    Attack {
        name: "a keyed hash of the chain is overwritten with zeros",
        statements: &[
            "UPDATE audit_chain SET mac = CAST('00000000000000000000000000000000' AS BYTES) WHERE seq = 3 AND account <> ''",
        ],
        what: FaultKind::Changed,
        row: "",
    },
    Attack {
        name: "a digest of the chain is cut short",
        statements: &[
            "UPDATE audit_chain SET digest = CAST('short' AS BYTES) WHERE seq = 3 AND account <> ''",
        ],
        what: FaultKind::Changed,
        row: "",
    },
];

/// An installation in which the attacker looked around before a mode was set, a key revoked, a user removed and an
/// invitation used.
async fn lived_in(site: &Site, run: &mut dyn FnMut(&str)) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let password = PASSWORD.into();
    for (email, role) in [
        ("jane@example.org", Role::Owner),
        ("sam@example.org", Role::Auditor),
        ("gone@example.org", Role::Owner),
    ] {
        let made = vault
            .people
            .create_user(&account, email, &password, role, "cli");
        made.await.unwrap();
    }
    let key = vault.access.create_api_key(&account, "app", None, "cli");
    let key = key.await.unwrap();
    let secret = "sk-test-000000000000".into();
    let config = ProviderConfig::new(ProviderKind::OpenAi).at("https://models.example");
    let provider =
        vault
            .access
            .set_provider(&account, "openai", &config, NewSecret::Set(&secret), "cli");
    provider.await.unwrap();
    let invite = Invite {
        purpose: LinkPurpose::Invite,
        role: Role::Auditor,
        email: None,
        valid: jiff::SignedDuration::from_hours(1),
    };
    let link = vault
        .links
        .create_link(&account, &invite, "cli")
        .await
        .unwrap();
    run(BEFORE);
    vault
        .accounts
        .set_mode(&account, Mode::MASK, "cli")
        .await
        .unwrap();
    let revoked = vault.access.revoke_api_key(&account, &key.id, "cli");
    revoked.await.unwrap();
    let removed = vault
        .people
        .remove_user(&account, "gone@example.org", "cli");
    removed.await.unwrap();
    let redeemed = vault
        .links
        .redeem_link(link.expose(), "kim@example.org", &password);
    let user = redeemed.await.unwrap();
    let session = vault
        .sessions
        .begin_session(&user, SessionPolicy::default(), "test");
    session.await.unwrap();
    for _ in 0..3 {
        life::request(&vault, &account).await;
    }
    close(vault).await;
}

/// Opens the store as a serving gateway does.
async fn serve(site: &Site) -> Result<(), StoreError> {
    let options = Options {
        serve: true,
        ..site.options()
    };
    let vault = Vault::open(options).await?;
    close(vault).await;
    Ok(())
}

async fn check(attack: &Attack, site: &Site) {
    let name = attack.name;
    let vault = site.open().await;
    let report = vault.trail.verify(None, &[], |_| {}).await.unwrap();
    close(vault).await;
    let fault = report.fault.unwrap_or_else(|| panic!("not found: {name}"));
    let row = fault.row.clone().unwrap_or_default();
    assert_eq!(fault.kind, attack.what, "{name}: {fault}");
    assert!(row.starts_with(attack.row), "{name}: {fault}");
    let is_about_rows = attack.statements[0].contains("item");
    assert_eq!(serve(site).await.is_err(), is_about_rows, "{name}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_rows_are_refused() {
    let honest = Site::sqlite();
    let file = honest.data().join("phigate.db");
    lived_in(&honest, &mut |statement| {
        let connection = rusqlite::Connection::open(&file).unwrap();
        connection.execute_batch(statement).unwrap();
    })
    .await;
    serve(&honest).await.unwrap();
    for attack in ATTACKS {
        let site = honest.copy();
        let connection = rusqlite::Connection::open(site.data().join("phigate.db")).unwrap();
        for statement in attack.statements {
            let statement = statement.replace("AS BYTES", "AS BLOB");
            let changed = connection.execute(&statement, []).unwrap();
            assert!(changed > 0, "does nothing: {statement}");
        }
        drop(connection);
        check(attack, &site).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_rows_are_refused() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let honest = Site::postgres(&server, "honest");
    lived_in(&honest, &mut |statement| {
        assert!(server.psql("honest", statement));
    })
    .await;
    serve(&honest).await.unwrap();
    for (number, attack) in ATTACKS.iter().enumerate() {
        let copy = format!("attack{number}");
        let sql = format!("CREATE DATABASE {copy} TEMPLATE honest");
        assert!(server.psql("postgres", &sql), "{copy}");
        for statement in attack.statements {
            let statement = statement.replace("AS BYTES", "AS bytea");
            assert!(server.psql(&copy, &statement), "{statement}");
        }
        check(attack, &honest.at(server.url(&copy))).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn running_gateway_refuses_rolled_back_rows() {
    let site = Site::sqlite();
    let file = site.data().join("phigate.db");
    let sql = |statement: &str| {
        let connection = rusqlite::Connection::open(&file).unwrap();
        connection.execute_batch(statement).unwrap();
    };
    let vault = site.serve().await;
    let account = account(&vault).await;
    let key = vault.access.create_api_key(&account, "", None, "cli");
    let key = key.await.unwrap();
    vault
        .accounts
        .set_mode(&account, Mode::MASK, "cli")
        .await
        .unwrap();
    sql(BEFORE);
    vault
        .accounts
        .set_mode(&account, Mode::BLOCK, "cli")
        .await
        .unwrap();
    assert_eq!(
        vault
            .access
            .admit(key.key.expose())
            .await
            .unwrap()
            .account
            .mode,
        Mode::BLOCK
    );
    sql(
        "DELETE FROM item WHERE account <> ''; INSERT INTO item SELECT * FROM loot WHERE account <> ''; UPDATE generation SET value = value + 1",
    );
    let refused = vault.access.admit(key.key.expose()).await;
    assert!(
        matches!(
            &refused,
            Err(phigate_store::AdmitError::Store(
                StoreError::Tampered { .. }
            ))
        ),
        "{refused:?}"
    );
    close(vault).await;
}

/// Changes to the row of an account under legal hold, so that its records may be deleted by age.
const LIFTING_HOLDS: &[&str] = &[
    "UPDATE item SET body = replace(body, '\"legal_hold\":true', '\"legal_hold\":false') WHERE kind = 'account'",
    "UPDATE item SET body = (SELECT body FROM loot WHERE loot.kind = 'account'), version = (SELECT version FROM loot WHERE loot.kind = 'account'), mac = (SELECT mac FROM loot WHERE loot.kind = 'account') WHERE kind = 'account'",
    "DELETE FROM item WHERE kind = 'account'",
    "DELETE FROM item WHERE account <> ''",
    "DELETE FROM item WHERE account <> ''; INSERT INTO item SELECT * FROM loot WHERE account <> ''",
    "UPDATE item SET kind = 'deleted_account' WHERE kind = 'account'",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_under_legal_hold_survive_forged_accounts() {
    for attack in LIFTING_HOLDS {
        for raises_generation in [false, true] {
            let (site, watch) = (Site::sqlite(), Watch::new());
            let retention = Retention {
                content_days: 1,
                metadata_days: 1,
                legal_hold: false,
            };
            let (vault, account, _) = life::aged(&site, &watch, retention, (3, 0)).await;
            let connection = rusqlite::Connection::open(site.data().join("phigate.db")).unwrap();
            let sql = |statement: &str| connection.execute_batch(statement).unwrap();
            sql(BEFORE);
            let settings = Settings {
                retention: Retention {
                    legal_hold: true,
                    ..retention
                },
                ..Settings::default()
            };
            let set = vault.accounts.set_settings(&account, &settings, "cli");
            set.await.unwrap();
            let count = || -> u32 {
                let records = "SELECT (SELECT count(*) FROM audit_content) + (SELECT count(*) FROM audit_record WHERE account <> '')";
                let counted = connection.query_row(records, [], |row| row.get(0));
                counted.unwrap()
            };
            let before = count();
            sql(attack);
            if raises_generation {
                sql("UPDATE generation SET value = value + 1");
            }
            // Longer than any retention.
            watch.advance(SignedDuration::from_hours(24 * 9000));
            let first = vault.expiry.retain(&account).await;
            let second = vault.expiry.retain_all(Duration::ZERO).await;
            assert!(
                count() >= before,
                "{attack}, {raises_generation}: {first:?} {second:?}"
            );
            let deleted = vault.accounts.delete_account(&account, "cli").await;
            assert!(deleted.is_err(), "{attack}, {raises_generation}");
            close(vault).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_of_another_installation_is_refused() {
    let (ours, theirs) = (Site::sqlite(), Site::sqlite());
    let mut nothing = |_: &str| {};
    lived_in(&ours, &mut nothing).await;
    lived_in(&theirs, &mut nothing).await;
    let connection = rusqlite::Connection::open(ours.data().join("phigate.db")).unwrap();
    let theirs = theirs.data().join("phigate.db");
    connection
        .execute_batch(&format!(
            "ATTACH '{}' AS theirs;
             UPDATE item SET body = (SELECT body FROM theirs.item t WHERE t.lookup = 'jane@example.org'),
             mac = (SELECT mac FROM theirs.item t WHERE t.lookup = 'jane@example.org')
             WHERE lookup = 'jane@example.org'",
            theirs.display()
        ))
        .unwrap();
    drop(connection);
    let refused = serve(&ours).await.unwrap_err().to_string();
    assert!(
        refused.contains("user") && !refused.contains("jane"),
        "{refused}"
    );
}
