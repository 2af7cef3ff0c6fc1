//! PostgreSQL: the engine for several replicas on one database.
//!
//! A batch is one transaction of a few statements over arrays, sent together. A commit that gave no
//! answer leaves a doubt; it is settled, by ending the backend that may still be at it, before the
//! outcome is looked up. So a record is neither lost nor written twice.

mod connect;
mod engine;
mod fresh;
mod insert;
mod partitions;
mod read;
mod write;

use crate::error::{Result, StoreError};
use deadpool_postgres::{Object, Pool};
use fresh::Fresh;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

/// Longest time one step of a write may take; the caller's own deadline is shorter or equal.
const WRITE: Duration = Duration::from_secs(3);
/// Connections for long reads, and for everything that must not wait for them.
const READERS: usize = 6;
const HOT: usize = 4;
/// Longest time a read may take.
const READ: Duration = Duration::from_secs(60);

/// A store in a PostgreSQL database.
pub(crate) struct Postgres {
    /// For reads, which may take long.
    pool: Pool,
    /// For commits and settings, which must never wait behind a long read.
    hot: Pool,
    fresh: Fresh,
    /// Backends whose last commit gave no answer.
    doubts: Arc<Mutex<Vec<i32>>>,
}

impl Postgres {
    /// Connects, and makes the schema when asked to.
    pub(crate) async fn open(url: &str, create: bool) -> Result<Self> {
        let pool = connect::pool(url, READERS)?;
        let hot = connect::pool(url, HOT)?;
        connect::prepare(&pool, create).await?;
        partitions::create(&pool).await?;
        let fresh = Fresh::new(hot.clone());
        Ok(Self {
            pool,
            hot,
            fresh,
            doubts: Arc::default(),
        })
    }

    /// Reads rows; tries again when the connection turned out to be dead.
    async fn query(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        query(&self.pool, sql, values, READ).await
    }

    /// Reads settings, ahead of everything that may take long.
    async fn query_hot(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        query(&self.hot, sql, values, WRITE).await
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
        deadpool_postgres::PoolError::Backend(error) => unavailable(&error),
        deadpool_postgres::PoolError::Timeout(_) => StoreError::Timeout,
        _ => StoreError::Unavailable("no connection to PostgreSQL".to_owned()),
    })
}

/// Takes a connection out of the pool for good.
fn discard(client: Object) {
    drop(Object::take(client));
}

/// Whether the connection, rather than the statement, is at fault.
fn is_dead(error: &tokio_postgres::Error) -> bool {
    let shutting_down = error
        .code()
        .is_some_and(|code| code.code().starts_with("57P"));
    error.is_closed() || error.code().is_none() || shutting_down
}

/// Only the code is kept: messages of PostgreSQL may name values.
fn unavailable(error: &tokio_postgres::Error) -> StoreError {
    let what = match error.code() {
        Some(code) => format!("PostgreSQL error {}", code.code()),
        None => "no connection to PostgreSQL".to_owned(),
    };
    StoreError::Unavailable(what)
}
