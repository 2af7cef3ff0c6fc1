//! Reading the trail.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use crate::rows::{AuditRow, Contents, LookupCode, OpenRow, RowKey};

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
        // The plus keeps SQLite from walking all records in order of time to spare itself a sort of two.
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

/// Requests that can be looked up by one of these codes, newest first. All rows are read, in the order in which they
/// lie: they are few bytes each, and nobody waits for this but a person who looks something up.
pub(super) fn requests_with(
    connection: &Connection,
    account: &str,
    wanted: &[LookupCode],
    limit: i64,
) -> rusqlite::Result<Vec<(Uuid, i64)>> {
    let mut statement = connection.prepare_cached(
        "SELECT request, time, tokens FROM audit_token NOT INDEXED WHERE account = ?1",
    )?;
    let mut rows = statement.query([account])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let codes = row.get_ref(2)?.as_blob().unwrap_or_default();
        if codes.as_chunks().0.iter().any(|code| wanted.contains(code)) {
            found.push((row.get::<_, i64>(1)?, uuid(row, 0)?));
        }
    }
    found.sort_unstable_by(|one, other| other.cmp(one));
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(found
        .into_iter()
        .map(|(time_us, request)| (request, time_us))
        .collect())
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
        .query_map(params![account, before_us, limit], |row| {
            Ok(RowKey {
                record: uuid(row, 0)?,
                time_us: row.get(1)?,
                lane: row.get(2)?,
                seq: row.get(3)?,
            })
        })?
        .collect()
}

pub(super) fn codes_of(
    connection: &Connection,
    account: &str,
    request: Uuid,
) -> rusqlite::Result<Vec<LookupCode>> {
    let codes: Option<Vec<u8>> = connection
        .prepare_cached("SELECT tokens FROM audit_token WHERE account = ?1 AND request = ?2")?
        .query_row(params![account, request.as_bytes()], |row| {
            Ok(row.get(0).unwrap_or_default())
        })
        .optional()?;
    let codes = codes.unwrap_or_default();
    let (whole, rest) = codes.as_chunks();
    // What was cut off must not look whole.
    let cut = (!rest.is_empty()).then_some([0; 16]);
    Ok(whole.iter().copied().chain(cut).collect())
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
