//! Inserting what a group brings. This is where the time of the one writer goes: each statement is
//! looked up once per group, and each row costs as few trees as can be.

use rusqlite::{ErrorCode, Statement, Transaction, params};
use uuid::Uuid;

use crate::rows::{Batch, Link};
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
    let mut statement = transaction.prepare_cached(
        "INSERT INTO audit_counter (account, hour, lane, name, count) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (account, hour, lane, name) DO UPDATE SET count = count + excluded.count",
    )?;
    for row in &batch.counters {
        statement.execute(params![
            row.account,
            row.hour,
            row.lane,
            row.name,
            row.count
        ])?;
    }
    Ok(())
}

/// Places in the chain, of records written now and (by an import) of records deleted before.
pub(super) fn links(transaction: &Transaction<'_>, batch: &Batch) -> Result<(), CommitError> {
    let mut statement = transaction
        .prepare_cached(
            "INSERT INTO audit_chain (account, lane, seq, record, time, leaf, digest, mac, signature)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )
        .map_err(|error| failed(&error))?;
    for new in &batch.records {
        let row = &new.row;
        link(&mut statement, &row.account, row.id, row.time_us, &new.link)?;
    }
    for (account, record, time_us, at) in &batch.bare_links {
        link(&mut statement, account, *record, *time_us, at)?;
    }
    Ok(())
}

fn link(
    statement: &mut Statement<'_>,
    account: &str,
    record: Uuid,
    time_us: i64,
    link: &Link,
) -> Result<(), CommitError> {
    let inserted = statement.execute(params![
        account,
        link.lane,
        link.seq,
        record.as_bytes(),
        time_us,
        link.leaf,
        link.digest,
        link.mac,
        link.signature
    ]);
    match inserted {
        Ok(_) => Ok(()),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Err(CommitError::LaneTaken)
        }
        Err(error) => Err(failed(&error)),
    }
}
