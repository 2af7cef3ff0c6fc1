//! Reading the trail.

use crate::model::{Cursor, Filter};
use crate::store::{AuditRow, ChainRow, Contents, CounterRow, Head, Link, OpenRow, RowKey};
use phigate_types::{Act, Action, Mode};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};
use std::path::Path;
use uuid::Uuid;

pub(crate) fn head(
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

pub(crate) fn heads(connection: &Connection, account: Option<&str>) -> rusqlite::Result<Vec<Head>> {
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

pub(crate) fn link_digest(
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

pub(crate) fn chain(
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

/// A cell that holds something of another type or length than was written must not hide which record it belongs to:
/// it reads as empty, which no digest, keyed hash or signature fits.
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

pub(crate) fn accounts_with_records(connection: &Connection) -> rusqlite::Result<Vec<String>> {
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

pub(crate) fn unchained(
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

const RECORD: &str = "SELECT account, time, id, kind, request, key_id, mode, action, model, types, act, body FROM audit_record";

pub(crate) fn list(
    connection: &Connection,
    account: &str,
    filter: &Filter,
    after: Option<Cursor>,
    limit: i64,
) -> rusqlite::Result<Vec<AuditRow>> {
    let mut sql = format!("{RECORD} WHERE account = ?1");
    let mut values: Vec<Value> = vec![account.to_owned().into()];
    let mut add = |condition: &str, value: Value| {
        values.push(value);
        sql.push_str(" AND ");
        sql.push_str(&condition.replace('?', &format!("?{}", values.len())));
    };
    for (condition, value) in conditions(filter) {
        add(condition, value);
    }
    if let Some(Cursor { time_us, id }) = after {
        add("time <= ?", time_us.into());
        let place = format!("(time < {time_us} OR id < ?)");
        add(&place, id.as_bytes().to_vec().into());
    }
    // The plus: of one request there are few records, and finding them by its id beats walking all by time.
    let plus = if filter.request_id.is_some() { "+" } else { "" };
    sql.push_str(&format!(" ORDER BY {plus}time DESC, id DESC LIMIT {limit}"));
    connection
        .prepare_cached(&sql)?
        .query_map(params_from_iter(values), read_record)?
        .collect()
}

fn conditions(filter: &Filter) -> Vec<(&'static str, Value)> {
    let mut conditions: Vec<(&'static str, Value)> = Vec::new();
    let mut text = |condition, value: Option<&str>| {
        conditions.extend(value.map(|value| (condition, Value::from(value.to_owned()))));
    };
    text("action = ?", filter.action.map(Action::code));
    text("mode = ?", filter.mode.map(Mode::code));
    text("key_id = ?", filter.key_id.as_deref());
    text("model = ?", filter.model.as_deref());
    text(
        "instr(types, ',' || ? || ',') > 0",
        filter.phi_type.as_deref(),
    );
    text("act = ?", filter.act.map(Act::code));
    conditions.extend(
        filter
            .since
            .map(|time| ("time >= ?", time.as_microsecond().into())),
    );
    conditions.extend(
        filter
            .until
            .map(|time| ("time < ?", time.as_microsecond().into())),
    );
    conditions.extend(
        filter
            .record
            .map(|kind| ("kind = ?", i64::from(kind.code()).into())),
    );
    conditions.extend(
        filter
            .request_id
            .map(|id| ("request = ?", id.as_bytes().to_vec().into())),
    );
    conditions.extend(filter.phi_detected.map(|phi| {
        (
            "(kind = 1 AND (types IS NOT NULL) = ?)",
            i64::from(phi).into(),
        )
    }));
    conditions
}

pub(crate) fn requests(
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

pub(crate) fn content(
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

pub(crate) fn tokens(
    connection: &Connection,
    account: &str,
    token: [u8; 16],
    limit: i64,
) -> rusqlite::Result<Vec<(Uuid, i64)>> {
    connection
        .prepare_cached(
            "SELECT request, time FROM audit_token WHERE account = ?1 AND token = ?2
             ORDER BY time DESC, request DESC LIMIT ?3",
        )?
        .query_map(params![account, token, limit], |row| {
            Ok((uuid(row, 0)?, row.get(1)?))
        })?
        .collect()
}

pub(crate) fn counters(
    connection: &Connection,
    account: &str,
    since_hour: i64,
) -> rusqlite::Result<Vec<(i64, String, i64)>> {
    connection
        .prepare_cached(
            "SELECT hour, name, sum(count) FROM audit_counter WHERE account = ?1 AND hour >= ?2
             GROUP BY hour, name ORDER BY hour, name",
        )?
        .query_map(params![account, since_hour], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect()
}

pub(crate) fn open_requests(
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

pub(crate) fn old_rows(
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

pub(crate) fn tokens_of(
    connection: &Connection,
    account: &str,
    request: Uuid,
) -> rusqlite::Result<Vec<[u8; 16]>> {
    connection
        .prepare_cached("SELECT token FROM audit_token WHERE account = ?1 AND request = ?2")?
        .query_map(params![account, request.as_bytes()], |row| {
            Ok(row.get(0).unwrap_or_default())
        })?
        .collect()
}

pub(crate) fn all_counters(
    connection: &Connection,
    account: &str,
) -> rusqlite::Result<Vec<CounterRow>> {
    connection
        .prepare_cached(
            "SELECT account, hour, lane, name, count FROM audit_counter WHERE account = ?1",
        )?
        .query_map([account], |row| {
            Ok(CounterRow {
                account: row.get(0)?,
                hour: row.get(1)?,
                lane: row.get(2)?,
                name: row.get(3)?,
                count: row.get(4)?,
            })
        })?
        .collect()
}

/// Copies page by page; writers are not held up.
pub(crate) fn backup(connection: &Connection, file: &Path) -> rusqlite::Result<()> {
    let mut copy = Connection::open(file)?;
    let backup = rusqlite::backup::Backup::new(connection, &mut copy)?;
    backup.run_to_completion(1_000, std::time::Duration::from_millis(5), None)
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

fn read_record(row: &Row<'_>) -> rusqlite::Result<AuditRow> {
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

fn uuid(row: &Row<'_>, column: usize) -> rusqlite::Result<Uuid> {
    row.get::<_, [u8; 16]>(column).map(Uuid::from_bytes)
}
