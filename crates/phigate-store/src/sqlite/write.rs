//! The writing thread: batches in, transactions out, the log folded in beside it.

use crate::Result;
use crate::sqlite::connect::{Access, connect};
use crate::sqlite::fold::Folder;
use crate::sqlite::{WriteJob, changes, failed, insert, unavailable};
use crate::store::{Batch, CommitError};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// A moment is quiet when nothing came for this long.
const QUIET: Duration = Duration::from_millis(200);

/// Owns the connection that writes.
pub(crate) struct Writer {
    data: PathBuf,
    connection: Option<Connection>,
    log: Folder,
    /// Deleted bytes are still in the log.
    must_scrub: bool,
    delay: Duration,
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
            }
            Err(RecvTimeoutError::Timeout) => dirty = writer.rest(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

impl Writer {
    pub(crate) fn new(data: PathBuf, connection: Connection) -> Result<Self> {
        Ok(Self {
            log: Folder::start(data.clone())?,
            data,
            connection: Some(connection),
            must_scrub: false,
            delay: Duration::ZERO,
        })
    }

    /// Writes batches, all or nothing.
    pub(crate) fn commit(&mut self, batches: &[Arc<Batch>]) -> Result<(), CommitError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => connect(&self.data, Access::Write).map_err(CommitError::Failed)?,
        };
        let result = transact(&mut connection, batches);
        if !self.delay.is_zero() {
            std::thread::sleep(self.delay);
        }
        // After a failed write nothing this connection remembers can be relied on.
        if !matches!(
            result,
            Err(CommitError::Unknown(_) | CommitError::Failed(_))
        ) {
            self.connection = Some(connection);
        }
        result
    }

    /// From now on every commit takes this much longer.
    pub(crate) fn slow_down(&mut self, by: Duration) {
        self.delay = by;
    }

    /// Between two commits: folds in the rest of a log whose bulk is folded in already.
    pub(crate) fn keep_log_short(&mut self, batches: &[Arc<Batch>]) {
        if let Some(connection) = &self.connection {
            self.log.wrote(connection, batches);
        }
    }

    /// Folds the log in and cuts it, so that deleted bytes are gone from it as well. Somebody who
    /// reads may hold it up; then it is tried again in every quiet moment.
    pub(crate) fn scrub(&mut self) {
        self.must_scrub = true;
        if let Some(connection) = &self.connection {
            let held_up = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
                row.get::<_, i64>(0)
            });
            match held_up {
                Ok(0) => self.must_scrub = false,
                Ok(_) => tracing::debug!("the log is in use and is cut later"),
                Err(error) => tracing::debug!("the log is cut later: {}", unavailable(&error)),
            }
        }
    }

    /// What a quiet moment is used for; whether there is more to do in the next one.
    fn rest(&mut self) -> bool {
        if self.must_scrub {
            self.scrub();
        } else {
            self.log.rest();
        }
        self.must_scrub
    }
}

fn transact(connection: &mut Connection, batches: &[Arc<Batch>]) -> Result<(), CommitError> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|error| failed(&error))?;
    // A transaction that is dropped is rolled back.
    for batch in batches {
        apply(&transaction, batch)?;
    }
    transaction
        .commit()
        .map_err(|error| CommitError::Unknown(unavailable(&error)))
}

fn apply(transaction: &Transaction<'_>, batch: &Batch) -> Result<(), CommitError> {
    for change in &batch.changes {
        changes::apply(transaction, change)?;
    }
    insert::close_requests(transaction, &batch.closed)?;
    changes::apply_plain(transaction, batch).map_err(|error| failed(&error))?;
    insert::records(transaction, batch).map_err(|error| failed(&error))?;
    insert::beside(transaction, batch).map_err(|error| failed(&error))?;
    insert::links(transaction, batch)
}
