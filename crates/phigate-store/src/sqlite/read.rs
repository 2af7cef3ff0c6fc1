//! Reads the trail.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use crate::rows::{AuditRow, Contents, OpenRow, RowKey};

pub(super) fn accounts_with_records(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    // Jumps along the index from account to account.
    connection
        .prepare_cached(
            "WITH RECURSIVE each(account) AS (
                 SELECT min(account) FROM audit_record
                 UNION ALL
                 SELECT (SELECT min(account) FROM audit_record WHERE account > each.account)
                 FROM each WHERE each.account IS NOT NULL)
             SELECT account FROM each WHERE account IS NOT NULL",
        )?
        .query_map([], |row| row.get(0))?
        .collect()
}

pub(super) const RECORD: &str = "SELECT account, time, id, kind, request, key_id, mode, action, model, types, act, body FROM audit_record";

pub(super) fn requests(
    connection: &Connection,
    account: &str,
    requests: &[Uuid],
) -> rusqlite::Result<Vec<AuditRow>> {
    let mut statement = connection.prepare_cached(&format!(
        // The plus makes SQLite sort the request's few records instead of walking all records by time.
        "{RECORD} WHERE account = ?1 AND request = ?2 ORDER BY +time, id"
    ))?;
    let mut found = Vec::new();
    for request in requests {
        for row in statement.query_map(params![account, request.as_bytes()], read_record)? {
            found.push(row?);
        }
    }
    Ok(found)
}

pub(super) fn content(
    connection: &Connection,
    account: &str,
    key: RowKey,
) -> rusqlite::Result<Contents> {
    let found = connection
        .prepare_cached(
            "SELECT c.original, c.sent FROM audit_record r JOIN audit_content c ON c.number = r.number
             WHERE r.account = ?1 AND r.time = ?2 AND r.id = ?3",
        )?
        .query_row(params![account, key.time_us, key.record.as_bytes()], |row| {
            let damaged = || Some(Vec::new().into());
            Ok(Contents {
                original: row.get(0).unwrap_or_else(|_| damaged()),
                sent: row.get(1).unwrap_or_else(|_| damaged()),
            })
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}

pub(super) fn open_requests(
    connection: &Connection,
    alive: &[Uuid],
    limit: i64,
) -> rusqlite::Result<Vec<OpenRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT account, request, time, instance FROM open_request ORDER BY time",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(OpenRow {
            account: row.get(0)?,
            request: uuid(row, 1)?,
            time_us: row.get(2)?,
            instance: uuid(row, 3)?,
        })
    })?;
    let mut found = Vec::new();
    for row in rows {
        let row = row?;
        if !alive.contains(&row.instance) {
            found.push(row);
        }
        if found.len() as i64 >= limit {
            break;
        }
    }
    Ok(found)
}

pub(super) fn old_rows(
    connection: &Connection,
    sql: &str,
    account: &str,
    before_us: i64,
    limit: i64,
) -> rusqlite::Result<Vec<RowKey>> {
    connection
        .prepare_cached(sql)?
        .query_map(params![account, before_us, limit], row_key)?
        .collect()
}

pub(super) fn contents_of(
    connection: &Connection,
    account: &str,
    request: Uuid,
) -> rusqlite::Result<Vec<RowKey>> {
    connection
        .prepare_cached(
            "SELECT r.id, r.time, r.lane, r.seq FROM audit_record r JOIN audit_content c ON c.number = r.number
             WHERE r.account = ?1 AND r.request = ?2 ORDER BY +r.time",
        )?
        .query_map(params![account, request.as_bytes()], row_key)?
        .collect()
}

fn row_key(row: &Row<'_>) -> rusqlite::Result<RowKey> {
    Ok(RowKey {
        record: uuid(row, 0)?,
        time_us: row.get(1)?,
        lane: row.get(2)?,
        seq: row.get(3)?,
    })
}

/// Copies page by page; writers are not held up.
pub(super) fn backup(connection: &Connection, file: &Path) -> rusqlite::Result<()> {
    let mut copy = Connection::open(file)?;
    let backup = rusqlite::backup::Backup::new(connection, &mut copy)?;
    backup.run_to_completion(1_000, std::time::Duration::from_millis(5), None)
}

pub(super) fn read_record(row: &Row<'_>) -> rusqlite::Result<AuditRow> {
    let request: Option<[u8; 16]> = row.get(4)?;
    Ok(AuditRow {
        account: row.get(0)?,
        time_us: row.get(1)?,
        id: uuid(row, 2)?,
        kind: row.get(3)?,
        request: request.map(Uuid::from_bytes),
        key_id: row.get(5)?,
        mode: row.get(6)?,
        action: row.get(7)?,
        model: row.get(8)?,
        types: row.get(9)?,
        act: row.get(10)?,
        body: row.get(11)?,
    })
}

pub(super) fn uuid(row: &Row<'_>, column: usize) -> rusqlite::Result<Uuid> {
    row.get::<_, [u8; 16]>(column).map(Uuid::from_bytes)
}
