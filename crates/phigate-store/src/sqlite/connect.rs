//! Opening connections: private files, WAL, every commit synced; migrations.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use crate::migrations::{Migration, pending};
use crate::sqlite::unavailable;
use crate::{Result, StoreError};

const MIGRATIONS: &[Migration] = &[
    // In order. Rows may be added but never edited.
    Migration {
        version: 1,
        sql: include_str!("migrations/0001_first.sql"),
    },
    Migration {
        version: 2,
        sql: include_str!("migrations/0002_row_mac.sql"),
    },
    Migration {
        version: 3,
        sql: include_str!("migrations/0003_joined_tokens.sql"),
    },
    Migration {
        version: 4,
        sql: include_str!("migrations/0004_search.sql"),
    },
    Migration {
        version: 5,
        sql: include_str!("migrations/0005_sorted_tokens.sql"),
    },
];

/// Name of the database in its folder.
const FILE: &str = "phigate.db";
/// Longest wait for a lock of another process; shorter than the time a request waits for its record.
const BUSY: Duration = Duration::from_millis(1_500);
const PATIENCE: Duration = Duration::from_secs(15);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// The database in a folder.
pub(super) fn file(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// Creates the folder, the file and the schema if they are missing.
pub(super) fn prepare(folder: &Path, create: bool) -> Result<()> {
    let file = file(folder);
    if !file.exists() {
        if !create {
            return Err(StoreError::Missing(folder.display().to_string()));
        }
        make_private(folder, &file).map_err(|error| {
            StoreError::Unavailable(format!(
                "cannot create {}: {}",
                folder.display(),
                error.kind()
            ))
        })?;
    }
    let started = Instant::now();
    loop {
        match open(folder, Access::Write).and_then(|mut connection| migrate(&mut connection)) {
            // Another process may be starting at the same time.
            Err(OpenError::Busy) if started.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(OpenError::Busy) => {
                return Err(StoreError::Unavailable(
                    "another process holds the database".to_owned(),
                ));
            }
            Err(OpenError::Store(error)) => return Err(error),
            Ok(()) => return Ok(()),
        }
    }
}

/// Opens a connection with durable settings.
pub(super) fn connect(folder: &Path, access: Access) -> Result<Connection> {
    Ok(open(folder, access)?)
}

/// The reason why a connection could not be opened.
pub(super) enum OpenError {
    Busy,
    Store(StoreError),
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Store(unavailable(&error)),
        }
    }
}

impl From<StoreError> for OpenError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<OpenError> for StoreError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Busy => Self::Unavailable("another process holds the database".to_owned()),
            OpenError::Store(error) => error,
        }
    }
}

fn open(folder: &Path, access: Access) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file(folder), flags)?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(64);
    let journal: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "secure_delete", "on")?;
    connection.pragma_update(None, "foreign_keys", "on")?;
    // The writer checkpoints in idle periods, see `write`.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    // A small cache suffices: records are appended, and few pages are rewritten.
    connection.pragma_update(None, "cache_size", -4_096)?;
    let synchronous: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0))?;
    if journal != "wal" || synchronous != 2 {
        let found = format!(
            "journal_mode {journal}, synchronous {synchronous}; needed are wal and 2 (full)"
        );
        return Err(StoreError::WeakDurability(found).into());
    }
    if access == Access::Read {
        connection.pragma_update(None, "query_only", "on")?;
    }
    Ok(connection)
}

fn migrate(connection: &mut Connection) -> Result<(), OpenError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS schema_migration (version INTEGER PRIMARY KEY, checksum TEXT NOT NULL)",
    )?;
    let applied = {
        let mut statement =
            transaction.prepare("SELECT version, checksum FROM schema_migration")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<rusqlite::Result<Vec<(i64, String)>>>()?
    };
    for step in pending(MIGRATIONS, &applied)? {
        transaction.execute_batch(step.sql)?;
        transaction.execute(
            "INSERT INTO schema_migration (version, checksum) VALUES (?1, ?2)",
            (step.version, step.checksum()),
        )?;
    }
    Ok(transaction.commit()?)
}

fn make_private(folder: &Path, file: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    // SQLite would make the file readable by all users; its WAL gets the same mode as the file.
    let made = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file);
    match made {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => fs::File::open(folder)?.sync_all(),
    }
}
