//! A value with a lifetime: fetched once, renewed early by one caller while the others use the old one.
//!
//! All callers that waited share a failure. Otherwise a hanging endpoint would be asked once per caller.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::AuthError;

/// Time before its end at which a value is renewed, unless its lifetime is too short.
const AHEAD: Duration = Duration::from_secs(300);

/// Shortest pause between two early renewals.
const PAUSE_MIN: Duration = Duration::from_secs(1);

/// A value and its lifetime.
pub(crate) struct Leased<T> {
    pub(crate) value: T,
    /// Lifetime from the moment of the request.
    pub(crate) lifetime: Duration,
}

/// A cached value with its renewal state.
pub(crate) struct Lease<T> {
    state: Mutex<State<T>>,
    /// Held by the renewing caller.
    renewing: tokio::sync::Mutex<()>,
}

struct State<T> {
    current: Option<Current<T>>,
    /// Number of finished attempts, and the failure of the last one.
    attempts: u64,
    failure: Option<AuthError>,
}

struct Current<T> {
    value: Arc<T>,
    /// Time from which one caller renews.
    renew_from: Instant,
    /// Time from which the value is not used.
    ends: Instant,
}

impl<T> Lease<T> {
    pub(crate) fn new() -> Self {
        let state = State {
            current: None,
            attempts: 0,
            failure: None,
        };
        Self {
            state: Mutex::new(state),
            renewing: tokio::sync::Mutex::new(()),
        }
    }

    /// Returns the valid value. `ask` is called by one caller at a time; it may be cancelled at any point.
    pub(crate) async fn get<F, A>(&self, ask: F) -> Result<Arc<T>, AuthError>
    where
        F: Fn() -> A,
        A: Future<Output = Result<Leased<T>, AuthError>>,
    {
        let (seen, valid) = self.look(Instant::now());
        match valid {
            Some((value, false)) => return Ok(value),
            Some((value, true)) => {
                let Ok(_guard) = self.renewing.try_lock() else {
                    return Ok(value);
                };
                // A valid value is used while a renewal fails.
                return Ok(self.renew(ask).await.unwrap_or(value));
            }
            None => {}
        }
        let _guard = self.renewing.lock().await;
        let (ended, valid) = self.look(Instant::now());
        if let Some((value, _)) = valid {
            return Ok(value);
        }
        if let Some(failure) = self.failure_since(seen, ended) {
            return Err(failure);
        }
        self.renew(ask).await
    }

    /// Drops a value that a provider refused, unless it was replaced meanwhile.
    pub(crate) fn forget(&self, refused: &Arc<T>) {
        let mut state = self.lock();
        let is_current = |current: &Current<T>| Arc::ptr_eq(&current.value, refused);
        if state.current.as_ref().is_some_and(is_current) {
            state.current = None;
        }
    }

    /// Number of finished attempts, the valid value, and whether it is due for renewal.
    fn look(&self, now: Instant) -> (u64, Option<(Arc<T>, bool)>) {
        let state = self.lock();
        let valid = state
            .current
            .as_ref()
            .filter(|current| now < current.ends)
            .map(|current| (Arc::clone(&current.value), now >= current.renew_from));
        (state.attempts, valid)
    }

    /// Failure of an attempt that finished while a caller waited.
    fn failure_since(&self, seen: u64, ended: u64) -> Option<AuthError> {
        (ended > seen).then(|| self.lock().failure).flatten()
    }

    async fn renew<F, A>(&self, ask: F) -> Result<Arc<T>, AuthError>
    where
        F: Fn() -> A,
        A: Future<Output = Result<Leased<T>, AuthError>>,
    {
        let asked = Instant::now();
        let result = ask().await;
        let mut state = self.lock();
        state.attempts += 1;
        match result {
            Ok(leased) => {
                state.failure = None;
                let value = Arc::new(leased.value);
                state.current = Some(Current::new(Arc::clone(&value), asked, leased.lifetime));
                Ok(value)
            }
            Err(failure) => {
                state.failure = Some(failure);
                if let Some(current) = &mut state.current {
                    current.pause(Instant::now());
                }
                Err(failure)
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Current<T> {
    fn new(value: Arc<T>, asked: Instant, lifetime: Duration) -> Self {
        // The value must not expire on the way to the provider, so its last moments are not used.
        let margin = (lifetime / 20).min(Duration::from_secs(10));
        let ends = asked + lifetime.saturating_sub(margin);
        let mut current = Self {
            value,
            renew_from: asked + lifetime.saturating_sub((lifetime / 3).min(AHEAD)),
            ends,
        };
        // Some machines return the same credentials until shortly before their end, so they are not asked all the time.
        if current.renew_from <= Instant::now() {
            current.pause(Instant::now());
        }
        current
    }

    /// Sets the pause before the next attempt, shorter as the end comes near.
    fn pause(&mut self, now: Instant) {
        let left = self.ends.saturating_duration_since(now);
        self.renew_from = now + (left / 4).max(PAUSE_MIN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn leased(value: usize, lifetime_ms: u64) -> Result<Leased<usize>, AuthError> {
        Ok(Leased {
            value,
            lifetime: Duration::from_millis(lifetime_ms),
        })
    }

    #[tokio::test]
    async fn concurrent_callers_fetch_once() {
        let (lease, asked) = (Lease::new(), AtomicUsize::new(0));
        let one = || {
            lease.get(|| async {
                asked.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(20)).await;
                leased(7, 60_000)
            })
        };
        let (a, b, c) = tokio::join!(one(), one(), one());
        assert_eq!((*a.unwrap(), *b.unwrap(), *c.unwrap()), (7, 7, 7));
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn failures_are_shared_by_waiting_callers() {
        let (lease, asked) = (Lease::<usize>::new(), AtomicUsize::new(0));
        let one = || {
            lease.get(|| async {
                asked.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(20)).await;
                Err(AuthError::Timeout)
            })
        };
        let (a, b, c) = tokio::join!(one(), one(), one());
        assert!([a, b, c].iter().all(|end| *end == Err(AuthError::Timeout)));
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        assert_eq!(*lease.get(|| async { leased(1, 60_000) }).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn one_caller_renews_early() {
        let lease = Lease::new();
        lease.get(|| async { leased(1, 900) }).await.unwrap();
        tokio::time::sleep(Duration::from_millis(650)).await;
        let slow = lease.get(|| async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            leased(2, 60_000)
        });
        let other = async {
            tokio::task::yield_now().await;
            lease.get(|| async { leased(3, 60_000) }).await
        };
        let (slow, other) = tokio::join!(slow, other);
        assert_eq!((*slow.unwrap(), *other.unwrap()), (2, 1));
        assert_eq!(*lease.get(|| async { leased(4, 1) }).await.unwrap(), 2);
    }

    #[tokio::test]
    async fn valid_values_outlast_failed_renewals() {
        let lease = Lease::new();
        lease.get(|| async { leased(1, 600) }).await.unwrap();
        tokio::time::sleep(Duration::from_millis(450)).await;
        let failing = || async { Err(AuthError::Unreachable) };
        assert_eq!(*lease.get(failing).await.unwrap(), 1);
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(lease.get(failing).await, Err(AuthError::Unreachable));
    }

    #[tokio::test]
    async fn cancelled_callers_block_no_other() {
        let lease = Lease::new();
        let never = lease.get(|| async {
            std::future::pending::<()>().await;
            leased(1, 1)
        });
        let gave_up = tokio::time::timeout(Duration::from_millis(20), never).await;
        assert!(gave_up.is_err());
        assert_eq!(*lease.get(|| async { leased(2, 60_000) }).await.unwrap(), 2);
    }

    #[tokio::test]
    async fn only_refused_values_are_dropped() {
        let lease = Lease::new();
        let first = lease.get(|| async { leased(1, 60_000) }).await.unwrap();
        lease.forget(&first);
        let second = lease.get(|| async { leased(2, 60_000) }).await.unwrap();
        lease.forget(&first);
        let third = lease.get(|| async { leased(3, 60_000) }).await.unwrap();
        assert_eq!((*second, *third), (2, 2));
    }
}
