//! Inserting what a group brings. This is where the time of the one writer goes: each statement is
//! looked up once per group, and each row costs as few trees as can be.

use std::sync::LazyLock;

use rusqlite::{ErrorCode, ToSql, Transaction, params};
use uuid::Uuid;

use crate::rows::Batch;
use crate::sqlite::failed;
use crate::store::CommitError;

/// Requests that got their outcome; all of them must be open.
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
    let mut record = transaction.prepare_cached(
        "INSERT INTO audit_record (account, time, id, kind, request, key_id, mode, action, model, types, act, body, lane, seq)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    let mut content = transaction.prepare_cached(
        "INSERT INTO audit_content (number, account, time, original, sent) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for new in &batch.records {
        let (row, link) = (&new.row, &new.link);
        let number = record.insert(params![
            row.account,
            row.time_us,
            row.id.as_bytes(),
            row.kind,
            row.request.as_ref().map(Uuid::as_bytes),
            row.key_id,
            row.mode,
            row.action,
            row.model,
            row.types,
            row.act,
            row.body,
            link.lane,
            link.seq
        ])?;
        if !new.contents.is_empty() {
            content.execute(params![
                number,
                row.account,
                row.time_us,
                new.contents.original.as_deref(),
                new.contents.sent.as_deref()
            ])?;
        }
    }
    Ok(())
}

/// What goes with the records: requests now open, lookup hashes, counters.
pub(super) fn beside(transaction: &Transaction<'_>, batch: &Batch) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "INSERT OR IGNORE INTO open_request (account, request, time, instance) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for row in &batch.opened {
        statement.execute(params![
            row.account,
            row.request.as_bytes(),
            row.time_us,
            row.instance.as_bytes()
        ])?;
    }
    let mut statement = transaction.prepare_cached(
        "INSERT INTO audit_token (account, request, time, tokens) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (account, request) DO UPDATE SET tokens = CAST(tokens || excluded.tokens AS BLOB)",
    )?;
    for row in &batch.lookups {
        statement.execute(params![
            row.account,
            row.request.as_bytes(),
            row.time_us,
            row.codes.as_flattened()
        ])?;
    }
    rows(transaction, &COUNTERS, &batch.counters, |row| {
        [&row.account, &row.hour, &row.lane, &row.name, &row.count]
    })
}

/// How many rows a statement takes. What it costs by itself, opening its tables above all, is as much as two or three rows.
const ROWS_OF_STATEMENTS: [usize; 3] = [8, 3, 1];

/// Statements that insert rows of `N` columns, for each of these numbers of rows.
struct Inserts<const N: usize>([(usize, String); 3]);

impl<const N: usize> Inserts<N> {
    /// `OR FAIL` makes several rows with one statement the same as a statement for each: the rows before one that is
    /// refused stay, and SQLite needs no journal of its own to take them back.
    fn new(into: &str, conflict: &str) -> Self {
        Self(ROWS_OF_STATEMENTS.map(|count| {
            let row = format!("({})", ["?"; N].join(", "));
            let places = vec![row.as_str(); count].join(", ");
            let text = format!("INSERT OR FAIL INTO {into} VALUES {places} {conflict}");
            (count, text)
        }))
    }
}

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

/// Inserts rows, several with one statement.
fn rows<'r, T, const N: usize>(
    transaction: &Transaction<'_>,
    inserts: &Inserts<N>,
    all: &'r [T],
    values: impl Fn(&'r T) -> [&'r dyn ToSql; N],
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
                statement.raw_bind_parameter(at + 1, value)?;
            }
            statement.raw_execute()?;
            left = later;
        }
    }
    Ok(())
}

/// Places in the chain, of records written now and (by an import) of records deleted before.
pub(super) fn links(transaction: &Transaction<'_>, batch: &Batch) -> Result<(), CommitError> {
    let written = batch
        .records
        .iter()
        .map(|new| (&new.row.account, &new.row.id, &new.row.time_us, &new.link));
    let bare = batch
        .bare_links
        .iter()
        .map(|(account, record, time_us, link)| (account, record, time_us, link));
    let all: Vec<_> = written.chain(bare).collect();
    let inserted = rows(
        transaction,
        &LINKS,
        &all,
        |&(account, record, time_us, link)| {
            [
                account,
                &link.lane,
                &link.seq,
                record.as_bytes(),
                time_us,
                &link.leaf,
                &link.digest,
                &link.mac,
                &link.signature,
            ]
        },
    );
    inserted.map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => CommitError::LaneTaken,
        _ => failed(&error),
    })
}
