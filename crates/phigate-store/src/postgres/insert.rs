//! Inserts the rows of a group: one statement per table, over arrays.

use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::postgres::Object;
use crate::postgres::statement::{Failure, failed, run};
use crate::rows::{Batch, Link, LookupCode, LookupRow, NewRecord};
use crate::store::CommitError;

/// Inserts all rows in one pipeline.
pub(super) async fn all(client: &Object, batch: &Batch) -> Result<(), Failure> {
    let (closed, opened, records, links, contents, lookups, counters) = tokio::join!(
        close_requests(client, batch),
        open_requests(client, batch),
        insert_records(client, batch),
        insert_links(client, batch),
        insert_contents(client, batch),
        insert_lookups(client, batch),
        insert_counters(client, batch),
    );
    // After the first failure the later statements of the transaction fail too; the ranking picks the cause.
    let failures = [closed, opened, records, links, contents, lookups, counters]
        .into_iter()
        .filter_map(Result::err);
    failures.min_by_key(Failure::rank).map_or(Ok(()), Err)
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
    let rows: Vec<_> = batch.records.iter().map(|new| &new.row).collect();
    let links: Vec<_> = batch.records.iter().map(|new| &new.link).collect();
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
    let with_record = batch.records.iter().map(|new| {
        (
            new.row.account.as_str(),
            new.row.id,
            new.row.time_us,
            &new.link,
        )
    });
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
    let rows: Vec<&NewRecord> = batch
        .records
        .iter()
        .filter(|new| !new.contents.is_empty())
        .collect();
    let sql = "INSERT INTO audit_content (account, record, time, original, sent)
               SELECT * FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::bytea[], $5::bytea[])";
    let accounts: Vec<&str> = rows.iter().map(|new| new.row.account.as_str()).collect();
    let records: Vec<Uuid> = rows.iter().map(|new| new.row.id).collect();
    let times: Vec<i64> = rows.iter().map(|new| new.row.time_us).collect();
    let originals: Vec<Option<&[u8]>> = rows
        .iter()
        .map(|new| new.contents.original.as_deref())
        .collect();
    let sent: Vec<Option<&[u8]>> = rows
        .iter()
        .map(|new| new.contents.sent.as_deref())
        .collect();
    insert(
        client,
        rows.len(),
        sql,
        &[&accounts, &records, &times, &originals, &sent],
    )
    .await
}

async fn insert_lookups(client: &Object, batch: &Batch) -> Result<(), Failure> {
    let rows: Vec<(&LookupRow, &LookupCode)> = batch
        .lookups
        .iter()
        .flat_map(|row| row.codes.iter().map(move |code| (row, code)))
        .collect();
    let sql = "INSERT INTO audit_token (account, token, time, request)
               SELECT * FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::uuid[]) ON CONFLICT DO NOTHING";
    let accounts: Vec<&str> = rows.iter().map(|(row, _)| row.account.as_str()).collect();
    let codes: Vec<&[u8]> = rows.iter().map(|(_, code)| code.as_slice()).collect();
    let times: Vec<i64> = rows.iter().map(|(row, _)| row.time_us).collect();
    let requests: Vec<Uuid> = rows.iter().map(|(row, _)| row.request).collect();
    insert(
        client,
        rows.len(),
        sql,
        &[&accounts, &codes, &times, &requests],
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
