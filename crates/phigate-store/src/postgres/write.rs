//! Writing batches: a few statements over arrays, sent together, then the commit.

use crate::postgres::{Postgres, WRITE, client, discard, is_dead, query, unavailable};
use crate::store::{Batch, Change, CommitError, Expect, Item, Link, RowKey};
use crate::{Result, StoreError};
use deadpool_postgres::Object;
use std::time::Duration;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

/// Why a batch was not written on one connection.
enum Failure {
    /// The connection was dead before anything was committed.
    Dead(StoreError),
    Refused(CommitError),
}

impl Failure {
    /// What says most about the cause comes first.
    fn rank(&self) -> u8 {
        match self {
            Self::Dead(_) => 0,
            Self::Refused(CommitError::Failed(_) | CommitError::Unknown(_)) => 2,
            Self::Refused(_) => 1,
        }
    }
}

impl Postgres {
    /// Writes a batch, all or nothing.
    pub(crate) async fn write(&self, batch: &Batch) -> Result<(), CommitError> {
        self.settle_doubts().await.map_err(CommitError::Failed)?;
        let mut last = StoreError::Unavailable("no connection to PostgreSQL".to_owned());
        for _ in 0..3 {
            let client = client(&self.hot).await.map_err(CommitError::Failed)?;
            match self.write_on(client, batch).await {
                Ok(()) => return Ok(()),
                Err(Failure::Refused(error)) => return Err(error),
                // Nothing was committed: a connection that had died in the pool is simply replaced.
                Err(Failure::Dead(error)) => last = error,
            }
        }
        Err(CommitError::Failed(last))
    }

    async fn write_on(&self, client: Object, batch: &Batch) -> Result<(), Failure> {
        let applied = tokio::time::timeout(WRITE, apply(&client, batch)).await;
        let error = match applied {
            Ok(Ok(backend)) => return self.commit_on(client, backend).await,
            Ok(Err(error)) => error,
            Err(_) => Failure::Refused(CommitError::Failed(StoreError::Timeout)),
        };
        let is_alive = matches!(
            &error,
            Failure::Refused(CommitError::Stale | CommitError::LaneTaken | CommitError::NotOpen(_))
        );
        if !(is_alive && client.batch_execute("ROLLBACK").await.is_ok()) {
            discard(client);
        }
        Err(error)
    }

    async fn commit_on(&self, client: Object, backend: i32) -> Result<(), Failure> {
        let answer = tokio::time::timeout(WRITE, client.batch_execute("COMMIT")).await;
        let error = match answer {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => unavailable(&error),
            Err(_) => StoreError::Timeout,
        };
        // The server may have committed, or may yet do so.
        discard(client);
        self.doubts().push(backend);
        Err(Failure::Refused(CommitError::Unknown(error)))
    }

    /// Ends the backends that may still be committing, so that what is there now stays so.
    pub(crate) async fn settle_doubts(&self) -> Result<()> {
        let doubts = self.doubts().clone();
        for backend in doubts {
            let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                       WHERE pid = $1 AND application_name = 'phigate' AND usename = current_user";
            while !query(&self.hot, sql, &[&backend], WRITE).await?.is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            self.doubts().retain(|other| *other != backend);
        }
        Ok(())
    }
}

/// Begins a transaction and does everything but commit. Returns the process id of the backend.
async fn apply(client: &Object, batch: &Batch) -> Result<i32, Failure> {
    let (begun, backend) = tokio::join!(
        client.batch_execute("BEGIN"),
        client.query_one("SELECT pg_backend_pid()", &[])
    );
    begun.map_err(|error| failed(&error))?;
    let backend = backend.map_err(|error| failed(&error))?.get(0);
    for change in &batch.changes {
        apply_change(client, change).await?;
    }
    if batch.bump {
        run(client, "UPDATE generation SET value = value + 1", &[]).await?;
    }
    if let Some((account, rows)) = &batch.drop_contents {
        delete(client, &["audit_content"], account, rows).await?;
    }
    if let Some((account, rows)) = &batch.drop_records {
        delete(
            client,
            &["audit_token", "audit_content", "audit_record"],
            account,
            rows,
        )
        .await?;
    }
    // Sent one after the other without waiting in between; the server takes them in this order.
    let (closed, opened, records, links, contents, tokens, counters) = tokio::join!(
        close_requests(client, batch),
        open_requests(client, batch),
        insert_records(client, batch),
        insert_links(client, batch),
        insert_contents(client, batch),
        insert_tokens(client, batch),
        insert_counters(client, batch),
    );
    // After one statement failed, the others fail for no reason of their own.
    let failures = [closed, opened, records, links, contents, tokens, counters]
        .into_iter()
        .filter_map(Result::err);
    match failures.min_by_key(Failure::rank) {
        Some(failure) => Err(failure),
        None => Ok(backend),
    }
}

async fn apply_change(client: &Object, change: &Change) -> Result<(), Failure> {
    match change {
        Change::Put(item, expect) => put(client, item, *expect).await,
        Change::Delete { account, kind, id } => {
            let sql = "DELETE FROM item WHERE account = $1 AND kind = $2 AND id = $3";
            exactly_one(run(client, sql, &[account, kind, id]).await?)
        }
        Change::Check {
            account,
            kind,
            id,
            version,
        } => {
            // Locked until the commit, so that it still holds then.
            let sql = "SELECT 1 FROM item WHERE account = $1 AND kind = $2 AND id = $3 AND version = $4 FOR SHARE";
            exactly_one(run(client, sql, &[account, kind, id, version]).await?)
        }
        Change::Shred { account } => {
            for table in ["item", "audit_content", "audit_token"] {
                run(
                    client,
                    &format!("DELETE FROM {table} WHERE account = $1"),
                    &[account],
                )
                .await?;
            }
            Ok(())
        }
    }
}

async fn put(client: &Object, item: &Item, expect: Expect) -> Result<(), Failure> {
    let Item {
        account,
        kind,
        id,
        lookup,
        body,
        ..
    } = item;
    let changed = match expect {
        Expect::Absent => {
            let sql = "INSERT INTO item (account, kind, id, lookup, version, body) VALUES ($1, $2, $3, $4, 1, $5)";
            run(client, sql, &[account, kind, id, lookup, body]).await
        }
        Expect::Version(version) => {
            let sql = "UPDATE item SET lookup = $4, version = version + 1, body = $5
                       WHERE account = $1 AND kind = $2 AND id = $3 AND version = $6";
            run(client, sql, &[account, kind, id, lookup, body, &version]).await
        }
        Expect::Any => {
            let sql = "INSERT INTO item (account, kind, id, lookup, version, body) VALUES ($1, $2, $3, $4, 1, $5)
                       ON CONFLICT (account, kind, id) DO UPDATE
                       SET lookup = excluded.lookup, version = item.version + 1, body = excluded.body";
            run(client, sql, &[account, kind, id, lookup, body]).await
        }
    };
    exactly_one(changed?)
}

async fn close_requests(client: &Object, batch: &Batch) -> Result<(), Failure> {
    if batch.closed.is_empty() {
        return Ok(());
    }
    let accounts: Vec<&str> = batch
        .closed
        .iter()
        .map(|(account, _)| account.as_str())
        .collect();
    let requests: Vec<Uuid> = batch.closed.iter().map(|(_, request)| *request).collect();
    let sql =
        "DELETE FROM open_request o USING unnest($1::text[], $2::uuid[]) AS c (account, request)
               WHERE o.account = c.account AND o.request = c.request RETURNING o.request";
    let statement = client
        .prepare_cached(sql)
        .await
        .map_err(|error| failed(&error))?;
    let rows = client
        .query(&statement, &[&accounts, &requests])
        .await
        .map_err(|error| failed(&error))?;
    let found: std::collections::HashSet<Uuid> = rows.iter().map(|row| row.get(0)).collect();
    let missing: Vec<Uuid> = requests
        .into_iter()
        .filter(|request| !found.contains(request))
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(Failure::Refused(CommitError::NotOpen(missing)))
    }
}

async fn open_requests(client: &Object, batch: &Batch) -> Result<(), Failure> {
    let rows = &batch.opened;
    let sql = "INSERT INTO open_request (account, request, time, instance)
               SELECT * FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::uuid[]) ON CONFLICT DO NOTHING";
    let accounts: Vec<&str> = rows.iter().map(|row| row.account.as_str()).collect();
    let requests: Vec<Uuid> = rows.iter().map(|row| row.request).collect();
    let times: Vec<i64> = rows.iter().map(|row| row.time_us).collect();
    let instances: Vec<Uuid> = rows.iter().map(|row| row.instance).collect();
    insert(
        client,
        rows.len(),
        sql,
        &[&accounts, &requests, &times, &instances],
    )
    .await
}

async fn insert_records(client: &Object, batch: &Batch) -> Result<(), Failure> {
    let rows: Vec<_> = batch.records.iter().map(|(row, _)| row).collect();
    let links: Vec<_> = batch.records.iter().map(|(_, link)| link).collect();
    let sql = "INSERT INTO audit_record
               (account, time, id, kind, request, key_id, mode, action, model, types, act, lane, seq, body)
               SELECT * FROM unnest($1::text[], $2::bigint[], $3::uuid[], $4::smallint[], $5::uuid[], $6::text[],
               $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::bigint[], $13::bigint[], $14::text[])";
    let accounts: Vec<&str> = rows.iter().map(|row| row.account.as_str()).collect();
    let times: Vec<i64> = rows.iter().map(|row| row.time_us).collect();
    let ids: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
    let kinds: Vec<i16> = rows.iter().map(|row| row.kind).collect();
    let requests: Vec<Option<Uuid>> = rows.iter().map(|row| row.request).collect();
    let keys: Vec<Option<&str>> = rows.iter().map(|row| row.key_id.as_deref()).collect();
    let modes: Vec<Option<&str>> = rows.iter().map(|row| row.mode.as_deref()).collect();
    let actions: Vec<Option<&str>> = rows.iter().map(|row| row.action.as_deref()).collect();
    let models: Vec<Option<&str>> = rows.iter().map(|row| row.model.as_deref()).collect();
    let types: Vec<Option<&str>> = rows.iter().map(|row| row.types.as_deref()).collect();
    let acts: Vec<Option<&str>> = rows.iter().map(|row| row.act.as_deref()).collect();
    let lanes: Vec<i64> = links.iter().map(|link| link.lane).collect();
    let seqs: Vec<i64> = links.iter().map(|link| link.seq).collect();
    let bodies: Vec<&str> = rows.iter().map(|row| row.body.as_str()).collect();
    let values: [&(dyn ToSql + Sync); 14] = [
        &accounts, &times, &ids, &kinds, &requests, &keys, &modes, &actions, &models, &types,
        &acts, &lanes, &seqs, &bodies,
    ];
    insert(client, rows.len(), sql, &values).await
}

async fn insert_links(client: &Object, batch: &Batch) -> Result<(), Failure> {
    let with_record = batch
        .records
        .iter()
        .map(|(row, link)| (row.account.as_str(), row.id, row.time_us, link));
    let without = batch
        .bare_links
        .iter()
        .map(|(account, record, time_us, link)| (account.as_str(), *record, *time_us, link));
    let rows: Vec<(&str, Uuid, i64, &Link)> = with_record.chain(without).collect();
    let sql = "INSERT INTO audit_chain (account, lane, seq, record, time, leaf, digest, mac, signature)
               SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::uuid[], $5::bigint[], $6::bytea[],
               $7::bytea[], $8::bytea[], $9::bytea[])";
    let accounts: Vec<&str> = rows.iter().map(|(account, ..)| *account).collect();
    let lanes: Vec<i64> = rows.iter().map(|(.., link)| link.lane).collect();
    let seqs: Vec<i64> = rows.iter().map(|(.., link)| link.seq).collect();
    let records: Vec<Uuid> = rows.iter().map(|(_, record, ..)| *record).collect();
    let times: Vec<i64> = rows.iter().map(|(_, _, time_us, _)| *time_us).collect();
    let leaves: Vec<&[u8]> = rows.iter().map(|(.., link)| link.leaf.as_slice()).collect();
    let digests: Vec<&[u8]> = rows
        .iter()
        .map(|(.., link)| link.digest.as_slice())
        .collect();
    let macs: Vec<&[u8]> = rows.iter().map(|(.., link)| link.mac.as_slice()).collect();
    let signatures: Vec<Option<&[u8]>> = rows
        .iter()
        .map(|(.., link)| link.signature.as_deref())
        .collect();
    let values: [&(dyn ToSql + Sync); 9] = [
        &accounts,
        &lanes,
        &seqs,
        &records,
        &times,
        &leaves,
        &digests,
        &macs,
        &signatures,
    ];
    insert(client, rows.len(), sql, &values).await
}

async fn insert_contents(client: &Object, batch: &Batch) -> Result<(), Failure> {
    let rows = &batch.contents;
    let sql = "INSERT INTO audit_content (account, record, field, time, sealed)
               SELECT * FROM unnest($1::text[], $2::uuid[], $3::text[], $4::bigint[], $5::bytea[])";
    let accounts: Vec<&str> = rows.iter().map(|row| row.account.as_str()).collect();
    let records: Vec<Uuid> = rows.iter().map(|row| row.record).collect();
    let fields: Vec<&str> = rows.iter().map(|row| row.field).collect();
    let times: Vec<i64> = rows.iter().map(|row| row.time_us).collect();
    let sealed: Vec<&[u8]> = rows.iter().map(|row| &*row.sealed).collect();
    insert(
        client,
        rows.len(),
        sql,
        &[&accounts, &records, &fields, &times, &sealed],
    )
    .await
}

async fn insert_tokens(client: &Object, batch: &Batch) -> Result<(), Failure> {
    let rows = &batch.tokens;
    let sql = "INSERT INTO audit_token (account, token, time, request)
               SELECT * FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::uuid[]) ON CONFLICT DO NOTHING";
    let accounts: Vec<&str> = rows.iter().map(|row| row.account.as_str()).collect();
    let tokens: Vec<&[u8]> = rows.iter().map(|row| row.token.as_slice()).collect();
    let times: Vec<i64> = rows.iter().map(|row| row.time_us).collect();
    let requests: Vec<Uuid> = rows.iter().map(|row| row.request).collect();
    insert(
        client,
        rows.len(),
        sql,
        &[&accounts, &tokens, &times, &requests],
    )
    .await
}

async fn insert_counters(client: &Object, batch: &Batch) -> Result<(), Failure> {
    let rows = &batch.counters;
    let sql = "INSERT INTO audit_counter (account, hour, lane, name, count)
               SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[])
               ON CONFLICT (account, hour, lane, name) DO UPDATE SET count = audit_counter.count + excluded.count";
    let accounts: Vec<&str> = rows.iter().map(|row| row.account.as_str()).collect();
    let hours: Vec<i64> = rows.iter().map(|row| row.hour).collect();
    let lanes: Vec<i64> = rows.iter().map(|row| row.lane).collect();
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let counts: Vec<i64> = rows.iter().map(|row| row.count).collect();
    insert(
        client,
        rows.len(),
        sql,
        &[&accounts, &hours, &lanes, &names, &counts],
    )
    .await
}

/// Deletes rows of some tables by record; lookup hashes by the request of the record.
async fn delete(
    client: &Object,
    tables: &[&str],
    account: &String,
    rows: &[RowKey],
) -> Result<(), Failure> {
    let records: Vec<Uuid> = rows.iter().map(|row| row.record).collect();
    let times: Vec<i64> = rows.iter().map(|row| row.time_us).collect();
    for table in tables {
        let condition = match *table {
            "audit_token" => {
                "t.request IN (SELECT r.request FROM audit_record r JOIN d ON r.time = d.time AND r.id = d.record
                 WHERE r.account = $1 AND r.kind = 1)"
            }
            "audit_content" => "EXISTS (SELECT 1 FROM d WHERE d.record = t.record AND d.time = t.time)",
            _ => "EXISTS (SELECT 1 FROM d WHERE d.record = t.id AND d.time = t.time)",
        };
        let sql = format!(
            "WITH d AS (SELECT * FROM unnest($2::uuid[], $3::bigint[]) AS d (record, time))
             DELETE FROM {table} t WHERE t.account = $1 AND {condition}"
        );
        run(client, &sql, &[account, &records, &times]).await?;
    }
    Ok(())
}

async fn insert(
    client: &Object,
    rows: usize,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<(), Failure> {
    if rows == 0 {
        return Ok(());
    }
    run(client, sql, values).await.map(|_| ())
}

async fn run(client: &Object, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64, Failure> {
    let statement = client
        .prepare_cached(sql)
        .await
        .map_err(|error| failed(&error))?;
    client
        .execute(&statement, values)
        .await
        .map_err(|error| failed(&error))
}

fn exactly_one(changed: u64) -> Result<(), Failure> {
    if changed == 1 {
        Ok(())
    } else {
        Err(Failure::Refused(CommitError::Stale))
    }
}

fn failed(error: &tokio_postgres::Error) -> Failure {
    if is_dead(error) {
        return Failure::Dead(unavailable(error));
    }
    let table = error
        .as_db_error()
        .and_then(|inner| inner.table())
        .unwrap_or_default();
    let is_conflict = error.code() == Some(&SqlState::UNIQUE_VIOLATION);
    Failure::Refused(match (is_conflict, table) {
        (true, "item") => CommitError::Stale,
        (true, "audit_chain") => CommitError::LaneTaken,
        _ if is_refusal(error) => CommitError::Rejected(unavailable(error)),
        _ => CommitError::Failed(unavailable(error)),
    })
}

/// Whether the values themselves are refused: data errors, broken rules, limits.
fn is_refusal(error: &tokio_postgres::Error) -> bool {
    let class = error
        .code()
        .map(|code| code.code().get(..2).unwrap_or_default().to_owned());
    class.is_some_and(|class| ["22", "23", "42", "54"].contains(&class.as_str()))
}
