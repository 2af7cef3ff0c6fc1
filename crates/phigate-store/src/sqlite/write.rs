//! The writing thread: batches in, transactions out, checkpoints in quiet moments.

use crate::Result;
use crate::sqlite::connect::{Access, connect};
use crate::sqlite::{WriteJob, failed, unavailable};
use crate::store::{Batch, Change, CommitError, Expect, Item, Link, RowKey};
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, params};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use uuid::Uuid;

/// A moment is quiet when nothing came for this long.
const QUIET: Duration = Duration::from_millis(200);
/// A log longer than this is folded in even when busy.
const LOG_BYTES_MAX: u64 = 64 << 20;

/// Owns the connection that writes.
pub(crate) struct Writer {
    folder: PathBuf,
    connection: Option<Connection>,
    commits: u64,
}

/// Works until everybody who could send is gone.
pub(crate) fn run(mut writer: Writer, jobs: &Receiver<WriteJob>) {
    let mut dirty = false;
    loop {
        let received = if dirty {
            jobs.recv_timeout(QUIET)
        } else {
            jobs.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        match received {
            Ok(job) => {
                job(&mut writer);
                dirty = true;
                if writer.commits.is_multiple_of(64) && writer.log_bytes() > LOG_BYTES_MAX {
                    writer.checkpoint();
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                writer.checkpoint();
                dirty = false;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

impl Writer {
    pub(crate) fn new(folder: PathBuf, connection: Connection) -> Self {
        Self {
            folder,
            connection: Some(connection),
            commits: 0,
        }
    }

    /// Writes a batch, all or nothing.
    pub(crate) fn commit(&mut self, batch: &Batch) -> Result<(), CommitError> {
        self.commits += 1;
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => connect(&self.folder, Access::Write).map_err(CommitError::Failed)?,
        };
        let result = transact(&mut connection, batch);
        // After a failed write nothing this connection remembers can be relied on.
        if !matches!(
            result,
            Err(CommitError::Unknown(_) | CommitError::Failed(_))
        ) {
            self.connection = Some(connection);
        }
        result
    }

    /// Folds the log into the database without making anybody wait.
    pub(crate) fn checkpoint(&mut self) {
        if let Some(connection) = &self.connection {
            let done = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
            if let Err(error) = done {
                tracing::debug!("checkpoint put off: {}", unavailable(&error));
            }
        }
    }

    /// Folds the log in and cuts it, so that deleted bytes are gone from it as well.
    pub(crate) fn scrub(&mut self) -> Result<()> {
        match &self.connection {
            Some(connection) => connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
                .map_err(|error| unavailable(&error)),
            None => Ok(()),
        }
    }

    fn log_bytes(&self) -> u64 {
        std::fs::metadata(self.folder.join("phigate.db-wal")).map_or(0, |log| log.len())
    }
}

fn transact(connection: &mut Connection, batch: &Batch) -> Result<(), CommitError> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|error| failed(&error))?;
    // A transaction that is dropped is rolled back.
    apply(&transaction, batch)?;
    transaction
        .commit()
        .map_err(|error| CommitError::Unknown(unavailable(&error)))
}

fn apply(transaction: &Transaction<'_>, batch: &Batch) -> Result<(), CommitError> {
    for change in &batch.changes {
        apply_change(transaction, change)?;
    }
    close_requests(transaction, &batch.closed)?;
    insert(transaction, batch).map_err(|error| failed(&error))?;
    for (row, link) in &batch.records {
        insert_link(transaction, &row.account, row.id, row.time_us, link)?;
    }
    for (account, record, time_us, link) in &batch.bare_links {
        insert_link(transaction, account, *record, *time_us, link)?;
    }
    Ok(())
}

fn apply_change(transaction: &Transaction<'_>, change: &Change) -> Result<(), CommitError> {
    match change {
        Change::Put(item, expect) => put(transaction, item, *expect),
        Change::Delete { account, kind, id } => {
            let deleted = transaction
                .execute(
                    "DELETE FROM item WHERE account = ?1 AND kind = ?2 AND id = ?3",
                    params![account, kind, id],
                )
                .map_err(|error| failed(&error))?;
            if deleted == 1 {
                Ok(())
            } else {
                Err(CommitError::Stale)
            }
        }
        Change::Check {
            account,
            kind,
            id,
            version,
        } => {
            let found = transaction
                .query_row(
                    "SELECT count(*) FROM item WHERE account = ?1 AND kind = ?2 AND id = ?3 AND version = ?4",
                    params![account, kind, id, version],
                    |row| row.get::<_, i64>(0),
                )
                .map_err(|error| failed(&error))?;
            if found == 1 {
                Ok(())
            } else {
                Err(CommitError::Stale)
            }
        }
        Change::Shred { account } => {
            for table in ["item", "audit_content", "audit_token"] {
                transaction
                    .execute(
                        &format!("DELETE FROM {table} WHERE account = ?1"),
                        [account],
                    )
                    .map_err(|error| failed(&error))?;
            }
            Ok(())
        }
    }
}

fn put(transaction: &Transaction<'_>, item: &Item, expect: Expect) -> Result<(), CommitError> {
    let Item {
        account,
        kind,
        id,
        lookup,
        body,
        ..
    } = item;
    let changed = match expect {
        Expect::Absent => transaction.execute(
            "INSERT INTO item (account, kind, id, lookup, version, body) VALUES (?1, ?2, ?3, ?4, 1, ?5)",
            params![account, kind, id, lookup, body],
        ),
        Expect::Version(version) => transaction.execute(
            "UPDATE item SET lookup = ?4, version = version + 1, body = ?5
             WHERE account = ?1 AND kind = ?2 AND id = ?3 AND version = ?6",
            params![account, kind, id, lookup, body, version],
        ),
        Expect::Any => transaction.execute(
            "INSERT INTO item (account, kind, id, lookup, version, body) VALUES (?1, ?2, ?3, ?4, 1, ?5)
             ON CONFLICT (account, kind, id) DO UPDATE
             SET lookup = excluded.lookup, version = version + 1, body = excluded.body",
            params![account, kind, id, lookup, body],
        ),
    };
    match changed {
        Ok(1) => Ok(()),
        Ok(_) => Err(CommitError::Stale),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Err(CommitError::Stale)
        }
        Err(error) => Err(failed(&error)),
    }
}

fn close_requests(
    transaction: &Transaction<'_>,
    closed: &[(String, Uuid)],
) -> Result<(), CommitError> {
    let mut missing = Vec::new();
    for (account, request) in closed {
        let deleted = transaction
            .prepare_cached("DELETE FROM open_request WHERE account = ?1 AND request = ?2")
            .and_then(|mut statement| statement.execute(params![account, request.as_bytes()]))
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

fn insert(transaction: &Transaction<'_>, batch: &Batch) -> rusqlite::Result<()> {
    if batch.bump {
        transaction.execute("UPDATE generation SET value = value + 1", [])?;
    }
    if let Some((account, rows)) = &batch.drop_contents {
        delete_contents(transaction, account, rows)?;
    }
    if let Some((account, rows)) = &batch.drop_records {
        delete_contents(transaction, account, rows)?;
        delete_records(transaction, account, rows)?;
    }
    insert_records(transaction, batch)?;
    insert_beside(transaction, batch)
}

fn insert_records(transaction: &Transaction<'_>, batch: &Batch) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO audit_record (account, time, id, kind, request, key_id, mode, action, model, types, act, body, lane, seq)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    for (row, link) in &batch.records {
        let request = row.request.as_ref().map(Uuid::as_bytes);
        statement.execute(params![
            row.account,
            row.time_us,
            row.id.as_bytes(),
            row.kind,
            request,
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
    }
    Ok(())
}

/// What goes with the records: content, lookup hashes, counters, requests now open.
fn insert_beside(transaction: &Transaction<'_>, batch: &Batch) -> rusqlite::Result<()> {
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
        "INSERT INTO audit_content (account, record, field, time, sealed) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for row in &batch.contents {
        statement.execute(params![
            row.account,
            row.record.as_bytes(),
            row.field,
            row.time_us,
            &*row.sealed
        ])?;
    }
    let mut statement = transaction.prepare_cached(
        "INSERT OR IGNORE INTO audit_token (account, token, time, request) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for row in &batch.tokens {
        statement.execute(params![
            row.account,
            row.token,
            row.time_us,
            row.request.as_bytes()
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

fn insert_link(
    transaction: &Transaction<'_>,
    account: &str,
    record: Uuid,
    time_us: i64,
    link: &Link,
) -> Result<(), CommitError> {
    let inserted = transaction
        .prepare_cached(
            "INSERT INTO audit_chain (account, lane, seq, record, time, leaf, digest, mac, signature)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                account,
                link.lane,
                link.seq,
                record.as_bytes(),
                time_us,
                link.leaf,
                link.digest,
                link.mac,
                link.signature
            ])
        });
    match inserted {
        Ok(_) => Ok(()),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Err(CommitError::LaneTaken)
        }
        Err(error) => Err(failed(&error)),
    }
}

fn delete_contents(
    transaction: &Transaction<'_>,
    account: &str,
    rows: &[RowKey],
) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "DELETE FROM audit_content WHERE account = ?1 AND time = ?2 AND record = ?3",
    )?;
    for row in rows {
        statement.execute(params![account, row.time_us, row.record.as_bytes()])?;
    }
    Ok(())
}

/// Deletes records and the lookup hashes of their requests; their places in the chain stay.
fn delete_records(
    transaction: &Transaction<'_>,
    account: &str,
    rows: &[RowKey],
) -> rusqlite::Result<()> {
    let mut tokens = transaction.prepare_cached(
        "DELETE FROM audit_token WHERE account = ?1 AND request =
         (SELECT request FROM audit_record WHERE account = ?1 AND time = ?3 AND id = ?2 AND kind = 1)",
    )?;
    let mut records = transaction
        .prepare_cached("DELETE FROM audit_record WHERE account = ?1 AND time = ?3 AND id = ?2")?;
    for row in rows {
        tokens.execute(params![account, row.record.as_bytes(), row.time_us])?;
        records.execute(params![account, row.record.as_bytes(), row.time_us])?;
    }
    Ok(())
}
