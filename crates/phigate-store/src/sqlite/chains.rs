//! Reads chains: their heads, their entries, and records without an entry.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::rows::{AuditRow, ChainRow, Head, Link, RowKey};
use crate::sqlite::read::{read_record, uuid};

pub(super) fn head(
    connection: &Connection,
    account: &str,
    lane: i64,
) -> rusqlite::Result<Option<Head>> {
    connection
        .prepare_cached(
            "SELECT account, lane, seq, digest, signature FROM audit_chain
             WHERE account = ?1 AND lane = ?2 ORDER BY seq DESC LIMIT 1",
        )?
        .query_row(params![account, lane], read_head)
        .optional()
}

pub(super) fn heads(connection: &Connection, account: Option<&str>) -> rusqlite::Result<Vec<Head>> {
    // Jumps from chain to chain along the primary key instead of reading every entry.
    let mut found = Vec::new();
    let mut at: Option<(String, i64)> = account.map(|account| (account.to_owned(), i64::MIN));
    loop {
        let next: Option<(String, i64)> = match &at {
            None => connection
                .prepare_cached(
                    "SELECT account, lane FROM audit_chain ORDER BY account, lane LIMIT 1",
                )?
                .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?,
            Some((account, lane)) => connection
                .prepare_cached(
                    "SELECT account, lane FROM audit_chain WHERE (account, lane) > (?1, ?2)
                     ORDER BY account, lane LIMIT 1",
                )?
                .query_row(params![account, lane], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?,
        };
        let Some((of, lane)) = next else {
            return Ok(found);
        };
        if account.is_some_and(|account| account != of) {
            return Ok(found);
        }
        found.extend(head(connection, &of, lane)?);
        at = Some((of, lane));
    }
}

pub(super) fn link_digest(
    connection: &Connection,
    account: &str,
    lane: i64,
    seq: i64,
) -> rusqlite::Result<Option<[u8; 32]>> {
    connection
        .prepare_cached(
            "SELECT digest FROM audit_chain WHERE account = ?1 AND lane = ?2 AND seq = ?3",
        )?
        .query_row(params![account, lane, seq], |row| {
            Ok(row.get(0).unwrap_or_default())
        })
        .optional()
}

pub(super) fn chain(
    connection: &Connection,
    account: &str,
    lane: i64,
    after: i64,
    limit: i64,
) -> rusqlite::Result<Vec<ChainRow>> {
    connection
        .prepare_cached(
            "SELECT r.account, r.time, r.id, r.kind, r.request, r.key_id, r.mode, r.action, r.model, r.types, r.act,
                    r.body, c.record, c.time, c.lane, c.seq, c.leaf, c.digest, c.mac, c.signature
             FROM audit_chain c
             LEFT JOIN audit_record r ON r.account = c.account AND r.time = c.time AND r.id = c.record AND r.lane = c.lane AND r.seq = c.seq
             WHERE c.account = ?1 AND c.lane = ?2 AND c.seq > ?3 ORDER BY c.seq LIMIT ?4",
        )?
        .query_map(params![account, lane, after, limit], read_chain_row)?
        .collect()
}

/// Reads an entry. A cell of another type or length than was written reads as empty, which matches no digest, keyed
/// hash or signature. An error would hide the record that it belongs to.
fn read_chain_row(row: &Row<'_>) -> rusqlite::Result<ChainRow> {
    let is_deleted = row.get_ref(0)? == rusqlite::types::ValueRef::Null;
    let record = uuid(row, 12).unwrap_or_default();
    let time_us = row.get(13).unwrap_or_default();
    let damaged = || AuditRow {
        account: String::new(),
        id: record,
        time_us,
        kind: 0,
        request: None,
        key_id: None,
        mode: None,
        action: None,
        model: None,
        types: None,
        act: None,
        body: String::new(),
    };
    Ok(ChainRow {
        row: (!is_deleted).then(|| read_record(row).unwrap_or_else(|_| damaged())),
        record,
        time_us,
        link: Link {
            lane: row.get(14)?,
            seq: row.get(15)?,
            leaf: row.get(16).unwrap_or_default(),
            digest: row.get(17).unwrap_or_default(),
            mac: row.get(18).unwrap_or_default(),
            signature: row.get(19).unwrap_or_else(|_| Some(Vec::new())),
        },
    })
}

pub(super) fn unchained(
    connection: &Connection,
    account: &str,
) -> rusqlite::Result<Option<RowKey>> {
    connection
        .prepare_cached(
            "SELECT r.id, r.time, r.lane, r.seq FROM audit_record r
             LEFT JOIN audit_chain c
             ON c.account = r.account AND c.lane = r.lane AND c.seq = r.seq AND c.record = r.id AND c.time = r.time
             WHERE r.account = ?1 AND c.record IS NULL LIMIT 1",
        )?
        .query_row([account], |row| {
            Ok(RowKey { record: uuid(row, 0)?, time_us: row.get(1)?, lane: row.get(2)?, seq: row.get(3)? })
        })
        .optional()
}

fn read_head(row: &Row<'_>) -> rusqlite::Result<Head> {
    Ok(Head {
        account: row.get(0)?,
        lane: row.get(1)?,
        seq: row.get(2)?,
        digest: row.get(3).unwrap_or_default(),
        signature: row.get(4).unwrap_or_default(),
    })
}
