//! The number of setting changes, with one query for many requests.
//!
//! A request must not act on settings older than its arrival. Each caller joins the next query, never the running one,
//! so its result was read after its call, and any number of waiting requests cost one query.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deadpool_postgres::Pool;
use tokio::sync::oneshot;

use crate::postgres::query;
use crate::{Result, StoreError};

/// Shares queries among waiting requests.
#[derive(Clone)]
pub(super) struct Generation {
    pool: Pool,
    /// A request that has no result within this time is refused.
    limit: Duration,
    /// Timeout of one query.
    patience: Duration,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    is_reading: bool,
    waiting: Vec<oneshot::Sender<Result<u64>>>,
}

impl Generation {
    pub(super) fn new(pool: Pool, limit: Duration, patience: Duration) -> Self {
        Self {
            pool,
            limit,
            patience,
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
            let rows = query(
                &self.pool,
                "SELECT value FROM generation",
                &[],
                self.patience,
            )
            .await;
            let answer = rows.and_then(|rows| match rows.first() {
                Some(row) => Ok(row.get::<_, i64>(0).cast_unsigned()),
                None => Err(StoreError::Unreadable("generation")),
            });
            for one in asking {
                // The receiver may have timed out.
                let _ = one.send(answer.clone());
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
