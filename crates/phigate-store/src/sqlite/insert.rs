//! Inserts the rows of a group.
//!
//! The writer spends most of its time here: each statement is prepared once per group, and each row updates as few
//! B-trees as possible.

use std::sync::LazyLock;

use rusqlite::types::ToSqlOutput;
use rusqlite::types::ValueRef::{self, Blob, Integer};
use rusqlite::{ErrorCode, Transaction, params};
use uuid::Uuid;

use crate::rows::{Batch, NewRecord};
use crate::sqlite::failed;
use crate::store::CommitError;

/// Closes requests that have their outcome; all of them must be open.
pub(super) fn close_requests(
    transaction: &Transaction<'_>,
    closed: &[(String, Uuid)],
) -> Result<(), CommitError> {
    let mut statement = transaction
        .prepare_cached("DELETE FROM open_request WHERE account = ?1 AND request = ?2")
        .map_err(|error| failed(&error))?;
    let mut missing = Vec::new();
    for (account, request) in closed {
        let deleted = statement
            .execute(params![account, request.as_bytes()])
            .map_err(|error| failed(&error))?;
        if deleted == 0 {
            missing.push(*request);
        }
    }
    if missing.is_empty() {
        Ok(())
    } else {
        Err(CommitError::NotOpen(missing))
    }
}

/// Records and their sealed content.
pub(super) fn records(transaction: &Transaction<'_>, batch: &Batch) -> rusqlite::Result<()> {
    let all = &batch.records;
    rows(
        transaction,
        &RECORDS,
        all,
        |NewRecord { row, link, .. }| {
            [
                row.account.as_str().into(),
                Integer(row.time_us),
                Blob(row.id.as_bytes()),
                Integer(row.kind.into()),
                row.request
                    .as_ref()
                    .map(|request| Blob(request.as_bytes()))
                    .into(),
                row.key_id.as_deref().into(),
                row.mode.as_deref().into(),
                row.action.as_deref().into(),
                row.model.as_deref().into(),
                row.types.as_deref().into(),
                row.act.as_deref().into(),
                row.body.as_str().into(),
                Integer(link.lane),
                Integer(link.seq),
            ]
        },
    )?;
    // Row ids are consecutive within a batch, because SQLite assigns the largest id plus one.
    let first = transaction.last_insert_rowid() - all.len() as i64 + 1;
    // One row per statement, because a statement keeps copies of its values and content may be long.
    let mut content = transaction.prepare_cached(
        "INSERT INTO audit_content (number, account, time, original, sent) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (number, NewRecord { row, contents, .. }) in (first..).zip(all) {
        if !contents.is_empty() {
            content.execute(params![
                number,
                row.account,
                row.time_us,
                contents.original.as_deref(),
                contents.sent.as_deref()
            ])?;
        }
    }
    Ok(())
}

/// Inserts open requests, lookup codes and counters.
pub(super) fn beside(transaction: &Transaction<'_>, batch: &Batch) -> rusqlite::Result<()> {
    rows(transaction, &OPEN_REQUESTS, &batch.opened, |row| {
        [
            row.account.as_str().into(),
            Blob(row.request.as_bytes()),
            Integer(row.time_us),
            Blob(row.instance.as_bytes()),
        ]
    })?;
    rows(transaction, &TOKENS, &batch.lookups, |row| {
        [
            row.account.as_str().into(),
            Blob(row.request.as_bytes()),
            Integer(row.time_us),
            Blob(row.codes.as_flattened()),
        ]
    })?;
    rows(transaction, &COUNTERS, &batch.counters, |row| {
        [
            row.account.as_str().into(),
            Integer(row.hour),
            Integer(row.lane),
            row.name.as_str().into(),
            Integer(row.count),
        ]
    })
}

/// Number of rows per statement. The fixed cost of a statement, mostly opening its tables, equals that of two or three
/// rows.
const ROWS_OF_STATEMENTS: [usize; 3] = [8, 3, 1];

/// Statements that insert rows of `N` columns, one for each number of rows.
struct Inserts<const N: usize>([(usize, String); 3]);

impl<const N: usize> Inserts<N> {
    /// Makes the statements. With `OR FAIL` a statement of several rows behaves like a statement per row: rows before a
    /// refused one stay, and SQLite needs no statement journal to undo them.
    fn new(into: &str, conflict: &str) -> Self {
        Self(ROWS_OF_STATEMENTS.map(|count| {
            let row = format!("({})", ["?"; N].join(", "));
            let places = vec![row.as_str(); count].join(", ");
            let text = format!("INSERT OR FAIL INTO {into} VALUES {places} {conflict}");
            (count, text)
        }))
    }
}

static RECORDS: LazyLock<Inserts<14>> = LazyLock::new(|| {
    Inserts::new(
        "audit_record (account, time, id, kind, request, key_id, mode, action, model, types, act, body, lane, seq)",
        "",
    )
});

static OPEN_REQUESTS: LazyLock<Inserts<4>> = LazyLock::new(|| {
    Inserts::new(
        "open_request (account, request, time, instance)",
        "ON CONFLICT (account, request) DO NOTHING",
    )
});

/// Inserts lookup codes. A row that gets more codes gets a new number after all others, so that the added codes are
/// sorted too.
static TOKENS: LazyLock<Inserts<4>> = LazyLock::new(|| {
    Inserts::new(
        "audit_token (account, request, time, tokens)",
        "ON CONFLICT (account, request) DO UPDATE SET tokens = CAST(tokens || excluded.tokens AS BLOB),
         number = (SELECT max(number) + 1 FROM audit_token)",
    )
});

static COUNTERS: LazyLock<Inserts<5>> = LazyLock::new(|| {
    Inserts::new(
        "audit_counter (account, hour, lane, name, count)",
        "ON CONFLICT (account, hour, lane, name) DO UPDATE SET count = count + excluded.count",
    )
});

static LINKS: LazyLock<Inserts<9>> = LazyLock::new(|| {
    Inserts::new(
        "audit_chain (account, lane, seq, record, time, leaf, digest, mac, signature)",
        "",
    )
});

/// Inserts rows, several per statement.
fn rows<'r, T, const N: usize>(
    transaction: &Transaction<'_>,
    inserts: &Inserts<N>,
    all: &'r [T],
    values: impl Fn(&'r T) -> [ValueRef<'r>; N],
) -> rusqlite::Result<()> {
    let mut left = all;
    for (count, text) in &inserts.0 {
        let count = *count;
        if left.len() < count {
            continue;
        }
        let mut statement = transaction.prepare_cached(text)?;
        while let Some((now, later)) = left.split_at_checked(count) {
            for (at, value) in now.iter().flat_map(&values).enumerate() {
                statement.raw_bind_parameter(at + 1, ToSqlOutput::Borrowed(value))?;
            }
            statement.raw_execute()?;
            left = later;
        }
    }
    Ok(())
}

/// Inserts chain entries of new records and, in an import, of records that were deleted before.
pub(super) fn links(transaction: &Transaction<'_>, batch: &Batch) -> Result<(), CommitError> {
    let written = batch
        .records
        .iter()
        .map(|new| (&new.row.account, &new.row.id, new.row.time_us, &new.link));
    let bare = batch
        .bare_links
        .iter()
        .map(|(account, record, time_us, link)| (account, record, *time_us, link));
    let all: Vec<_> = written.chain(bare).collect();
    let inserted = rows(
        transaction,
        &LINKS,
        &all,
        |&(account, record, time_us, link)| {
            [
                account.as_str().into(),
                Integer(link.lane),
                Integer(link.seq),
                Blob(record.as_bytes()),
                Integer(time_us),
                Blob(&link.leaf),
                Blob(&link.digest),
                Blob(&link.mac),
                link.signature.as_deref().into(),
            ]
        },
    );
    inserted.map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => CommitError::LaneTaken,
        _ => failed(&error),
    })
}
