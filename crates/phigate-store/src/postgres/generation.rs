//! The number of setting changes, with one query for many requests.
//!
//! A request must not act on settings older than its arrival. Each caller joins the next query, never the running one,
//! so its result was read after its call, and any number of waiting requests cost one query.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::postgres::{Pool, query, standbys};
use crate::{Result, StoreError};

/// Shares queries among waiting requests.
#[derive(Clone)]
pub(super) struct Generation {
    pool: Pool,
    /// A request that has no result within this time is refused.
    limit: Duration,
    /// Timeout of one query.
    patience: Duration,
    /// Standbys that must confirm each commit.
    standbys: u32,
    /// The query: the number, and the state of the server.
    sql: Arc<str>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    is_reading: bool,
    waiting: Vec<oneshot::Sender<Result<u64>>>,
}

impl Generation {
    pub(super) fn new(pool: Pool, limit: Duration, patience: Duration, standbys: u32) -> Self {
        Self {
            pool,
            limit,
            patience,
            standbys,
            sql: match standbys {
                0 => "SELECT value, pg_is_in_recovery() FROM generation".into(),
                _ => format!("SELECT value, {} FROM generation", standbys::STATE).into(),
            },
            state: Arc::default(),
        }
    }

    /// The number, read after this call began.
    pub(super) async fn generation(&self) -> Result<u64> {
        let (sender, answer) = oneshot::channel();
        let must_start = {
            let mut state = self.lock();
            state.waiting.push(sender);
            !std::mem::replace(&mut state.is_reading, true)
        };
        if must_start {
            tokio::spawn(self.clone().read());
        }
        match tokio::time::timeout(self.limit, answer).await {
            Ok(answer) => answer.unwrap_or(Err(StoreError::Closed)),
            Err(_) => Err(StoreError::Timeout),
        }
    }

    /// Queries for all waiting requests until none is left.
    async fn read(self) {
        loop {
            let asking = {
                let mut state = self.lock();
                if state.waiting.is_empty() {
                    state.is_reading = false;
                    return;
                }
                std::mem::take(&mut state.waiting)
            };
            let answer = self.ask().await;
            for one in asking {
                // The receiver may have timed out.
                let _ = one.send(answer.clone());
            }
        }
    }

    /// The number, from a server that can be written and has enough standbys.
    async fn ask(&self) -> Result<u64> {
        let rows = query(&self.pool, &self.sql, &[], self.patience).await?;
        let Some(row) = rows.first() else {
            return Err(StoreError::Unreadable("generation"));
        };
        if let Err(error) = standbys::judge(row, 1, self.standbys) {
            // Among several hosts another one may lead now.
            if self.pool.manager().is_choice() {
                self.pool.retain(|_, _| false);
            }
            return Err(error);
        }
        Ok(row.get::<_, i64>(0).cast_unsigned())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
