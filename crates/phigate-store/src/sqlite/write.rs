//! The writing thread. It works through one transaction after another; the log is checkpointed beside it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use crate::Result;
use crate::item::Change;
use crate::rows::Batch;
use crate::sqlite::checkpoint_wal::{Folder, batch_bytes};
use crate::sqlite::connect::{Access, connect};
use crate::sqlite::generation::Generation;
use crate::sqlite::segments::{self, Backlog, USUAL};
use crate::sqlite::{WriteJob, changes, failed, insert, unavailable};
use crate::store::CommitError;

/// Time without jobs after which the thread is idle.
const QUIET: Duration = Duration::from_millis(200);

/// The receiver of a commit's result.
type Answer = oneshot::Sender<Result<(), CommitError>>;

/// A step of an open transaction. The commit reports a batch that could not be added.
pub(super) enum Step {
    Add(Arc<Batch>),
    Commit(Answer),
}

/// The writing connection with its background work.
pub(super) struct Writer {
    data: PathBuf,
    connection: Option<Connection>,
    log: Folder,
    backlog: Backlog,
    /// Whether deleted bytes are still in the log.
    must_scrub: bool,
    delay: Duration,
    generation: Arc<Generation>,
}

/// Runs jobs until every sender is dropped.
pub(super) fn run(mut writer: Writer, jobs: &Receiver<WriteJob>) {
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
    pub(super) fn new(
        data: PathBuf,
        connection: Connection,
        delay: Duration,
        generation: Arc<Generation>,
    ) -> Result<Self> {
        Ok(Self {
            log: Folder::start(data.clone())?,
            data,
            connection: Some(connection),
            backlog: Backlog::default(),
            must_scrub: false,
            delay,
            generation,
        })
    }

    /// Runs the steps of one transaction until it is committed or dropped.
    pub(super) fn transact(&mut self, steps: &Receiver<Step>) {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => match connect(&self.data, Access::Write) {
                Ok(connection) => connection,
                Err(error) => return refuse(steps, &CommitError::Failed(error)),
            },
        };
        let Some((batches, result, answer)) = work(&mut connection, steps) else {
            self.connection = Some(connection);
            return;
        };
        if !self.delay.is_zero() {
            std::thread::sleep(self.delay);
        }
        // After a failed write the state of the connection is unknown.
        if !matches!(
            result,
            Err(CommitError::Unknown(_) | CommitError::Failed(_))
        ) {
            self.connection = Some(connection);
        }
        let shreds = batches.iter().any(|batch| is_shredding(batch));
        if shreds && result.is_ok() {
            // Deleted data must not remain in the log.
            self.scrub();
        }
        // Ignore a dropped receiver; the commit already happened.
        let _ = answer.send(result);
        self.read_generation();
        self.keep_log_short(batches.iter().map(|batch| batch_bytes(batch)).sum());
        for batch in &batches {
            self.backlog.add(batch);
        }
        if self.backlog.is_worth_a_look() {
            self.sort_codes();
        }
    }

    /// Reads the generation ahead of the next request, which would have to query after every commit.
    fn read_generation(&self) {
        if let Some(connection) = &self.connection {
            // If the read fails, the request reads instead.
            let _ = self.generation.read(connection);
        }
    }

    /// Checkpoints the rest of the log between two commits, if the thread has done most of it.
    fn keep_log_short(&mut self, bytes: usize) {
        if let Some(connection) = &self.connection {
            self.log.wrote(connection, bytes);
        }
    }

    /// Sorts lookup codes between two commits, if some are due. True if there may be more.
    fn sort_codes(&mut self) -> bool {
        let Some(mut connection) = self.connection.take() else {
            return false;
        };
        let due = self.backlog.look(&connection);
        match due.and_then(|is_due| Ok(is_due && segments::sort_next(&mut connection, USUAL)?)) {
            Ok(is_sorted) => {
                self.connection = Some(connection);
                if is_sorted {
                    self.read_generation();
                    self.keep_log_short(segments::SEGMENT_BYTES);
                }
                is_sorted
            }
            Err(error) => {
                tracing::debug!("lookup codes are sorted later: {}", unavailable(&error));
                false
            }
        }
    }

    /// Checkpoints and truncates the log, so that deleted bytes are gone from it too. A reader may block this; it is
    /// then tried again in every idle period.
    fn scrub(&mut self) {
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

    /// Runs the work of an idle period. True if there may be more.
    fn rest(&mut self) -> bool {
        if self.must_scrub {
            self.scrub();
        } else {
            self.log.rest();
        }
        self.sort_codes() || self.must_scrub
    }
}

/// The batches of a transaction, its result and the receiver of the result. `None` if it was dropped.
type Worked = (Vec<Arc<Batch>>, Result<(), CommitError>, Answer);

fn work(connection: &mut Connection, steps: &Receiver<Step>) -> Option<Worked> {
    let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    let mut transaction = begun.map_err(|error| failed(&error));
    let mut batches = Vec::new();
    loop {
        // Dropping the transaction rolls it back.
        match steps.recv().ok()? {
            Step::Add(batch) => {
                let added = transaction
                    .as_ref()
                    .map_or(Ok(()), |transaction| apply(transaction, &batch));
                if let Err(error) = added {
                    transaction = Err(error);
                }
                batches.push(batch);
            }
            Step::Commit(answer) => {
                let result = transaction.and_then(|transaction| {
                    let committed = transaction.commit();
                    committed.map_err(|error| CommitError::Unknown(unavailable(&error)))
                });
                return Some((batches, result, answer));
            }
        }
    }
}

/// Reports an error to every commit.
fn refuse(steps: &Receiver<Step>, error: &CommitError) {
    for step in steps {
        if let Step::Commit(answer) = step {
            let _ = answer.send(Err(error.clone()));
        }
    }
}

fn is_shredding(batch: &Batch) -> bool {
    let shreds = |change: &Change| matches!(change, Change::Shred { .. });
    batch.changes.iter().any(shreds)
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
