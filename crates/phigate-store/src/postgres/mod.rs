//! PostgreSQL: the engine for several replicas on one database.
//!
//! A batch is a few statements over arrays, sent together. A transaction without a reply is a doubt: its backend, which
//! may still be running, is ended before the outcome is looked up. So a record is neither lost nor written twice.

mod commit;
mod connect;
mod connections;
mod engine;
mod generation;
mod insert;
mod partitions;
mod read;
mod standbys;
mod statement;
mod write;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deadpool::managed::PoolError;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use crate::error::{Result, StoreError};
use crate::store::Opening;
use connect::Wanted;
use connections::{Object, Pool};
use generation::Generation;

/// Timeout of one step of a write; the caller's deadline is shorter or equal.
const WRITE: Duration = Duration::from_secs(3);
/// Timeout for getting or making a connection, if the request has no limit for it.
const CONNECT: Duration = Duration::from_secs(3);
/// Pool sizes: connections for long reads, for settings, which must not wait for them, and for commits.
const READERS: usize = 5;
const HOT: usize = 3;
const COMMITTERS: usize = 4;
/// Timeout of a read.
const READ: Duration = Duration::from_secs(60);

/// A store in a PostgreSQL database.
pub(crate) struct Postgres {
    /// Connections for reads, which may take long.
    pool: Pool,
    /// Connections for settings, which must never wait behind a long read.
    hot: Pool,
    /// Connections for commits. The writer's thread drives them.
    commits: Pool,
    generation: Generation,
    /// Longest time a read of settings may take.
    patience: Duration,
    /// Period for which a batch is retried while other transactions block it.
    busy_limit: Duration,
    /// Standbys that must confirm each commit.
    standbys: u32,
    /// Number of connections opened so far.
    opened: Arc<AtomicU64>,
    /// Backends whose last transaction was left without an answer.
    doubts: Arc<Mutex<Vec<i32>>>,
}

impl Postgres {
    /// Connects, and creates the schema if asked to.
    pub(crate) async fn open(url: &str, how: Opening) -> Result<Self> {
        // On a busy machine requests may be allowed to wait longer; reads of settings then may too.
        let patience = CONNECT.max(how.decision_limit);
        let (standbys, opened) = (how.standbys, Arc::default());
        let wanted = Wanted {
            url,
            standbys,
            opened: &opened,
        };
        let pool = connect::pool(wanted, READERS, CONNECT)?;
        let hot = connect::pool(wanted, HOT, patience)?;
        let commits = connect::pool(wanted, COMMITTERS, CONNECT)?;
        connect::prepare(&pool, how.create, standbys).await?;
        partitions::create(&pool).await?;
        let generation = Generation::new(hot.clone(), how.decision_limit, patience, standbys);
        Ok(Self {
            pool,
            hot,
            commits,
            generation,
            patience,
            busy_limit: how.decision_limit,
            standbys,
            opened,
            doubts: Arc::default(),
        })
    }

    /// Reads rows, and tries again if the connection was dead.
    async fn query(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        query(&self.pool, sql, values, READ).await
    }

    /// Reads settings, ahead of all long reads.
    async fn query_hot(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        query(&self.hot, sql, values, self.patience).await
    }

    async fn query_one(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Option<Row>> {
        Ok(self.query(sql, values).await?.into_iter().next())
    }

    fn doubts(&self) -> std::sync::MutexGuard<'_, Vec<i32>> {
        self.doubts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn query(
    pool: &Pool,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
    limit: Duration,
) -> Result<Vec<Row>> {
    let mut last = StoreError::Unavailable("no connection".to_owned());
    for _ in 0..3 {
        let client = client(pool).await?;
        let read = async {
            let statement = client.prepare_cached(sql).await?;
            client.query(&statement, values).await
        };
        match tokio::time::timeout(limit, read).await {
            Ok(Ok(rows)) => return Ok(rows),
            Ok(Err(error)) => {
                last = unavailable(&error);
                if matches!(last, StoreError::Busy(_)) {
                    tokio::time::sleep(BUSY_PAUSE).await;
                    continue;
                }
                if !is_dead(&error) {
                    return Err(last);
                }
                discard(client);
            }
            Err(_) => {
                discard(client);
                return Err(StoreError::Timeout);
            }
        }
    }
    Err(last)
}

async fn client(pool: &Pool) -> Result<Object> {
    pool.get().await.map_err(|error| match error {
        PoolError::Backend(error) => error,
        PoolError::Timeout(_) => StoreError::Timeout,
        _ => StoreError::Unavailable("no connection to PostgreSQL".to_owned()),
    })
}

/// Closes a connection instead of returning it to the pool.
fn discard(client: Object) {
    drop(Object::take(client));
}

/// Whether the connection failed, and not the statement.
fn is_dead(error: &tokio_postgres::Error) -> bool {
    let shutting_down = error
        .code()
        .is_some_and(|code| code.code().starts_with("57P"));
    error.is_closed() || error.code().is_none() || shutting_down
}

/// Keeps only the code of an error, because messages of PostgreSQL may name values. Names the remedy if the address is
/// at fault.
fn unavailable(error: &tokio_postgres::Error) -> StoreError {
    let code = error.code();
    if code.is_some_and(|code| BUSY.contains(code)) {
        let code = code.map_or("", SqlState::code);
        return StoreError::Busy(format!("PostgreSQL error {code}"));
    }
    let what = match code.map(SqlState::code) {
        Some(code) => match FIXES.iter().find(|(known, _)| *known == code) {
            Some((_, fix)) => format!("PostgreSQL error {code}: {fix}"),
            None => format!("PostgreSQL error {code}"),
        },
        None => tls_fault(error).unwrap_or("no connection to PostgreSQL".to_owned()),
    };
    StoreError::Unavailable(what)
}

/// Conflicts with other transactions; a retry may succeed.
const BUSY: &[SqlState] = &[
    // 40001 and 40P01.
    SqlState::T_R_SERIALIZATION_FAILURE,
    SqlState::T_R_DEADLOCK_DETECTED,
];
/// Pause before a retry.
const BUSY_PAUSE: Duration = Duration::from_millis(25);

/// Remedies for errors that a new address of the database often gives.
const FIXES: &[(&str, &str)] = &[
    // In order of their codes.
    (
        "08P01",
        "a pooler there does not give phigate sessions of its own (PgBouncer: set pool_mode = session)",
    ),
    (
        "25006",
        "the server at this address cannot be written; if it is a standby, name the primary",
    ),
    (
        "28000",
        "it does not let this user in from here, or only over TLS (then add sslmode=require to the address)",
    ),
    ("28P01", "wrong password"),
    ("3D000", "there is no such database; make it with createdb"),
    (
        "42501",
        "this role may not do that; let it own the database",
    ),
];

/// The fault of a TLS handshake, if TLS failed.
fn tls_fault(error: &tokio_postgres::Error) -> Option<String> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = std::error::Error::source(error);
    while let Some(inner) = cause {
        let inside = inner
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref)
            .and_then(|inner| inner.downcast_ref::<rustls::Error>());
        if let Some(fault) = inside.or_else(|| inner.downcast_ref()) {
            return Some(match fault {
                rustls::Error::InvalidCertificate(why) => format!(
                    "the certificate of PostgreSQL is refused ({why}); name the authority that signed it with \
                     sslrootcert=FILE in the address, and use the host name it is made out to"
                ),
                other => format!("no TLS connection to PostgreSQL: {other}"),
            });
        }
        if inner.to_string() == "server does not support TLS" {
            let off = "PostgreSQL has TLS off (ssl = off), and this address needs it; turn it on, or add \
                       sslmode=disable to the address where nobody else can listen";
            return Some(off.to_owned());
        }
        cause = inner.source();
    }
    None
}
