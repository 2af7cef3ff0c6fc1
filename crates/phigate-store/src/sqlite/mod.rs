//! SQLite: the engine for one machine. The store is one file in a folder, without a server.
//!
//! One thread owns the writing connection, and another does the short reads of requests; longer reads run on the
//! blocking pool. Several processes may have the same folder open.

mod chains;
mod changes;
mod checkpoint_wal;
mod codes;
mod connect;
mod counters;
mod engine;
mod generation;
mod insert;
mod items;
mod read;
mod search;
mod segments;
mod write;

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::store::{CommitError, Opening};
use connect::{Access, connect};
use generation::Generation;
use items::Reading;

type WriteJob = Box<dyn FnOnce(&mut write::Writer) + Send>;
type HotJob = Box<dyn FnOnce(&Connection) + Send>;

/// Idle reading connections to keep.
const READERS: usize = 4;
/// Timeout of a short read.
const HANGS: Duration = Duration::from_millis(1_500);
/// Age after which a lock file is removed: every lease of its process has expired.
const LOCK_FILE_AGE: Duration = Duration::from_secs(3_600);

/// A store in a folder.
pub(crate) struct Sqlite {
    folder: PathBuf,
    writer: Mutex<Option<mpsc::Sender<WriteJob>>>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
    hot: Mutex<Option<Reading>>,
    generation: Arc<Generation>,
    readers: Arc<Mutex<Vec<Connection>>>,
    held: Mutex<HashMap<Uuid, File>>,
}

impl Sqlite {
    /// Opens the store in a folder, and creates it if asked to.
    pub(crate) fn open(folder: &Path, how: Opening) -> Result<Self> {
        connect::prepare(folder, how.create)?;
        let connection = connect(folder, Access::Write)?;
        let hot = Reading::start(connect(folder, Access::Read)?)?;
        let (sender, jobs) = mpsc::channel();
        let generation = Arc::new(Generation::new(&connect::file(folder)));
        let known = Arc::clone(&generation);
        let writer = write::Writer::new(folder.to_owned(), connection, how.sync_delay, known)?;
        let thread = std::thread::Builder::new()
            .name("phigate-sqlite".to_owned())
            .spawn(move || write::run(writer, &jobs))
            .map_err(|error| StoreError::Unavailable(error.kind().to_string()))?;
        Ok(Self {
            folder: folder.to_owned(),
            writer: Mutex::new(Some(sender)),
            thread: Mutex::new(Some(thread)),
            hot: Mutex::new(Some(hot)),
            generation,
            readers: Arc::default(),
            held: Mutex::default(),
        })
    }

    /// Queues a job for the writing thread; false if the thread has ended.
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

    /// Runs a short read, ahead of all longer ones. It has its own thread, because on a disk that hangs even a read may
    /// never end (it writes its read mark to a shared file).
    async fn on_hot<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let (tell, answer) = oneshot::channel();
        let job: HotJob = Box::new(move |connection| {
            // The reader may have timed out.
            let _ = tell.send(work(connection));
        });
        let ended = || StoreError::Unavailable("the reading thread ended".to_owned());
        let sent = match &*lock(&self.hot) {
            Some(hot) => hot.send(job),
            None => return Err(StoreError::Closed),
        };
        if !sent {
            return Err(ended());
        }
        match tokio::time::timeout(HANGS, answer).await {
            Ok(read) => read
                .map_err(|_| ended())?
                .map_err(|error| unavailable(&error)),
            Err(_) => Err(StoreError::Timeout),
        }
    }

    /// Removes old lock files of dead processes.
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

/// Converts an error. Only the code is kept, because messages of SQLite may contain values.
fn unavailable(error: &rusqlite::Error) -> StoreError {
    if let rusqlite::Error::FromSqlConversionFailure(_, _, inner) = error
        && let Some(StoreError::Unknown(what)) = inner.downcast_ref()
    {
        return StoreError::Unknown(what);
    }
    match error.sqlite_error() {
        Some(inner) => {
            StoreError::Unavailable(format!("SQLite {:?} ({})", inner.code, inner.extended_code))
        }
        // The value has another type than was written.
        None => StoreError::Unreadable("row of the database"),
    }
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
