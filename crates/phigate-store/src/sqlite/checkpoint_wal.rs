//! Checkpoints the write-ahead log without making a commit wait for it.
//!
//! A thread with its own connection checkpoints most of the log while commits go on. It cannot catch up with a writer
//! that never pauses, and SQLite restarts the log only when nothing in it is left to checkpoint. So the writer itself
//! checkpoints the rest, which is small by then.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use rusqlite::Connection;

use crate::rows::Batch;
use crate::sqlite::connect::{Access, connect};
use crate::sqlite::unavailable;
use crate::{Result, StoreError};

/// Size of the log that starts a checkpoint.
const FOLD_BYTES: usize = 16 << 20;
/// Size of the log at which the writer checkpoints everything, if the thread is too slow.
const FOLD_BYTES_MAX: usize = 128 << 20;
/// Estimated bytes that a commit writes besides its batch.
const COMMIT_BYTES: usize = 32 << 10;

/// Schedules checkpoints.
pub(super) struct Folder {
    ask: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Set by the thread after it has checkpointed.
    has_folded: Arc<AtomicBool>,
    was_asked: bool,
    bytes: usize,
}

impl Folder {
    pub(super) fn start(data: PathBuf) -> Result<Self> {
        let (ask, asked) = sync_channel(1);
        let has_folded = Arc::new(AtomicBool::new(false));
        let tell = has_folded.clone();
        let thread = std::thread::Builder::new()
            .name("phigate-fold".to_owned())
            .spawn(move || run(&data, &asked, &tell))
            .map_err(|error| StoreError::Unavailable(error.kind().to_string()))?;
        Ok(Self {
            ask: Some(ask),
            thread: Some(thread),
            has_folded,
            was_asked: false,
            bytes: 0,
        })
    }

    /// Counts the bytes of a commit, and starts or finishes a checkpoint if enough was written.
    pub(super) fn wrote(&mut self, connection: &Connection, bytes: usize) {
        self.bytes += COMMIT_BYTES + bytes;
        if self.bytes > FOLD_BYTES && !self.was_asked {
            self.has_folded.store(false, Ordering::Release);
            self.was_asked = true;
            self.ask();
        }
        let is_rest = self.was_asked && self.has_folded.load(Ordering::Acquire);
        if is_rest || self.bytes > FOLD_BYTES_MAX {
            fold(connection);
            (self.was_asked, self.bytes) = (false, 0);
        }
    }

    /// Asks the thread for a checkpoint in an idle period.
    pub(super) fn rest(&mut self) {
        (self.was_asked, self.bytes) = (false, 0);
        self.ask();
    }

    fn ask(&self) {
        if let Some(ask) = &self.ask {
            // A full channel means that the thread was asked already.
            let _ = ask.try_send(());
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.ask.take();
        if let Some(thread) = self.thread.take() {
            // The thread ends after its current checkpoint.
            let _ = thread.join();
        }
    }
}

fn run(data: &Path, asked: &Receiver<()>, has_folded: &AtomicBool) {
    let mut connection = None;
    while asked.recv().is_ok() {
        if connection.is_none() {
            connection = connect(data, Access::Write).ok();
        }
        let is_done = connection.as_ref().is_some_and(fold);
        has_folded.store(is_done, Ordering::Release);
        if !is_done {
            connection = None;
        }
    }
}

/// Checkpoints all pages that no other connection is using.
fn fold(connection: &Connection) -> bool {
    let done = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    if let Err(error) = &done {
        tracing::debug!("folding the log in is put off: {}", unavailable(error));
    }
    done.is_ok()
}

/// Estimated bytes that a batch adds to the log: rows, their indexes and chain entries.
pub(super) fn batch_bytes(batch: &Batch) -> usize {
    let rows = batch.records.iter().map(|new| {
        let sealed = new.contents.fields().map(|(_, sealed)| sealed.len());
        sealed.sum::<usize>() + new.row.body.len() + 700
    });
    rows.sum()
}
