//! SQLite: the engine for one machine. A folder, one file, nothing to install.
//!
//! One thread owns the connection that writes. Reads that take microseconds happen where they are
//! asked for; longer ones on the blocking pool. Several processes may have the same folder open.

mod changes;
mod connect;
mod engine;
mod fold;
mod insert;
mod items;
mod read;
mod write;

use crate::error::{Result, StoreError};
use crate::store::CommitError;
use connect::{Access, connect};
use rusqlite::{Connection, ErrorCode};
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use uuid::Uuid;

type WriteJob = Box<dyn FnOnce(&mut write::Writer) + Send>;

/// Reading connections kept for later.
const READERS: usize = 4;
/// Every lease of a process that left a lock file this old has run out.
const LOCK_FILE_AGE: std::time::Duration = std::time::Duration::from_secs(3_600);

/// A store in a folder.
pub(crate) struct Sqlite {
    folder: PathBuf,
    writer: Mutex<Option<mpsc::Sender<WriteJob>>>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
    hot: Mutex<items::Hot>,
    readers: Arc<Mutex<Vec<Connection>>>,
    held: Mutex<HashMap<Uuid, File>>,
}

impl Sqlite {
    /// Opens the store in a folder, making it when asked to.
    pub(crate) fn open(folder: &Path, create: bool) -> Result<Self> {
        connect::prepare(folder, create)?;
        let connection = connect(folder, Access::Write)?;
        let hot = items::Hot::new(connect(folder, Access::Read)?);
        let (sender, jobs) = mpsc::channel();
        let writer = write::Writer::new(folder.to_owned(), connection)?;
        let thread = std::thread::Builder::new()
            .name("phigate-sqlite".to_owned())
            .spawn(move || write::run(writer, &jobs))
            .map_err(|error| StoreError::Unavailable(error.kind().to_string()))?;
        Ok(Self {
            folder: folder.to_owned(),
            writer: Mutex::new(Some(sender)),
            thread: Mutex::new(Some(thread)),
            hot: Mutex::new(hot),
            readers: Arc::default(),
            held: Mutex::default(),
        })
    }

    /// Gives the writing thread something to do; whether there still is one.
    fn send(&self, job: WriteJob) -> bool {
        match &*lock(&self.writer) {
            Some(writer) => writer.send(job).is_ok(),
            None => false,
        }
    }

    /// Runs a longer read on the blocking pool.
    async fn on_reader<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let (readers, folder) = (self.readers.clone(), self.folder.clone());
        let task = tokio::task::spawn_blocking(move || {
            let free = lock(&readers).pop();
            let connection = match free {
                Some(connection) => connection,
                None => connect(&folder, Access::Read)?,
            };
            let result = work(&connection).map_err(|error| unavailable(&error))?;
            let mut readers = lock(&readers);
            if readers.len() < READERS {
                readers.push(connection);
            }
            Ok(result)
        });
        task.await
            .map_err(|_| StoreError::Unavailable("a read was cut short".to_owned()))?
    }

    /// Runs a read of microseconds right here.
    fn on_hot<T>(&self, work: impl FnOnce(&mut items::Hot) -> rusqlite::Result<T>) -> Result<T> {
        work(&mut lock(&self.hot)).map_err(|error| unavailable(&error))
    }

    /// Removes lock files that dead processes left behind long ago.
    fn sweep_lock_files(&self) -> std::io::Result<()> {
        for entry in std::fs::read_dir(self.folder.join("writers"))? {
            let entry = entry?;
            let age = entry.metadata()?.modified()?.elapsed().unwrap_or_default();
            if age > LOCK_FILE_AGE && File::open(entry.path())?.try_lock().is_ok() {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    fn lock_file(&self, instance: Uuid) -> PathBuf {
        self.folder
            .join("writers")
            .join(instance.simple().to_string())
    }
}

/// Only the code is kept: messages of SQLite may name values.
fn unavailable(error: &rusqlite::Error) -> StoreError {
    let code = error
        .sqlite_error()
        .map_or("unexpected data".to_owned(), |inner| {
            format!("SQLite {:?} ({})", inner.code, inner.extended_code)
        });
    StoreError::Unavailable(code)
}

fn failed(error: &rusqlite::Error) -> CommitError {
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch) => {
            CommitError::Rejected(unavailable(error))
        }
        _ => CommitError::Failed(unavailable(error)),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
