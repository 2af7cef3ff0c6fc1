//! Folding the write-ahead log into the database without making a commit wait for it.
//!
//! A thread with a connection of its own folds in the bulk while commits go on. It can never catch
//! up with a writer that does not pause, and the log starts again from its beginning only when
//! nothing in it is left to fold. So the writer itself folds in the rest, which is small by then.

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

/// So much in the log is worth folding in.
const FOLD_BYTES: usize = 16 << 20;
/// So much is folded in at once by the writer, should the thread not get along.
const FOLD_BYTES_MAX: usize = 128 << 20;
/// What a commit writes besides the bytes it was given.
const COMMIT_BYTES: usize = 32 << 10;

/// Keeps the log short.
pub(super) struct Folder {
    ask: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Set by the thread when the bulk is folded in.
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

    /// After each commit: folds in, or lets fold in, when enough was written.
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

    /// In a quiet moment the thread folds in everything by itself.
    pub(super) fn rest(&mut self) {
        (self.was_asked, self.bytes) = (false, 0);
        self.ask();
    }

    fn ask(&self) {
        if let Some(ask) = &self.ask {
            // A full channel means that it was asked already.
            let _ = ask.try_send(());
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.ask.take();
        if let Some(thread) = self.thread.take() {
            // It ends after what it is at.
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

/// Folds in what nobody reads or writes at the moment.
fn fold(connection: &Connection) -> bool {
    let done = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    if let Err(error) = &done {
        tracing::debug!("folding the log in is put off: {}", unavailable(error));
    }
    done.is_ok()
}

/// About what a batch adds to the log: rows, their indexes and places in the chain.
pub(super) fn batch_bytes(batch: &Batch) -> usize {
    let rows = batch.records.iter().map(|new| {
        let sealed = new.contents.fields().map(|(_, sealed)| sealed.len());
        sealed.sum::<usize>() + new.row.body.len() + 700
    });
    rows.sum()
}
