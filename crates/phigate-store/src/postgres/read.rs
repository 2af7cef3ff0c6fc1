//! Reads rows.

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::conditions::{self, Dialect, ended, provider};
use crate::item::{Item, ItemKind};
use crate::model::{Cursor, Filter};
use crate::rows::{AuditRow, ChainRow, Contents, CounterRow, Head, Link, OpenRow, RowKey};
use crate::{Result, StoreError};

pub(super) const ITEM: &str = "SELECT account, kind, id, lookup, version, body, mac FROM item";
pub(super) const RECORD: &str = "SELECT account, time, id, kind, request, key_id, mode, action, model, types, act, body FROM audit_record";

pub(super) const HEAD: &str = "SELECT account, lane, seq, digest, signature FROM audit_chain
    WHERE account = $1 AND lane = $2 ORDER BY seq DESC LIMIT 1";

/// Numbers of the ends that are missing, and whether the server is a standby, which may lag behind.
pub(super) const MISSING_ENDS: &str = "SELECT e.number, pg_is_in_recovery()
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bytea[])
        WITH ORDINALITY AS e (account, lane, seq, digest, number)
    WHERE e.digest IS DISTINCT FROM (SELECT c.digest FROM audit_chain c
        WHERE c.account = e.account AND c.lane = e.lane AND c.seq = e.seq)
    ORDER BY e.number";

/// The heads of all chains: jumps from chain to chain along the primary key instead of reading every entry.
pub(super) const HEADS: &str = "WITH RECURSIVE each (account, lane) AS (
        (SELECT account, lane FROM audit_chain WHERE $1::text IS NULL OR account = $1
         ORDER BY account, lane LIMIT 1)
        UNION ALL
        SELECT n.account, n.lane FROM each, LATERAL (
            SELECT c.account, c.lane FROM audit_chain c
            WHERE (c.account, c.lane) > (each.account, each.lane) AND ($1::text IS NULL OR c.account = $1)
            ORDER BY c.account, c.lane LIMIT 1) n)
    SELECT h.account, h.lane, h.seq, h.digest, h.signature FROM each, LATERAL (
        SELECT * FROM audit_chain c WHERE c.account = each.account AND c.lane = each.lane
        ORDER BY seq DESC LIMIT 1) h
    ORDER BY 1, 2";

pub(super) const CHAIN: &str = "SELECT r.account, r.time, r.id, r.kind, r.request, r.key_id, r.mode, r.action,
        r.model, r.types, r.act, r.body, c.record, c.time, c.lane, c.seq, c.leaf, c.digest, c.mac, c.signature
    FROM (SELECT * FROM audit_chain WHERE account = $1 AND lane = $2 AND seq > $3 ORDER BY seq LIMIT $4) c
    LEFT JOIN audit_record r ON r.account = c.account AND r.time = c.time AND r.id = c.record
        AND r.lane = c.lane AND r.seq = c.seq
    ORDER BY c.seq";

pub(super) const ACCOUNTS: &str = "WITH RECURSIVE each (account) AS (
        (SELECT account FROM audit_record ORDER BY account LIMIT 1)
        UNION ALL
        SELECT n.account FROM each, LATERAL (
            SELECT r.account FROM audit_record r WHERE r.account > each.account ORDER BY r.account LIMIT 1) n)
    SELECT account FROM each";

pub(super) const UNCHAINED: &str = "SELECT r.id, r.time, r.lane, r.seq FROM audit_record r
    LEFT JOIN audit_chain c ON c.account = r.account AND c.lane = r.lane AND c.seq = r.seq
        AND c.record = r.id AND c.time = r.time
    WHERE r.account = $1 AND c.record IS NULL LIMIT 1";

pub(super) const OLD_RECORDS: &str = "SELECT id, time, lane, seq FROM audit_record WHERE account = $1 AND time < $2 ORDER BY time LIMIT $3";

pub(super) const OLD_CONTENTS: &str = "SELECT r.id, r.time, r.lane, r.seq FROM audit_content c
    JOIN audit_record r ON r.account = c.account AND r.time = c.time AND r.id = c.record
    WHERE c.account = $1 AND c.time < $2 ORDER BY r.time LIMIT $3";

pub(super) const CONTENTS_OF: &str = "SELECT r.id, r.time, r.lane, r.seq FROM audit_record r
    JOIN audit_content c ON c.account = r.account AND c.time = r.time AND c.record = r.id
    WHERE r.account = $1 AND r.request = $2 ORDER BY r.time";

/// A search: finds the keys in the index alone, then fetches those rows.
pub(super) fn search(
    account: &str,
    filter: &Filter,
    after: Option<Cursor>,
    limit: i64,
) -> (String, Vec<Value>) {
    let (conditions, values) = conditions(account, filter, after);
    let sql = format!(
        "{RECORD} JOIN (SELECT account AS a, time AS t, id AS i FROM audit_record WHERE account = $1{conditions}
         ORDER BY time DESC, id DESC LIMIT {limit}) k ON account = k.a AND time = k.t AND id = k.i
         ORDER BY time DESC, id DESC"
    );
    (sql, values)
}

/// The query that counts matching records, up to `most`.
pub(super) fn count(account: &str, filter: &Filter, most: i64) -> (String, Vec<Value>) {
    let (conditions, values) = conditions(account, filter, None);
    let sql = format!(
        "SELECT count(*) FROM (SELECT 1 FROM audit_record WHERE account = $1{conditions} LIMIT {most}) found"
    );
    (sql, values)
}

/// PostgreSQL's SQL for the conditions.
const DIALECT: Dialect = Dialect {
    has_type: "position(',' || ? || ',' in types) > 0",
    at_door: "position('\"door\":\"' || ? || '\"' in body) > 0",
    to_provider: provider!(
        "position('\"provider\":\"' || ? || '\"' in body) > 0",
        "position('\"provider\":\"' || ? || '\"' in o.body) > 0"
    ),
    by_person: "(position('\"actor\":\"' || ? || '\"' in body) > 0 OR position('\"actor\":\"' || ? || ': ' in body) > 0)",
    model_begins: "starts_with(model, ?)",
    ended_with_error: ended!("o.body::json ->> 'error_code' = ?"),
    ended_with_class: ended!("(o.body::json ->> 'status')::int / 100 = ?"),
    has_phi: "kind = 1 AND (types IS NOT NULL) = ?",
};

fn conditions(account: &str, filter: &Filter, after: Option<Cursor>) -> (String, Vec<Value>) {
    let mut values: Vec<Value> = vec![Box::new(account.to_owned())];
    let mut conditions = conditions::kinds(filter);
    let mut add = |condition: &str, value: Value| {
        values.push(value);
        conditions.push_str(" AND ");
        conditions.push_str(&condition.replace('?', &format!("${}", values.len())));
    };
    for (condition, value) in conditions::conditions(filter, &DIALECT) {
        add(condition, stored(value));
    }
    if let Some(Cursor { time_us, id }) = after {
        add("time <= ?", Box::new(time_us));
        add(&format!("(time < {time_us} OR id < ?)"), Box::new(id));
    }
    (conditions, values)
}

fn stored(value: conditions::Value) -> Value {
    match value {
        conditions::Value::Text(text) => Box::new(text),
        conditions::Value::Time(microseconds) => Box::new(microseconds),
        conditions::Value::Class(class) => Box::new(i32::from(class)),
        conditions::Value::Request(id) => Box::new(id),
        conditions::Value::Truth(truth) => Box::new(truth),
    }
}

/// A value of a query.
pub(super) type Value = Box<dyn ToSql + Sync + Send>;

pub(super) fn item(row: &Row) -> Result<Item> {
    let kind = ItemKind::from_code(row.get(1)).ok_or(StoreError::Unknown("kind of row"))?;
    Ok(Item {
        account: row.get(0),
        kind,
        id: row.get(2),
        lookup: row.get(3),
        version: row.get(4),
        body: row.get(5),
        mac: row.get(6),
    })
}

pub(super) fn head(row: &Row) -> Head {
    Head {
        account: row.get(0),
        lane: row.get(1),
        seq: row.get(2),
        digest: bytes(row, 3),
        signature: row.get(4),
    }
}

pub(super) fn record(row: &Row) -> AuditRow {
    AuditRow {
        account: row.get(0),
        time_us: row.get(1),
        id: row.get(2),
        kind: row.get(3),
        request: row.get(4),
        key_id: row.get(5),
        mode: row.get(6),
        action: row.get(7),
        model: row.get(8),
        types: row.get(9),
        act: row.get(10),
        body: row.get(11),
    }
}

pub(super) fn chain(row: &Row) -> ChainRow {
    let is_deleted = row.get::<_, Option<&str>>(0).is_none();
    ChainRow {
        row: if is_deleted { None } else { Some(record(row)) },
        record: row.get(12),
        time_us: row.get(13),
        link: Link {
            lane: row.get(14),
            seq: row.get(15),
            leaf: bytes(row, 16),
            digest: bytes(row, 17),
            mac: bytes(row, 18),
            signature: row.get(19),
        },
    }
}

pub(super) fn contents(row: &Row) -> Contents {
    let sealed = |column| row.get::<_, Option<&[u8]>>(column).map(Into::into);
    Contents {
        original: sealed(0),
        sent: sealed(1),
    }
}

pub(super) fn counter(row: &Row) -> CounterRow {
    CounterRow {
        account: row.get(0),
        hour: row.get(1),
        lane: row.get(2),
        name: row.get(3),
        count: row.get(4),
    }
}

pub(super) fn open_row(row: &Row) -> OpenRow {
    OpenRow {
        account: row.get(0),
        request: row.get(1),
        time_us: row.get(2),
        instance: row.get(3),
    }
}

pub(super) fn key(row: &Row) -> RowKey {
    RowKey {
        record: row.get(0),
        time_us: row.get(1),
        lane: row.get(2),
        seq: row.get(3),
    }
}

/// Bytes of a column. A value of another length than was written reads as zeros, which match no digest or keyed hash.
/// An error would hide the record that it belongs to.
pub(super) fn bytes<const N: usize>(row: &Row, column: usize) -> [u8; N] {
    row.get::<_, &[u8]>(column).try_into().unwrap_or([0; N])
}
