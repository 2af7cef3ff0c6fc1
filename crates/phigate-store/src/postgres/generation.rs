//! The number of setting changes, read for many requests at once.
//!
//! A request must not act on settings older than its own arrival. Whoever asks joins the next
//! read, never the one already running, so each answer was read after its question was asked, and
//! any number of waiting requests cost one query.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deadpool_postgres::Pool;
use tokio::sync::oneshot;

use crate::postgres::query;
use crate::{Result, StoreError};

/// Shares reads among those who wait.
#[derive(Clone)]
pub(super) struct Generation {
    pool: Pool,
    /// A request that cannot be sure within this time is refused.
    limit: Duration,
    /// Longest time one read may take.
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

    /// The number as it stood after this call began.
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

    /// Reads for everybody who waits, until nobody does.
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
                // Whoever gave up meanwhile needs no answer.
                let _ = one.send(answer.clone());
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
