//! Other transactions in the way, and proxies between phigate and PostgreSQL.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use phigate_store::{MasterKeySource, Options, StoreError, Target, Vault};
use phigate_types::Mode;

use crate::support::postgres::Postgres;
use crate::support::{Site, account, answered, close, masked};

/// Makes the next inserts into a table fail, as a serialization failure or a deadlock does.
fn collide(server: &Postgres, database: &str, table: &str, code: &str, times: u32) {
    let sql = format!(
        "CREATE SEQUENCE IF NOT EXISTS collisions;
         SELECT setval('collisions', 1, false);
         CREATE OR REPLACE FUNCTION collide() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF nextval('collisions') <= {times} THEN RAISE EXCEPTION 'collision' USING ERRCODE = '{code}'; END IF;
             RETURN NEW; END $$;
         DROP TRIGGER IF EXISTS collide ON {table};
         CREATE TRIGGER collide BEFORE INSERT OR UPDATE ON {table} FOR EACH STATEMENT EXECUTE FUNCTION collide()"
    );
    assert!(server.psql(database, &sql), "{table}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn collisions_are_tried_again() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let site = Site::postgres(&server, "collisions");
    let vault = site.open().await;
    let account = account(&vault).await;
    for (table, code) in [("audit_chain", "40001"), ("item", "40P01")] {
        collide(&server, "collisions", table, code, 6);
        let changed = vault.accounts.set_mode(&account, Mode::MASK, "cli").await;
        assert!(changed.is_ok(), "{code}: {changed:?}");
        collide(&server, "collisions", table, code, 6);
        let changed = vault.accounts.set_mode(&account, Mode::FLAG, "cli").await;
        assert!(changed.is_ok(), "{code}: {changed:?}");
    }
    collide(&server, "collisions", "audit_chain", "40001", 6);
    let new = masked(&account);
    let request = new.decision.request_id;
    let recorded = vault.trail.record_decision(new, Duration::from_secs(10));
    recorded.await.unwrap();
    let outcome = answered(request);
    let recorded = vault
        .trail
        .record_outcome(&account, &outcome, Duration::from_secs(10));
    recorded.await.unwrap();
    let report = vault.trail.verify(None, &[], |_| {}).await.unwrap();
    assert!(report.is_intact(), "{report:?}");
    close(vault).await;
}

/// Answers every connection as one backend would, as a pooler in transaction mode does between transactions.
fn serve_one_backend(mut caller: TcpStream) -> std::io::Result<()> {
    let mut length = [0; 4];
    caller.read_exact(&mut length)?;
    let mut rest = vec![0; u32::from_be_bytes(length) as usize - 4];
    caller.read_exact(&mut rest)?;
    let message = |kind: u8, body: &[u8]| {
        let length = (body.len() as u32 + 4).to_be_bytes();
        [&[kind], &length[..], body].concat()
    };
    let ready = message(b'Z', b"I");
    caller.write_all(&[message(b'R', &[0; 4]), ready.clone()].concat())?;
    loop {
        let mut head = [0; 5];
        caller.read_exact(&mut head)?;
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
        let mut query = vec![0; length as usize - 4];
        caller.read_exact(&mut query)?;
        let mut answer = Vec::new();
        if query.starts_with(b"SELECT pg_backend_pid()") {
            let column = b"\0\x01pid\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0";
            answer.extend(message(b'T', column));
            answer.extend(message(b'D', b"\0\x01\0\0\0\x044711"));
        }
        answer.extend(message(b'C', b"OK\0"));
        answer.extend_from_slice(&ready);
        caller.write_all(&answer)?;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pooler_in_transaction_mode_is_refused() {
    let pooler = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = pooler.local_addr().unwrap();
    std::thread::spawn(move || {
        for caller in pooler.incoming().flatten() {
            std::thread::spawn(move || serve_one_backend(caller));
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let refused = Vault::open(Options::new(
        Target::Url(format!("postgres://phigate@{address}/phigate")),
        MasterKeySource::File(folder.path().join("data.key")),
    ));
    let refused = refused.await.err();
    let says_so = |error: &StoreError| error.to_string().contains("pool_mode = session");
    assert!(refused.as_ref().is_some_and(says_so), "{refused:?}");
}
